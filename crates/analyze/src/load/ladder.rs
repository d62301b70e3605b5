//! Chooses the next step of a ladder.

use std::collections::BTreeSet;

use plimsoll_plan::LadderSteps;
use plimsoll_record::{FrameHead, Phase};
use plimsoll_stats::mean;

use super::frames::{counts_of, per_second};
use super::series::series;
use super::steady::settle_closed;

/// A step gains nothing if its throughput is less than this ratio above the best before it.
const MIN_GAIN: f64 = 0.05;
/// A ladder ends after this many steps in a row that gain nothing, or stay below the success budget: a single one may be chance.
const STEPS_IN_A_ROW: usize = 2;
/// Below this success ratio one step is enough to end the ladder.
const SUCCESS_HOPELESS: f64 = 0.5;

/// The result of a finished step, from counts only, so that it is cheap to compute between two steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResult {
    pub connections: u32,
    pub throughput_per_sec: f64,
    /// Successful responses over everything that ended; `None` if nothing did.
    pub success_ratio: Option<f64>,
}

impl StepResult {
    /// Computes the result from the frames of one step, with the warm-up cut as in the final analysis.
    pub fn observe<'a>(connections: u32, heads: impl IntoIterator<Item = &'a FrameHead>) -> Self {
        let heads: Vec<&FrameHead> = heads.into_iter().collect();
        let success_ratio = counts_of(heads.iter().copied()).success_ratio();
        Self { connections, throughput_per_sec: throughput(&heads), success_ratio }
    }
}

fn throughput(heads: &[&FrameHead]) -> f64 {
    let workers: BTreeSet<u32> = heads.iter().map(|head| head.worker).collect();
    let points = series(heads.iter().copied(), workers.len());
    let level = &points[settle_closed(&points).cut..];
    if level.is_empty() {
        let under_load = heads.iter().filter(|head| head.phase == Phase::Measure).copied();
        per_second(under_load, |head| head.counts.completed)
    } else {
        mean(level)
    }
}

/// The connections of the next step, given the steps so far in the order in which they were made; `None` ends the ladder.
/// `success_budget` is the success ratio by which the run is judged.
///
/// A ladder of given steps makes all of them. A doubling ladder ends at the plateau, when requests fail beyond the budget, or at its
/// highest step, which is made even if it is no power of two.
pub fn next(steps: &LadderSteps, success_budget: f64, done: &[StepResult]) -> Option<u32> {
    match (steps, done.last()) {
        (LadderSteps::Fixed(fixed), _) => fixed.get(done.len()).copied(),
        (LadderSteps::Doubling { .. }, None) => Some(1),
        (LadderSteps::Doubling { connections_max }, Some(last)) => {
            let ends = fails(success_budget, done) || is_plateau(done);
            (!ends && last.connections < *connections_max)
                .then(|| last.connections.saturating_mul(2).min(*connections_max))
        }
    }
}

/// True if hardly any request succeeds, or too many fail in several steps in a row. A step in which nothing ended has failed too: its
/// requests wait for an answer.
fn fails(success_budget: f64, done: &[StepResult]) -> bool {
    let success = |step: &StepResult| step.success_ratio.unwrap_or(0.0);
    let below = done.iter().rev().take_while(|step| success(step) < success_budget).count();
    done.last().is_some_and(|last| success(last) < SUCCESS_HOPELESS) || below >= STEPS_IN_A_ROW
}

fn is_plateau(done: &[StepResult]) -> bool {
    let gains = |index: usize| {
        let before = done[..index].iter().map(|step| step.throughput_per_sec).fold(0.0, f64::max);
        done[index].throughput_per_sec >= (1.0 + MIN_GAIN) * before
    };
    (1..done.len()).rev().take_while(|index| !gains(*index)).count() >= STEPS_IN_A_ROW
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Counts;

    use super::*;

    const DOUBLING: LadderSteps = LadderSteps::Doubling { connections_max: 100 };
    const BUDGET: f64 = 0.9995;

    fn steps(throughputs: &[f64]) -> Vec<StepResult> {
        let step = |(index, throughput): (usize, &f64)| StepResult {
            connections: 1 << index,
            throughput_per_sec: *throughput,
            success_ratio: Some(1.0),
        };
        throughputs.iter().enumerate().map(step).collect()
    }

    #[test]
    fn a_ladder_doubles_from_one_to_its_last_step() {
        assert_eq!(next(&DOUBLING, BUDGET, &[]), Some(1));
        assert_eq!(next(&DOUBLING, BUDGET, &steps(&[10.0, 20.0])), Some(4));
        let seven: Vec<f64> = (0..7).map(|index| f64::from(1 << index)).collect();
        let mut done = steps(&seven);
        assert_eq!(next(&DOUBLING, BUDGET, &done), Some(100));
        done.push(StepResult { connections: 100, throughput_per_sec: 100.0, success_ratio: Some(1.0) });
        assert_eq!(next(&DOUBLING, BUDGET, &done), None);
    }

    #[test]
    fn two_steps_in_a_row_without_gain_are_a_plateau_and_one_is_not() {
        assert_eq!(next(&DOUBLING, BUDGET, &steps(&[10.0, 20.0, 20.5])), Some(8));
        assert_eq!(next(&DOUBLING, BUDGET, &steps(&[10.0, 20.0, 18.0, 30.0])), Some(16));
        for flat in [[10.0, 20.0, 20.5, 20.9], [10.0, 20.0, 15.0, 12.0]] {
            assert!(is_plateau(&steps(&flat)));
            assert_eq!(next(&DOUBLING, BUDGET, &steps(&flat)), None);
        }
    }

    #[test]
    fn failures_end_a_ladder_when_they_are_clear() {
        let with = |ratios: &[Option<f64>]| {
            let mut done = steps(&[10.0, 20.0, 40.0, 80.0][..ratios.len()]);
            done.iter_mut().zip(ratios).for_each(|(step, ratio)| step.success_ratio = *ratio);
            next(&DOUBLING, BUDGET, &done)
        };
        assert_eq!(with(&[Some(1.0), Some(0.99)]), Some(4));
        assert_eq!(with(&[Some(0.99), Some(0.99)]), None);
        assert_eq!(with(&[Some(1.0), Some(0.4)]), None);
        assert_eq!(with(&[Some(0.0)]), None);
        assert_eq!(with(&[None]), None);
    }

    #[test]
    fn a_step_is_seen_without_its_warm_up_and_with_all_its_failures() {
        let head = |interval: u32| {
            let mut counts = Counts { completed: if interval < 20 { 10 } else { 100 }, ..Counts::default() };
            counts.ok = counts.completed;
            counts.failed.add(plimsoll_record::FailureKind::TimedOut, u64::from(interval < 10));
            FrameHead {
                step: 0,
                worker: 0,
                request: 0,
                interval,
                phase: Phase::Measure,
                began_ns: u64::from(interval) * 50_000_000,
                ended_ns: u64::from(interval + 1) * 50_000_000,
                counts,
                in_flight: 1,
                backlog: 0,
                connections: 1,
                time: plimsoll_record::WorkerTime::default(),
            }
        };
        let heads: Vec<FrameHead> = (0..100).map(head).collect();
        let step = StepResult::observe(8, &heads);
        assert!((step.throughput_per_sec - 2000.0).abs() < 1e-6);
        assert_eq!(step.success_ratio, Some(8200.0 / 8210.0));
        let begun = StepResult::observe(8, &heads[..1]);
        assert!((begun.throughput_per_sec - 200.0).abs() < 1e-6);
        assert_eq!(StepResult::observe(8, []).success_ratio, None);
    }

    #[test]
    fn given_steps_are_climbed_whatever_happens() {
        let fixed = LadderSteps::Fixed(vec![200, 500]);
        let failing = [StepResult { connections: 200, throughput_per_sec: 0.0, success_ratio: Some(0.0) }];
        assert_eq!(next(&fixed, BUDGET, &failing), Some(500));
        assert_eq!(next(&fixed, BUDGET, &[failing[0]; 2]), None);
    }
}
