//! What wrk loses and Plimsoll counts.

use plimsoll_testkit::{BadServer, Script};

use crate::caller::{Caller, number};

#[test]
fn every_connection_that_was_asked_for_is_opened() {
    let (caller, server) = (Caller::new(), BadServer::start(Script::Correct { body: b"ok".to_vec() }));
    let url = format!("http://{}/", server.address());
    let called = caller.expect(0, &["-t12", "-c400", "-d2s", &url]);
    assert!(called.out.contains("  12 threads and 400 connections\n"), "{called:?}");
    // One more asks whether the target is there.
    assert_eq!(server.connections(), 401);
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
