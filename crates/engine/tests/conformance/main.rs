//! Every conformance case through the real engine, over real sockets, with each driver, whole and byte by byte.
//!
//! A case is one step: two requests on one connection, to a server that plays the case to the first and answers the second
//! in order. What the step counts, and what the server saw of it, has to be what the case's file says.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

mod outcome;
mod probe;

use plimsoll_plan::DriverKind;
use plimsoll_testkit::conformance::{Case, CaseServer, Pieces, Play, Suite, suite};

/// Plays all cases of a suite.
fn check(of: Suite, driver: DriverKind, pieces: Pieces) {
    let groups = suite(of);
    let cases = groups.iter().flat_map(|group| &group.cases);
    let cases = cases.filter(|case| pieces == Pieces::Whole || !case.whole_only);
    let wrong: Vec<String> = cases.filter_map(|case| difference(of, case, driver, pieces)).collect();
    assert!(wrong.is_empty(), "{driver:?} {pieces:?}:\n{}", wrong.join("\n"));
}

/// Where what was counted is not what the case says.
fn difference(of: Suite, case: &Case, driver: DriverKind, pieces: Pieces) -> Option<String> {
    let server = CaseServer::start(of, case, pieces, Play::Once);
    let counted = probe::count(of, case, server.address(), driver);
    let measured = outcome::describe(of, case, &counted, &server.finish());
    (measured != case.plimsoll).then(|| format!("{}: {measured} instead of {}", case.name, case.plimsoll))
}

#[test]
fn http1_responses_sent_whole_are_counted_as_their_cases_say_with_epoll() {
    check(Suite::Http1, DriverKind::Epoll, Pieces::Whole);
}

#[test]
fn http1_responses_sent_whole_are_counted_as_their_cases_say_with_io_uring() {
    check(Suite::Http1, DriverKind::IoUring, Pieces::Whole);
}

#[test]
fn http1_responses_sent_byte_by_byte_are_counted_as_their_cases_say_with_epoll() {
    check(Suite::Http1, DriverKind::Epoll, Pieces::Bytes);
}

#[test]
fn http1_responses_sent_byte_by_byte_are_counted_as_their_cases_say_with_io_uring() {
    check(Suite::Http1, DriverKind::IoUring, Pieces::Bytes);
}

#[test]
fn http2_frames_sent_whole_are_counted_as_their_cases_say_with_epoll() {
    check(Suite::Http2, DriverKind::Epoll, Pieces::Whole);
}

#[test]
fn http2_frames_sent_whole_are_counted_as_their_cases_say_with_io_uring() {
    check(Suite::Http2, DriverKind::IoUring, Pieces::Whole);
}

#[test]
fn http2_frames_sent_byte_by_byte_are_counted_as_their_cases_say_with_epoll() {
    check(Suite::Http2, DriverKind::Epoll, Pieces::Bytes);
}

#[test]
fn http2_frames_sent_byte_by_byte_are_counted_as_their_cases_say_with_io_uring() {
    check(Suite::Http2, DriverKind::IoUring, Pieces::Bytes);
}
