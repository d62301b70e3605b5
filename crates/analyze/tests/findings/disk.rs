//! Disks that requests wait for, and those that others use.

use std::collections::BTreeMap;

use plimsoll_analyze::{Confidence, Limit, Verdict};
use plimsoll_record::{Event, EventKind, HostSample, Reading};

use crate::synthetic::findings;
use crate::watch::{Watch, connections};

const SECOND_NS: u64 = 1_000_000_000;

/// An API with a pool of sixteen next to its database, so many threads of which wait for a device at any moment of each step.
fn next_to_a_database(waiting: impl Fn(f64) -> f64) -> Watch {
    let (api, database) = (("api", "peers", "8 java"), ("api", "waiting", "9 postgres"));
    Watch::pool(16.0, 0.005, 128)
        .host("api", 2.0, 50e-6)
        .process("api", "8 java", 40e-6)
        .listener("api", "0.0.0.0:8080", 8, |_, _| 0.0)
        .gauge(api, "127.0.0.1:5432", |step, _| connections(step).min(16.0))
        .process("api", "9 postgres", 5e-6)
        .listener("api", "127.0.0.1:5432", 9, |_, _| 0.0)
        .counter(database, "looks", |_, _| 10.0)
        .counter(database, "disk", move |_, x| 10.0 * waiting(x))
        .counter(("api", "disk", "nvme0n1"), "busy_ms", |_, _| 950.0)
}

/// The same after four seconds without load, in which so many threads waited as well.
fn rested(watch: Watch, waiting: u64) -> Verdict {
    let mut run = watch.run();
    let late_ns = 5 * SECOND_NS;
    for step in &mut run.steps {
        step.began_ns += late_ns;
        step.ended_ns += late_ns;
        step.drained_ns += late_ns;
    }
    for frame in &mut run.frames {
        frame.head.began_ns += late_ns;
        frame.head.ended_ns += late_ns;
    }
    for sample in &mut run.hosts {
        sample.began_ns += late_ns;
        sample.ended_ns += late_ns;
    }
    let before = |second: u64| HostSample {
        host: "api".into(),
        source: "waiting".into(),
        subject: "9 postgres".into(),
        began_ns: second * SECOND_NS,
        ended_ns: second * SECOND_NS,
        reading: Reading::Ok(
            BTreeMap::from([("looks".to_owned(), 10 * second), ("disk".to_owned(), 10 * waiting * second)])
                .into(),
        ),
    };
    run.hosts.extend((0..5).map(before));
    run.events.push(Event {
        at_ns: 4 * SECOND_NS + 1,
        kind: EventKind::Rested,
        failure: None,
        text: String::new(),
    });
    findings(&run).verdict
}

#[test]
fn a_process_that_waited_for_its_disk_before_the_load_did_so_for_no_request() {
    let checkpoints = |_: f64| 1.0;
    let verdict = rested(next_to_a_database(checkpoints), 1);
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api"), "{verdict:#?}");
    let commits = |x: f64| 1.0 + x / 3200.0;
    let verdict = rested(next_to_a_database(commits), 1);
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Disk, Confidence::Measured), "{verdict:#?}");
    assert_eq!(rested(next_to_a_database(checkpoints), 0).limit, Limit::Disk);
}

#[test]
fn a_process_that_serves_no_requests_waits_for_no_disk_of_theirs() {
    let waiting = ("api", "waiting", "30 backup");
    let verdict = next_to_a_database(|_| 0.0)
        .counter(("api", "process", "30 backup"), "cpu_us", |_, _| 300_000.0)
        .counter(waiting, "looks", |_, _| 10.0)
        .counter(waiting, "disk", |_, _| 10.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api"), "{verdict:#?}");
}

#[test]
fn threads_in_uninterruptible_sleep_wait_for_no_disk_that_idles() {
    let watch = |busy_ms: f64, stalled_us: f64| {
        let waiting = ("db", "waiting", "9 server");
        Watch::pool(2.0, 0.01, 32)
            .host("db", 2.0, 100e-6)
            .counter(waiting, "looks", |_, _| 10.0)
            .counter(waiting, "disk", |_, x| 0.1 * x)
            .counter(("db", "disk", "vda"), "busy_ms", move |_, x| busy_ms * x / 200.0)
            .counter(("db", "pressure", ""), "io_some_us", move |_, x| stalled_us * x / 200.0)
            .verdict()
    };
    assert_ne!(watch(10.0, 10_000.0).limit, Limit::Disk);
    assert_eq!(watch(10.0, 400_000.0).limit, Limit::Disk, "a network file system has no device here");
    assert_eq!(watch(300.0, 10_000.0).limit, Limit::Disk);
}
