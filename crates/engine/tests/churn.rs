//! Connections that come and go leave nothing behind.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

use std::time::Duration;

use plimsoll_engine::{FixedRequest, RunningStep, StepEvent, StepSpec, Traffic};
use plimsoll_plan::{DriverKind, Level, Target};
use plimsoll_testkit::{BadServer, Script};
use plimsoll_units::{Clock, RealClock};

/// Connections that are opened and closed.
const CHURN: u64 = 1000;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs until so many requests have been answered, each on a connection of its own; gives how many failed.
fn churn(server: &BadServer, driver: DriverKind) -> u64 {
    let target = Target::parse(&format!("http://{}/", server.address())).unwrap();
    let order = StepSpec {
        step: 0,
        level: Level::Closed { connections: 20, depth: 1 },
        duration: Duration::from_secs(60),
        destinations: vec![server.address().into()],
        sources: Vec::new(),
        traffic: Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), "GET")),
        requests: 1,
        depth: 1,
        requests_max: None,
        streams: false,
        tls: None,
        workers: 1,
        group: None,
        timeout: Duration::from_secs(10),
        connections_max: 20,
        interval: Duration::from_millis(20),
        seed: 1,
        driver: Some(driver),
        origin: RealClock.now(),
    };
    let mut running = RunningStep::start(&order).unwrap();
    let (mut completed, mut failed) = (0, 0);
    loop {
        match running.next(Duration::from_secs(60)).unwrap() {
            StepEvent::Frame(frame) => {
                completed += frame.head.counts.completed;
                failed += frame.head.counts.failed.total();
            }
            StepEvent::Ended => break,
            StepEvent::Timeout => panic!("no frame within a minute"),
        }
        if completed >= CHURN {
            running.end_load();
        }
    }
    assert!(completed >= CHURN, "{completed} answers in a minute");
    failed
}

#[test]
fn a_thousand_connections_leave_no_descriptor_behind() {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let before = descriptors();
        let server = BadServer::start(Script::Http10);
        assert_eq!(churn(&server, driver), 0, "{driver:?}");
        drop(server);
        // The server's threads close their ends when they see ours closed.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            descriptors() <= before
        });
        assert!(gone, "{driver:?}: {before} descriptors before and {} after", descriptors());
    }
}
