//! The same scripts under wrk itself: the first requests that a server gets are the same.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use plimsoll_wrk::ThreadState;

use super::{Bench, answer, example};

/// How many requests are compared. A server that has seen them falls silent, so that wrk idles to its end.
const REQUESTS: usize = 7;

/// What a script's thread and wrk see of the server.
const TOKEN: (&str, &str) = ("X-Token", "secret");

type Seen = Arc<Mutex<Vec<String>>>;

/// Reads one request as text, its lines sorted: header fields are in the order of Lua's tables.
fn read_request(reader: &mut impl BufRead) -> Option<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    lines[1..].sort_unstable();
    lines.push(String::from_utf8(body).unwrap());
    Some(lines.join("\n"))
}

/// Answers the requests of a connection until enough were seen; then it stays open and says nothing.
fn serve(stream: &TcpStream, seen: &Seen) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let mut requests = seen.lock().unwrap();
        requests.push(request);
        if requests.len() <= REQUESTS {
            let (name, value) = TOKEN;
            let response = format!("HTTP/1.1 200 OK\r\n{name}: {value}\r\nContent-Length: 2\r\n\r\nok");
            let mut out = stream;
            out.write_all(response.as_bytes()).unwrap();
        }
    }
}

/// Takes connections for as long as the test's process runs.
fn record(listener: TcpListener) -> Seen {
    let seen = Seen::default();
    let recorded = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, recorded) = (stream.unwrap(), Arc::clone(&recorded));
            std::thread::spawn(move || serve(&stream, &recorded));
        }
    });
    seen
}

fn sent_by_wrk(bench: &Bench, name: &str) -> Vec<String> {
    let seen = record(bench.listener.try_clone().unwrap());
    let wrk = Command::new("wrk")
        .args(["-t1", "-c1", "-d1s", "-H", "X-Given: a: b", "-s"])
        .arg(example(name))
        .args([bench.args[0].as_str(), "--", "/argument"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(wrk.success());
    let requests = seen.lock().unwrap();
    requests[..REQUESTS].to_vec()
}

fn sent_by_us(thread: &mut ThreadState) -> Vec<String> {
    let mut requests = Vec::new();
    while requests.len() < REQUESTS {
        let mut out = Vec::new();
        thread.request(&mut out).unwrap();
        let mut reader = out.as_slice();
        while let Some(request) = read_request(&mut reader) {
            requests.push(request);
            answer(thread, 200, &[TOKEN, ("Content-Length", "2")], "ok");
        }
    }
    requests.truncate(REQUESTS);
    requests
}

/// Runs a script here and under wrk against the same address, and gives the requests of both.
fn side_by_side(name: &str) -> (Vec<String>, Vec<String>) {
    let mut bench = Bench::new();
    bench.target.headers = vec![("X-Given".to_owned(), "a: b".to_owned())];
    bench.args.push("/argument".to_owned());
    let (_, mut threads) = bench.load_file(&example(name)).unwrap();
    (sent_by_us(&mut threads[0]), sent_by_wrk(&bench, name))
}

#[test]
fn scripts_send_what_they_send_under_wrk() {
    let names = ["addr", "auth", "counter", "delay", "pipeline", "post", "report", "setup", "stop"];
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(move || {
                let (ours, theirs) = side_by_side(&format!("{name}.lua"));
                assert_eq!(ours, theirs, "{name}.lua");
            });
        }
    });
}
