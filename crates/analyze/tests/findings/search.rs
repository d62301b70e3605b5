//! The search for the highest rate within the conditions: what each rate came to, and what all of them say together.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;

use plimsoll_analyze::ab::{AbLoad, AbSide, SearchGap, Unusable};
use plimsoll_analyze::search::{Judge, longest_trial};
use plimsoll_analyze::{
    Breach, Held, OverloadClass, OverloadDoubt, RateBracket, RateSearch, RunFigures, RunStatus, SearchEnd,
    SloCheck, TrialOutcome, highest_rates,
};
use plimsoll_plan::{LatencyLimit, OverloadSpec, Plan, RateSearchOrder, Slo};
use plimsoll_record::{FailureKind, Run, StepEnd};

use crate::overload::frozen;
use crate::synthetic::{Level, findings, ladder, single};

const P99: LatencyLimit = LatencyLimit::p99(100.0);

fn slo() -> Slo {
    Slo { latency: vec![P99], success_ratio: Some(0.999), throughput_per_sec: None }
}

/// A ladder whose throughput is 3200 a second, and then these rates.
fn searched(trials: &[Level]) -> Run {
    searched_after(&[1, 2, 4, 8, 16, 32, 64].map(Level::closed), trials)
}

/// A ladder of these, and then these rates.
fn searched_after(climbed: &[Level], trials: &[Level]) -> Run {
    let levels: Vec<Level> = climbed.iter().chain(trials).cloned().collect();
    let mut run = ladder(&levels, slo());
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    plan.search = Some(RateSearchOrder { tolerance: 0.05 });
    run.manifest.plan = plan.to_json();
    run
}

fn search(trials: &[Level]) -> RateSearch {
    findings(&searched(trials)).search.unwrap()
}

fn outcome(trial: Level) -> TrialOutcome {
    search(&[trial]).trials[0].outcome
}

/// A tenth of the responses takes 200 ms.
fn late(rate: f64) -> Level {
    Level { slow_tenth: 100.0, ..Level::open(rate) }
}

#[test]
fn a_rate_breaks_what_it_breaks() {
    assert_eq!(outcome(Level::open(2800.0)), TrialOutcome::Held);
    assert_eq!(outcome(late(2800.0)), TrialOutcome::Broken(Breach::Latency(P99)));
    let refused = Level { refused: 0.02, ..Level::open(2800.0) };
    assert_eq!(outcome(refused), TrialOutcome::Broken(Breach::Success));
    let failed = Level { failed: Some((FailureKind::TimedOut, 3)), ..Level::open(2800.0) };
    assert_eq!(outcome(failed), TrialOutcome::Broken(Breach::Success));
    let queue = Level { backlog_growth: 30, ..Level::open(2800.0) };
    assert_eq!(outcome(queue), TrialOutcome::Broken(Breach::Queue));
    let lost = Level { intervals: 20, end: StepEnd::TargetLost, ..Level::open(2800.0) };
    assert_eq!(outcome(lost), TrialOutcome::Broken(Breach::Success));
}

#[test]
fn a_rate_a_little_above_what_is_served_is_not_held_although_nothing_is_late_yet() {
    // Two requests more are under way after each tenth of a second: in ten seconds still fewer than fall due in 100 ms.
    let outcome = outcome(Level { backlog_growth: 1, ..Level::open(2800.0) });
    assert_ne!(outcome, TrialOutcome::Held);
}

#[test]
fn a_queue_that_grows_faster_than_chance_explains_breaks_a_rate_before_its_limit_is_reached() {
    let outcome = |backlog_growth| {
        // Six seconds: even the faster queue is shorter than what falls due in two.
        let mut run = searched(&[Level { backlog_growth, intervals: 120, ..Level::open(2800.0) }]);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.slo.latency = vec![LatencyLimit::p99(2000.0)];
        run.manifest.plan = plan.to_json();
        findings(&run).search.unwrap().trials[0].outcome
    };
    assert_eq!(outcome(15), TrialOutcome::Broken(Breach::Queue));
    assert_eq!(outcome(0), TrialOutcome::Held);
}

#[test]
fn the_first_second_counts_for_the_longest_time_and_not_for_a_percentile() {
    // All responses take 2 ms, but 20 ms in the first half of a second.
    let outcome = |limit| {
        let mut run = searched(&[Level { warmup: 5, ..Level::open(2800.0) }]);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.slo.latency = vec![limit];
        run.manifest.plan = plan.to_json();
        findings(&run).search.unwrap().trials[0].outcome
    };
    let longest = LatencyLimit { percent: 100.0, limit_ms: 15.0 };
    assert_eq!(outcome(longest), TrialOutcome::Broken(Breach::Latency(longest)));
    assert_eq!(outcome(LatencyLimit::p99(15.0)), TrialOutcome::Held);
}

#[test]
fn requests_that_end_after_the_load_count_too() {
    // While the load is on, nothing is late. A few of 14,000 requests time out after it.
    let hung = Level { late: 8, ..Level::open(2800.0) };
    assert_eq!(outcome(hung), TrialOutcome::Close, "0.11 % failed where 0.1 % may");
    let hung = Level { late: 50, ..Level::open(2800.0) };
    assert_eq!(outcome(hung), TrialOutcome::Broken(Breach::Success));
    assert_eq!(outcome(Level { late_answers: 10, ..Level::open(2800.0) }), TrialOutcome::Held);
    let late = Level { late_answers: 300, ..Level::open(2800.0) };
    assert_eq!(outcome(late), TrialOutcome::Broken(Breach::Latency(P99)));
}

#[test]
fn a_step_that_was_too_short_decides_nothing() {
    assert_eq!(outcome(Level { intervals: 20, ..Level::open(2800.0) }), TrialOutcome::Close);
    let cut = Level { intervals: 20, end: StepEnd::Cut, ..Level::open(2800.0) };
    assert_eq!(findings(&searched(&[cut])).search, None);
}

#[test]
fn late_responses_of_a_busy_generator_say_nothing_of_the_target() {
    assert_eq!(outcome(Level { busy: 0.97, ..late(2800.0) }), TrialOutcome::GeneratorLimited);
    assert_eq!(outcome(Level { busy: 0.97, ..Level::open(2800.0) }), TrialOutcome::Held, "even so");
    let twice = [2800.0, 3000.0, 3000.0].map(|rate| match rate {
        3000.0 => Level { busy: 0.97, ..late(rate) },
        _ => Level::open(rate),
    });
    let search = search(&twice);
    assert_eq!((search.held_per_sec, search.end), (Some(2800.0), SearchEnd::GeneratorLimited));
}

#[test]
fn the_maximum_lies_between_the_highest_rate_that_holds_and_the_lowest_that_does_not() {
    let trials = [Level::open(2800.0), late(2900.0), Level::open(2800.0), late(2900.0)];
    let found = search(&trials);
    assert_eq!((found.held_per_sec, found.broken_per_sec), (Some(2800.0), Some(2900.0)));
    assert_eq!((found.breach, found.end, found.drift), (Some(Breach::Latency(P99)), SearchEnd::Found, None));
    assert_eq!(found.best().map(|trial| trial.step.index), Some(9));
    assert_eq!(search(&trials[..3]).end, SearchEnd::Unfinished, "the upper end was seen once");
    let never = [2800.0, 2380.0, 1720.0, 898.0, 245.0, 28.0].map(late);
    let never = findings(&searched(&never));
    assert_eq!(never.search.map(|search| search.end), Some(SearchEnd::NeverHeld));
    assert!(never.slo.is_some_and(|check| check.is_too_slow()));
}

#[test]
fn a_target_that_is_lost_in_the_search_is_reported_as_lost_and_not_as_one_that_drifts() {
    let gone = Level { intervals: 20, end: StepEnd::TargetLost, ..Level::open(2500.0) };
    let found = findings(&searched(&[Level::open(2800.0), gone]));
    assert_eq!(found.lost_step().and_then(|step| step.rate_per_sec), Some(2500.0));
    assert_eq!(found.search.unwrap().drift, None);
    assert_eq!(findings(&searched(&[Level::open(2800.0)])).lost_step(), None);
}

#[test]
fn a_search_that_the_generator_ended_is_no_evidence() {
    let busy = Level { busy: 0.97, ..late(3000.0) };
    let strict = |trials: &[Level]| {
        let run = searched(trials);
        RunStatus::new(&run, &findings(&run), true)
    };
    assert_eq!(strict(&[Level::open(2800.0), busy.clone(), busy]), RunStatus::NotEvidence);
    assert_eq!(strict(&[Level::open(2800.0)]), RunStatus::Met);
}

#[test]
fn a_search_whose_trials_contradict_each_other_to_the_end_found_nothing() {
    let short = |level| Level { intervals: 70, ..level };
    let both = [short(late(2800.0)), short(Level::open(2800.0))];
    let trials: Vec<Level> = both.iter().cycle().take(60).cloned().collect();
    let gave_up = search(&trials);
    assert_eq!((gave_up.trials.len(), gave_up.held_per_sec), (60, Some(2800.0)));
    assert_eq!(gave_up.end, SearchEnd::Unfinished);
}

/// Rates that a target refuses which the ladder brought down.
fn refused(rates: &[f64], intervals: u32) -> Vec<Level> {
    rates.iter().map(|rate| Level { refused: 1.0, intervals, ..Level::open(*rate) }).collect()
}

/// A second of trials, in which so much falls due that a queue of it would last for longer.
fn refused_soon() -> Vec<Level> {
    let mut trials = refused(&[2800.0, 2380.0, 1720.0, 245.0], 8);
    trials[0].backlog_growth = 1_000;
    trials
}

#[test]
fn a_target_that_the_ladder_brought_down_is_named_as_such_and_that_it_stays_down() {
    let down = search(&refused(&[2800.0, 2380.0, 1720.0, 898.0, 245.0], 100)).outage.unwrap();
    assert!((down.served_per_sec - 3200.0).abs() < 0.01 * 3200.0, "{down:?}");
    assert_eq!((down.tried_per_sec, down.stuck), (245.0, true));
    // Five trials of 5 s, with 40,000 requests that 3200/s would have served in 12.6 s.
    assert!((25.0..45.0).contains(&down.watched_sec), "{down:?}");
    assert!((12.0..13.5).contains(&down.queue_sec), "{down:?}");
    let soon = search(&refused_soon()).outage;
    assert!(soon.is_some_and(|down| !down.stuck), "a queue may still be there: {soon:?}");
}

#[test]
fn a_target_that_answers_or_was_not_tried_far_below_what_it_served_is_not_down() {
    assert_eq!(search(&refused(&[2800.0, 2380.0, 1720.0], 100)).outage, None);
    let late = [2800.0, 2380.0, 1720.0, 898.0, 245.0].map(late);
    assert_eq!(search(&late).outage, None, "it is slow");
    let mut recovered = refused(&[2800.0, 2380.0, 1720.0, 898.0], 100);
    recovered.push(Level::open(245.0));
    assert_eq!(search(&recovered).outage, None, "it is back");
}

#[test]
fn a_ladder_that_brings_the_target_down_is_the_overload_where_no_rate_is_known_to_overload_it_by() {
    let class = |trials: &[Level]| {
        let mut run = searched(trials);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.overload = Some(frozen(&OverloadSpec::default()));
        run.manifest.plan = plan.to_json();
        let overload = findings(&run).overload.unwrap();
        (overload.class, overload.by_ladder.is_some(), overload.doubt)
    };
    let metastable = class(&refused(&[2800.0, 2380.0, 1720.0, 898.0, 245.0], 100));
    assert_eq!(metastable, (OverloadClass::Metastable, true, None));
    let collapses = class(&refused_soon());
    assert_eq!(collapses, (OverloadClass::Collapses, true, None));
    let unknown = class(&[2800.0, 2380.0, 1720.0, 898.0, 245.0].map(late));
    assert_eq!(unknown, (OverloadClass::Unknown, false, Some(OverloadDoubt::NoRate)));
}

#[test]
fn a_rate_that_is_asked_for_is_compared_with_the_maximum() {
    let throughput = |asked: f64, trials: &[Level]| {
        let mut run = searched(trials);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.slo.throughput_per_sec = Some(asked);
        run.manifest.plan = plan.to_json();
        findings(&run).slo.unwrap().throughput
    };
    let trials = [Level::open(2800.0), late(2900.0)];
    assert_eq!(throughput(2800.0, &trials), Held::Yes);
    assert_eq!(throughput(2850.0, &trials), Held::Unknown);
    assert_eq!(throughput(2900.0, &trials), Held::No, "although a closed loop served 3200");
    assert_eq!(throughput(3500.0, &trials[..1]), Held::Unknown);
    assert_eq!(throughput(5000.0, &trials[..1]), Held::No, "far beyond what a closed loop was served");
}

#[test]
fn a_rate_that_is_asked_for_holds_if_it_was_tried_and_held_although_the_confirmed_end_is_below() {
    let throughput = |asked: f64, trials: &[Level]| {
        let (check, _) = judged(trials, |plan| plan.slo.throughput_per_sec = Some(asked));
        check.throughput
    };
    let holds = [
        Level::open(1890.0),
        late(2173.0),
        Level::open(2000.0),
        late(2085.0),
        Level::open(1993.0),
        late(2092.0),
    ];
    let found = search(&holds);
    assert!(found.held_per_sec < Some(2000.0) && found.broken_per_sec > Some(2000.0), "{found:?}");
    assert_eq!(throughput(2000.0, &holds), Held::Yes);
    let breaks = [
        Level::open(1890.0),
        late(2173.0),
        late(2000.0),
        Level::open(1920.0),
        late(2008.0),
        Level::open(1910.0),
    ];
    assert!(search(&breaks).broken_per_sec > Some(2000.0));
    assert_eq!(throughput(2000.0, &breaks), Held::No);
}

#[test]
fn a_strict_percentile_of_a_slow_service_takes_the_time_of_enough_responses() {
    let of = |slo: &Slo, rate, left_sec| longest_trial(slo, rate, 0.05, Some(Duration::from_secs(left_sec)));
    let strict = Slo { latency: vec![LatencyLimit { percent: 99.9, limit_ms: 100.0 }], ..slo() };
    let sec = |slo: &Slo, rate| of(slo, rate, 10_000).unwrap().as_secs_f64();
    assert!(sec(&strict, 10.0) * 10.0 > 1_464.0, "so many, none of them late, decide that it holds");
    assert_eq!(of(&strict, 10.0, 120), None, "they do not fit into what is left");
    assert_eq!((sec(&strict, 2000.0), sec(&slo(), 2000.0)), (60.0, 60.0));
}

#[test]
fn a_trial_of_a_slow_service_has_the_time_in_which_it_can_hold() {
    let p99 = |limit_ms| Slo { latency: vec![LatencyLimit::p99(limit_ms)], ..slo() };
    let longest =
        |limit_ms, left_sec| longest_trial(&p99(limit_ms), 1000.0, 0.05, Some(Duration::from_secs(left_sec)));
    assert_eq!(longest(1000.0, 30), Some(Duration::from_secs(8)));
    assert!(longest(8000.0, 30).is_some_and(|longest| longest > Duration::from_secs(11)));
    assert!(longest(90_000.0, 600).is_some_and(|longest| longest > Duration::from_secs(93)));
    assert_eq!(longest(90_000.0, 60), None);
}

/// Whether the conditions held, and how the run ended, with this change of its plan.
fn judged(trials: &[Level], change: impl Fn(&mut Plan)) -> (SloCheck, RunStatus) {
    let mut run = searched(trials);
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    change(&mut plan);
    run.manifest.plan = plan.to_json();
    let found = findings(&run);
    let status = RunStatus::new(&run, &found, false);
    (found.slo.unwrap(), status)
}

#[test]
fn conditions_are_not_known_to_hold_where_no_rate_is_although_the_ladder_kept_them() {
    let undecided = Level { intervals: 20, ..Level::open(2800.0) };
    let busy = Level { busy: 0.97, ..late(2800.0) };
    for trials in [vec![], vec![late(2800.0)], vec![undecided], vec![busy.clone(), busy]] {
        let asked = |plan: &mut Plan| plan.slo.throughput_per_sec = Some(100.0);
        let (check, status) = judged(&trials, asked);
        assert_eq!((check.latency.as_slice(), check.success), ([Held::Unknown].as_slice(), Held::Unknown));
        assert_eq!((check.throughput, status), (Held::Unknown, RunStatus::Open), "{}", trials.len());
        assert_eq!(judged(&trials, |_| {}).1, RunStatus::Open);
        let assumed = judged(&trials, |plan| plan.slo_assumed = true);
        assert_eq!(assumed.1, RunStatus::Met, "no condition was given");
    }
    assert_eq!(judged(&[Level::open(2800.0)], |_| {}).1, RunStatus::Met);
    let close = |rate| Level { intervals: 20, ..Level::open(rate) };
    let below = [late(280_000.0), close(2800.0)];
    assert_eq!(judged(&below, |_| {}).1, RunStatus::Open, "the lowest rate was too close to decide");
    let never = [2800.0, 2380.0, 1720.0, 898.0, 245.0, 28.0].map(late);
    assert_eq!(judged(&never, |_| {}).1, RunStatus::Broken);
    assert_eq!(judged(&never, |plan| plan.slo_assumed = true).1, RunStatus::Broken);
}

/// What a comparison of two services takes from a run.
fn compared(run: &Run) -> AbLoad {
    AbLoad::new(run, &findings(run), AbSide::B, 1).unwrap()
}

#[test]
fn two_services_are_compared_by_the_middle_of_the_rate_that_held_and_the_one_that_did_not() {
    let rate = |trials: &[Level]| {
        let load = compared(&searched(trials));
        (load.max_rate_per_sec.map(f64::round), load.gap)
    };
    assert_eq!(rate(&[Level::open(2800.0), late(2900.0)]), (Some(2850.0), Some(SearchGap::Narrow)));
    assert_eq!(rate(&[Level::open(2500.0), late(3600.0)]), (Some(3000.0), Some(SearchGap::Wide)));
    assert_eq!(rate(&[Level::open(2800.0)]), (Some(2800.0), Some(SearchGap::Open)));
    assert_eq!(rate(&[late(2800.0)]), (None, None));
}

#[test]
fn a_ladder_that_ends_in_refusals_does_not_hide_the_rate_that_a_search_found() {
    let refuses = |level: Level, refused: f64| Level { refused, ..level };
    let trials = [Level::open(900.0), refuses(Level::open(1000.0), 0.1)];
    // 1,000 a second are served, and the others are refused sooner.
    let climbed = [Level::at(1, 800.0), refuses(Level::at(2, 20_000.0), 0.95)];
    let load = compared(&searched_after(&climbed, &trials));
    assert_eq!((load.unusable, load.max_rate_per_sec.map(f64::round)), (None, Some(949.0)));
    assert!((load.throughput_per_sec - 800.0).abs() < 8.0, "that of the step that was served: {load:?}");

    let refused = [refuses(Level::at(1, 1800.0), 0.5), refuses(Level::at(2, 20_000.0), 0.95)];
    let load = compared(&searched_after(&refused, &trials));
    assert_eq!((load.unusable, load.max_rate_per_sec.map(f64::round)), (None, Some(949.0)));
    assert_eq!(load.throughput_per_sec, 0.0, "no step shows that of a service that works");
    let load = compared(&searched_after(&refused, &[]));
    assert!(matches!(load.unusable, Some(Unusable::Failing(_))), "no rate is known: {load:?}");
}

#[test]
fn a_lowest_step_that_is_too_slow_in_its_tail_alone_leaves_lower_rates_to_be_tried() {
    let tail = searched_after(&[Level { slow_tenth: 100.0, ..Level::closed(1) }], &[]);
    let whole = searched_after(&[Level { latency_ns: 300_000_000, ..Level::closed(1) }], &[]);
    let [of_tail, of_whole] = [&tail, &whole].map(findings);
    assert!([&of_tail, &of_whole].iter().all(|one| one.slo.as_ref().unwrap().is_too_slow()));
    assert_eq!([of_tail, of_whole].map(|one| one.is_too_slow_for_any_rate()), [false, true]);
    let rates = [&tail, &whole].map(|run| compared(run).max_rate_per_sec);
    assert_eq!(rates, [None, Some(0.0)], "without a trial it is not known whether the first holds any");
}

#[test]
fn a_load_that_did_not_run_to_its_end_is_no_load_of_a_comparison() {
    let whole = Level::closed(4);
    let cut = Level { intervals: 5, end: StepEnd::Cut, ..whole.clone() };
    assert_eq!(compared(&single(whole)).unusable, None);
    assert_eq!(compared(&single(cut)).unusable, Some(Unusable::Cut));
    let climbed = [Level::closed(1), Level { end: StepEnd::Cut, ..Level::closed(2) }];
    let mut search = searched_after(&climbed, &[Level::open(300.0), late(310.0)]);
    assert_eq!(compared(&search).unusable, None, "the ladder has its share of the time");
    search.manifest.sealed = false;
    assert_eq!(compared(&search).unusable, Some(Unusable::Cut), "plimsoll was killed in the search");
}

#[test]
fn two_services_are_compared_by_the_rate_that_holds_which_is_none_where_low_rates_break() {
    let max_rate = |trials: &[Level], p99_ms: f64| {
        let mut run = searched(trials);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.slo.latency = vec![LatencyLimit::p99(p99_ms)];
        run.manifest.plan = plan.to_json();
        let load = compared(&run);
        (load.max_rate_per_sec, load.unusable)
    };
    let never = [2800.0, 2380.0, 1720.0, 898.0, 245.0, 28.0];
    assert_eq!(max_rate(&[Level::open(2800.0)], 100.0), (Some(2800.0), None));
    assert_eq!(max_rate(&never.map(late), 100.0), (Some(0.0), None));
    assert_eq!(max_rate(&[late(2800.0)], 100.0), (None, None), "lower rates may hold");
    assert_eq!(max_rate(&[], 0.001), (Some(0.0), None), "each step is too slow, so that no rate was tried");
    assert_eq!(max_rate(&[], 100.0), (None, None), "no rate fitted into the time");
}

#[test]
fn the_ladder_is_judged_without_the_search() {
    let found = findings(&searched(&[Level::open(2800.0), late(2900.0)]));
    let alone = findings(&searched(&[]));
    assert_eq!((found.steps.len(), alone.search), (7, None));
    assert_eq!((found.knee, found.verdict), (alone.knee, alone.verdict));
}

#[test]
fn a_rate_is_judged_alike_while_its_load_goes_on_and_afterwards() {
    for level in [Level::open(2800.0), late(2800.0), Level { backlog_growth: 30, ..Level::open(2800.0) }] {
        let run = searched(std::slice::from_ref(&level));
        let frames: Vec<_> = run.frames_of(7).collect();
        let live = |backwards: bool| {
            let mut judge = Judge::new(slo(), 2800.0, 2, 0.05);
            for both in frames.chunks(2) {
                let mut both = both.to_vec();
                if backwards {
                    both.reverse();
                }
                both.into_iter().for_each(|frame| judge.add(frame).unwrap());
                if let Some(outcome) = judge.outcome() {
                    return outcome;
                }
            }
            TrialOutcome::Close
        };
        assert_eq!(live(false), outcome(level.clone()));
        assert_eq!(live(true), outcome(level));
    }
}

#[test]
fn the_latency_of_a_history_is_that_at_the_rate_that_was_found_or_not_known() {
    let figures = |trials: &[Level]| RunFigures::new(&findings(&searched(trials)));
    let found = figures(&[Level::open(2800.0)]);
    assert!(
        found.p99_ns.is_some_and(|p99| p99.value < 4e6),
        "2 ms and not the 5 ms of the ladder: {found:?}"
    );
    let never = figures(&[late(2800.0)]);
    assert!(never.throughput_per_sec.is_some(), "the ladder served requests");
    assert_eq!((never.held_per_sec, never.p50_ns, never.p99_ns), (None, None, None));
    assert_eq!(never.success_ratio, Some(1.0), "of the ladder, as the throughput");
}

#[test]
fn the_highest_rates_of_two_searches_are_compared_within_the_same_conditions() {
    let old = findings(&searched(&[Level::open(2800.0), late(2900.0)]));
    let new = findings(&searched(&[Level::open(1400.0), late(1450.0)]));
    let rates = highest_rates(&new, &old).unwrap();
    let bracket = |held, broken| RateBracket { held_per_sec: Some(held), broken_per_sec: Some(broken) };
    assert_eq!((rates.candidate, rates.reference), (bracket(1400.0, 1450.0), bracket(2800.0, 2900.0)));
    assert!(rates.is_worse(0.05) && !rates.is_worse(0.5));
    let mut other = old.clone();
    other.plan.slo.success_ratio = None;
    assert_eq!(highest_rates(&new, &other), None);
    assert_eq!(highest_rates(&new, &findings(&ladder(&[Level::closed(16)], slo()))), None);
    let undecided = findings(&searched(&[Level { intervals: 20, ..Level::open(2800.0) }]));
    assert_eq!(highest_rates(&undecided, &undecided), None, "neither came to a rate");
    assert!(highest_rates(&undecided, &old).is_some());
}
