//! A generator that is the limit says so: three ways to make it one, and what this machine can do at most.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Bench, Called, Target};

/// The first core that this process may run on.
fn first_core() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}

/// A process that keeps one core busy, ended when dropped, and by the kernel after a minute of CPU time at the latest.
struct Busy(Child);

impl Busy {
    fn on(core: &str) -> Self {
        let work = "ulimit -t 60; while :; do :; done";
        Self(Command::new("taskset").args(["-c", core, "sh", "-c", work]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Calls the binary through another command, which it ends with.
fn call_through(bench: &Bench, before: &[&str], args: &[&str]) -> Called {
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(env!("CARGO_BIN_EXE_plimsoll")).args(args);
    command.current_dir(bench.folder()).env("NO_COLOR", "1").stdin(Stdio::null());
    Called::from(command.output().unwrap())
}

/// The causes of a run's document, by name.
fn causes(document: &Value) -> Vec<&str> {
    let causes = document["generator"]["causes"].as_array().unwrap();
    causes.iter().map(|cause| cause["id"].as_str().unwrap()).collect()
}

/// What holds whenever the generator was the limit.
fn check_that_it_says_so(bench: &Bench, called: &Called) {
    let document = called.json();
    let generator = &document["generator"];
    assert_eq!(generator["healthy"], false, "{generator}");
    assert_eq!(document["verdict"]["limit"], "generator", "{}", document["verdict"]);
    assert_eq!(document["answer"]["lower_bound"], true, "{}", document["answer"]);
    for cause in generator["causes"].as_array().unwrap() {
        assert!(cause["value"].is_number() && cause["bound"].is_number(), "{cause}");
        assert!(cause["remedy"].as_str().unwrap().len() > 20, "{cause}");
    }
    let file = bench.run_file("plimsoll-runs");
    let text = bench.expect(0, &["report", file.to_str().unwrap(), "--full"]).out;
    assert!(text.contains("NOT healthy") && text.contains("≥ "), "{text}");
}

fn signal(name: &str, to: &Child) {
    let sent = Command::new("kill").args([name, &to.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{name}");
}

/// Waits until the file of a run has frames that ended after this time of the run.
fn wait_for_frames(bench: &Bench, run: &mut Child, after_ns: u64) {
    let frames = |file: &std::path::Path| -> rusqlite::Result<u64> {
        let connection = rusqlite::Connection::open(file)?;
        let sql = "SELECT count(*) FROM frame WHERE ended_ns > ?";
        connection.query_row(sql, [after_ns], |row| row.get(0))
    };
    while run.try_wait().unwrap().is_none() {
        let folder = std::fs::read_dir(bench.path("plimsoll-runs"));
        let mut files = folder.into_iter().flatten().map(|entry| entry.unwrap().path());
        // The file is there before its tables are.
        if files.any(|file| file.extension() == Some("plimsoll".as_ref()) && frames(&file).unwrap_or(0) > 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the run ended before it had measured so long");
}

#[test]
fn a_generator_that_was_stopped_for_a_while_is_the_limit() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=2");
    let line = ["run", &url, "-c", "4", "-d", "300s", "--json", "--strict", "--no-probe"];
    let mut run = bench.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_frames(&bench, &mut run, 1_000_000_000);
    signal("-STOP", &run);
    // Of the time of the load a hundredth suffices, and it ends soon after.
    std::thread::sleep(Duration::from_secs(1));
    signal("-CONT", &run);
    wait_for_frames(&bench, &mut run, 2_000_000_000);
    signal("-INT", &run);
    let called = Called::from(run.wait_with_output().unwrap());
    assert_eq!(called.code, 130, "{}{}", called.out, called.err);
    check_that_it_says_so(&bench, &called);
    let document = called.json();
    assert!(causes(&document).contains(&"worker_stalled"), "{}", document["generator"]);
}

#[test]
fn a_core_shared_with_busy_processes_is_the_limit() {
    let (bench, core) = (Bench::new(), first_core());
    let target = Target::start(&Bench::new());
    let _busy: Vec<Busy> = (0..3).map(|_| Busy::on(&core)).collect();
    let url = target.url("/healthz");
    // Three others want the core all the time, so the worker has a quarter of it, however fast the core is.
    let line = ["run", &url, "-c", "100", "-t", "1", "-d", "2s", "--json", "--strict"];
    let called = call_through(&bench, &["taskset", "-c", &core], &line);
    assert_eq!(called.code, 4, "{}{}", called.out, called.err);
    check_that_it_says_so(&bench, &called);
    let document = called.json();
    assert!(causes(&document).contains(&"worker_starved"), "{}", document["generator"]);
    assert!(document["generator"]["by_worker"][0]["starved_ratio"].as_f64() >= Some(0.2));
}

#[test]
fn the_limit_of_descriptors_is_the_limit_of_an_open_loop_that_grows() {
    let bench = Bench::new();
    let target = Target::start(&Bench::new());
    // Each answer takes a second, so 2,000 connections would be needed, and 136 are allowed.
    let url = target.url("/sleep?ms=1000");
    let line = ["run", &url, "-R", "2000", "-d", "2500ms", "--json"];
    let called = call_through(&bench, &["sh", "-c", "ulimit -n 200; exec \"$@\"", "sh"], &line);
    assert_eq!(called.code, 0, "{}{}", called.out, called.err);
    check_that_it_says_so(&bench, &called);
    let document = called.json();
    assert!(causes(&document).contains(&"out_of_connections"), "{}", document["generator"]);
    assert_eq!(document["generator"]["machine"]["descriptors_limit"], 200);
}

#[test]
fn descriptors_that_others_took_are_named_when_they_run_out() {
    let bench = Bench::new();
    let target = Target::start(&Bench::new());
    let url = target.url("/sleep?ms=1000");
    // The process inherits a hundred descriptors, which no look at the limit shows.
    let script = "ulimit -n 200; for n in {1..100}; do exec {taken}</dev/null; done; exec \"$@\"";
    let line = ["run", &url, "-R", "2000", "-d", "2500ms", "--json"];
    let called = call_through(&bench, &["bash", "-c", script, "bash"], &line);
    check_that_it_says_so(&bench, &called);
    let document = called.json();
    assert!(causes(&document).contains(&"no_descriptors_left"), "{}", document["generator"]);
    assert!(document["steps"][0]["failed"]["no_descriptors_left"].as_u64() > Some(0));
}

#[test]
fn a_rate_beyond_what_any_machine_can_make_is_the_generators_limit() {
    let bench = Bench::new();
    let target = Target::start(&Bench::new());
    let url = target.url("/healthz");
    // A fifth of a microsecond for each request: less than its two system calls take on any machine.
    let line = ["run", &url, "-R", "5M", "-t", "1", "-d", "500ms", "--max-connections", "50", "--json"];
    let called = bench.call(&line);
    check_that_it_says_so(&bench, &called);
    let document = called.json();
    assert!(causes(&document).contains(&"behind_schedule"), "{}", document["generator"]);
}

#[test]
fn a_calibration_is_remembered_and_later_runs_are_judged_by_it() {
    let bench = Bench::new();
    let target = Target::start(&Bench::new());
    let cache = bench.path("cache");
    let with_cache = |args: &[&str]| {
        let called = Called::from(bench.command(args).env("XDG_CACHE_HOME", &cache).output().unwrap());
        assert_eq!(called.code, 0, "{args:?}: {}{}", called.out, called.err);
        called
    };
    let url = target.url("/sleep?ms=20");
    let run = ["run", &url, "-c", "1", "-n", "10", "--no-files", "--full"];
    assert!(with_cache(&run).out.contains("plimsoll calibrate measures"), "it says what is missing");
    let called = with_cache(&["calibrate", "--budget", "2s", "--json"]);
    let calibrated = called.json();
    assert_eq!(calibrated["schema"], "plimsoll/calibration/1");
    assert!(calibrated["levels"].as_array().unwrap().len() >= 3);
    assert!(called.err.contains("closed loop, -t 1 -c 100"), "progress is shown: {}", called.err);
    let text = with_cache(&run).out;
    let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("requests/s that one worker can send here, calibrated"), "{text}");
    let document = with_cache(&[&run[..], &["--json"]].concat()).json();
    let ceiling = &document["generator"]["ceiling"];
    assert_eq!(ceiling["ceiling_per_sec"], calibrated["ceiling_per_sec"]);
    assert!(ceiling["age_sec"].as_f64() >= Some(0.0), "{ceiling}");
}
