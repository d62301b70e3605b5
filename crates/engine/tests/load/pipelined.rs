//! Several requests at a time on one connection.

use std::time::Duration;

use plimsoll_engine::{FixedRequest, Traffic};
use plimsoll_plan::{ArrivalProcess, Level, Target};
use plimsoll_record::FailureKind;
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::measured::{Measured, closed, open, order};

#[test]
fn pipelined_requests_are_all_answered_also_over_connections_that_the_server_ends() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), closed(2));
    order.depth = 16;
    order.duration = Duration::from_secs(600);
    let target = Target::parse(&format!("http://{}/brief", nginx.address())).unwrap();
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), "GET"));
    order.requests_max = Some(600);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!((measured.counts.completed, measured.counts.ok), (600, 600));
    assert!(measured.counts.reconnects > 0);
}

#[test]
fn as_many_requests_are_under_way_as_connections_carry() {
    let server = BadServer::start(Script::NeverAnswer);
    let mut order = order(server.address(), closed(3));
    order.depth = 5;
    order.timeout = Duration::from_secs(1);
    let mut most = 0;
    let measured = Measured::watched(&order, |frame, running| {
        most = frame.head.in_flight.max(most);
        if most >= 15 {
            running.end_load();
        }
    });
    assert_eq!(most, 15);
    assert_eq!(measured.failures(), ["timed_out"]);
    assert_eq!(measured.latency.len(), measured.failed(FailureKind::TimedOut));
}

#[test]
fn an_open_loop_fills_connections_before_it_opens_more() {
    let server = BadServer::start(Script::NeverAnswer);
    let (profile, arrivals) = ("const(1000,90ms)".parse().unwrap(), ArrivalProcess::Constant);
    let level = Level::Open { profile, arrivals, connections: 2, depth: 1 };
    let mut order = order(server.address(), level);
    order.depth = 50;
    order.requests_max = None;
    order.timeout = Duration::from_secs(60);
    let mut sent = 0;
    let measured = Measured::watched(&order, |frame, running| {
        sent += frame.head.counts.sent;
        if sent >= 90 && server.connections() >= 2 {
            running.abandon();
        }
    });
    assert_eq!((measured.counts.intended, measured.counts.sent), (90, 90));
    assert_eq!(server.connections(), 2);
}

#[test]
fn an_open_loop_keeps_its_pipelined_connections() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), open(1000.0, 2));
    order.depth = 8;
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!((measured.counts.completed, measured.counts.reconnects), (300, 0));
}
