//! Several requests, variables and checks, from the command line to what the server gets and the report says.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{Bench, Called, Target};
use crate::echo::{Echo, Received};

/// A run of so many requests by one worker over some connections, with these files in its folder.
fn run(bench: &Bench, count: &str, more: &[&str]) -> Called {
    bench.expect(0, &[&["run", "-c", "4", "-t", "1", "-n", count, "--no-files", "--json"], more].concat())
}

#[test]
fn requests_of_a_file_come_as_often_as_their_weights_say_and_are_reported_apart() {
    let (bench, server) = (Bench::new(), Echo::start());
    std::fs::create_dir(bench.path("bodies")).unwrap();
    std::fs::write(bench.path("bodies/cart.json"), "{\"item\": 1}").unwrap();
    let file = "# plimsoll: weight=7\nGET /item/${random(1,9)}?q=1\nX-A: own\n\n# plimsoll: weight=2 name=cart\n\
        POST /cart\nContent-Type: application/json\n@bodies/cart.json\n\nHEAD /";
    std::fs::write(bench.path("shop.txt"), file).unwrap();
    let url = server.url();
    let line = [url.as_str(), "--requests", "shop.txt", "-H", "X-A: common"];
    let document = run(&bench, "100", &line).json();
    let step = &document["steps"][0];
    let of = |index: usize| (step["requests"][index]["name"].clone(), step["requests"][index]["ok"].clone());
    assert_eq!(of(0), ("GET /item/${random(1,9)}".into(), 70.into()));
    assert_eq!((of(1), of(2)), (("cart".into(), 20.into()), ("HEAD /".into(), 10.into())));
    let received = server.received();
    let items: Vec<_> = received.iter().filter(|request| request.path.starts_with("/item/")).collect();
    assert!(items.len() == 70 && items.iter().all(|request| request.values_of("x-a") == ["own"]));
    let item = |request: &&&Received| request.path.ends_with("?q=1") && !request.path.contains('$');
    assert_eq!(items.iter().filter(item).count(), 70);
    let carts: Vec<_> = received.iter().filter(|request| request.line() == "POST /cart").collect();
    assert!(carts.len() == 20 && carts.iter().all(|request| request.body == "{\"item\": 1}"));
    assert!(carts.iter().all(|request| request.values_of("x-a") == ["common"]), "{:?}", carts[0]);
}

#[test]
fn variables_reach_the_server_in_path_headers_and_body_and_no_number_comes_twice() {
    let (bench, server) = (Bench::new(), Echo::start());
    std::fs::write(bench.path("users.csv"), "user,note\nada,a\ngrace,\"b \"\"c\"\"\"\nlin,\n").unwrap();
    let url = format!("{}/users/${{csv.user}}", server.url());
    let body = "n=${counter} at=${timestamp_ms} id=${uuid} note=${csv.note} env=${env.HARBOUR} $${x}";
    let line = [
        "run",
        &url,
        "-c",
        "4",
        "-t",
        "2",
        "-n",
        "60",
        "-b",
        body,
        "-H",
        "X-Number: ${counter}",
        "--csv",
        "users.csv",
        "--no-files",
    ];
    let called = Called::from(bench.command(&line).env("HARBOUR", "open").output().unwrap());
    assert_eq!(called.code, 0, "{}", called.err);
    let mut numbers = Vec::new();
    for request in server.received() {
        let (number, rest) = request.body.strip_prefix("n=").unwrap().split_once(' ').unwrap();
        assert!(request.values_of("x-number") == [number], "{request:?}");
        let note = if request.path.ends_with("/grace") { "note=b \"c\" env" } else { "note=" };
        assert!(rest.contains(note) && rest.ends_with(" env=open ${x}"), "{request:?}");
        numbers.push(number.parse::<u64>().unwrap());
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers.len(), count), (60, 60));
    let users = ["ada", "grace", "lin"].map(|user| format!("POST /users/{user}"));
    assert_eq!(server.lines().into_keys().collect::<Vec<_>>(), users);
}

#[test]
fn rows_come_in_their_order_and_round_again() {
    let (bench, server) = (Bench::new(), Echo::start());
    std::fs::write(bench.path("rows.csv"), "n\n0\n1\n2\n3\n4\n").unwrap();
    let url = format!("{}/${{csv.n}}", server.url());
    run(&bench, "20", &[&url, "--csv", "rows.csv"]);
    let expected = (0..5).map(|row| (format!("GET /{row}"), 4));
    assert_eq!(server.lines(), expected.collect());
}

#[test]
fn the_whole_answer_sends_its_first_request_as_the_load_does() {
    let (bench, server) = (Bench::new(), Echo::start());
    std::fs::write(bench.path("urls.txt"), format!("{}/n/${{counter}}\n", server.url())).unwrap();
    // A budget this short may break a condition, or leave it open; only what was sent counts here.
    let called = bench.call(&["--requests", "urls.txt", "--budget", "3s", "--json", "--no-files"]);
    assert!([0, 3, 4].contains(&called.code), "{}", called.err);
    let lines = server.lines();
    assert_eq!(server.received()[0].line(), "GET /n/0");
    assert!(lines.len() > 10 && lines.values().all(|count| *count == 1), "a number came twice");
}

#[test]
fn requests_may_come_from_standard_input_in_json() {
    let (bench, server) = (Bench::new(), Echo::start());
    let mut command = bench.command(&["run", "--requests", "-", "-n", "10", "--no-files"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let text = format!("{{\"method\": \"PUT\", \"url\": \"{}/a\", \"body\": \"aGk=\"}}", server.url());
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let received = server.received();
    assert_eq!(received.len(), 10);
    assert!(received.iter().all(|request| request.line() == "PUT /a" && request.body == "hi"));
}

#[test]
fn failed_checks_are_no_successes_and_named_everywhere() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let url = target.url("/healthz");
    let line = [
        "run",
        &url,
        "-n",
        "50",
        "--expect",
        "status=200",
        "--expect",
        "body~\"status\":\"ok\"",
        "--expect",
        "json:/status=down",
        "--expect",
        "header:content-type~json",
        "--expect",
        "size<3",
    ];
    // No request succeeded.
    let called = bench.expect(1, &line);
    let file = bench.run_file("plimsoll-runs");
    let file = file.to_str().unwrap();
    assert_eq!(bench.expect(0, &["report", file]).out, called.out);
    let document = bench.expect(0, &["report", file, "--json"]).json();
    let step = &document["steps"][0];
    assert_eq!(step["failed_checks"], serde_json::json!({"json:/status=down": 50, "size<3": 50}));
    assert_eq!((&step["completed"], &step["ok"]), (&50.into(), &0.into()));
    let csv = bench.expect(0, &["export", file, "--format", "csv"]).out;
    assert!(csv.contains("\"{\"\"json:/status=down\"\":50,\"\"size<3\"\":50}\""), "{csv}");
    // A condition that is broken has a code of its own.
    bench.expect(3, &[&line[..], &["--success", "99%", "--no-files"]].concat());
}

#[test]
fn a_status_that_is_expected_is_a_success_and_no_failure_in_the_report() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let url = target.url("/status/404");
    let line = ["run", &url, "-n", "50", "--no-files", "--success", "100%"];
    bench.expect(3, &line);
    bench.expect(3, &[&line[..], &["--expect", "size<1M"]].concat());
    let step =
        &bench.expect(0, &[&line[..], &["--expect", "status=404", "--json"]].concat()).json()["steps"][0];
    assert_eq!((&step["ok"], &step["failed"]), (&step["completed"], &serde_json::json!({})));
}

#[test]
fn every_document_of_several_requests_keeps_to_the_schema() {
    let (bench, server) = (Bench::new(), Echo::start());
    let file = format!("GET {0}/a\nCookie: secret\n\nGET /b/${{csv.n}}\n", server.url());
    std::fs::write(bench.path("shop.txt"), file).unwrap();
    std::fs::write(bench.path("rows.csv"), "n\n1\n").unwrap();
    let called = run(&bench, "20", &["--requests", "shop.txt", "--csv", "rows.csv", "--csv-order", "random"]);
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/run.schema.json")).unwrap();
    let document = called.json();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(!called.out.contains("secret"));
    assert_eq!(
        (&document["plan"]["csv"]["order"], &document["plan"]["csv"]["bytes"]),
        (&"random".into(), &4.into())
    );
}

#[test]
fn mistakes_in_requests_variables_and_checks_end_with_code_2_before_any_connection() {
    let (bench, server) = (Bench::new(), Echo::start());
    let url = server.url();
    let write = |name: &str, text: &str| std::fs::write(bench.path(name), text).unwrap();
    write("rows.csv", "user\nada\n");
    write("empty.csv", "user\n");
    write("hosts.txt", "http://127.0.0.1:1/\nhttp://127.0.0.1:2/\n");
    write("paths.txt", "/a\n");
    std::fs::write(bench.path("latin.csv"), b"/caf\xe9\n/a\n").unwrap();
    write("broken.txt", "GET /a\nno header\n");
    write("template.txt", "GET /a\n\nGET /b/${cvs.user}\n");
    write("weights.txt", "# plimsoll: weight=0\n/a\n");
    let refused = |args: &[&str], expected: &[&str]| {
        let called = bench.expect(2, &[&["run"], args].concat());
        assert!(expected.iter().all(|part| called.err.contains(part)), "{args:?}: {}", called.err);
        assert_eq!(called.out, "");
    };
    refused(&[&url, "-b", "${uid}"], &["the body", "`${uid}`", "line 1, column 1", "${uuid}"]);
    refused(&[&url, "-H", "A: ${csv.user}"], &["header A", "--csv"]);
    refused(&[&url, "-H", "A: ${csv.usr}", "--csv", "rows.csv"], &["`usr`", "`user`"]);
    refused(&[&url, "--csv", "empty.csv"], &["empty.csv", "no row"]);
    refused(&[&url, "--csv", "latin.csv"], &["latin.csv", "UTF-8"]);
    refused(&[&url, "--requests", "latin.csv"], &["latin.csv", "UTF-8"]);
    refused(&[&url, "--csv-order", "random"], &["--csv"]);
    refused(&[&url, "--expect", "staus=200"], &["`staus=200` is no check"]);
    refused(&[&url, "--expect", "status=999"], &["`999` is no status", "100 to 599"]);
    refused(&[&url, "--expect", "body~("], &["regular expression"]);
    refused(&["--requests", "hosts.txt"], &["http://127.0.0.1:1", "http://127.0.0.1:2", "line 2"]);
    refused(&["--requests", "paths.txt"], &["no request names its host"]);
    refused(&[&url, "--requests", "broken.txt"], &["broken.txt", "line 2", "`no header`"]);
    refused(&[&url, "--requests", "template.txt"], &["request in line 3", "`${cvs.user}`"]);
    refused(&[&url, "--requests", "weights.txt"], &["weights.txt", "line 1", "weight"]);
    refused(&[&url, "--requests", "paths.txt", "-b", "x"], &["--requests"]);
    refused(&["http://${counter}.test/"], &["variable in its host"]);
    refused(&["${env.PLIMSOLL_NOT_SET}/a"], &["PLIMSOLL_NOT_SET"]);
    assert!(server.received().is_empty());
    for (flag, what) in [("--csv", "rows of values"), ("--requests", "requests")] {
        let called = bench.expect(1, &["run", &url, flag, "absent"]);
        assert!(called.err.contains(what) && called.err.contains("absent"), "{}", called.err);
    }
}

#[test]
fn each_run_draws_other_values_and_its_seed_brings_them_back() {
    let (bench, server) = (Bench::new(), Echo::start());
    let url = format!("{}/${{uuid}}", server.url());
    let ids = || server.lines().into_keys().collect::<Vec<_>>();
    let [first, second] = [(); 2].map(|()| {
        server.forget();
        (run(&bench, "20", &[&url]).json(), ids())
    });
    assert!(first.1.len() == 20 && first.1.iter().all(|id| !second.1.contains(id)), "{first:?} {second:?}");
    let of = |document: &Value, field: &str| document["run"][field].clone();
    assert_eq!(of(&first.0, "plan_hash"), of(&second.0, "plan_hash"), "they are the same load");
    let seed = first.0["plan"]["generator"]["seed"].to_string();
    server.forget();
    run(&bench, "20", &[&url, "--seed", &seed]);
    assert_eq!(ids(), first.1);
}
