//! A load whose rate changes.

use plimsoll_analyze::{Advice, Limit, Steadiness};
use plimsoll_plan::{Level as PlanLevel, Load, Plan};
use plimsoll_record::Run;

use crate::synthetic::{INTERVAL_NS, Level, WORKERS, findings, single};

/// This level with a rate that changes so.
fn changing(level: Level, rate: &str) -> Run {
    let mut run = single(level);
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    if let Load::Single { level: PlanLevel::Open { profile, .. }, .. } = &mut plan.load {
        *profile = rate.parse().unwrap();
    }
    run.manifest.plan = plan.to_json();
    run
}

/// A rate from 1000 to 3000 requests/s in 5 s, of which at most so many are answered.
fn ramp(answered_most: f64) -> Run {
    let mut run = changing(Level::open(2000.0), "ramp(1k,3k,5s)");
    let mut waiting = [0; WORKERS as usize];
    for frame in run.frames.iter_mut().filter(|frame| frame.head.interval < 100) {
        let head = &mut frame.head;
        let rate = 1000.0 + 20.0 * (f64::from(head.interval) + 0.5);
        let share = INTERVAL_NS as f64 / 1e9 / f64::from(WORKERS);
        let waiting = &mut waiting[head.worker as usize];
        head.counts.intended = (rate * share).round() as u64;
        head.counts.completed = (rate.min(answered_most) * share).round() as u64;
        *waiting += head.counts.intended - head.counts.completed;
        (head.counts.sent, head.counts.ok) = (head.counts.completed, head.counts.completed);
        (head.backlog, head.in_flight) = (*waiting, 0);
    }
    run
}

#[test]
fn a_ramp_is_not_judged_for_steadiness_and_reported_over_time() {
    let found = findings(&ramp(1e9));
    let step = &found.steps[0];
    assert_eq!((step.steadiness, step.throughput.interval), (Steadiness::Ramp, None));
    assert_eq!((step.ramp_windows.len(), step.rate_per_sec), (20, Some(2000.0)));
    for (index, window) in step.ramp_windows.iter().enumerate() {
        let rate = 1050.0 + 100.0 * index as f64;
        assert!((window.rate_per_sec - rate).abs() < 1e-6, "{window:?}");
        assert!((window.due_per_sec / rate - 1.0).abs() < 0.02, "{window:?}");
        assert_eq!(window.throughput_per_sec, window.due_per_sec);
    }
    assert_eq!(found.verdict.limit, Limit::None);
}

#[test]
fn answers_that_are_behind_only_at_first_do_not_count_as_falling_behind() {
    let mut run = ramp(1e9);
    for frame in run.frames.iter_mut().filter(|frame| frame.head.interval < 10) {
        let counts = &mut frame.head.counts;
        counts.completed = if frame.head.interval < 5 { 0 } else { 2 * counts.completed };
        counts.ok = counts.completed;
    }
    assert_eq!(findings(&run).verdict.limit, Limit::None);
}

#[test]
fn the_rate_at_which_a_target_falls_behind_is_named() {
    let verdict = findings(&ramp(2200.0)).verdict;
    assert_eq!(verdict.limit, Limit::Unknown);
    assert_eq!(verdict.advice[0], Advice::WatchAtRate(2_350.0));
}

#[test]
fn a_rate_that_falls_is_kept_up_with_though_the_first_answers_are_to_come() {
    let mut run = changing(Level { latency_ns: 150_000_000, ..Level::open(2000.0) }, "ramp(3k,1k,5s)");
    let due = |interval: u32| {
        let rate = 3000.0 - 20.0 * (f64::from(interval) + 0.5);
        (rate * INTERVAL_NS as f64 / 1e9 / f64::from(WORKERS)).round() as u64
    };
    for frame in run.frames.iter_mut().filter(|frame| frame.head.interval < 100) {
        let head = &mut frame.head;
        (head.counts.intended, head.counts.sent) = (due(head.interval), due(head.interval));
        // An answer takes three intervals.
        head.counts.completed = head.interval.checked_sub(3).map_or(0, due);
        head.counts.ok = head.counts.completed;
    }
    let verdict = findings(&run).verdict;
    assert_eq!(verdict.limit, Limit::None, "{verdict:#?}");
}
