//! A load whose rate changes.

use std::time::Duration;

use plimsoll_analyze::{Advice, Limit, Steadiness};
use plimsoll_plan::{Level as PlanLevel, Load, Plan, RateProfile};
use plimsoll_record::{Counts, EncodedHistogram, Phase, Run, latency_histogram};

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

/// A rate that falls from 3000 to 1000 requests/s in 5 s. These parts of the answers take so many intervals.
fn falling(answers: &[(u32, f64)]) -> Run {
    let mut run = changing(Level::open(2000.0), "ramp(3k,1k,5s)");
    let due = |interval: u32| {
        let rate = 3000.0 - 20.0 * (f64::from(interval) + 0.5);
        rate * INTERVAL_NS as f64 / 1e9 / f64::from(WORKERS)
    };
    for frame in run.frames.iter_mut().filter(|frame| frame.head.interval < 100) {
        let head = &mut frame.head;
        head.counts.intended = due(head.interval).round() as u64;
        head.counts.sent = head.counts.intended;
        let came = |(took, part): &(u32, f64)| Some(part * due(head.interval.checked_sub(*took)?));
        head.counts.completed = answers.iter().filter_map(came).sum::<f64>().round() as u64;
        head.counts.ok = head.counts.completed;
        let sent = head.counts.sent as f64;
        let times = answers.iter().map(|(took, part)| (u64::from(*took).max(1) * INTERVAL_NS, part * sent));
        frame.latency = histogram(times);
    }
    run
}

fn histogram(times: impl Iterator<Item = (u64, f64)>) -> EncodedHistogram {
    let mut histogram = latency_histogram();
    times.for_each(|(ns, count)| histogram.record_n(ns, count.round() as u64).unwrap());
    EncodedHistogram::encode(&histogram)
}

#[test]
fn a_rate_that_falls_is_kept_up_with_though_the_first_answers_are_to_come() {
    let all = [(3, 1.0)];
    let some = [(0, 0.6), (6, 0.4)];
    for answers in [&all[..], &some] {
        let verdict = findings(&falling(answers)).verdict;
        assert_eq!(verdict.limit, Limit::None, "{answers:?} {verdict:#?}");
    }
}

/// A rate whose requests are answered in turn, at most so many a second. Of each 2 ms are work, and the rest is waiting.
fn in_turn(rate: &str, per_sec: f64) -> Run {
    let profile: RateProfile = rate.parse().unwrap();
    let load = profile.duration().unwrap();
    let intervals = (load.as_nanos() / u128::from(INTERVAL_NS)) as u32;
    let mut run = changing(Level { intervals, ..Level::open(profile.mean_per_sec()) }, rate);
    let (share, mut waiting) = (INTERVAL_NS as f64 / 1e9 / f64::from(WORKERS), [0; WORKERS as usize]);
    for frame in &mut run.frames {
        let head = &mut frame.head;
        let waiting = &mut waiting[head.worker as usize];
        let is_load = head.phase == Phase::Measure;
        let middle = Duration::from_nanos(u64::from(head.interval) * INTERVAL_NS + INTERVAL_NS / 2);
        let due = if is_load { (profile.rate_at(middle) * share).round() as u64 } else { 0 };
        let most = if is_load { (per_sec * share) as u64 } else { u64::MAX };
        let answered = (*waiting + due).min(most);
        *waiting = *waiting + due - answered;
        head.counts =
            Counts { intended: due, sent: due, completed: answered, ok: answered, ..Counts::default() };
        (head.in_flight, head.backlog) = (*waiting, 0);
        let waits_sec = *waiting as f64 * f64::from(WORKERS) / per_sec;
        frame.latency = histogram(std::iter::once((2_000_000 + (waits_sec * 1e9) as u64, due as f64)));
    }
    run
}

#[test]
fn a_high_rate_that_comes_first_is_judged_by_what_it_could_be_answered_at() {
    for served in [4_500.0, 2_000.0] {
        let verdict = findings(&in_turn("const(5k,5s) const(1k,5s)", served)).verdict;
        assert_eq!(verdict.limit, Limit::Unknown, "{served} {verdict:#?}");
        assert_eq!(verdict.advice[0], Advice::WatchAtRate(5_000.0), "{served}");
    }
    assert_eq!(findings(&in_turn("const(5k,5s) const(1k,5s)", 5_200.0)).verdict.limit, Limit::None);
}

#[test]
fn the_latency_of_a_target_that_is_far_behind_does_not_excuse_it() {
    for part in [0.2, 0.4, 0.5, 0.6, 0.9] {
        // Too short for a trend of the queue.
        for rate in ["const(2k,500ms)", "ramp(1k,3k,500ms)"] {
            let verdict = findings(&in_turn(rate, part * 2_000.0)).verdict;
            assert!(matches!(verdict.advice[0], Advice::WatchAtRate(_)), "{rate} {part} {verdict:#?}");
        }
    }
    assert_eq!(findings(&in_turn("const(2k,500ms)", 2_100.0)).verdict.limit, Limit::None);
}

#[test]
fn a_rise_that_is_far_too_high_is_named_by_the_rate_at_which_the_target_fell_behind() {
    let verdict = findings(&in_turn("ramp(1k,3k,60s)", 1_200.0)).verdict;
    assert_eq!((verdict.limit, verdict.advice[0].clone()), (Limit::Unknown, Advice::WatchAtRate(1_350.0)));
}
