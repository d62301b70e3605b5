//! Dependencies behind a bounded number of connections.

use plimsoll_analyze::{Confidence, Limit, Observation, Verdict};

use crate::watch::{Watch, connections, waiting};

const DATABASE: &str = "10.0.0.5:3306";

/// An API before a database of four cores that no probe watches, with so many connections to it, and so many requests at its
/// door.
fn before_four_cores(open: impl Fn(usize) -> f64, door: impl Fn(usize) -> f64) -> Verdict {
    Watch::pool(4.0, 0.005, 128)
        .host("api", 4.0, 300e-6)
        .process("api", "8 java", 300e-6)
        .gauge(("api", "process", "8 java"), "threads", |_, _| 60.0)
        .listener("api", "0.0.0.0:8080", 8, move |step, _| door(step))
        .gauge(("api", "peers", "8 java"), DATABASE, move |step, _| open(step))
        .verdict()
}

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

fn also(verdict: &Verdict, limit: Limit) -> bool {
    verdict.also.iter().any(|also| also.limit == limit)
}

#[test]
fn a_full_database_behind_a_larger_pool_of_connections_is_the_limit() {
    // A pool that grows with its use to ten, of which four are served at once.
    let grown = |step: usize| connections(step).min(10.0);
    let verdict = before_four_cores(grown, |_| 0.0);
    assert_eq!(found(&verdict), (Limit::Dependency, DATABASE, Confidence::Inferred), "{verdict:#?}");
    assert!(also(&verdict, Limit::Pool), "{:?}", verdict.also);
    let ten_threads = before_four_cores(grown, |step| waiting(step, 10.0));
    assert_eq!(ten_threads.limit, Limit::Dependency, "{ten_threads:#?}");
}

#[test]
fn connections_that_may_idle_leave_it_open_whether_the_database_is_full() {
    let verdict = before_four_cores(|_| 10.0, |_| 0.0);
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api"));
    assert!(also(&verdict, Limit::Dependency), "{:?}", verdict.also);
}

#[test]
fn a_pool_of_workers_with_several_connections_each_is_a_pool() {
    let three = before_four_cores(|step| 3.0 * connections(step).min(4.0), |_| 0.0);
    assert_eq!((three.limit, three.host()), (Limit::Pool, "api"), "{three:#?}");
    let at_the_door = before_four_cores(|step| connections(step).min(10.0), |step| waiting(step, 4.0));
    assert_eq!((at_the_door.limit, at_the_door.host()), (Limit::Pool, "api"), "{at_the_door:#?}");
}

#[test]
fn connections_to_a_dependency_are_those_that_lead_there() {
    let verdict = Watch::pool(8.0, 0.007, 128)
        .host("api", 4.0, 20e-6)
        .process("api", "8 java", 20e-6)
        .listener("api", "0.0.0.0:8080", 8, |_, _| 0.0)
        .gauge(("api", "peers", "8 java"), DATABASE, |step, _| connections(step))
        .gauge(("api", "peers", "8 java"), "10.0.0.6:6379", |_, _| 5.0)
        .verdict();
    assert_eq!(found(&verdict), (Limit::Dependency, DATABASE, Confidence::Inferred), "{verdict:#?}");
    let is_to = |observed: &Observation| matches!(observed, Observation::ConnectionsTo { .. });
    let row = verdict.evidence.iter().find(|row| is_to(&row.observed)).unwrap();
    assert_eq!(row.value, 128.0);
}
