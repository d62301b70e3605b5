//! The service level objective.

use plimsoll_analyze::{Held, SloCheck};
use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_record::FailureKind;

use crate::synthetic::{Level, findings, ladder};

fn check(levels: &[Level], slo: Slo) -> SloCheck {
    findings(&ladder(levels, slo)).slo.unwrap()
}

fn p99(ms: f64) -> Slo {
    Slo { latency: vec![LatencyLimit::p99(ms)], ..Slo::default() }
}

fn success(ratio: f64) -> Slo {
    Slo { success_ratio: Some(ratio), ..Slo::default() }
}

fn throughput(per_sec: f64) -> Slo {
    Slo { throughput_per_sec: Some(per_sec), ..Slo::default() }
}

#[test]
fn nothing_asked_is_nothing_judged() {
    assert_eq!(findings(&ladder(&[Level::closed(1)], Slo::default())).slo, None);
}

#[test]
fn the_best_step_is_the_fastest_within_the_limits() {
    // 5 ms each and 16 at once: 64 connections wait 20 ms, and a tenth of them 30.
    let levels = [8, 16, 32, 64].map(Level::closed);
    let found = check(&levels, p99(16.0));
    assert_eq!(
        (found.best_step, found.latency.as_slice(), found.broken()),
        (Some(2), &[Held::Yes][..], false)
    );
    let none = check(&levels, p99(1.0));
    assert_eq!(
        (none.best_step, none.latency.as_slice(), none.throughput_within),
        (None, &[Held::No][..], None)
    );
    assert!(none.broken());
}

#[test]
fn every_limit_of_latency_counts_by_itself() {
    let levels = [8, 16, 32, 64].map(Level::closed);
    let limits = |limits: &[(f64, f64)]| {
        let limit = |&(percent, limit_ms): &(f64, f64)| LatencyLimit { percent, limit_ms };
        let found = check(&levels, Slo { latency: limits.iter().map(limit).collect(), ..Slo::default() });
        (found.best_step, found.latency)
    };
    assert_eq!(limits(&[(50.0, 50.0), (99.0, 16.0)]), (Some(2), vec![Held::Yes, Held::Yes]));
    assert_eq!(limits(&[(50.0, 6.0), (99.0, 50.0)]), (Some(1), vec![Held::Yes, Held::Yes]));
    assert_eq!(limits(&[(50.0, 1.0), (99.0, 50.0)]), (None, vec![Held::No, Held::Yes]));
    assert_eq!(limits(&[(100.0, 1.0)]).1, [Held::No], "the longest time");
    assert_eq!(limits(&[(100.0, 50.0)]), (Some(3), vec![Held::Yes]));
}

#[test]
fn a_percentile_not_known_is_not_held_nor_broken() {
    let slow = Level::at(1, 40.0);
    assert_eq!(check(std::slice::from_ref(&slow), p99(1000.0)).latency, [Held::Unknown]);
    assert_eq!(check(&[slow], p99(10.0)).latency, [Held::No], "even the fastest answer is too slow");
}

#[test]
fn success_is_judged_by_its_interval() {
    let failing = |count| Level { failed: Some((FailureKind::TimedOut, count)), ..Level::at(16, 20_000.0) };
    assert_eq!(check(&[Level::closed(16)], success(0.9995)).success, Held::Yes);
    assert_eq!(check(&[failing(1)], success(0.9)).success, Held::Yes);
    assert_eq!(check(&[failing(1)], success(0.9995)).success, Held::No);
    assert_eq!(check(&[failing(1)], success(0.998)).success, Held::Unknown);
    assert_eq!(check(&[Level { refused: 1.0, ..Level::closed(4) }], success(0.9995)).success, Held::No);
}

#[test]
fn too_little_throughput_is_a_breach_only_at_a_plateau_of_a_healthy_generator() {
    let plateau = [8, 16, 32].map(Level::closed);
    assert_eq!(check(&plateau, throughput(1000.0)).throughput, Held::Yes);
    assert_eq!(check(&plateau, throughput(5000.0)).throughput, Held::No);
    assert_eq!(check(&plateau[..2], throughput(5000.0)).throughput, Held::Unknown, "it was still growing");
    let busy = plateau.clone().map(|level| Level { busy: 0.95, ..level });
    assert_eq!(check(&busy, throughput(5000.0)).throughput, Held::Unknown, "the generator was the limit");
    assert_eq!(check(&busy, throughput(1000.0)).throughput, Held::Yes);
}

#[test]
fn throughput_beyond_the_latency_limit_does_not_count() {
    let levels = [8, 16, 32, 64].map(Level::closed);
    let slo = Slo { throughput_per_sec: Some(3000.0), ..p99(1.0) };
    assert_eq!(check(&levels, slo).throughput, Held::No);
    let found = check(&levels, Slo { throughput_per_sec: Some(3000.0), ..p99(8.0) });
    assert_eq!((found.best_step, found.throughput), (Some(1), Held::Yes));
}
