//! A closed loop against servers that behave.

use std::time::Duration;

use plimsoll_engine::{FixedRequest, Traffic};
use plimsoll_plan::Target;
use plimsoll_record::{FailureKind, Phase};
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::measured::{Measured, closed, order};

#[test]
fn nginx_counts_what_is_reported_as_completed() {
    let nginx = Nginx::start().unwrap();
    let before = nginx.requests().unwrap();
    let mut order = order(nginx.address(), closed(20));
    order.workers = 2;
    let measured = Measured::new(&order);
    let counted = nginx.requests().unwrap() - before;
    assert_eq!(measured.counts.completed + measured.failed(FailureKind::Unanswered), counted);
    assert_eq!(measured.counts.ok, measured.counts.completed);
    assert_eq!(measured.latency.len(), measured.counts.completed);
}

#[test]
fn connections_are_dealt_out_to_all_workers_without_remainder() {
    let server = BadServer::start(Script::Correct { body: b"ok".to_vec() });
    let mut order = order(server.address(), closed(5));
    order.workers = 2;
    order.requests_max = None;
    let mut most = [0, 0];
    Measured::watched(&order, |frame, running| {
        if frame.head.phase == Phase::Measure {
            let seen = &mut most[frame.head.worker as usize];
            *seen = frame.head.connections.max(*seen);
        }
        if most.iter().sum::<u64>() >= 5 && server.connections() >= 5 {
            running.end_load();
        }
    });
    assert_eq!(most, [3, 2]);
    assert_eq!(server.connections(), 5);
}

#[test]
fn a_head_request_has_no_body_whatever_is_announced() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), closed(2));
    let mut target = Target::parse(&format!("http://{}/file", nginx.address())).unwrap();
    target.method = "HEAD".to_owned();
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method));
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    let per_response = measured.counts.bytes_in / measured.counts.completed;
    assert!(per_response < 1000, "{per_response} bytes a response");
}

#[test]
fn large_bodies_are_read_whole() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), closed(4));
    let target = Target::parse(&format!("http://{}/file", nginx.address())).unwrap();
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method));
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert!(measured.counts.bytes_in / measured.counts.completed >= 100_000);
}

#[test]
fn a_step_ended_early_still_waits_for_its_answers() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), closed(8));
    order.duration = Duration::from_secs(600);
    order.requests_max = None;
    let mut frames = 0;
    let measured = Measured::watched(&order, |_, running| {
        frames += 1;
        if frames == 2 {
            running.end_load();
        }
    });
    assert_eq!(measured.failures(), [""; 0]);
    let last = measured.frames.last().unwrap();
    assert_eq!(last.head.phase, Phase::Drain);
}

#[test]
fn an_abandoned_step_counts_what_was_under_way_as_unanswered() {
    let server = BadServer::start(Script::NeverAnswer);
    let mut order = order(server.address(), closed(3));
    order.duration = Duration::from_secs(600);
    order.timeout = Duration::from_secs(500);
    let measured = Measured::watched(&order, |frame, running| {
        if frame.head.in_flight == 3 {
            running.abandon();
        }
    });
    assert_eq!(measured.failed(FailureKind::Unanswered), 3);
    assert_eq!(measured.service.len(), 3, "they are in the histogram at their age");
}

#[test]
fn frames_follow_each_other_without_gap_or_overlap() {
    let nginx = Nginx::start().unwrap();
    let mut order = order(nginx.address(), closed(2));
    order.requests_max = None;
    let mut frames = 0;
    let measured = Measured::watched(&order, |_, running| {
        frames += 1;
        if frames == 5 {
            running.end_load();
        }
    });
    for pair in measured.frames.windows(2) {
        assert_eq!(pair[0].head.ended_ns, pair[1].head.began_ns);
        assert!(pair[0].head.interval <= pair[1].head.interval);
    }
}

#[test]
fn connections_that_the_server_closes_do_not_keep_others_from_opening() {
    let server = BadServer::start(Script::CloseDelimited);
    let mut order = order(server.address(), closed(300));
    order.duration = Duration::from_secs(600);
    order.requests_max = None;
    // All 300 are under way or being replaced, once the load is on: none waits behind those that come back.
    let mut most = 0;
    let measured = Measured::watched(&order, |frame, running| {
        most = frame.head.connections.max(most);
        if most > 150 || frame.head.interval > 200 {
            running.end_load();
        }
    });
    assert!(most > 150, "at most {most} of 300 connections were open at the end of an interval");
    assert_eq!(measured.failures(), [""; 0]);
}

#[test]
fn a_number_of_requests_ends_the_load_also_when_they_all_fail() {
    let mut order = order(plimsoll_testkit::refused_address(), closed(2));
    order.requests_max = Some(4);
    order.duration = Duration::from_secs(600);
    let measured = Measured::new(&order);
    assert_eq!((measured.counts.intended, measured.failed(FailureKind::ConnectRefused)), (4, 4));
}
