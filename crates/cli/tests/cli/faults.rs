//! Faults in the middle of a run lose nothing that was measured.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use plimsoll_testkit::{BadServer, Script};

use crate::bench::{Bench, Called, Target, happened};

/// Starts a long run and waits until its load has begun.
fn long_run(bench: &Bench, url: &str, more: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = bench
        .command(&[&["run", url, "-c", "2", "-d", "300s"], more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(line.contains("target"), "{line}");
    (child, err)
}

/// Waits until the run file holds frames: then something was measured, and committed.
fn wait_for_frames(bench: &Bench) -> String {
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    for _ in 0..600 {
        let report = bench.call(&["report", &file, "--json"]);
        if report.code == 0 && report.json()["steps"][0]["completed"].as_u64() > Some(0) {
            return file;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no frame was committed within 30 s");
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn ctrl_c_prints_and_keeps_what_was_measured() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (child, mut err) = long_run(&bench, &target.url("/sleep?ms=1"), &[]);
    let file = wait_for_frames(&bench);
    signal(&child, "INT");
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let called = Called::from(child.wait_with_output().unwrap());
    assert_eq!(called.code, 130, "{rest}");
    assert_eq!(bench.expect(0, &["report", &file]).out, called.out);
}

#[test]
fn ctrl_c_before_the_first_step_ends_a_warm_up_at_once_and_leaves_no_file() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (child, mut err) = long_run(&bench, &target.url("/sleep?ms=1"), &["--warm", "300s"]);
    signal(&child, "INT");
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let called = Called::from(child.wait_with_output().unwrap());
    assert_eq!((called.code, called.out.as_str()), (130, ""), "{rest}");
    assert!(rest.contains("of warm-up: no step was measured"), "{rest}");
    assert_eq!(std::fs::read_dir(bench.path("plimsoll-runs")).unwrap().count(), 0);
}

#[test]
fn a_run_that_is_killed_can_be_read_to_its_last_second() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (mut child, _) = long_run(&bench, &target.url("/sleep?ms=1"), &[]);
    let file = wait_for_frames(&bench);
    child.kill().unwrap();
    child.wait().unwrap();
    let report = bench.expect(0, &["report", &file, "--json"]).json();
    assert_eq!(report["run"]["sealed"], false);
}

#[test]
fn a_server_killed_under_load_ends_the_run_which_says_when_and_keeps_the_rest() {
    let bench = Bench::new();
    let server = BadServer::start(Script::KillAfter { requests: 200 });
    let url = format!("http://{}/", server.address());
    bench.expect(1, &["run", &url, "-c", "4", "-d", "300s"]);
    let file = bench.run_file("plimsoll-runs");
    let report = bench.expect(0, &["report", file.to_str().unwrap(), "--json"]).json();
    let step = &report["steps"][0];
    assert!(step["completed"].as_u64() >= Some(190) && step["failed"]["connect_refused"].is_u64(), "{step}");
    assert!(happened(&report, "target_lost"), "{}", report["events"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    std::fs::write(bench.path("occupied"), "a file where a folder should be").unwrap();
    let args = ["run", &url, "-c", "1", "-d", "200ms", "--out", "occupied", "--json"];
    let called = bench.expect(1, &args);
    assert!(called.err.contains("could not write to the folder occupied"), "{}", called.err);
    assert_eq!(called.json()["error"]["exit_code"], 1, "{}", called.out);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=10");
    let mut child =
        bench.command(&["run", &url, "-c", "1", "-n", "30"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
