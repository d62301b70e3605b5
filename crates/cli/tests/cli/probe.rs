//! `plimsoll probe`, at home and over ssh.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use plimsoll_host::{Ssh, StreamError};
use plimsoll_record::{HostSample, Reading, Source};
use plimsoll_testkit::{Nginx, Server, Sshd, refused_address};
use plimsoll_units::{Clock as _, RealClock};

use crate::bench::{Bench, Target};

/// The folder that the binary under test is in.
fn binary_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().unwrap()
}

#[test]
fn one_look_shows_this_host_and_the_server_on_a_port() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let port = target.url("").rsplit_once(':').unwrap().1.to_owned();
    let seen = bench.expect(0, &["probe", "--port", &port, "--every", "200ms"]).out;
    for row in ["cpu", "cores", "memory", "tcp", "listener", "process"] {
        assert!(seen.lines().any(|line| line[2..].starts_with(row)), "{row} in\n{seen}");
    }
    assert!(seen.contains(&format!("127.0.0.1:{port}")) && seen.contains(" plimsoll "), "{seen}");
}

/// A process, ended when dropped.
struct Owned(std::process::Child);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_busy_thread_is_shown_with_its_share_of_a_core() {
    let bench = Bench::new();
    let busy = Owned(std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
    let pid = busy.0.id();
    let seen = bench.expect(0, &["probe", "--pid", &pid.to_string(), "--every", "500ms"]).out;
    let thread = seen.lines().find(|line| line.contains(&format!(" {pid}/{pid} sh ")));
    assert!(thread.is_some_and(|line| line.contains(" % of a core")), "{seen}");
}

#[test]
fn components_are_shown_and_those_that_do_not_tell_are_named() {
    let (bench, nginx, redis) = (Bench::new(), Nginx::start().unwrap(), Server::redis(&[]).unwrap());
    let stub = format!("nginx+http://{}/stub", nginx.address());
    let gone = format!("memcached://{}", refused_address());
    let redis = format!("redis://{}", redis.address());
    let components = ["--component", &stub, "--component", &redis, "--component", &gone];
    let look = || bench.expect(0, &[&["probe", "--every", "200ms"][..], &components].concat()).out;
    // On a machine that stalls a component may not answer in time.
    let in_time = |seen: &String| !seen.contains("did not answer within");
    let seen = (0..9).map(|_| look()).find(in_time).unwrap_or_else(look);
    assert!(seen.contains(" commands/s") && seen.contains(" requests/s"), "{seen}");
    let line = seen.lines().find(|line| line.contains("memcached")).unwrap();
    assert!(line.starts_with('!') && line.contains("could not connect"), "{line}");
}

#[test]
fn a_port_without_a_listener_is_remarked() {
    let bench = Bench::new();
    let port = refused_address().port().to_string();
    let called = bench.expect(0, &["probe", "--port", &port, "--every", "100ms"]);
    assert!(called.err.contains(&format!("port {port}")), "{}", called.err);
}

#[test]
fn a_stream_goes_on_until_its_input_is_closed() {
    let bench = Bench::new();
    let mut command = bench.command(&["probe", "--stream", "--every", "100ms"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(first["plimsoll_probe"], 1);
    assert!(first["clock_ns"].as_u64().unwrap() <= RealClock.now().as_nanos());
    let cpu = |line: &String| line.contains("\"source\":\"cpu\"");
    let samples: Vec<String> = lines.by_ref().filter(cpu).take(3).collect();
    let began = |line: &String| -> u64 {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(sample["ok"]["total_ms"].as_u64().is_some(), "{sample}");
        sample["began_ns"].as_u64().unwrap()
    };
    let instants: Vec<u64> = samples.iter().map(began).collect();
    assert!(instants.is_sorted_by(|a, b| a < b), "each was read after the one before: {instants:?}");
    drop(child.stdin.take());
    lines.for_each(drop);
    assert!(child.wait().unwrap().success(), "to be ended is how it ends");
}

#[test]
fn the_first_line_of_a_stream_is_stamped_when_it_is_sent() {
    let bench = Bench::new();
    let mut command = bench.command(&["probe", "--stream", "--every", "100ms"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
    let clock_ns = lines.next().unwrap()["clock_ns"].as_u64().unwrap();
    let mut rounds = 0;
    let is_first = |sample: &serde_json::Value| {
        rounds += u32::from(sample["source"] == "cpu");
        rounds == 1
    };
    let ended: Vec<u64> =
        lines.by_ref().take_while(is_first).map(|sample| sample["ended_ns"].as_u64().unwrap()).collect();
    assert!(ended.len() > 1 && ended.iter().all(|ended_ns| *ended_ns <= clock_ns), "{clock_ns}: {ended:?}");
    drop(child.stdin.take());
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_stream_whose_reader_is_gone_ends() {
    let bench = Bench::new();
    let mut command = bench.command(&["probe", "--stream", "--every", "100ms"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_no_component_is_refused_with_what_would_be() {
    let bench = Bench::new();
    let refused = |args: &[&str], part: &str| {
        let called = bench.expect(2, args);
        assert!(called.err.contains(part), "{args:?}: {}", called.err);
    };
    refused(&["probe", "--component", "ssh://web"], "no component but a host");
    refused(&["probe", "--component", "telnet://web"], "redis://host:6379");
    refused(&["probe", "--every", "1ms"], "100 ms");
    refused(&["probe", "--port", "0"], "port");
}

fn login(sshd: &Sshd, configuration: &Path) -> Ssh {
    let address = sshd.address();
    let ssh = Ssh::new(None, &address.ip().to_string(), Some(address.port()));
    ssh.through(&format!("ssh -F {}", configuration.display()))
}

#[test]
fn another_machine_is_sampled_over_ssh() {
    let (bench, origin) = (Bench::new(), RealClock.now());
    let target = Target::start(&bench);
    let port = target.url("").rsplit_once(':').unwrap().1.to_owned();
    let sshd = Sshd::start(binary_folder()).unwrap();
    let arguments = ["--port", &port, "--every", "100ms"].map(ToOwned::to_owned);
    let mut remote = login(&sshd, &sshd.client_configuration()).asking(&arguments).start(origin).unwrap();
    let mut samples: Vec<HostSample> = Vec::new();
    let rounds =
        |samples: &[HostSample]| samples.iter().filter(|sample| sample.source == Source::Cpu).count();
    while rounds(&samples) < 3 {
        samples.push(remote.next_sample().unwrap());
    }
    let now_ns = RealClock.now().nanos_since(origin);
    assert!(samples.iter().all(|sample| sample.began_ns <= sample.ended_ns && sample.ended_ns <= now_ns));
    let cpu: Vec<u64> =
        samples.iter().filter(|sample| sample.source == Source::Cpu).map(|sample| sample.ended_ns).collect();
    assert!(cpu.is_sorted() && cpu[0] > 0, "{cpu:?}");
    let listens = |sample: &HostSample| {
        sample.source == Source::Listener && sample.subject.ends_with(&format!(":{port}"))
    };
    assert!(samples.iter().any(listens), "its arguments reached it");
    assert!(
        samples.iter().any(|sample| matches!(&sample.reading, Reading::Ok(counters) if !counters.is_empty()))
    );
}

#[test]
fn a_probe_over_ssh_follows_what_a_process_there_is_connected_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redis.sock").to_str().unwrap().to_owned();
    let redis = Server::redis(&["--unixsocket", &path]).unwrap();
    let mut client = std::process::Command::new("redis-cli");
    client.args(["-s", &path]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = Owned(client.spawn().unwrap());
    client.0.stdin.as_mut().unwrap().write_all(b"PING\n").unwrap();
    client.0.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    let sshd = Sshd::start(binary_folder()).unwrap();
    let pid = client.0.id().to_string();
    let arguments = ["--pid", &pid, "--serving", "--every", "100ms"].map(ToOwned::to_owned);
    let configured = login(&sshd, &sshd.client_configuration()).asking(&arguments);
    let mut remote = configured.start(RealClock.now()).unwrap();
    let mut missing = vec![
        (Source::Process, format!("{} redis-server", redis.pid())),
        (Source::Listener, redis.address().to_string()),
        (Source::Listener, format!("unix:{path}")),
    ];
    // Processes are found every three seconds.
    for _ in 0..100_000 {
        let sample = remote.next_sample().unwrap();
        missing.retain(|(source, subject)| sample.source != *source || sample.subject != *subject);
        if missing.is_empty() {
            return;
        }
    }
    panic!("not seen: {missing:?}");
}

#[test]
fn a_login_that_fails_says_what_must_work() {
    let sshd = Sshd::start(binary_folder()).unwrap();
    let mut remote = login(&sshd, &sshd.stranger_configuration()).start(RealClock.now()).unwrap();
    let error = remote.next_sample().unwrap_err();
    assert!(matches!(error, StreamError::Login { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("Permission denied") && text.contains("BatchMode=yes"), "{text}");
    assert!(text.contains(&sshd.address().to_string()), "{text}");
}

#[test]
fn a_machine_without_plimsoll_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(empty.path()).unwrap();
    let mut remote = login(&sshd, &sshd.client_configuration()).start(RealClock.now()).unwrap();
    let error = remote.next_sample().unwrap_err();
    assert!(matches!(error, StreamError::NotInstalled { .. }), "{error}");
}

#[test]
fn a_machine_that_does_not_answer_is_named() {
    let address = refused_address();
    let ssh = Ssh::new(None, "127.0.0.1", Some(address.port()));
    let error = ssh.start(RealClock.now()).unwrap().next_sample().unwrap_err();
    assert!(matches!(error, StreamError::Login { .. }), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}
