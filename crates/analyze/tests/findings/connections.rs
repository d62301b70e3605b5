//! Bounds of connections: those that stop growth, and those that are met only beyond it or for another reason.

use plimsoll_analyze::{Confidence, Limit, Verdict};

use crate::synthetic::Level;
use crate::watch::Watch;

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
