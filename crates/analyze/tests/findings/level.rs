//! Single levels: what is cut, what counts, what is not known.

use plimsoll_analyze::{Advice, Confidence, Limit, Steadiness, analyze};
use plimsoll_plan::Slo;
use plimsoll_record::{EncodedHistogram, FailureKind, StepEnd};

use crate::synthetic::{Level, findings, ladder, single};

#[test]
fn the_warm_up_is_out_of_the_figures_and_in_the_counts() {
    let step = &findings(&single(Level { warmup: 20, ..Level::closed(16) })).steps[0];
    assert_eq!(step.steadiness, Steadiness::Steady);
    assert!((1.0..=1.5).contains(&step.warmup_sec), "{} s were cut", step.warmup_sec);
    assert!((step.warmup_sec + step.measured_sec - 5.0).abs() < 1e-9);
    assert!((step.throughput.value / 3200.0 - 1.0).abs() < 0.005);
    assert!(step.latency.max_ns < 10e6, "a time of the warm-up is in the histogram");
    let all = 100 * 160 - 20 * 80;
    assert!(step.counts.completed.abs_diff(all) < 100, "{}", step.counts.completed);
    assert!((step.bytes_in_per_sec / 320_000.0 - 1.0).abs() < 0.005);
    let (low, high) = step.throughput.interval.unwrap();
    assert!(low < step.throughput.value && step.throughput.value < high);
}

#[test]
fn an_open_loop_keeps_its_late_start() {
    let step = &findings(&single(Level { warmup: 20, ..Level::open(2000.0) })).steps[0];
    assert_eq!(step.warmup_sec, 0.0);
    assert!(step.latency.max_ns > 15e6);
}

#[test]
fn requests_that_end_in_the_drain_count_against_success_and_in_the_tail() {
    let step = &findings(&single(Level { late: 200, ..Level::closed(16) })).steps[0];
    let completed = step.counts.completed as f64;
    assert!((step.success_ratio.unwrap() - completed / (completed + 400.0)).abs() < 1e-12);
    assert!(step.latency.p99.ns.unwrap() > 0.99e9);
    assert!((step.drain_sec - 0.05).abs() < 1e-9);
    assert!((step.throughput.value / 3200.0 - 1.0).abs() < 0.005, "the drain is not throughput");
}

#[test]
fn the_success_ratio_has_an_interval_of_all_that_ended() {
    let full = &findings(&single(Level::at(1, 40.0))).steps[0];
    let (low, high) = full.success_interval.unwrap();
    assert_eq!((full.success_ratio, high), (Some(1.0), 1.0));
    assert!((low - 200.0 / 203.84).abs() < 1e-4, "{low}");
    let late = &findings(&single(Level { late: 200, ..Level::closed(16) })).steps[0];
    let (ratio, (low, high)) = (late.success_ratio.unwrap(), late.success_interval.unwrap());
    assert!(low < ratio && ratio < high && high - low < 0.01, "{low} {ratio} {high}");
}

#[test]
fn failures_of_an_outage_at_the_front_stay_in_the_success_ratio() {
    let failed = Some((FailureKind::ConnectRefused, 9));
    let outage = Level { silent: 0..10, failed, ..Level::closed(16) };
    let step = &findings(&single(outage)).steps[0];
    assert!(step.counts.failed.total() == 180 && step.success_ratio.unwrap() < 0.99, "{step:?}");
    let (low, high) = step.success_interval.unwrap();
    assert!(low < step.success_ratio.unwrap() && high < 0.99, "{low} {high}");
}

#[test]
fn an_outage_in_the_midst_is_no_warm_up() {
    let step = &findings(&single(Level { silent: 20..40, ..Level::closed(16) })).steps[0];
    assert_eq!((step.warmup_sec, step.steadiness), (0.0, Steadiness::Moving));
    assert!((step.throughput.value / (0.8 * 3200.0) - 1.0).abs() < 0.02, "{}", step.throughput.value);
}

#[test]
fn a_target_that_is_lost_is_measured_until_its_last_answer() {
    let gone = Level { silent: 42..100, end: StepEnd::TargetLost, ..Level::closed(16) };
    let refused = Some((FailureKind::ConnectRefused, 1));
    let found = findings(&single(Level { failed: refused, busy: 0.97, ..gone }));
    let step = &found.steps[0];
    assert!((step.throughput.value / 3200.0 - 1.0).abs() < 0.02, "{}", step.throughput.value);
    assert_eq!(step.warmup_sec, 0.0);
    assert!((step.measured_sec - 2.1).abs() < 1e-9);
    assert!((step.lost_at_sec.unwrap() - 2.101).abs() < 1e-9);
    assert_eq!(step.counts.failed.total(), 116);
    assert!(step.success_ratio.unwrap() < 1.0);
    assert_eq!(found.verdict.limit, Limit::Unknown, "the generator did not take the target away");
    let Advice::TargetLost(at_sec) = found.verdict.advice[0] else { panic!("{:?}", found.verdict.advice) };
    assert!((at_sec - 2.101).abs() < 1e-9);
    assert_eq!(findings(&single(Level::closed(16))).steps[0].lost_at_sec, None);
}

#[test]
fn answers_that_come_after_the_load_are_answers_and_call_for_more_time() {
    let slow = Level { late_answers: 4, end: StepEnd::Cut, ..Level::at(8, 0.0) };
    let found = findings(&single(slow));
    assert!(found.answered_late());
    assert_eq!(found.steps[0].success_ratio, Some(1.0));
    assert!((found.steps[0].latency.mean_ns / 2e9 - 1.0).abs() < 0.01);
    assert_eq!(found.verdict.advice, [Advice::LongerRun]);
    assert!(!findings(&single(Level::closed(1))).answered_late());
}

#[test]
fn answers_that_a_full_generator_gets_late_are_its_own_limit() {
    let slow = Level { late_answers: 4, busy: 0.97, end: StepEnd::Cut, ..Level::at(8, 0.0) };
    let found = findings(&single(slow));
    assert!(found.answered_late() && found.lower_bound);
    assert_eq!(found.verdict.limit, Limit::Generator);
}

#[test]
fn few_requests_leave_the_tail_unknown() {
    let step = &findings(&single(Level::at(1, 40.0))).steps[0];
    assert_eq!(step.latency.count, 200);
    assert!(step.latency.p95.ns.is_some());
    assert_eq!((step.latency.p99.ns, step.latency.p999.ns), (None, None));
}

#[test]
fn one_closed_level_does_not_tell_a_limit() {
    let verdict = findings(&single(Level::closed(16))).verdict;
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Unknown, Confidence::Unknown));
    assert_eq!(verdict.advice, [Advice::Sweep]);
}

#[test]
fn a_rate_that_is_kept_up_with_is_no_limit_and_a_growing_queue_is_one() {
    let kept_up = findings(&single(Level::open(2000.0)));
    assert_eq!(kept_up.verdict.limit, Limit::None);
    assert_eq!(kept_up.steps[0].steadiness, Steadiness::Steady);
    let behind = findings(&single(Level { backlog_growth: 5, ..Level::open(2000.0) }));
    assert_eq!(behind.steps[0].steadiness, Steadiness::Moving);
    assert_eq!(behind.verdict.limit, Limit::Unknown);
    assert!(behind.generator.healthy(), "what waits for a connection waits for the target");
}

#[test]
fn answers_that_come_after_the_window_do_not_count_as_falling_behind() {
    // A tenth takes nine times as long: the shortest is far below the mean then.
    for (rate, intervals, slow_tenth) in [(2000.0, 100, 1.5), (2000.0, 100, 9.0), (120.0, 200, 1.5)] {
        let level = Level { latency_ns: 150_000_000, slow_tenth, intervals, ..Level::open(rate) };
        let mut run = single(level);
        for frame in run.frames.iter_mut().filter(|frame| frame.head.interval < 3) {
            (frame.head.counts.completed, frame.head.counts.ok) = (0, 0);
        }
        let found = findings(&run);
        assert!(found.steps[0].throughput.value < 0.99 * rate, "{:?}", found.steps[0].throughput);
        assert_eq!(found.verdict.limit, Limit::None, "{rate} {:#?}", found.verdict);
    }
    let fewer_due = Level { rate_per_sec: Some(2000.0), ..Level::open(1950.0) };
    assert_eq!(findings(&single(fewer_due)).verdict.limit, Limit::None, "arrivals at random may be fewer");
}

#[test]
fn a_rate_of_which_a_tenth_is_not_answered_is_not_kept_up_with() {
    let mut run = single(Level { latency_ns: 150_000_000, ..Level::open(2000.0) });
    for frame in &mut run.frames {
        frame.head.counts.completed = frame.head.counts.completed * 9 / 10;
        frame.head.counts.ok = frame.head.counts.completed;
    }
    assert_eq!(findings(&run).verdict.limit, Limit::Unknown);
}

#[test]
fn a_step_cut_short_differs_from_a_measured_one() {
    let step = &findings(&single(Level { intervals: 5, ..Level::closed(16) })).steps[0];
    assert_eq!((step.steadiness, step.throughput.interval), (Steadiness::TooShort, None));
    assert!((step.throughput.value / 3200.0 - 1.0).abs() < 0.02);
}

#[test]
fn a_step_whose_frames_are_lost_is_empty_and_no_panic() {
    let mut run = single(Level { failed: Some((FailureKind::TimedOut, 1)), ..Level::closed(2) });
    run.frames.clear();
    let found = findings(&run);
    assert_eq!((found.steps[0].success_ratio, found.steps[0].throughput.value), (None, 0.0));
    assert_eq!(found.verdict.confidence, Confidence::Unknown);
    assert_eq!(found.verdict.advice[0], Advice::NothingEnded);
}

#[test]
fn damage_is_an_error_that_says_where() {
    let mut run = single(Level::closed(2));
    run.frames[3].latency = EncodedHistogram::from_bytes(vec![7; 40]);
    assert!(analyze(&run).unwrap_err().to_string().contains("step 0"));
    run.manifest.plan = "{".to_owned();
    assert!(analyze(&run).unwrap_err().to_string().contains("plan"));
}

#[test]
fn a_step_that_was_cut_and_made_again_gives_no_figure() {
    let whole = [1, 2, 4, 8, 16, 32, 64].map(Level::closed);
    // The conductor died as its plateau began, in a warm-up that looked fast.
    let cut = Level { end: StepEnd::Cut, intervals: 20, ..Level::at(32, 9000.0) };
    let mut resumed = whole.to_vec();
    resumed.insert(5, cut.clone());
    let (without, with) =
        (findings(&ladder(&whole, Slo::default())), findings(&ladder(&resumed, Slo::default())));
    let levels = |found: &plimsoll_analyze::Findings| -> Vec<u32> {
        found.steps.iter().map(|step| step.connections).collect()
    };
    assert_eq!(levels(&with), levels(&without));
    assert_eq!(with.knee, without.knee);
    // One that was not made again is shown for what it is.
    let last = [Level::closed(16), cut];
    assert_eq!(findings(&ladder(&last, Slo::default())).steps[1].end, StepEnd::Cut);
}
