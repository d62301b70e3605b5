//! `plimsoll run`.

use std::os::unix::fs::PermissionsExt as _;

use plimsoll_testkit::{BadServer, Nginx, Script};

use crate::bench::{Bench, Target};

#[test]
fn the_server_counts_what_the_run_reports() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let before = nginx.requests().unwrap();
    let url = format!("http://{}/", nginx.address());
    let run = bench.expect(0, &["run", &url, "-c", "8", "-n", "4000", "--json"]).json();
    let step = &run["steps"][0];
    assert_eq!(step["completed"], nginx.requests().unwrap() - before);
    assert_eq!(step["completed"], step["ok"]);
    assert_eq!(step["intended"], step["completed"]);
    assert_eq!(step["connections"], 8);
    assert_eq!(run["schema"], "plimsoll/run/1");
}

#[test]
fn an_open_loop_keeps_its_rate_and_says_what_waited() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // The last half of each second is a stall: every answer due in it comes at its end.
    let url = target.url("/stall?every=1s&for=500ms");
    let run = bench.expect(0, &["run", &url, "-R", "200", "-n", "400", "--json"]).json();
    let step = &run["steps"][0];
    assert_eq!((step["intended"].as_u64(), step["completed"].as_u64()), (Some(400), Some(400)));
    assert_eq!(step["rate_per_sec"], 200.0);
    // Half of the requests meet a stall of up to 500 ms, evenly spread: the 75th percentile is its middle.
    assert!(step["latency_ms"]["p75"].as_f64().unwrap() >= 200.0, "{step}");
    assert!(step["latency_ms"]["max"].as_f64().unwrap() >= 450.0, "{step}");
}

#[test]
fn a_rate_with_stages_offers_what_they_hold_and_lasts_as_long() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let rate = "ramp(0,400,1s) const(400,500ms)";
    let run = bench.expect(0, &["run", &url, "-R", rate, "-t", "2", "--json"]).json();
    let step = &run["steps"][0];
    // A machine that stalls for a second at the end leaves requests unsent, and its last moment may hold nothing.
    let (intended, completed) = (step["intended"].as_u64(), step["completed"].as_u64());
    assert!(intended == Some(400) && (Some(200)..=Some(400)).contains(&completed), "{step}");
    assert_eq!(step["steadiness"], "ramp");
    let moments = step["over_time"].as_array().unwrap();
    assert!(moments.last().unwrap()["end_sec"].as_f64() <= Some(1.5), "{moments:?}");
    assert!(
        step["connect_ms"]["count"].as_u64() >= Some(1) && step["connects"].as_u64() >= Some(1),
        "{step}"
    );
    let refused = bench.expect(2, &["run", &url, "-R", rate, "-d", "10s"]);
    assert!(refused.err.contains("1.5s"), "{}", refused.err);
}

#[test]
fn the_body_comes_from_the_line_or_from_a_file() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    std::fs::write(bench.path("order.json"), vec![b'x'; 5000]).unwrap();
    let url = format!("http://{}/", nginx.address());
    let sent = |body: &str| {
        let run = bench.expect(0, &["run", &url, "-c", "1", "-n", "200", "-b", body, "--json"]).json();
        assert_eq!(run["plan"]["target"]["method"], "POST");
        run["steps"][0]["bytes_out"].as_u64().unwrap() / run["steps"][0]["sent"].as_u64().unwrap()
    };
    assert!((50..1000).contains(&sent("hello")));
    assert!(sent("@order.json") > 5000);
}

#[test]
fn conditions_that_do_not_hold_end_with_code_3() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/status/500");
    let run = bench.expect(3, &["run", &url, "-c", "2", "-n", "300", "--success", "99%", "--json"]).json();
    assert_eq!(run["steps"][0]["status"]["500"], run["steps"][0]["completed"]);
    let url = target.url("/sleep?ms=30");
    bench.expect(3, &["run", &url, "-c", "8", "-d", "3s", "--p99", "20ms"]);
    bench.expect(0, &["run", &url, "-c", "8", "-d", "3s", "--p99", "5s"]);
}

#[test]
fn a_result_that_is_no_evidence_ends_with_code_4_under_strict() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=50");
    bench.expect(4, &["run", &url, "-c", "1", "-n", "4", "--strict"]);
}

#[test]
fn without_files_nothing_is_written() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    bench.expect(0, &["run", &target.url("/healthz"), "-c", "1", "-n", "100", "--no-files"]);
    assert_eq!(std::fs::read_dir(bench.folder()).unwrap().count(), 0);
}

#[test]
fn an_open_loop_keeps_to_its_most_connections_from_the_start() {
    let bench = Bench::new();
    let server = BadServer::start(Script::Correct { body: b"ok".to_vec() });
    let url = format!("http://{}/", server.address());
    bench.expect(0, &["run", &url, "-R", "50", "-n", "10", "--max-connections", "3"]);
    // One more is made before the load, to see whether the target is there.
    assert!(server.connections() <= 4, "{} connections", server.connections());
}

#[test]
fn a_run_file_is_for_its_owner_alone() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    bench.expect(0, &["run", &target.url("/healthz"), "-c", "1", "-n", "100", "-H", "Cookie: secret"]);
    let mode = std::fs::metadata(bench.run_file("plimsoll-runs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
