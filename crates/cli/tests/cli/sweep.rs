//! `plimsoll sweep`.

use std::time::Duration;

use plimsoll_testkit::{BadServer, Script};

use crate::bench::{Bench, Target, happened};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn sweep<'a>(url: &'a str, name: &'a str) -> Vec<&'a str> {
    vec!["sweep", url, "--ladder", "1,2,4", "--step", "1s", "--name", name, "--out", "out"]
}

#[test]
fn a_ladder_leaves_a_table_the_dat_of_wrktest_and_two_figures() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let called = bench.expect(0, &sweep(&target.url("/sleep?ms=2"), "api"));
    for expected in ["conns", "QPS", "mean", "p99"] {
        assert!(called.out.contains(expected), "{expected}: {}", called.out);
    }
    let dat = std::fs::read_to_string(bench.path("out/api.dat")).unwrap();
    let rows: Vec<Vec<f64>> = dat
        .lines()
        .map(|line| line.split_ascii_whitespace().map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [1.0, 2.0, 4.0]);
    for row in &rows {
        assert_eq!(row.len(), 4);
        assert!(row[1] > 0.0 && row[2] >= 2.0 && row[3] == 100.0, "{row:?}");
    }
    for figure in ["api_qps_ttlb", "api_successrate"] {
        let png = std::fs::read(bench.path(&format!("out/{figure}.png"))).unwrap();
        assert!(png.starts_with(PNG), "{figure}");
        let svg = std::fs::read_to_string(bench.path(&format!("out/{figure}.svg"))).unwrap();
        assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"), "{figure}");
    }
}

#[test]
fn a_name_in_use_is_refused_before_the_load_and_replaced_on_request() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    bench.expect(0, &sweep(&url, "api"));
    let refused = bench.expect(1, &sweep(&url, "api"));
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(refused.out, "");
    let mut forced = sweep(&url, "api");
    forced.push("--force");
    bench.expect(0, &forced);
}

#[test]
fn progress_in_a_pipe_is_a_plain_line_per_step() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let called = bench.expect(0, &sweep(&target.url("/healthz"), "api"));
    let steps = called.err.lines().filter(|line| line.contains("requests/s")).count();
    assert_eq!(steps, 3, "{}", called.err);
    assert!(!called.err.contains('\u{1b}'), "no terminal codes in a pipe");
    assert!(called.err.contains("127.0.0.1"), "the target's address is shown: {}", called.err);
}

#[test]
fn steps_are_climbed_in_the_order_given() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=2");
    let args = ["sweep", &url, "--ladder", "4,1,2", "--step", "200ms", "--json", "--no-files"];
    let run = bench.expect(0, &args).json();
    let connections: Vec<_> = run["steps"].as_array().unwrap().iter().map(|s| &s["connections"]).collect();
    assert_eq!(connections, [4, 1, 2]);
}

#[test]
fn a_warm_up_is_reported_and_is_not_a_step() {
    let bench = Bench::new();
    let slow = Duration::from_millis(5);
    let server = BadServer::start(Script::SlowAtFirst { requests: u64::MAX, cold: slow, warm: slow });
    let url = format!("http://{}/", server.address());
    let args = ["sweep", &url, "--ladder", "1,4", "--step", "200ms", "--warm", "1s"];
    let called = bench.expect(0, &args);
    assert!(called.out.contains("! The target was not steady after"), "{}", called.out);
    let file = bench.run_file("plimsoll-runs");
    let run = bench.expect(0, &["report", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(run["plan"]["warm"]["secs"], 1);
    assert!(happened(&run, "not_warm"), "{}", run["events"]);
    let steps = run["steps"].as_array().unwrap();
    let counted: u64 = steps.iter().map(|step| step["completed"].as_u64().unwrap()).sum();
    assert!(steps.len() == 2 && counted > 0 && counted < server.requests(), "{steps:?}");
    let refused = bench.expect(2, &["sweep", &url, "--warm", "1ms"]);
    assert!(refused.err.contains("the warm-up is 1ms"), "{}", refused.err);
}
