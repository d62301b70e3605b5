use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_engine::{CheckResult, RequestMeta, RequestSource, ResponseInterest, ResponseView};
use plimsoll_http::{Expect, Field};
use plimsoll_plan::{LoadSpec, PlanSpec, RequestSpec, Shard};

use super::judge::Judge;
use super::*;

fn spec(url: &str) -> PlanSpec {
    let load = LoadSpec::Ladder { steps: None, step_limit: None, budget: None };
    PlanSpec { timeout: Duration::from_secs(1), ..PlanSpec::new(url, load) }
}

fn request(method: &str, url: &str, weight: u32, line: usize) -> RequestSpec {
    RequestSpec {
        name: format!("{method} {url}"),
        weight,
        line,
        method: method.to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

fn with_rows(mut spec: PlanSpec, csv: &str) -> Result<Requests, ScenarioError> {
    spec.scenario.csv = Some(CsvFile::new("rows.csv".into(), csv.as_bytes(), RowOrder::Sequential));
    Requests::new(&spec.freeze().unwrap(), Some(csv.as_bytes()))
}

fn requests(spec: PlanSpec) -> Requests {
    Requests::new(&spec.freeze().unwrap(), None).unwrap()
}

fn fixed(spec: PlanSpec) -> String {
    let Traffic::Fixed(request) = requests(spec).of_step(0) else { panic!("something varies") };
    String::from_utf8(request.bytes.to_vec()).unwrap()
}

/// The sources of all workers of a step.
fn sources(requests: &Requests, step: u32, workers: u32) -> Vec<Box<dyn RequestSource>> {
    let Traffic::Generated(factory) = requests.of_step(step) else { panic!("nothing varies") };
    (0..workers).map(|index| factory.create(Shard { index, of: workers }).unwrap()).collect()
}

fn next(source: &mut Box<dyn RequestSource>) -> (String, RequestMeta) {
    let mut bytes = Vec::new();
    let note = source.write(&mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), note)
}

/// The paths of the next requests of a source.
fn paths(source: &mut Box<dyn RequestSource>, count: usize) -> Vec<String> {
    let path = |text: String| text.split(' ').nth(1).unwrap().to_owned();
    (0..count).map(|_| path(next(source).0)).collect()
}

#[test]
fn a_request_without_variables_is_fixed_and_the_same_as_ever() {
    let mut typed = spec("http://a.test/x?y=$z");
    typed.headers = vec!["A: $".to_owned()];
    typed.body = Some(b"{\"a\": {}}".to_vec());
    let plan = typed.clone().freeze().unwrap();
    assert_eq!(fixed(typed).into_bytes(), plan.target.encode().unwrap());
}

#[test]
fn a_protected_dollar_stands_for_itself_and_leaves_the_request_fixed() {
    let mut typed = spec("http://a.test/$${x}");
    typed.headers = vec!["A: $${b}".to_owned()];
    typed.body = Some(b"$${c}".to_vec());
    let text = fixed(typed);
    assert!(text.starts_with("POST /${x} HTTP/1.1\r\nHost: a.test\r\n"), "{text}");
    assert!(text.contains("\r\nA: ${b}\r\nContent-Length: 4\r\n\r\n${c}"), "{text}");
}

#[test]
fn the_length_of_a_body_that_varies_is_reported_right_each_time() {
    let mut typed = spec("http://a.test/");
    typed.headers = vec!["X-Number: ${counter}".to_owned()];
    typed.body = Some(b"n=${counter}&r=${random(1, 100000)}".to_vec());
    let requests = requests(typed);
    let mut sources = sources(&requests, 0, 1);
    for number in 0..200 {
        let (text, note) = next(&mut sources[0]);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("\r\nContent-Length: {}", body.len())), "{text}");
        assert!(head.contains(&format!("\r\nX-Number: {number}\r\n")), "{text}");
        assert!(body.starts_with(&format!("n={number}&r=")), "{text}");
        assert!(!note.idempotent);
    }
}

#[test]
fn a_length_of_the_users_own_stays() {
    let mut typed = spec("http://a.test/");
    typed.headers = vec!["content-length: 3".to_owned()];
    typed.body = Some(b"${random(100,999)}".to_vec());
    let (text, _) = next(&mut sources(&requests(typed), 0, 1)[0]);
    assert_eq!(text.to_lowercase().matches("content-length").count(), 1, "{text}");
    assert_eq!(text.split_once("\r\n\r\n").unwrap().1.len(), 3, "{text}");
}

#[test]
fn numbers_come_once_over_all_workers_and_steps_and_the_request_before_them() {
    let requests = requests(spec("http://a.test/${counter}"));
    let first = String::from_utf8(requests.first().unwrap().bytes.to_vec()).unwrap();
    assert!(first.starts_with("GET /0 HTTP/1.1\r\n"), "{first}");
    let mut seen = vec!["/0".to_owned()];
    for (step, workers) in [(0, 3), (1, 2)] {
        let mut sources = sources(&requests, step, workers);
        sources.iter_mut().for_each(|source| seen.extend(paths(source, 10)));
    }
    let mut numbers: Vec<usize> = seen.iter().map(|path| path[1..].parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..51).collect::<Vec<_>>(), "none comes twice, none is left out");
}

#[test]
fn random_values_differ_between_steps_and_come_again_with_the_seed() {
    let drawn = |requests: &Requests, step| next(&mut sources(requests, step, 1)[0]).0;
    let one = requests(spec("http://a.test/${uuid}"));
    let again = requests(spec("http://a.test/${uuid}"));
    assert_eq!(drawn(&one, 0), drawn(&again, 0));
    assert_ne!(drawn(&one, 1), drawn(&one, 0));
}

#[test]
fn rows_are_used_once_a_round_over_all_workers() {
    let csv: String =
        std::iter::once("n\n".to_owned()).chain((0..12).map(|row| format!("{row}\n"))).collect();
    let requests = with_rows(spec("http://a.test/${csv.n}"), &csv).unwrap();
    let mut sources = sources(&requests, 0, 3);
    for _ in 0..2 {
        let mut round: Vec<String> = sources.iter_mut().flat_map(|source| paths(source, 4)).collect();
        round.sort_unstable();
        round.dedup();
        assert_eq!(round.len(), 12, "{round:?}");
    }
}

#[test]
fn each_request_comes_as_often_as_its_weight_says_with_what_the_engine_must_know() {
    let mut typed = spec("http://a.test/");
    typed.scenario.requests =
        vec![request("GET", "/a", 7, 1), request("HEAD", "/b", 2, 2), request("POST", "/c", 1, 3)];
    let requests = requests(typed);
    let mut counts = BTreeMap::new();
    for source in &mut sources(&requests, 0, 2) {
        for _ in 0..20 {
            let (text, note) = next(source);
            let line = text.split(" HTTP").next().unwrap().to_owned();
            let known = (note.request, note.expect == Expect::NoBody, note.idempotent);
            *counts.entry((line, known)).or_insert(0) += 1;
        }
    }
    let expected = [
        (("GET /a".to_owned(), (0, false, true)), 28),
        (("HEAD /b".to_owned(), (1, true, true)), 8),
        (("POST /c".to_owned(), (2, false, false)), 4),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn what_cannot_be_sent_is_refused_with_its_place() {
    let refused = |typed: PlanSpec, csv: &str, parts: &[&str]| {
        let error = with_rows(typed, csv).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    let row = "n\n1\n";
    refused(spec("http://a/x/${uid}"), row, &["the path: ", "`${uid}`", "column 4", "${uuid}"]);
    refused(spec("http://a/${csv.m}"), row, &["the path", "no column `m`", "`n`"]);
    refused(spec("http://a/${csv.n}"), "n\na b\n", &["the path", "column `n` in line 2", "percent-encode"]);
    refused(spec("http://a/${random(9,1)}"), row, &["the smaller first"]);
    refused(spec("http://a/"), "n\n", &["rows.csv: ", "no row"]);
    let mut header = spec("http://a/");
    header.headers = vec!["X-A: ${csv.n}".to_owned()];
    refused(header, "n\n\"a\nb\"\n", &["header X-A", "line 2", "0x0a"]);
    let mut in_file = spec("http://a/");
    let body = b"first\n ${counter".to_vec();
    in_file.scenario.requests = vec![RequestSpec { body, ..request("POST", "/", 1, 5) }];
    refused(in_file, row, &["the body of the request in line 5", "line 2, column 2", "no `}`"]);
    let mut check = spec("http://a/");
    check.scenario.checks = vec!["staus=200".to_owned()];
    refused(check, row, &["`staus=200` is no check"]);
    let mut weights = spec("http://a/");
    weights.scenario.requests = vec![request("GET", "/", 1, 1), request("GET", "/", 3_000_000, 2)];
    refused(weights, row, &["the weights add up to 3000001"]);
}

#[test]
fn without_a_csv_file_a_column_is_refused_with_the_flag_that_names_one() {
    let plan = spec("http://a/${csv.n}").freeze().unwrap();
    let error = Requests::new(&plan, None).unwrap_err().to_string();
    assert!(error.contains("--csv"), "{error}");
}

fn judge(checks: &[&str]) -> Judge {
    Judge::new(&checks.iter().map(|check| Check::parse(check).unwrap()).collect::<Vec<_>>())
}

fn judged(checks: &[&str], status: u16) -> CheckResult {
    let fields = [Field { name: "Content-Type", value: b"text/plain" }, Field { name: "X", value: b"1" }];
    judge(checks).judge(&ResponseView {
        status,
        fields: &fields,
        body: b"hello",
        body_bytes: 5,
        keep_alive: true,
    })
}

#[test]
fn a_check_of_the_status_decides_it_and_others_leave_it_to_the_usual_rule() {
    assert_eq!(judged(&["status=404"], 404), CheckResult::Passed);
    assert_eq!(judged(&["status=404", "size=5"], 404), CheckResult::Passed);
    assert_eq!(judged(&["size=5"], 404), CheckResult::ByStatus);
    assert_eq!(judged(&["size=5", "status=2xx", "body=other"], 404), CheckResult::Failed(0b110));
    let held = ["header:content-type=text/plain", "header:x~^1$", "body~^hel"];
    assert_eq!(judged(&held, 200), CheckResult::ByStatus);
    assert_eq!(judged(&["header:x=2", "header:y~."], 200), CheckResult::Failed(0b11));
}

#[test]
fn responses_are_read_no_further_than_checks_need() {
    let interest = |checks: &[&str]| judge(checks).interest();
    assert_eq!(interest(&[]), ResponseInterest::None);
    assert_eq!(interest(&["status=200", "size>1"]), ResponseInterest::Outcome);
    assert_eq!(interest(&["status=200", "header:A=1"]), ResponseInterest::Full);
    assert_eq!(interest(&["body~x"]), ResponseInterest::Full);
}

#[test]
fn making_and_judging_allocate_nothing_once_warm() {
    let mut typed = spec("http://a.test/${counter}?at=${timestamp_ms}");
    typed.headers = vec!["X-Id: ${uuid}".to_owned()];
    typed.body = Some(b"${random(1,1000000)} ${csv.n}".to_vec());
    typed.scenario.checks =
        ["status=200", "size<10k", "header:x=1", "body~hello"].map(str::to_owned).to_vec();
    let requests = with_rows(typed, "n\nlong value\nx\n").unwrap();
    let mut source = sources(&requests, 0, 1).pop().unwrap();
    let fields = [Field { name: "X", value: b"1" }];
    let answer =
        ResponseView { status: 200, fields: &fields, body: b"hello", body_bytes: 5, keep_alive: true };
    let mut out = Vec::new();
    let mut exchange = || {
        out.clear();
        let note = source.write(&mut out).unwrap();
        assert_eq!(source.inspect(note.request, &answer).unwrap(), CheckResult::Passed);
    };
    (0..10).for_each(|_| exchange());
    let allocated = allocation_counter::measure(|| (0..10_000).for_each(|_| exchange()));
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn the_time_of_day_is_written_in_milliseconds() {
    let requests = requests(spec("http://a.test/${timestamp_ms}"));
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let before = now();
    let path = paths(&mut sources(&requests, 0, 1)[0], 1).remove(0);
    let written: u128 = path[1..].parse().unwrap();
    // The two clocks are read one after the other, so their difference is not exact.
    assert!((before - 1..=now() + 1).contains(&written), "{written}");
}
