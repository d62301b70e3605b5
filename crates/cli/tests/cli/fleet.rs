//! `--fleet`, `plimsoll agent` and `plimsoll fleet`, with a real broker.

mod access;
mod calibrated;
mod ceilings;
mod compose;
mod over_ssh;
mod partition;
mod plan_file;
mod resume;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use plimsoll_sys::ReservedPort;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, Called, Target, until};

/// What must have happened by then, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// `plimsoll fleet up --local`, ended when dropped.
struct Fleet<'a> {
    bench: &'a Bench,
    address: String,
}

impl<'a> Fleet<'a> {
    fn up(bench: &'a Bench, args: &[&str]) -> Self {
        let called = bench.expect(0, &[&["fleet", "up"], args].concat());
        Self { bench, address: called.out.trim().to_owned() }
    }

    fn record(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.bench.path("plimsoll-fleet/fleet.json")).unwrap()).unwrap()
    }

    fn kill(&self, group: &str, index: usize) {
        self.signal(group, index, Signal::KILL);
    }

    fn signal(&self, group: &str, index: usize, signal: Signal) {
        let pid = self.record()[group][index]["pid"].as_i64().unwrap();
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
    }

    fn status(&self) -> String {
        self.bench.expect(0, &["fleet", "status"]).out
    }

    /// Waits until the status is as it should be.
    fn await_status(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        until(what, || is_there(&self.status()));
    }

    /// A run of the fleet, with its document.
    fn run(&self, args: &[&str]) -> Value {
        self.call(0, args).json()
    }

    fn call(&self, code: i32, args: &[&str]) -> Called {
        let all = [&["run"], args, &["--fleet", &self.address, "--json", "--no-probe", "--quiet"]].concat();
        self.bench.expect(code, &all)
    }

    /// A run that goes on meanwhile, once its agents make load.
    fn start(&self, args: &[&str]) -> Child {
        let all = [&["run"], args, &["--fleet", &self.address, "--no-probe", "--name", "going"]].concat();
        let mut child =
            self.bench.command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("frames in the run file", || {
            assert_eq!(child.try_wait().unwrap(), None, "{}", rest(child.stderr.take().unwrap()));
            self.frames() > 0
        });
        child
    }

    /// Frames that a run under way has in its file.
    fn frames(&self) -> u64 {
        let Ok(folder) = std::fs::read_dir(self.bench.path("plimsoll-runs")) else { return 0 };
        let files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        let file = files.iter().find(|file| file.extension().is_some_and(|ending| ending == "plimsoll"));
        let Some(file) = file else { return 0 };
        let called = self.bench.call(&["report", &file.display().to_string(), "--json"]);
        if called.code == 0 { due_and_completed(&called.json()).0 } else { 0 }
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        self.bench.call(&["fleet", "down"]);
    }
}

fn rest(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// Requests of all steps that fell due, and those that were answered.
fn due_and_completed(run: &Value) -> (u64, u64) {
    let sum =
        |name: &str| run["steps"].as_array().unwrap().iter().map(|step| step[name].as_u64().unwrap()).sum();
    (sum("intended"), sum("completed"))
}

#[test]
fn three_agents_make_one_load_and_one_answer() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "3"]);
    let run = fleet.run(&[&target.url("/"), "-R", "300", "-d", "2s"]);
    assert_eq!(due_and_completed(&run), (600, 600), "the shares of the schedule add up to it");
    let step = &run["fleet"][0];
    let names: Vec<&str> =
        step["generators"].as_array().unwrap().iter().map(|share| share["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent-1", "agent-2", "agent-3"]);
    assert!(step["apart_max_ns"].as_u64().unwrap() >= step["apart_ns"].as_u64().unwrap(), "{step}");
    let file = bench.run_file("plimsoll-runs").display().to_string();
    let again = bench.expect(0, &["report", &file, "--json"]).json();
    assert_eq!(again, run, "the file gives the same answer");

    let counted = fleet.run(&[&target.url("/"), "-c", "7", "-n", "1000"]);
    assert_eq!(due_and_completed(&counted), (1000, 1000), "a number of requests is dealt out exactly");
    fleet.await_status("all agents are free again", |status| status.matches("free").count() == 3);
    let text = bench.expect(0, &["report", &file, "--full"]).out;
    assert!(text.contains("Fleet: 3 generators; they began within"), "{text}");
}

#[test]
fn an_agent_that_dies_is_named_and_the_figures_are_of_the_time_before() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let mut run = fleet.start(&[&target.url("/"), "-R", "200", "-d", "10m"]);
    fleet.kill("agents", 1);
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let named = lines.by_ref().map(Result::unwrap).find(|line| line.contains("agent-2 is gone"));
    assert!(named.is_some(), "the loss is reported while the run goes on");
    interrupt(&run);
    lines.for_each(drop);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let report =
        bench.expect(0, &["report", &bench.run_file("plimsoll-runs").display().to_string(), "--json"]).json();
    let share = &report["fleet"][0]["generators"][1];
    let (lost_sec, measured_sec) =
        (share["lost_sec"].as_f64().unwrap(), report["steps"][0]["duration_sec"].as_f64().unwrap());
    assert!(measured_sec <= lost_sec, "measured for {measured_sec} s, lost at {lost_sec} s");
    let rate = report["steps"][0]["throughput_per_sec"].as_f64().unwrap();
    assert!(rate > 110.0, "{rate}/s is not of both agents: one alone makes 100/s");
}

#[test]
fn an_agent_that_is_ended_in_a_run_ends_its_load_and_is_named() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let url = target.url("/?key=1f0c");
    let mut run = fleet.start(&[&url, "-R", "200", "-d", "10m", "--on-loss", "continue"]);
    fleet.signal("agents", 1, Signal::TERM);
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let named = lines.by_ref().map(Result::unwrap).find(|line| line.contains("agent-2 failed"));
    assert!(named.unwrap().contains("ended on its machine"), "the reason is reported");
    fleet.await_status("only the other one is there", |status| !status.contains("agent-2"));
    interrupt(&run);
    lines.for_each(drop);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let report =
        bench.expect(0, &["report", &bench.run_file("plimsoll-runs").display().to_string(), "--json"]).json();
    let generators = report["fleet"][0]["generators"].as_array().unwrap();
    let lost: Vec<bool> = generators.iter().map(|share| !share["lost_sec"].is_null()).collect();
    assert_eq!(lost, [false, true], "{report}");
    let log = std::fs::read_to_string(bench.path("plimsoll-fleet/agent-2.log")).unwrap();
    assert!(log.contains("loads 127.0.0.1:") && !log.contains("1f0c"), "{log}");
}

#[test]
fn a_run_that_is_to_stop_at_a_loss_stops_and_keeps_what_was_measured() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let mut run = fleet.start(&[&target.url("/"), "-R", "200", "-d", "10m", "--on-loss", "stop"]);
    fleet.kill("agents", 0);
    let errors = rest(run.stderr.take().unwrap());
    run.wait().unwrap();
    assert!(errors.contains("the run ends there"), "{errors}");
    bench.expect(0, &["report", &bench.run_file("plimsoll-runs").display().to_string()]);
}

#[test]
fn a_run_that_has_lost_all_agents_ends_whatever_is_to_become_of_a_loss() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let mut run = fleet.start(&[&target.url("/"), "-R", "200", "-d", "10m", "--on-loss", "continue"]);
    (0..2).for_each(|agent| fleet.kill("agents", agent));
    let errors = rest(run.stderr.take().unwrap());
    assert_eq!(run.wait().unwrap().code(), Some(1), "{errors}");
    assert!(errors.contains("; none is left") && errors.contains("the run ends there"), "{errors}");
    bench.expect(0, &["report", &bench.run_file("plimsoll-runs").display().to_string()]);
}

#[test]
fn agents_without_their_conductor_end_the_load_and_are_free_again() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1"]);
    let mut run = fleet.start(&[&target.url("/"), "-R", "200", "-d", "10m"]);
    run.kill().unwrap();
    run.wait().unwrap();
    fleet.await_status("the agent is free", |status| status.contains("agent-1") && status.contains("free"));
}

#[test]
fn a_broker_node_that_dies_costs_no_frame() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2", "--nodes", "3"]);
    let mut run = fleet.start(&[&target.url("/"), "-R", "200", "-d", "6s"]);
    fleet.kill("nodes", 0);
    let errors = rest(run.stderr.take().unwrap());
    assert_eq!(run.wait().unwrap().code(), Some(0), "{errors}");
    let report =
        bench.expect(0, &["report", &bench.run_file("plimsoll-runs").display().to_string(), "--json"]).json();
    assert_eq!(due_and_completed(&report), (1200, 1200), "{errors}");
    assert!(
        report["fleet"][0]["generators"].as_array().unwrap().iter().all(|share| share["lost_sec"].is_null())
    );
}

#[test]
fn an_agent_for_which_there_is_no_connection_is_named_before_the_load_and_in_the_report() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let run = fleet.run(&[&target.url("/"), "-c", "1", "-n", "10"]);
    assert_eq!(due_and_completed(&run), (10, 10));
    let shares = run["fleet"][0]["generators"].as_array().unwrap();
    let workers: Vec<_> = shares.iter().map(|share| (&share["name"], share["workers"].as_u64())).collect();
    assert_eq!(workers, [(&Value::from("agent-1"), Some(1)), (&Value::from("agent-2"), Some(0))]);
    let events = run["events"].as_array().unwrap();
    let named =
        events.iter().find(|event| event["text"].as_str().unwrap().contains("agent-2 gets no load: "));
    let named = named.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(named["kind"], "limit_met");
    assert!(named["text"].as_str().unwrap().contains("use -c "), "{named}");
    let file = bench.run_file("plimsoll-runs").display().to_string();
    let text = bench.expect(0, &["report", &file, "--full"]).out;
    assert!(text.contains("Fleet: 1 generator") && text.contains("agent-2 made no load"), "{text}");
}

#[test]
fn a_fleet_that_is_interrupted_while_it_starts_leaves_no_process() {
    let bench = Bench::new();
    let server = bench.path("nats-server");
    std::fs::write(&server, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bench.command(&["fleet", "up", "--local", "2"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bench.folder().display())).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let node = || -> Option<i64> {
        let record = std::fs::read(bench.path("plimsoll-fleet/fleet.json")).ok()?;
        serde_json::from_slice::<Value>(&record).unwrap()["nodes"][0]["pid"].as_i64()
    };
    until("the broker was started", || node().is_some());
    interrupt(&child.0);
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    let pid = node().unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is left");
    bench.expect(0, &["fleet", "down"]);
}

#[test]
fn an_agent_refuses_a_target_that_it_may_not_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1", "--allow", "allowed.test:80"]);
    let refused = fleet.call(1, &[&target.url("/"), "-R", "10", "-d", "1s"]);
    assert!(refused.err.contains("agent-1") && refused.err.contains("allowed.test:80"), "{}", refused.err);
    fleet.await_status("the agent is free", |status| status.contains("free"));
}

#[test]
fn an_agent_for_one_run_says_why_it_refuses_it() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = access::Broker::start(&bench, "");
    let agent = broker.agent("a", &["--once"]);
    agent.reports("waits for runs");
    let url = target.url("/").replace("127.0.0.1", "localhost");
    let refused = broker.call(1, &["run", &url, "-n", "10", "--no-probe", "--agents", "1"]).err;
    assert!(refused.contains("--allow list (127.0.0.1)"), "{refused}");
}

#[test]
fn metrics_that_cannot_be_served_end_the_run_for_its_agents() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = fleet.call(1, &[&target.url("/"), "-n", "10", "--metrics", &address]);
    assert!(refused.err.contains(&address), "{}", refused.err);
    fleet.await_status("the agent is free and keeps nothing", |status| {
        status.contains("free") && !status.contains("keeps")
    });
}

#[test]
fn two_agents_of_one_name_are_refused() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1"]);
    let mut twin =
        bench.command(&["agent", "--join", &fleet.address, "--name", "agent-1", "--allow", "127.0.0.1"]);
    twin.args(["--credentials", "plimsoll-fleet/keys/agents/agent-1.creds"]);
    let mut twin = Ended(twin.stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(twin.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("waits for runs"), "{line}");
    fleet.await_status("both are shown", |status| status.matches("agent   agent-1 ").count() == 2);
    let refused = fleet.call(1, &[&target.url("/"), "-R", "10", "-d", "1s", "--agents", "2"]);
    assert!(refused.err.contains("two agents call themselves agent-1"), "{}", refused.err);
}

#[test]
fn an_agent_obeys_only_conductors_whose_key_it_trusts() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1"]);
    let load = [&target.url("/"), "-n", "1000", "-c", "3"];
    let other = bench.path("other.nk");
    write_secret(&other, "SUANQDPB2RUOE4ETUA26CNX7FUKE5ZZKFCQIIW63OX225F2CO7UEXTM7ZY");
    let refused = fleet.call(1, &[&load[..], &["--fleet-key", other.to_str().unwrap()]].concat()).err;
    assert!(refused.contains("which is no --trust of this agent"), "{refused}");
    let run = fleet.run(&load);
    assert_eq!(due_and_completed(&run), (1000, 1000), "what was refused has cost nothing");
    let log = std::fs::read_to_string(bench.path("plimsoll-fleet/agent-1.log")).unwrap();
    assert!(log.contains("refused: it is signed with"), "{log}");
}

fn write_secret(path: &std::path::Path, content: &str) {
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A process that is ended when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_broker_that_cannot_be_used_is_an_error_before_the_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let run = |code: i32, broker: &str| {
        bench.expect(code, &["run", &target.url("/"), "-d", "1s", "--fleet", broker]).err
    };
    let reserved = ReservedPort::take().unwrap();
    let free = reserved.address();
    assert!(run(1, &format!("nats://{free}")).contains("could not connect to the broker"));
    assert!(run(2, "4222").contains("no address of a broker"));
    let no_agent = bench.expect(2, &["agent", "--join", "nats://127.0.0.1:1"]);
    assert!(no_agent.err.contains("--allow"), "{}", no_agent.err);

    let plain = bench.path("plain.conf");
    std::fs::write(&plain, format!("listen: \"{free}\"\n")).unwrap();
    let server = Command::new(plimsoll_fleet::nats_server().unwrap())
        .arg("--config")
        .arg(&plain)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _server = Ended(server);
    until("the broker answers", || std::net::TcpStream::connect(free).is_ok());
    let without = bench.expect(1, &["fleet", "status", "--fleet", &format!("nats://{free}")]);
    assert!(without.err.contains("has no JetStream"), "{}", without.err);
}
