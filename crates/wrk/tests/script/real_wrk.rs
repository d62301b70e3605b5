//! The same scripts under wrk itself: the first requests that a server gets are the same.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use plimsoll_testkit::read_request;
use plimsoll_wrk::script::ThreadState;

use super::{Bench, answer, example};

/// How many requests are compared.
const REQUESTS: usize = 7;

/// How long wrk may take for them on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A header field that the server sends, whether it serves wrk or us.
const TOKEN: (&str, &str) = ("X-Token", "secret");

/// Answers the requests of a connection and passes them on, until no more are needed or the connection ends.
fn serve(stream: &TcpStream, seen: &Sender<String>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let (name, value) = TOKEN;
        let response = format!("HTTP/1.1 200 OK\r\n{name}: {value}\r\nContent-Length: 2\r\n\r\nok");
        let mut out = stream;
        if seen.send(request).is_err() || out.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// The requests that reach the listener. Each connection has a thread that ends with it.
fn record(listener: TcpListener) -> Receiver<String> {
    let (seen, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, seen) = (stream.unwrap(), seen.clone());
            std::thread::spawn(move || serve(&stream, &seen));
        }
    });
    requests
}

fn sent_by_wrk(bench: &Bench, name: &str) -> Vec<String> {
    let requests = record(bench.listener.try_clone().unwrap());
    let mut wrk = Command::new("wrk")
        .args(["-t1", "-c1", "-d10m", "-H", "X-Given: a: b", "-s"])
        .arg(example(name))
        .args([bench.options.url_text.as_str(), "--", "/argument"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let seen: Vec<_> = (0..REQUESTS).map_while(|_| requests.recv_timeout(PATIENCE).ok()).collect();
    wrk.kill().unwrap();
    wrk.wait().unwrap();
    seen
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
    bench.options.headers = vec![("X-Given".to_owned(), "a: b".to_owned())];
    bench.options.args.push("/argument".to_owned());
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
