//! An open loop: requests fall due by the schedule, whatever becomes of them.

use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Level, RateProfile};
use plimsoll_record::FailureKind;
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::measured::{Measured, open, order};

#[test]
fn every_arrival_of_the_schedule_is_sent_once() {
    let nginx = Nginx::start().unwrap();
    let before = nginx.requests().unwrap();
    let mut order = order(nginx.address(), open(1000.0, 4));
    order.workers = 2;
    let measured = Measured::new(&order);
    assert_eq!((measured.counts.intended, measured.counts.completed), (300, 300));
    assert_eq!(nginx.requests().unwrap() - before, 300);
}

#[test]
fn latency_counts_from_the_intended_instant_and_service_time_from_the_sent_one() {
    let server = BadServer::start(Script::NeverAnswer);
    let mut order = order(server.address(), open(100.0, 1));
    order.connections_max = 1;
    order.timeout = Duration::from_millis(100);
    order.requests_max = Some(30);
    let measured = Measured::new(&order);
    // One connection, each request holding it for 100 ms, and a new one due every 10 ms: they queue up.
    assert_eq!(measured.counts.intended, 30);
    let medians = [&measured.service, &measured.latency].map(|times| times.value_at_quantile(0.5));
    assert!(medians[0] < medians[1] / 2, "waiting is latency and not service time: {medians:?}");
    assert!(measured.failed(FailureKind::Unsent) > 0, "what was never sent is counted");
    assert_eq!(measured.latency.len(), 30);
}

#[test]
fn more_connections_are_opened_when_none_is_free_up_to_the_limit() {
    let server = BadServer::start(Script::NeverAnswer);
    let mut order = order(server.address(), open(200.0, 1));
    order.connections_max = 7;
    order.requests_max = None;
    let mut most = 0;
    Measured::watched(&order, |frame, running| {
        most = frame.head.connections.max(most);
        if most >= 7 && frame.head.backlog > 5 {
            running.abandon();
        }
    });
    assert_eq!(most, 7);
}

#[test]
fn poisson_arrivals_are_random_but_the_same_for_the_same_seed() {
    let nginx = Nginx::start().unwrap();
    let count = |seed| {
        let profile = RateProfile::Constant(2000.0);
        let level = Level::Open { profile, arrivals: ArrivalProcess::Poisson, connections: 4, depth: 1 };
        let mut order = order(nginx.address(), level);
        order.duration = Duration::from_millis(300);
        order.requests_max = None;
        order.seed = seed;
        Measured::new(&order).counts.intended
    };
    assert_eq!(count(3), count(3));
    assert_ne!(count(3), count(5));
}

#[test]
fn an_overloaded_target_is_not_loaded_on_after_the_end() {
    let server = BadServer::start(Script::SlowTrickle { gap: Duration::from_millis(50) });
    let mut order = order(server.address(), open(1000.0, 2));
    order.connections_max = 2;
    order.timeout = Duration::from_millis(300);
    order.duration = Duration::from_millis(300);
    order.requests_max = None;
    let measured = Measured::new(&order);
    assert_eq!(measured.counts.intended, 300);
    // Two connections, each giving up after 300 ms, can send at most a dozen in the load and the second after it.
    assert!(measured.counts.sent <= 12, "{}", measured.counts.sent);
    assert_eq!(measured.failed(FailureKind::Unsent), 300 - measured.counts.sent);
}

#[test]
fn places_of_connections_that_the_server_closes_are_used_again() {
    let server = BadServer::start(Script::Http10);
    let mut order = order(server.address(), open(200.0, 2));
    order.connections_max = 2;
    order.requests_max = Some(60);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!((measured.counts.completed, server.connections()), (60, 60));
}
