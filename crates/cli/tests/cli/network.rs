//! The way to the target: other hosts, sources and sockets, and the limits on the way.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use plimsoll_testkit::Nginx;

use crate::bench::{Bench, Called, Target, happened};

/// A request as the server saw it.
#[derive(Clone)]
struct ReceivedRequest {
    /// Which connection brought it, in the order they were accepted. Its port does not tell: ports come again.
    connection: usize,
    from: SocketAddr,
    head: String,
}

/// A server that keeps what it saw of each request.
struct Witness {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Witness {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&seen);
        thread::spawn(move || {
            // Ends with the test's process: nothing waits for it.
            for connection in 0.. {
                let Ok((stream, from)) = listener.accept() else { return };
                let seen = Arc::clone(&of_thread);
                thread::spawn(move || answer(stream, connection, from, &seen));
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, connection: usize, from: SocketAddr, seen: &Mutex<Vec<ReceivedRequest>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let head = String::from_utf8_lossy(&buffer[..count]).into_owned();
        let closes = head.contains("Connection: close");
        seen.lock().unwrap().push(ReceivedRequest { connection, from, head });
        let field = if closes { "Connection: close\r\n" } else { "" };
        let response = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 2\r\n\r\nok");
        if stream.write_all(response.as_bytes()).is_err() || closes {
            return;
        }
    }
}

/// A short run with two connections of one worker.
fn short_run(bench: &Bench, code: i32, url: &str, more: &[&str]) -> Called {
    bench.expect(code, &[&["run", url, "-c", "2", "-t", "1", "-n", "200", "--no-files"], more].concat())
}

#[test]
fn another_host_gets_the_load_and_the_request_keeps_the_urls() {
    let (bench, server) = (Bench::new(), Witness::start());
    let address = server.address.to_string();
    let called = short_run(&bench, 0, "http://api.test/x", &["--connect-to", &address]);
    assert!(called.err.contains(&address), "the address is shown before the load: {}", called.err);
    let seen = server.seen();
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|request| request.head.contains("\r\nHost: api.test\r\n")), "{}", seen[0].head);
}

#[test]
fn a_host_may_be_given_its_addresses_and_those_that_do_not_answer_are_reported_and_left_out() {
    let (bench, server) = (Bench::new(), Witness::start());
    let port = server.address.port();
    let resolve = format!("api.test:{port}:127.0.0.1,127.0.0.2");
    let url = format!("http://api.test:{port}/");
    let called = short_run(&bench, 0, &url, &["--resolve", &resolve, "--json"]);
    let dropped = format!("127.0.0.2:{port} takes no connection (connect_refused)");
    assert!(called.err.contains(&dropped), "{}", called.err);
    let document = called.json();
    assert_eq!(document["preflight"]["addresses"], serde_json::json!([format!("127.0.0.1:{port}")]));
    assert!(happened(&document, "address_dropped"), "{}", document["events"]);
    assert_eq!(document["steps"][0]["ok"], document["steps"][0]["completed"]);
}

#[test]
fn a_unix_socket_takes_the_place_of_the_host() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let before = nginx.requests().unwrap();
    let socket = nginx.socket();
    let socket = socket.to_str().unwrap();
    let called = short_run(&bench, 0, "http://api.test/", &["--unix", socket, "--json"]);
    let document = called.json();
    assert_eq!(document["preflight"]["address"], format!("unix:{socket}"));
    assert_eq!(document["steps"][0]["completed"], nginx.requests().unwrap() - before);
    let called = short_run(&bench, 1, "http://api.test/", &["--unix", "/nowhere/api.sock"]);
    assert!(called.err.contains("unix:/nowhere/api.sock"), "{}", called.err);
    assert!(
        called.err.contains("listening on this socket") && !called.err.contains("port"),
        "{}",
        called.err
    );
    let called = short_run(&bench, 2, "http://a/", &["--unix", socket, "--source-ip", "127.0.0.1"]);
    assert!(called.err.contains("--source-ip"), "{}", called.err);
}

#[test]
fn the_whole_answers_first_request_goes_through_the_unix_socket_too() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let socket = nginx.socket();
    let line =
        ["http://api.test/", "--unix", socket.to_str().unwrap(), "--budget", "1s", "--json", "--no-files"];
    // A budget this short may break a condition, or leave it open; only that it was answered counts here.
    let called = bench.call(&line);
    assert!([0, 3, 4].contains(&called.code), "{}", called.err);
    assert_eq!(called.json()["preflight"]["first_answer"]["status"], 200);
}

#[test]
fn connections_come_from_the_sources_that_are_named_and_only_from_own_addresses() {
    let (bench, server) = (Bench::new(), Witness::start());
    let url = format!("http://{}/", server.address);
    short_run(&bench, 0, &url, &["--source-ip", "127.0.0.7,127.0.0.8-127.0.0.9"]);
    let sources: BTreeSet<IpAddr> = server.seen().iter().map(|request| request.from.ip()).collect();
    let expected = ["127.0.0.7", "127.0.0.8", "127.0.0.9"].map(|source| source.parse().unwrap());
    assert!(!sources.is_empty() && sources.is_subset(&BTreeSet::from(expected)), "{sources:?}");
    let called = short_run(&bench, 1, &url, &["--source-ip", "192.0.2.1"]);
    assert!(called.err.contains("192.0.2.1") && called.err.contains("ip address"), "{}", called.err);
    let called = short_run(&bench, 2, &url, &["--source-ip", "10.0.0.9-10.0.0.1"]);
    assert!(called.err.contains("lower address first"), "{}", called.err);
}

#[test]
fn without_keep_alive_each_request_has_a_connection_of_its_own() {
    let (bench, server) = (Bench::new(), Witness::start());
    let url = format!("http://{}/", server.address);
    short_run(&bench, 0, &url, &["--no-keepalive"]);
    let seen = server.seen();
    let connections: BTreeSet<usize> = seen.iter().map(|request| request.connection).collect();
    assert!(seen.len() > 2);
    assert_eq!(connections.len(), seen.len());
}

#[test]
fn what_closes_a_connection_is_refused_with_what_keeps_or_shares_it() {
    let bench = Bench::new();
    let refused = |more: &[&str], expected: &str| {
        let called = bench.expect(2, &[&["run", "http://127.0.0.1:1/"], more].concat());
        assert!(called.err.contains(expected), "{}", called.err);
    };
    refused(&["--pipeline", "8", "--no-keepalive"], "--pipeline sends requests without waiting");
    refused(&["--pipeline", "8", "-H", "Connection: close"], "--pipeline sends requests without waiting");
    refused(&["--no-keepalive", "-H", "Connection: keep-alive"], "leave out one of them");
}

/// Calls the binary with a lowered hard limit of descriptors.
fn with_descriptors(bench: &Bench, limit: u32, args: &[&str]) -> Called {
    let mut command = Command::new("sh");
    let script = format!("ulimit -n {limit} && exec \"$@\"");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_plimsoll")]).args(args);
    command.current_dir(bench.folder()).env("NO_COLOR", "1");
    Called::from(command.output().unwrap())
}

#[test]
fn more_connections_than_descriptors_are_refused_before_the_load() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let called = with_descriptors(&bench, 200, &["run", &target.url("/healthz"), "-c", "500", "-d", "60s"]);
    assert_eq!(called.code, 1, "{}", called.err);
    for part in ["500 connections", "136", "ulimit -n 564"] {
        assert!(called.err.contains(part), "{part}: {}", called.err);
    }
    assert_eq!(std::fs::read_dir(bench.folder()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn of_a_ladder_the_steps_beyond_the_descriptors_are_rows_without_figures() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let url = target.url("/healthz");
    let line = ["sweep", &url, "--ladder", "2,500", "--step", "300ms", "--no-probe", "--name", "api"];
    let called = with_descriptors(&bench, 200, &line);
    assert_eq!(called.code, 1, "not everything was measured: {}{}", called.out, called.err);
    assert!(called.out.contains("  500  not run: this machine has descriptors for 136"), "{}", called.out);
    let document = bench.expect(0, &["report", "last", "--json"]).json();
    assert_eq!(document["steps_not_run"], serde_json::json!([500]));
    assert_eq!(document["steps"].as_array().unwrap().len(), 1);
    let dat = std::fs::read_to_string(bench.path("plimsoll-runs/api.dat")).unwrap();
    assert_eq!(dat.lines().count(), 1, "no row of invented figures: {dat}");
}

#[test]
fn as_many_connections_as_descriptors_allow_do_run() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let url = target.url("/healthz");
    let line = ["run", &url, "-c", "136", "-n", "2000", "--json", "--no-files"];
    let called = with_descriptors(&bench, 200, &line);
    assert_eq!(called.code, 0, "{}", called.err);
    assert_eq!(called.json()["steps"][0]["failed"], serde_json::json!({}));
}

#[test]
fn a_soft_limit_of_descriptors_is_raised_without_a_word() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 100 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_plimsoll")]);
    command.args(["run", &target.url("/healthz"), "-c", "200", "-n", "2000", "--no-files"]);
    let called = Called::from(command.current_dir(bench.folder()).output().unwrap());
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(!called.err.contains("limit"), "{}", called.err);
}
