//! The options of ab and hey, and loads of a number of requests.

use plimsoll_testkit::{BadServer, Nginx, Script};

use crate::bench::{Bench, Target};

#[test]
fn exactly_the_number_of_requests_reaches_the_server() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.address());
    for (line, number) in [
        (&["run", "-kc", "16", "-n", "5000", &url][..], 5000),
        (&["run", "-n", "7", &url], 7),
        (&["run", "-n", "100", "-c", "100", &url], 100),
        (&["run", "-n", "100", "-R", "500", &url], 100),
        (&["run", "-n", "300", "-c", "4", "-disable-keepalive", &url], 300),
    ] {
        let before = nginx.requests().unwrap();
        let run = bench.expect(0, &[line, &["--json"]].concat()).json();
        assert_eq!(nginx.requests().unwrap() - before, number, "{line:?}");
        let step = &run["steps"][0];
        assert_eq!((&step["intended"], &step["completed"]), (&number.into(), &number.into()), "{line:?}");
        assert_eq!(step["end"], "request_limit", "{line:?}");
        assert!(step["throughput_per_sec"].as_f64() > Some(0.0), "{line:?}: {step}");
    }
}

#[test]
fn one_request_on_each_connection_is_measured_to_the_last_answer() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Of ten requests four are answered at a time, so that the last come after three times 100 ms.
    let url = target.url("/sleep?ms=100&workers=4");
    let run = bench.expect(0, &["run", &url, "-n", "10", "-c", "10", "--json"]).json();
    let throughput = run["steps"][0]["throughput_per_sec"].as_f64().unwrap();
    assert!(throughput > 0.0 && throughput < 10.0 / 0.3 * 1.5, "{throughput}");
    let run = bench.expect(0, &["run", &url, "-n", "40", "-c", "4", "--json"]).json();
    assert_eq!(run["steps"][0]["end"], "request_limit", "{}", run["steps"][0]);
}

#[test]
fn a_body_of_ab_is_posted_with_its_type() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    std::fs::write(bench.path("order.json"), vec![b'x'; 5000]).unwrap();
    let url = format!("http://{}/", nginx.address());
    let line = ["run", "-n", "10", "-c", "2", "-p", "order.json", "-T", "application/json", &url, "--json"];
    let run = bench.expect(0, &line).json();
    assert_eq!(run["plan"]["target"]["method"], "POST");
    assert_eq!(run["plan"]["target"]["headers"][0][0], "Content-Type");
    assert!(run["steps"][0]["bytes_out"].as_u64() > Some(50_000), "{}", run["steps"][0]);
}

#[test]
fn a_clash_ends_with_code_2_and_what_has_no_effect_is_said() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let refused = |line: &[&str], expected: &str| {
        let called = bench.expect(2, line);
        assert!(called.err.starts_with("plimsoll: ") && called.err.contains(expected), "{}", called.err);
        assert_eq!(called.out, "");
    };
    refused(&["run", "-q", "10", "-c", "5", &url], "-R 50 ");
    refused(&["run", "-d", "{\"a\":1}", &url], "-b BODY");
    refused(&["run", "-t", "30", &url], "-d 30s or --timeout 30s");
    refused(&["run", "-t", "3", "-c", "2", &url], "more than the 2 connections");
    refused(&["run", "-n", "5", "-c", "10", &url], "at most 5");
    refused(&["-c", "5", &url], "plimsoll run URL");
    let said = bench.expect(0, &["run", "-k", "-n", "5", &url]).err;
    assert_eq!(said.matches("has no effect").count(), 1, "{said}");
    assert_eq!(bench.expect(0, &["run", "-k", "-q", "-n", "5", &url]).err, "");
}

#[test]
fn what_helps_against_a_failure_is_reported_once_under_load_and_kept() {
    let bench = Bench::new();
    let server = BadServer::start(Script::KillAfter { requests: 50 });
    let url = format!("http://{}/", server.address());
    let called = bench.expect(1, &["run", &url, "-c", "4", "-d", "300s", "--json"]);
    let line = "connect_refused: the target refused the connection → is the server up";
    assert_eq!(called.err.matches(line).count(), 1, "{}", called.err);
    let events = called.json()["events"].clone();
    let seen = events.as_array().unwrap().iter().filter(|event| event["kind"] == "failure_seen");
    assert!(seen.clone().any(|event| event["text"].as_str().unwrap().starts_with(line)), "{events}");
    let replayed =
        bench.expect(0, &["report", bench.run_file("plimsoll-runs").to_str().unwrap(), "--full"]).out;
    assert_eq!(
        replayed.matches("connect_refused: the target refused the connection").count(),
        1,
        "{replayed}"
    );
}
