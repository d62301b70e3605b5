//! Refusals beside a resource that refusing alone fills, and the doors that tell nothing.

use plimsoll_analyze::{Confidence, Limit};

use crate::synthetic::Level;
use crate::watch::{Watch, connections, pool_levels};

/// A request takes 5 ms and 100 µs of CPU. From the second step on clients that are refused at once ask again and again,
/// and fill all of the CPU with it, a refusal being 10 µs; `served` requests a second get through.
fn retried(served: [f64; 3]) -> Watch {
    let mut levels = vec![Level::at(1, 190.0)];
    levels.extend([2, 4, 8].iter().zip(served).map(|(n, served)| {
        let refusals = 100_000.0 * (0.95 + 0.01 * f64::from(*n).log2()) - 10.0 * served;
        Level { refused: refusals / (refusals + served), ..Level::at(*n, refusals + served) }
    }));
    Watch::over(&levels)
        .gauge(("lb", "cgroup", ""), "quota_us", |_, _| 10_000.0)
        .gauge(("lb", "cgroup", ""), "period_us", |_, _| 10_000.0)
        .counter(("lb", "cgroup", ""), "usage_us", |step, _| if step == 0 { 20_000.0 } else { 990_000.0 })
        .listener("lb", "0.0.0.0:8080", 7, |_, _| 0.0)
}

#[test]
fn a_cpu_that_refusals_alone_fill_is_no_limit() {
    let verdict = retried([300.0, 302.0, 298.0]).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Refused, "lb"), "{verdict:#?}");
    assert!(verdict.next_limit.is_none(), "{:?}", verdict.next_limit);
}

#[test]
fn a_limiter_that_counts_what_it_denies_refuses_though_next_to_nothing_is_served() {
    let verdict = retried([100.0, 20.0, 10.0]).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Refused, "lb"), "{verdict:#?}");
    assert_eq!(verdict.confidence, Confidence::Inferred);
}

#[test]
fn a_cpu_that_what_is_served_fills_is_the_limit_whatever_is_refused_beside() {
    let verdict = retried([8_000.0, 7_000.0, 6_500.0]).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "lb"), "{verdict:#?}");
}

#[test]
fn a_record_left_unread_while_a_server_works_is_nobody_at_its_door() {
    // One at a time, and of each request the last record is read when its answer is done.
    let levels: Vec<Level> = (0..5).map(|power| Level::at(1 << power, 120.0)).collect();
    let verdict = Watch::over(&levels)
        .host("php", 1.0, 1e-3)
        .process("php", "7 php-fpm", 1e-3)
        .listener("php", "0.0.0.0:8080", 7, |step, _| connections(step))
        .verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred, "{verdict:#?}");
    assert!(verdict.limit == Limit::Lock || verdict.also.iter().any(|other| other.limit == Limit::Lock));
    assert!(!verdict.evidence.iter().any(|row| row.what.contains("at the door")), "{:?}", verdict.evidence);
}

#[test]
fn what_is_not_accepted_waits_at_the_door_though_the_unread_tells_nothing() {
    let queue = |step: usize, _| (connections(step) - 8.0).max(0.0);
    let verdict = Watch::over(&pool_levels(8.0, 0.02, 64))
        .host("php", 1.0, 1e-4)
        .process("php", "7 php-fpm", 1e-4)
        .gauge(("php", "process", "7 php-fpm"), "threads", |_, _| 9.0)
        .listener("php", "0.0.0.0:8080", 7, |step, _| connections(step))
        .gauge(("php", "listener", "0.0.0.0:8080"), "queue", queue)
        .gauge(("php", "peers", "7 php-fpm"), "10.0.0.9:1", |_, _| 0.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Pool, Confidence::Measured), "{verdict:#?}");
}

#[test]
fn a_ladder_that_never_grows_shows_no_pool_however_many_wait_at_the_door() {
    let levels: Vec<Level> = (2..7).map(|power| Level::at(1 << power, 400.0)).collect();
    let verdict = Watch::over(&levels)
        .host("web", 1.0, 1e-4)
        .process("web", "7 web", 1e-4)
        .listener("web", "0.0.0.0:8080", 7, |step, _| 4.0 * connections(step) - 4.0)
        .gauge(("web", "peers", "7 web"), "10.0.0.9:1", |_, _| 0.0)
        .verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred, "{verdict:#?}");
}
