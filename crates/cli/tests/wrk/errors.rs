//! What wrk loses and Plimsoll counts.

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use plimsoll_testkit::{BadServer, Script};

use crate::caller::{Caller, number};

/// How long 400 connections may take on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reports every connection that the listener accepts, and keeps all of them open and unanswered.
fn accepted(listener: TcpListener) -> Receiver<()> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            kept.push(stream);
            if send.send(()).is_err() {
                return;
            }
        }
    });
    receive
}

#[test]
fn every_connection_that_was_asked_for_is_opened() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let accepted = accepted(listener);
    let caller = Caller::new();
    let mut command = caller.command("wrk");
    command.args(["-t12", "-c400", "-d10m", "-T10m", &url]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // One more asks whether the target is there.
    let count = (0..401).map_while(|_| accepted.recv_timeout(PATIENCE).ok()).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(count, 401);
}

#[test]
fn a_server_slower_than_the_timeout_is_counted_and_not_dropped() {
    let (caller, silent) = (Caller::new(), BadServer::start(Script::NeverAnswer));
    let url = format!("http://{}/", silent.address());
    let called = caller.expect(0, &["-t1", "-c3", "-d1s", "-T1s", "--latency", &url]);
    let [connect, read, write, timeout] = called.socket_errors();
    assert_eq!((connect, read, write, called.requests()), (0, 0, 0, 0), "{called:?}");
    assert_eq!(timeout, silent.requests(), "{called:?}");
    assert!(timeout >= 3 && number(called.words("50%")[1]) >= 1000.0, "{called:?}");
}

#[test]
fn a_connection_closed_between_two_requests_is_no_error() {
    let (caller, closing) = (Caller::new(), BadServer::start(Script::CloseBetweenRequests { after: 2 }));
    let called = caller.expect(0, &["-t1", "-c2", "-d1s", &format!("http://{}/", closing.address())]);
    assert_eq!(called.socket_errors(), [0; 4], "{called:?}");
    assert!(called.requests() > 2);
}
