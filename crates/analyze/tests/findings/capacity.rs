//! Ladders: knee, verdict, comparison.

use plimsoll_analyze::{
    Advice, At, Confidence, FailureAdvice, Findings, Incomparable, Limit, Margin, Observation, Place,
    RunSide, UslFit, compare, incomparable, step_outcomes,
};
use plimsoll_plan::Slo;
use plimsoll_record::{FailureKind, StepEnd};

use crate::synthetic::{Level, findings, ladder, single};

fn doubling(most: u32) -> Vec<Level> {
    (0..).map(|power| 1 << power).take_while(|connections| *connections <= most).map(Level::closed).collect()
}

#[test]
fn a_pool_of_sixteen_shows_as_knee_and_as_requests_served_at_once() {
    let found = findings(&ladder(&doubling(64), Slo::default()));
    let knee = found.knee.unwrap();
    assert!(knee.reached);
    assert_eq!(knee.connections, 16);
    assert!((knee.plateau.value / 3200.0 - 1.0).abs() < 0.01);
    assert!((knee.connections_predicted / 16.0 - 1.0).abs() < 0.02, "{}", knee.connections_predicted);
    assert_eq!((found.verdict.limit, found.verdict.confidence), (Limit::Unknown, Confidence::Inferred));
    assert_eq!(found.verdict.place, Place::Target("api.test:8080".to_owned()));
    assert!(!found.lower_bound);
    assert_eq!(found.verdict.advice[0], Advice::WatchAtConnections(16));
    let Advice::CompareAtOnce(at_once) = found.verdict.advice[1] else {
        panic!("{:?}", found.verdict.advice)
    };
    assert_eq!(at_once.round(), 16.0);
}

#[test]
fn a_ladder_that_ends_while_it_grows_names_no_limit() {
    let found = findings(&ladder(&doubling(8), Slo::default()));
    let knee = found.knee.unwrap();
    assert!(!knee.reached);
    assert_eq!((knee.connections, knee.plateau_connections), (8, 8));
    assert_eq!(found.verdict.limit, Limit::None);
    let gain = found.verdict.evidence.iter().find(|row| row.observed == Observation::LastGain).unwrap();
    assert!((gain.value - 1.0).abs() < 0.02 && gain.at == At::Connections(8));
}

#[test]
fn thousands_are_set_apart_in_what_is_read_and_not_in_what_is_typed() {
    let growing = [Level::at(1000, 20_000.0), Level::at(2000, 40_000.0)];
    let verdict = findings(&ladder(&growing, Slo::default())).verdict;
    assert_eq!(verdict.advice, [Advice::Climb(2_000)]);
    let level = [Level::at(1000, 40_000.0), Level::at(2000, 40_000.0)];
    let verdict = findings(&ladder(&level, Slo::default())).verdict;
    assert!(matches!(verdict.evidence[0].at, At::Connections(1_000 | 2_000)), "{:?}", verdict.evidence);
    assert_eq!(verdict.advice, [Advice::WatchAtConnections(1_000), Advice::BeginLower]);
    let behind = findings(&single(Level { backlog_growth: 5, ..Level::open(2000.0) })).verdict;
    assert_eq!(behind.evidence[0].at, At::Rate(2_000.0));
    assert_eq!(behind.advice[0], Advice::WatchAtRate(2_000.0));
}

#[test]
fn steps_close_together_do_not_prove_a_plateau() {
    let levels = [Level::at(100, 3000.0), Level::at(101, 3010.0), Level::at(102, 3020.0)];
    assert!(!findings(&ladder(&levels, Slo::default())).knee.unwrap().reached);
}

#[test]
fn a_last_step_that_was_cut_short_proves_no_plateau() {
    let mut levels = doubling(16);
    levels.push(Level { end: StepEnd::Cut, intervals: 12, ..Level::at(32, 1500.0) });
    let found = findings(&ladder(&levels, Slo::default()));
    let knee = found.knee.unwrap();
    assert!(!knee.reached);
    assert_eq!((knee.connections, knee.plateau_connections), (16, 16));
    assert_eq!(found.verdict.limit, Limit::None);
    levels[5].end = StepEnd::TimeLimit;
    assert!(findings(&ladder(&levels, Slo::default())).knee.unwrap().reached);
}

#[test]
fn a_ladder_is_judged_by_its_highest_step_and_not_by_its_last() {
    let growing = [32, 16, 8].map(|n| Level::at(n, 200.0 * f64::from(n)));
    let verdict = findings(&ladder(&growing, Slo::default())).verdict;
    assert_eq!((verdict.limit, verdict.advice), (Limit::None, vec![Advice::Climb(32)]));
    let failed = Some((FailureKind::ConnectRefused, 50));
    let failing = Level { failed, ..Level::at(64, 8000.0) };
    let down: Vec<Level> = std::iter::once(failing.clone()).chain(growing).collect();
    let cut = Level { end: StepEnd::Cut, intervals: 12, ..Level::at(128, 8000.0) };
    let up = [Level::at(16, 3200.0), Level::at(32, 6400.0), failing, cut];
    for levels in [&down[..], &up] {
        let verdict = findings(&ladder(levels, Slo::default())).verdict;
        assert_eq!(verdict.limit, Limit::Unknown, "{verdict:#?}");
        assert_eq!(verdict.evidence[0].at, At::Connections(64));
        let helps = FailureAdvice::Usual(FailureKind::ConnectRefused);
        assert_eq!(verdict.advice[0], Advice::Failure(helps));
    }
}

#[test]
fn a_generator_is_judged_at_the_highest_step_though_the_last_was_cut_short() {
    let whole = Level { busy: 0.97, ..Level::at(64, 12_800.0) };
    let cut = Level { end: StepEnd::Cut, intervals: 12, ..Level::at(32, 6400.0) };
    let found = findings(&ladder(&[whole, cut], Slo::default()));
    assert!(found.knee.is_none() && !found.generator.healthy());
    assert_eq!(found.verdict.limit, Limit::Generator);
    assert_eq!(found.verdict.evidence[0].at, At::Connections(64));
}

#[test]
fn a_plateau_is_no_peak() {
    // A pool of 16: the law bends down behind its corner, and the steps beyond are as fast as ever.
    let Some(UslFit::Fitted(usl)) = findings(&ladder(&doubling(128), Slo::default())).usl else {
        panic!("no fit")
    };
    assert_eq!(usl.peak, None, "{usl:?}");
}

#[test]
fn fast_refusals_do_not_raise_the_plateau() {
    let mut levels = doubling(32);
    levels.push(Level { refused: 0.6, ..Level::at(64, 20_000.0) });
    let knee = findings(&ladder(&levels, Slo::default())).knee.unwrap();
    assert_eq!(knee.connections, 16);
    assert!(knee.plateau.value < 3300.0);
}

#[test]
fn failures_that_end_the_growth_are_named_with_their_remedy() {
    let failed = Some((FailureKind::ConnectRefused, 30));
    let levels = [Level::closed(4), Level::closed(8), Level { failed, ..Level::at(16, 800.0) }];
    let verdict = findings(&ladder(&levels, Slo::default())).verdict;
    assert_eq!(verdict.limit, Limit::Unknown);
    assert_eq!(verdict.evidence[0].observed, Observation::Failed(FailureKind::ConnectRefused));
    let helps = FailureAdvice::Usual(FailureKind::ConnectRefused);
    assert_eq!(verdict.advice[0], Advice::Failure(helps));
}

#[test]
fn a_target_that_answers_nothing_useful_has_no_capacity() {
    let level = Level { refused: 1.0, ..Level::closed(1) };
    let found = findings(&ladder(&[level], Slo::default()));
    assert_eq!((found.verdict.limit, found.verdict.confidence), (Limit::Unknown, Confidence::Unknown));
    assert_eq!(found.verdict.advice[0], Advice::Status(503));
    assert!(found.knee.is_none());
    assert_eq!(found.steps[0].success_ratio, Some(0.0));
}

#[test]
fn the_scalability_law_needs_six_steps() {
    assert_eq!(findings(&ladder(&doubling(16), Slo::default())).usl, Some(UslFit::TooFewPoints(5)));
    let by_law = |n: u32| {
        let n_real = f64::from(n);
        Level::at(n, 1000.0 * n_real / (1.0 + 0.05 * (n_real - 1.0) + 0.001 * n_real * (n_real - 1.0)))
    };
    let levels: Vec<Level> = [1, 2, 4, 8, 16, 32, 64].into_iter().map(by_law).collect();
    let Some(UslFit::Fitted(usl)) = findings(&ladder(&levels, Slo::default())).usl else { panic!("no fit") };
    assert!((usl.peak.unwrap() / 30.8 - 1.0).abs() < 0.1, "{usl:?}");
}

#[test]
fn a_run_that_never_began_says_so() {
    let mut run = ladder(&doubling(1), Slo::reference());
    run.steps.clear();
    run.frames.clear();
    let found = findings(&run);
    assert!(found.steps.is_empty());
    assert_eq!(found.verdict.confidence, Confidence::Unknown);
    assert_eq!(found.verdict.advice.len(), 1);
}

#[test]
fn a_run_compared_with_itself_is_equal() {
    let steps = step_outcomes(&findings(&ladder(&doubling(32), Slo::default())));
    assert_eq!(steps.len(), 6);
    let comparison = compare(&steps, &steps);
    let ratio = comparison.best.unwrap().throughput_ratio;
    let (low, high) = ratio.interval.unwrap();
    assert!(ratio.value == 1.0 && low < 1.0 && high > 1.0);
    assert_eq!(comparison.judge(0.0), Margin::Within);
}

#[test]
fn a_ladder_that_was_cut_while_throughput_grew_is_no_evidence_against_a_whole_one() {
    let (old, new) = (ladder(&doubling(64), Slo::default()), ladder(&doubling(4), Slo::default()));
    let (old, new) = ((&old, &findings(&old)), (&new, &findings(&new)));
    let judge =
        |new: &Findings, old: &Findings| compare(&step_outcomes(new), &step_outcomes(old)).judge(0.05);
    assert_eq!((judge(new.1, old.1), judge(new.1, new.1)), (Margin::Unknown, Margin::Within));
    let unfinished = |old, new| {
        let found = incomparable(old, new);
        found.into_iter().filter(|one| matches!(one, Incomparable::Unfinished(_))).collect::<Vec<_>>()
    };
    assert_eq!(unfinished(old, new), [Incomparable::Unfinished(RunSide::New)]);
    assert_eq!(unfinished(new, old), [Incomparable::Unfinished(RunSide::Old)]);
    assert!(unfinished(new, new).is_empty(), "both have the same connections");
}
