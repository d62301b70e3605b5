//! A target that goes away, comes back, or never answers.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use plimsoll_testkit::{BadServer, Script};

use crate::bench::{Bench, Called, Target, happened};

/// Polls until a condition holds, at most 30 s.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1500 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited 30 s in vain: {what}");
}

/// Whether the only run file holds a completed request.
fn has_measured(bench: &Bench) -> bool {
    recorded(bench).is_some_and(|step| step["completed"].as_u64() > Some(0))
}

/// The first step of the only run file, if there is one to be read.
fn recorded(bench: &Bench) -> Option<serde_json::Value> {
    let folder = bench.path("plimsoll-runs");
    if !folder.exists() {
        return None;
    }
    let report = bench.call(&["report", bench.run_file("plimsoll-runs").to_str().unwrap(), "--json"]);
    (report.code == 0).then(|| report.json()["steps"][0].clone())
}

#[test]
fn a_restart_in_the_middle_of_a_run_counts_against_its_success() {
    let bench = Bench::new();
    let mut target = Target::start(&bench);
    let url = target.url("/sleep?ms=20");
    // Eight seconds or more, so that it is not over before its first second is in its file.
    let args = ["run", &url, "-c", "8", "-n", "3200", "--success", "99.99%"];
    let mut child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    wait_until("a measured request", || has_measured(&bench));
    target.restart(&bench, || {
        let failed = err.by_ref().lines().any(|line| line.unwrap().contains("connect_refused"));
        assert!(failed, "the run ended without a failed request");
    });
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let called = Called::from(child.wait_with_output().unwrap());
    assert_eq!(called.code, 3, "{}{rest}", called.out);
}

#[test]
fn a_target_killed_shortly_before_the_end_of_a_run_is_reported_as_lost() {
    let bench = Bench::new();
    // At 100 requests a second these are answered after 1 s of 2.5: the rest is too short to end the run.
    let server = BadServer::start(Script::KillAfter { requests: 100 });
    let url = format!("http://{}/", server.address());
    let called = bench.expect(1, &["run", &url, "-R", "100", "-d", "2500ms", "--full"]);
    let text = called.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("refused every connection; the load went on to its end"), "{text}");
    assert!(!text.contains("the run ended there"), "{text}");
    for window in ["until the target was lost, success", "over all 2.50 s of the load"] {
        assert!(text.contains(window), "{window}: {text}");
    }
}

#[test]
fn a_target_killed_within_a_sweep_ends_it() {
    let bench = Bench::new();
    let server = BadServer::start(Script::KillAfter { requests: 300 });
    let url = format!("http://{}/", server.address());
    let called = bench.expect(1, &["sweep", &url, "--ladder", "1,2,4", "--step", "2s", "--json"]);
    let run = called.json();
    assert_eq!(run["steps"].as_array().unwrap().len(), 1, "no climbing on: {}", called.err);
    assert!(happened(&run, "target_lost"), "{}", run["events"]);
}

#[test]
fn ctrl_c_before_the_load_ends_the_wait_for_a_first_answer() {
    let bench = Bench::new();
    let server = BadServer::start(Script::NeverAnswer);
    let url = format!("http://{}/", server.address());
    let args = [&url, "--timeout", "20s"];
    let child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the first request", || server.requests() > 0);
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let called = Called::from(child.wait_with_output().unwrap());
    assert_eq!(called.code, 130, "{}{}", called.out, called.err);
    assert!(!bench.path("plimsoll-runs").exists(), "there is nothing to keep");
}
