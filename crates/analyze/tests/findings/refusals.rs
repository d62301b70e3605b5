//! Refusals next to a resource that refusing alone fills, and the doors that tell nothing.

use plimsoll_analyze::{Advice, Claim, Confidence, Limit, Observation};
use plimsoll_record::{EncodedHistogram, FailureKind, latency_histogram};

use crate::synthetic::{Level, findings};
use crate::watch::{Watch, connections, pool_levels, waiting};

/// A request takes 5 ms and 100 µs of CPU. From the second step on clients that are refused at once ask again and again,
/// and fill all of the CPU with it, a refusal being 10 µs; `served` requests a second get through.
fn retried(served: [f64; 3]) -> Watch {
    retried_and_late(served, 0)
}

/// The same, with so many answers to each worker after the load.
fn retried_and_late(served: [f64; 3], late_answers: u64) -> Watch {
    let mut levels = vec![Level::at(1, 190.0)];
    levels.extend([2, 4, 8].iter().zip(served).map(|(n, served)| {
        let refusals = 100_000.0 * (0.95 + 0.01 * f64::from(*n).log2()) - 10.0 * served;
        let refused = refusals / (refusals + served);
        Level { refused, late_answers, ..Level::at(*n, refusals + served) }
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
fn what_is_answered_after_the_load_is_not_served_under_it() {
    let verdict = retried_and_late([300.0, 302.0, 298.0], 600).verdict();
    let served = match verdict.claim {
        Some(Claim::Refused { per_sec, .. }) => per_sec,
        other => panic!("{other:?}"),
    };
    // With the late ones it would be 540.
    assert!((served / 300.0 - 1.0).abs() < 0.2, "{served}");
}

#[test]
fn a_limiter_that_counts_what_it_denies_refuses_though_next_to_nothing_is_served() {
    let verdict = retried([100.0, 20.0, 10.0]).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Refused, "lb"), "{verdict:#?}");
    assert_eq!(verdict.confidence, Confidence::Inferred);
}

/// A proxy that lets sixteen requests through to an API, keeps the others at its door, and refuses those that wait too long: a
/// few at 128 connections, many at 256. Or one that lets a rate of 3,200 requests/s through and delays the others.
pub(crate) fn refusing_beyond(bound: bool) -> Watch {
    let mut levels = pool_levels(16.0, 0.005, 64);
    levels.push(Level { refused: 0.08, intervals: 60, ..Level::at(128, 3200.0 / 0.92) });
    levels.push(Level { refused: 0.5, intervals: 60, ..Level::at(256, 6400.0) });
    Watch::over(&levels)
        .host("web", 1.0, 20e-6)
        .process("web", "7 haproxy", 20e-6)
        .listener("web", "0.0.0.0:8080", 7, move |step, _| if bound { waiting(step, 16.0) } else { 0.0 })
        .gauge(("web", "peers", "7 haproxy"), "10.0.0.3:9000", move |step, _| {
            connections(step).min(if bound { 16.0 } else { 3.0 })
        })
        .host("api", 4.0, 50e-6)
        .process("api", "8 java", 50e-6)
        .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
        .gauge(("api", "peers", "8 java"), "10.0.0.9:1", |_, _| 0.0)
}

#[test]
fn refusals_that_begin_beyond_the_plateau_of_an_observed_pool_did_not_stop_growth() {
    let verdict = refusing_beyond(true).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "web"), "{verdict:#?}");
    let also: Vec<Limit> = verdict.also.iter().map(|also| also.limit).collect();
    assert_eq!((verdict.confidence, also), (Confidence::Inferred, vec![Limit::Refused]));
    let delaying = refusing_beyond(false).verdict();
    assert_eq!(
        (delaying.limit, delaying.confidence),
        (Limit::Refused, Confidence::Inferred),
        "{delaying:#?}"
    );
}

#[test]
fn a_limiter_that_asks_a_store_refuses_itself() {
    let level = |n: u32, per_sec: f64, refused: f64| Level { refused, ..Level::at(n, per_sec) };
    let refusing = [(8, 357.0), (12, 400.0), (16, 454.0), (24, 550.0), (32, 650.0), (48, 850.0)];
    let mut levels = vec![level(1, 90.0, 0.0)];
    levels.extend(refusing.map(|(n, per_sec)| level(n, per_sec, 1.0 - 300.0 / per_sec)));
    let behind = |process: &str| {
        let process = format!("9 {process}");
        let watch = Watch::over(&levels).host("api", 1.0, 270e-6).process("api", "8 services", 270e-6);
        watch
            .listener("api", "0.0.0.0:8080", 8, |_, _| 0.0)
            .gauge(("api", "peers", "8 services"), "10.0.0.5:6379", |step, _| connections(step))
            .host("behind", 1.0, 70e-6)
            .process("behind", &process, 70e-6)
            .link("behind", 1e9, 200.0, 200.0)
            .listener("behind", "10.0.0.5:6379", 9, |_, _| 0.0)
            .verdict()
    };
    for (process, place) in [("redis-server", "api"), ("gateway", "behind")] {
        let verdict = behind(process);
        assert_eq!((verdict.limit, verdict.host()), (Limit::Refused, place), "{verdict:#?}");
    }
}

#[test]
fn a_cpu_that_what_is_served_fills_is_the_limit_whatever_is_refused_with_it() {
    let verdict = retried([8_000.0, 7_000.0, 6_500.0]).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "lb"), "{verdict:#?}");
}

#[test]
fn a_record_left_unread_while_a_server_works_is_no_request_at_its_door() {
    // One at a time, and of each request the last record is read when its answer is done.
    let levels: Vec<Level> = (0..5).map(|power| Level::at(1 << power, 120.0)).collect();
    let verdict = Watch::over(&levels)
        .host("php", 1.0, 1e-3)
        .process("php", "7 php-fpm", 1e-3)
        .listener("php", "0.0.0.0:8080", 7, |step, _| connections(step))
        .verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred, "{verdict:#?}");
    assert!(verdict.limit == Limit::Lock || verdict.also.iter().any(|other| other.limit == Limit::Lock));
    assert!(
        !verdict.evidence.iter().any(|row| matches!(row.observed, Observation::AtTheDoor(_))),
        "{:?}",
        verdict.evidence
    );
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

#[test]
fn a_pool_whose_answers_wait_for_a_delayed_acknowledgement_is_reported_as_a_range() {
    // A fifth of the answers is as fast as the worker; the others wait 42 ms for an acknowledgement.
    let run = |fast_ns: u64| {
        let watch = Watch::pool(8.0, 0.04, 64).host("api", 1.0, 1e-4).process("api", "7 java", 1e-4);
        let watch = watch
            .gauge(("api", "process", "7 java"), "threads", |_, _| 30.0)
            .listener("api", "0.0.0.0:8080", 7, |step, _| (connections(step) - 8.0).max(0.0))
            .gauge(("api", "peers", "7 java"), "10.0.0.9:1", |_, _| 0.0);
        let mut run = watch.run();
        for frame in run.frames.iter_mut().filter(|frame| frame.head.step == 0) {
            let mut before = latency_histogram();
            frame.latency.add_to(&mut before).unwrap();
            let count = before.len();
            let mut times = latency_histogram();
            times.record_n(fast_ns, count / 5).unwrap();
            times.record_n(50_000_000, count - count / 5).unwrap();
            frame.latency = EncodedHistogram::encode(&times);
        }
        findings(&run).verdict
    };
    let (plain, delayed) = (run(20_000_000), run(8_000_000));
    assert_eq!((plain.limit, plain.confidence), (Limit::Pool, Confidence::Measured));
    assert_eq!((delayed.limit, delayed.confidence), (Limit::Pool, Confidence::Inferred));
    assert!(delayed.size.unwrap().interval.is_some_and(|(low, _)| low < 2.0), "{:?}", delayed.size);
    assert!(matches!(delayed.advice[0], Advice::NoDelay(_)), "{:?}", delayed.advice);
}

#[test]
fn one_thread_that_accepts_so_many_connections_has_a_bound_of_them_and_no_workers() {
    let found = |threads: f64| {
        let queue = |step: usize, _| (connections(step) - 8.0).max(0.0);
        Watch::pool(8.0, 0.02, 64)
            .host("web", 1.0, 1e-4)
            .process("web", "7 server", 1e-4)
            .gauge(("web", "process", "7 server"), "threads", move |_, _| threads)
            .listener("web", "0.0.0.0:8080", 7, queue)
            .gauge(("web", "listener", "0.0.0.0:8080"), "queue", queue)
            .gauge(("web", "listener", "0.0.0.0:8080"), "established", |step, _| connections(step))
            .gauge(("web", "peers", "7 server"), "10.0.0.9:1", |_, _| 0.0)
            .verdict()
    };
    let (bound, workers) = (found(1.0), found(9.0));
    assert_eq!((bound.limit, bound.confidence), (Limit::Connections, Confidence::Inferred), "{bound:#?}");
    assert!(bound.also.iter().any(|other| other.limit == Limit::Pool));
    assert_eq!((workers.limit, workers.confidence), (Limit::Pool, Confidence::Measured));
}

#[test]
fn growth_next_to_a_full_cpu_is_no_certain_sign_that_nothing_limits() {
    let found = |used: f64| {
        let levels: Vec<Level> =
            (0..4).map(|power| Level::at(1 << power, 200.0 * f64::from(1 << power))).collect();
        Watch::over(&levels)
            .gauge(("web", "cgroup", ""), "quota_us", |_, _| 10_000.0)
            .gauge(("web", "cgroup", ""), "period_us", |_, _| 10_000.0)
            .counter(("web", "cgroup", ""), "usage_us", move |_, _| used * 1e6)
            .verdict()
    };
    let (busy, idle) = (found(0.94), found(0.5));
    assert_ne!(busy.confidence, Confidence::Measured, "{busy:#?}");
    assert!(busy.limit == Limit::Cpu || busy.also.iter().any(|other| other.limit == Limit::Cpu));
    assert_eq!((idle.limit, idle.confidence), (Limit::None, Confidence::Measured));
}

#[test]
fn throughput_that_is_the_same_from_one_connection_on_tells_no_lock_from_a_link() {
    let levels: Vec<Level> = (0..5).map(|power| Level::at(1 << power, 200.0)).collect();
    let verdict = Watch::over(&levels)
        .host("web", 1.0, 1e-4)
        .process("web", "7 nginx", 1e-4)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .verdict();
    let limits: Vec<Limit> =
        std::iter::once(verdict.limit).chain(verdict.also.iter().map(|other| other.limit)).collect();
    assert_eq!(verdict.confidence, Confidence::Inferred);
    for limit in [Limit::Lock, Limit::Pool, Limit::Bandwidth] {
        assert!(limits.contains(&limit), "{verdict:#?}");
    }
}

#[test]
fn threads_that_share_one_core_are_a_lock_on_a_host_with_less_than_half_a_core_more() {
    let levels: Vec<Level> =
        (0..5).map(|power| Level::at(1 << power, f64::from(1_u32 << power).min(1.4) * 200.0)).collect();
    let mut watch = Watch::over(&levels).host("api", 1.4, 3.5e-3).process("api", "8 python3", 3.5e-3);
    for thread in ["8/81 python3", "8/82 python3"] {
        watch = watch.counter(("api", "thread", thread), "cpu_us", |_, x| 1.75e3 * x);
    }
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Lock, "api"), "{verdict:#?}");
    assert_eq!(verdict.confidence, Confidence::Inferred);
}

#[test]
fn connections_closed_next_to_others_that_are_served_as_before_are_a_bound_of_them() {
    let closing = |connections, served: f64| Level {
        failed: Some((FailureKind::ClosedBeforeResponse, 400)),
        ..Level::at(connections, served)
    };
    let ladder = |last: f64| {
        let mut levels = pool_levels(64.0, 0.02, 8);
        levels.extend([closing(16, 528.0), closing(32, last)]);
        Watch::over(&levels).host("web", 1.0, 50e-6).process("web", "7 nginx", 50e-6).verdict()
    };
    let bounded = ladder(520.0);
    assert_eq!((bounded.limit, bounded.confidence), (Limit::Connections, Confidence::Inferred));
    assert!(matches!(bounded.claim, Some(Claim::Closed { .. })), "{:?}", bounded.claim);
    assert!(bounded.also.iter().any(|also| also.limit == Limit::Pool), "it may close what waited too long");
    assert_eq!(ladder(90.0).limit, Limit::Unknown, "a server that falls over serves less");
    // What had stopped growing before is stopped by something else.
    let mut levels = pool_levels(8.0, 0.02, 32);
    levels.extend([closing(64, 400.0), closing(128, 400.0)]);
    let pool = Watch::over(&levels).host("web", 1.0, 50e-6).process("web", "7 nginx", 50e-6).verdict();
    assert_ne!(pool.limit, Limit::Connections);
}
