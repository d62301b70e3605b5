//! `plimsoll fleet up --ssh`, with a real sshd and a real broker.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use plimsoll_testkit::Sshd;
use rustix::process::{Pid, Signal, kill_process};

use super::access::{Broker, guarded};
use super::{ceilings, rest, until};
use crate::bench::{Bench, Called, Target};

/// Hosts that ssh knows by these names; all are this machine.
struct Hosts<'a> {
    bench: &'a Bench,
    sshd: Sshd,
}

impl<'a> Hosts<'a> {
    /// Commands there find programs in this folder first.
    fn start(bench: &'a Bench, names: &str, programs: &Path) -> Self {
        let sshd = Sshd::start(programs).unwrap();
        let address = sshd.address();
        let known = std::fs::read_to_string(sshd.client_configuration()).unwrap();
        let text =
            format!("Host {names}\nHostName {}\nPort {}\nHost *\n{known}", address.ip(), address.port());
        std::fs::write(bench.path("ssh_config"), text).unwrap();
        Self { bench, sshd }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bench.command(args);
        command.env("PLIMSOLL_SSH", format!("ssh -F {}", self.bench.path("ssh_config").display()));
        command
    }

    fn expect(&self, code: i32, args: &[&str]) -> Called {
        let called = Called::from(self.command(args).output().unwrap());
        assert_eq!(called.code, code, "{args:?}\n--- out\n{}\n--- err\n{}", called.out, called.err);
        called
    }

    fn up(&self, code: i32, broker: &Broker<'_>, args: &[&str]) -> Called {
        let address = broker.address();
        let fixed = ["fleet", "up", "--fleet", &address, "--allow", "127.0.0.1", "--keys", "keys"];
        self.expect(code, &[&fixed[..], args].concat())
    }

    /// What the hosts say of their agents.
    fn status(&self) -> String {
        self.expect(0, &["fleet", "status", "--ssh"]).out
    }

    fn down(&self) {
        self.expect(0, &["fleet", "down", "--ssh"]);
    }
}

fn binary_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().unwrap()
}

/// Processes of agents that join this broker.
fn agents_of(broker: &Broker<'_>) -> Vec<i32> {
    let address = broker.address();
    let is_agent = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"agent"[..]) && words.contains(&address.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(is_agent).collect()
}

/// The folder of an agent, by its command line.
fn folder_of(pid: i32) -> PathBuf {
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let credentials = line.split('\0').skip_while(|word| *word != "--credentials").nth(1).unwrap();
    let home = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    home.join(credentials).parent().unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_fleet_over_ssh_gives_its_exact_answer_and_leaves_nothing() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha beta", binary_folder());
    let said = hosts.up(0, &broker, &["--ssh", "alpha,beta"]);
    assert_eq!(said.out.trim(), broker.address());
    assert!(said.err.contains("--fleet-key keys/conductor.nk"), "{}", said.err);
    let status = hosts.status();
    assert!(
        status.contains("host    alpha  alpha  runs (pid ") && status.contains("  beta  runs"),
        "{status}"
    );
    let pids = agents_of(&broker);
    let folders: Vec<PathBuf> = pids.iter().map(|pid| folder_of(*pid)).collect();
    assert_eq!(folders.len(), 2);
    for folder in &folders {
        assert_eq!((mode(folder), mode(&folder.join("agent.creds"))), (0o700, 0o600));
    }
    broker.gives_1000(&target, "2");
    let again = hosts.up(1, &broker, &["--ssh", "alpha"]).err;
    assert!(again.contains("plimsoll fleet down --ssh"), "{again}");
    hosts.down();
    assert!(agents_of(&broker).is_empty(), "down ends what up has started");
    assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
    assert!(!bench.path("plimsoll-fleet-ssh").exists());
    hosts.down();
}

#[test]
fn an_agent_that_died_is_shown_and_no_other_process_is_ended_for_it() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", binary_folder());
    hosts.up(0, &broker, &["--ssh", "alpha"]);
    let other = broker.agent("a", &["--credentials", "keys/agents/a.creds"]);
    other.reports("waits for runs");
    let pid = agents_of(&broker).into_iter().find(|pid| folder_of(*pid).join("agent.json").exists()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    until("the host says so", || hosts.status().contains("alpha  has ended: "));
    hosts.down();
    assert_eq!(agents_of(&broker).len(), 1, "the agent that another has started goes on");
}

#[test]
fn hosts_that_cannot_be_used_are_named_and_no_agent_is_left() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", binary_folder());
    let refused = plimsoll_testkit::refused_address();
    let lost = format!("127.0.0.1:{}", refused.port());
    let error = hosts.up(1, &broker, &["--ssh", &format!("alpha,{lost}")]).err;
    assert!(error.contains("1 of 2 hosts cannot be used") && !error.contains("alpha:"), "{error}");
    assert!(error.contains(&format!("{lost}: ssh could not log in")), "{error}");
    until("the agent on alpha is ended", || agents_of(&broker).is_empty());
    assert!(!bench.path("plimsoll-fleet-ssh").exists());
    let typed = hosts.up(2, &broker, &["--ssh", "alpha,-oProxyCommand=x"]).err;
    assert!(typed.contains("is no host for ssh"), "{typed}");
}

#[test]
fn an_agent_that_ends_is_named_with_its_last_words() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", binary_folder());
    let elsewhere = format!("nats://{}", plimsoll_testkit::refused_address());
    let error = hosts.up(1, &broker, &["--ssh", "alpha", "--join", &elsewhere]).err;
    assert!(error.contains("alpha: could not connect to the broker at"), "{error}");
    assert!(agents_of(&broker).is_empty());
}

#[test]
fn an_agent_that_is_not_heard_within_the_time_is_ended() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let other = Bench::new();
    let beyond = Broker::start(&other, "");
    let hosts = Hosts::start(&bench, "alpha", binary_folder());
    let join = beyond.address();
    let error = hosts.up(1, &broker, &["--ssh", "alpha", "--join", &join, "--within", "10s"]).err;
    assert!(error.contains("alpha: it runs, but does not answer at the broker"), "{error}");
    assert!(agents_of(&beyond).is_empty());
}

/// A folder with another program that is called plimsoll.
fn other_program(bench: &Bench, script: &str) -> PathBuf {
    let folder = bench.path("other");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("plimsoll");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn an_agent_on_a_host_has_the_ceiling_that_is_stored_there() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = guarded(&bench);
    let cache = ceilings::cache(&bench, &ceilings::measured(&bench), 300);
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let there = format!("XDG_CACHE_HOME='{}' exec '{program}' \"$@\"", cache.display());
    let hosts = Hosts::start(&bench, "alpha", &other_program(&bench, &there));
    hosts.up(0, &broker, &["--ssh", "alpha", "--calibrate"]);
    let run =
        broker.call(0, &["run", &target.url("/"), "-c", "2", "-n", "10", "--agents", "1", "--json"]).json();
    let generator = &run["fleet"][0]["generators"][0];
    assert_eq!((&generator["name"], &generator["ceiling_per_sec"]), (&"alpha".into(), &300.into()));
    hosts.down();
}

#[test]
fn an_agent_of_the_same_name_that_still_lives_is_not_taken_for_the_new_one() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "a", binary_folder());
    let old = broker.agent("a", &["--credentials", "keys/agents/a.creds"]);
    old.reports("waits for runs");
    let address = broker.address();
    let status = ["fleet", "status", "--fleet", &address, "--fleet-credentials", "keys/conductor.creds"];
    until("the old agent is heard", || bench.expect(0, &status).out.contains("agent   a "));
    let error = hosts.up(1, &broker, &["--ssh", "a"]).err;
    assert!(error.contains("already under these names: a; end them"), "{error}");
    drop(old);
    hosts.up(0, &broker, &["--ssh", "a"]);
    hosts.down();
}

#[test]
fn a_host_that_prints_without_end_is_late_too() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", &other_program(&bench, "exec yes noise"));
    let error = hosts.up(1, &broker, &["--ssh", "alpha", "--within", "2s"]).err;
    assert!(error.contains("alpha: the host did not answer in time"), "{error}");
}

#[test]
fn an_agent_whose_record_cannot_be_written_is_ended() {
    let bench = Bench::new();
    let broker = Broker::start(&bench, "");
    std::fs::create_dir_all(bench.path(".plimsoll-fleet/one/agent.json")).unwrap();
    let args = ["agent", "--join", &broker.address(), "--name", "a", "--allow", "127.0.0.1"];
    let order = serde_json::json!({ "name": "a", "args": args, "files": [] });
    let mut hosted = bench.command(&["fleet", "hosted", "start", "one"]);
    let mut hosted = hosted.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut conversation = hosted.stdin.take().unwrap();
    writeln!(conversation, "{order}").unwrap();
    let said = rest(hosted.stderr.take().unwrap());
    assert_eq!(hosted.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("could not write the record of the agent"), "{said}");
    assert!(agents_of(&broker).is_empty());
    drop(conversation);
}

#[test]
fn a_host_without_this_version_is_refused_and_gets_a_copy_where_it_is_asked_for() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", &other_program(&bench, "echo plimsoll 0.0.1"));
    let error = hosts.up(1, &broker, &["--ssh", "alpha"]).err;
    assert!(error.contains("plimsoll there is 0.0.1") && error.contains("--copy"), "{error}");
    std::fs::remove_file(bench.path("other/plimsoll")).unwrap();
    let error = hosts.up(1, &broker, &["--ssh", "alpha"]).err;
    assert!(error.contains("there is no plimsoll on alpha") && error.contains("--copy"), "{error}");
    hosts.up(0, &broker, &["--ssh", "alpha", "--copy"]);
    let folder = folder_of(agents_of(&broker)[0]);
    assert!(folder.join("plimsoll").exists());
    broker.gives_1000(&target, "1");
    hosts.down();
    assert!(!folder.exists() && agents_of(&broker).is_empty());
}

/// A command that goes on.
struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        plimsoll_units::best_effort(self.0.kill(), "it has ended");
        self.0.wait().unwrap();
    }
}

#[test]
fn agents_end_with_a_command_that_is_interrupted_or_killed_before_all_came() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let bench = Bench::new();
        let broker = guarded(&bench);
        let other = Bench::new();
        let beyond = Broker::start(&other, "");
        let hosts = Hosts::start(&bench, "alpha", binary_folder());
        let (address, join) = (broker.address(), beyond.address());
        let args = ["fleet", "up", "--ssh", "alpha", "--fleet", &address, "--join", &join];
        let args = [&args[..], &["--allow", "127.0.0.1", "--keys", "keys", "--within", "10m"]].concat();
        let command = hosts.command(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut going = Going(command);
        until("an agent runs", || {
            assert_eq!(going.0.try_wait().unwrap(), None, "{}", rest(going.0.stderr.take().unwrap()));
            !agents_of(&beyond).is_empty()
        });
        let folder = folder_of(agents_of(&beyond)[0]);
        kill_process(Pid::from_child(&going.0), signal).unwrap();
        assert_eq!(going.0.wait().unwrap().code(), code);
        until("nothing is left", || agents_of(&beyond).is_empty() && !folder.exists());
        drop(hosts.sshd);
    }
}

#[test]
fn a_host_that_cannot_be_reached_stays_in_the_record() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let hosts = Hosts::start(&bench, "alpha", binary_folder());
    hosts.up(0, &broker, &["--ssh", "alpha"]);
    let config = bench.path("ssh_config");
    let known = std::fs::read_to_string(&config).unwrap();
    let nowhere = format!("Port {}\n{known}", plimsoll_testkit::refused_address().port());
    std::fs::write(&config, format!("Host alpha\n{nowhere}")).unwrap();
    let error = hosts.expect(1, &["fleet", "down", "--ssh"]).err;
    assert!(error.contains("alpha: ssh could not log in"), "{error}");
    assert!(hosts.status().contains("not known: ssh could not log in"));
    std::fs::write(&config, known).unwrap();
    hosts.down();
    assert!(agents_of(&broker).is_empty());
}
