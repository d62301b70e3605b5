use super::*;
use crate::{LoadSpec, Plan, PlanSpec};

fn request(url: &str, line: usize) -> RequestSpec {
    RequestSpec {
        name: format!("GET {url}"),
        weight: 1,
        line,
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

fn spec(url: &str, requests: Vec<RequestSpec>) -> PlanSpec {
    let load = LoadSpec::Ladder { steps: None, step_limit: None, budget: None };
    let scenario = ScenarioSpec { requests, ..ScenarioSpec::default() };
    PlanSpec { scenario, ..PlanSpec::new(url, load) }
}

fn frozen(url: &str, urls: &[&str]) -> Result<Plan, PlanError> {
    let requests = urls.iter().zip(1..).map(|(url, line)| request(url, line)).collect();
    spec(url, requests).freeze()
}

#[test]
fn paths_are_meant_on_the_host_of_the_command_or_of_the_other_requests() {
    let of = |url: &str, urls: &[&str]| {
        let plan = frozen(url, urls).unwrap();
        let paths: Vec<String> = plan.mixed().iter().map(|request| request.path.clone()).collect();
        (plan.target.authority(), paths.join(" "))
    };
    let expected = |host: &str, paths: &str| (host.to_owned(), paths.to_owned());
    let urls = ["/a?u=http://b/", "http://A.test/${csv.path}#x", "http://a.test:80?q"];
    assert_eq!(of("a.test/base", &urls), expected("a.test", "/a?u=http://b/ /${csv.path} /?q"));
    assert_eq!(of("", &["/a", "http://[::1]:8080"]), expected("[::1]:8080", "/a /"));
}

#[test]
fn requests_without_a_host_or_with_several_are_refused() {
    let refused = |url: &str, urls: &[&str], parts: &[&str]| {
        let error = frozen(url, urls).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    refused("", &["/a"], &["no request names its host"]);
    refused("", &["http://a/", "/x", "http://b:81/"], &["http://a and http://b:81", "line 3"]);
    refused("http://a:80/", &["http://a:81/"], &["http://a and http://a:81", "line 1"]);
    refused("http://${counter}.a/", &[], &["variable in its host"]);
    refused("http://a/", &["http://${csv.host}/"], &["${csv.host}", "variable in its host"]);
    refused("http://a/", &["/ok", "http://a:99999/"], &["line 2", "port"]);
}

#[test]
fn a_request_that_cannot_be_sent_is_named_by_its_line() {
    let method = RequestSpec { method: "GE T".to_owned(), ..request("/${csv.path}", 7) };
    let error = spec("http://a/", vec![method]).freeze().unwrap_err().to_string();
    assert!(error.contains("line 7") && error.contains("method"), "{error}");
}

#[test]
fn headers_of_the_command_go_to_all_requests_that_have_none_of_the_name() {
    let accepts = RequestSpec { headers: vec![("accept".to_owned(), "b".to_owned())], ..request("/b", 2) };
    let mut spec = spec("http://a/", vec![request("/a", 1), accepts]);
    spec.headers = vec!["Accept: a".to_owned(), "Accept: a2".to_owned()];
    spec.network.keep_alive = false;
    let plan = spec.freeze().unwrap();
    let lines = |request: &MixedRequest| {
        let line = |(name, value): &(String, String)| format!("{name}: {value}");
        request.headers.iter().map(line).collect::<Vec<_>>().join(", ")
    };
    let all: Vec<String> = plan.mixed().iter().map(lines).collect();
    assert_eq!(all, ["Accept: a, Accept: a2, Connection: close", "accept: b, Connection: close"]);
}

#[test]
fn requests_of_one_name_are_one_group_and_the_names_beyond_64_share_the_last() {
    let plan = frozen("http://a/", &["/a", "/b", "/a"]).unwrap();
    let names: Vec<&str> = plan.requests.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["GET /a", "GET /b"]);
    assert_eq!(plan.mix.iter().map(|request| request.group).collect::<Vec<_>>(), [0, 1, 0]);
    let many = |count| {
        let requests = (0..count).map(|index| request(&format!("/{index}"), index + 1)).collect();
        spec("http://a/", requests).freeze().unwrap()
    };
    assert_eq!(many(64).requests[63].name, "GET /63");
    let plan = many(100);
    assert_eq!((plan.requests.len(), plan.requests[63].name.as_str()), (64, "others (37 names)"));
    assert_eq!(plan.mix.iter().filter(|request| request.group == 63).count(), 37);
}

#[test]
fn a_plan_with_everything_survives_its_json() {
    let mut spec = spec("http://a/", vec![RequestSpec { body: vec![0, 255], ..request("/${counter}", 1) }]);
    spec.scenario.csv = Some(CsvFile::new("users.csv".into(), b"user\nada\n", RowOrder::Random));
    spec.scenario.checks = vec!["status=200".to_owned()];
    let plan = spec.freeze().unwrap();
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    assert_eq!((plan.target.path.as_str(), plan.checks.len()), ("/${counter}", 1));
    let csv = plan.csv.unwrap();
    // The hash is what `printf 'user\nada\n' | sha256sum` prints.
    let sum = "0a96d358d2a2aed8f59bcb5cccf60e1775fbe971e1262abe93d29d4b7d203596";
    assert_eq!((csv.bytes, csv.sha256.as_str()), (9, sum));
}

#[test]
fn more_checks_than_can_be_counted_are_refused() {
    let mut spec = spec("http://a/", Vec::new());
    spec.scenario.checks = vec!["size>1".to_owned(); 33];
    let error = spec.freeze().unwrap_err().to_string();
    assert!(error.contains("the number of checks is 33") && error.contains("at most 32"), "{error}");
}

fn post(body_bytes: usize) -> MixedRequest {
    MixedRequest {
        group: 0,
        weight: 1,
        line: 0,
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: Vec::new(),
        body: vec![0; body_bytes],
    }
}

#[test]
fn what_a_connection_carries_fits_into_two_gibibytes() {
    let checked = |bodies: &[usize], depth| {
        let requests: Vec<MixedRequest> = bodies.iter().map(|bytes| post(*bytes)).collect();
        check_volume(&requests, "a.test", depth)
    };
    assert!(checked(&[10, 1_000_000], 2_000).is_ok());
    assert!(checked(&[10], 10_000).is_ok());
    let error = checked(&[10, 1_000_000], 3_000).unwrap_err().to_string();
    assert!(error.contains("is 3,000 × 1.00 MB; it must be at most 2 GiB"), "{error}");
    assert!(error.contains("--pipeline"), "{error}");
}
