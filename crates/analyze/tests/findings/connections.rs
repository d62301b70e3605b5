//! Bounds of connections: those that stop growth, and those that are met only beyond it or for another reason.

use plimsoll_analyze::{Advice, Claim, Confidence, Excluded, Limit, Verdict};
use plimsoll_record::FailureKind;

use crate::synthetic::Level;
use crate::watch::{Watch, pool_levels, waiting};

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

/// A database that commits 500 requests/s from 16 connections on, a little more at 256 by chance, and has so many connections
/// open.
fn commits(open: impl Fn(usize) -> f64) -> Verdict {
    let level = |power: u32| {
        let connections = 1 << power;
        let noise = if connections == 256 { 5.0 } else { 0.0 };
        Level::at(connections, 31.25 * f64::from(connections.min(16)) + noise)
    };
    let levels: Vec<Level> = (0..9).map(level).collect();
    let mariadb = ("db", "mariadb", "10.0.0.2:3306");
    Watch::over(&levels)
        .host("db", 2.0, 100e-6)
        .gauge(mariadb, "threads_connected", move |step, _| open(step))
        .gauge(mariadb, "max_connections", |_, _| 151.0)
        .verdict()
}

#[test]
fn a_bound_that_is_met_beyond_the_knee_alone_did_not_stop_growth() {
    let beyond = commits(|step| if step == 8 { 150.0 } else { 2.0 + f64::from(1_u32 << step.min(4)) });
    assert_ne!(beyond.limit, Limit::Connections, "{beyond:#?}");
    let at_the_knee = commits(|step| if step >= 4 { 150.0 } else { 18.0 });
    assert_eq!(found(&at_the_knee), (Limit::Connections, "db", Confidence::Measured));
}

/// A request takes `cpu_sec` of the one core. At 16 and 32 connections a tenth of the requests fails, and from a step on connections
/// find the accept queue full.
fn overflowing(cpu_sec: f64, from: usize) -> Verdict {
    let failed = Some((FailureKind::ConnectTimedOut, 3));
    let mut levels = [(1, 200.0), (2, 400.0), (4, 800.0), (8, 990.0)].map(|(n, x)| Level::at(n, x)).to_vec();
    levels.extend([16, 32].map(|connections| Level { failed, ..Level::at(connections, 990.0) }));
    Watch::over(&levels)
        .host("api", 1.0, cpu_sec)
        .counter(("api", "process", "8 api"), "cpu_us", move |_, x| 1e6 * cpu_sec * x)
        .counter(("api", "tcp", ""), "listen_overflows", move |step, _| if step >= from { 50.0 } else { 0.0 })
        .counter(("api", "tcp", ""), "passive_opens", |_, _| 100.0)
        .verdict()
}

#[test]
fn an_accept_queue_before_a_full_cpu_is_full_for_that_reason() {
    let full = overflowing(1e-3, 5);
    assert_eq!(found(&full), (Limit::Cpu, "api", Confidence::Inferred), "{full:#?}");
    assert!(full.also.iter().any(|also| also.limit == Limit::Connections), "{:?}", full.also);
    assert!(!full.excluded.iter().any(|one| matches!(one, Excluded::MostUsed(_))), "{:?}", full.excluded);
    assert_eq!(found(&overflowing(50e-6, 5)), (Limit::Connections, "api", Confidence::Inferred));
    assert_eq!(overflowing(50e-6, 0).limit, Limit::Unknown, "as many at any load");
}

#[test]
fn a_dropped_connection_and_a_request_that_failed_displace_no_pool() {
    let mut levels = pool_levels(16.0, 0.005, 128);
    // A connection that was kept is closed as its next request is on the way.
    let failed = Some((FailureKind::ClosedBeforeResponse, 1));
    levels[4] = Level { silent: 0..1, failed, ..levels[4].clone() };
    let verdict = Watch::over(&levels)
        .host("api", 1.0, 50e-6)
        .process("api", "8 java", 50e-6)
        .listener("api", "0.0.0.0:8080", 8, |step, _| waiting(step, 16.0))
        .counter(("api", "tcp", ""), "listen_overflows", |step, _| if step == 4 { 1.0 } else { 0.0 })
        .verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured), "{verdict:#?}");
}

#[test]
fn a_full_table_of_tracked_connections_is_a_bound_where_connections_time_out() {
    let watch = |entries: fn(usize) -> f64, kind: FailureKind| {
        let mut levels =
            [(1, 200.0), (2, 400.0), (4, 800.0), (8, 1600.0)].map(|(n, x)| Level::at(n, x)).to_vec();
        levels.push(Level { failed: Some((kind, 6)), ..Level::at(16, 1700.0) });
        Watch::over(&levels)
            .host("api", 1.0, 50e-6)
            .gauge(("api", "conntrack", ""), "entries", move |step, _| entries(step))
            .gauge(("api", "conntrack", ""), "limit", |_, _| 4096.0)
            .verdict()
    };
    let filling = |step: usize| if step == 4 { 4096.0 } else { 500.0 * step as f64 };
    let full = watch(filling, FailureKind::ConnectTimedOut);
    assert_eq!(found(&full), (Limit::Connections, "api", Confidence::Measured), "{full:#?}");
    assert!(matches!(full.claim, Some(Claim::TrackedFull { limit: 4096.0, .. })), "{:?}", full.claim);
    assert_eq!(full.advice, [Advice::TrackMore]);
    assert_eq!(
        watch(filling, FailureKind::TimedOut).limit,
        Limit::Unknown,
        "an answer that is late is no packet lost"
    );
    assert_eq!(watch(|_| 4096.0, FailureKind::ConnectTimedOut).limit, Limit::Unknown, "as full at any load");
}
