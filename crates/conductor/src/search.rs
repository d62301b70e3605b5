//! The search for the highest rate within the conditions, after the ladder.

use std::time::Duration;

use plimsoll_analyze::search::bracket::{self, Next};
use plimsoll_analyze::search::{DOWN, Judge, REST, aim, longest_trial, trial, trials, tried};
use plimsoll_analyze::{StepSummary, TrialOutcome, TrialSummary, analyze};
use plimsoll_engine::EngineError;
use plimsoll_plan::{ArrivalProcess, Level, Load, RateProfile, RateSearchOrder};
use plimsoll_record::EventKind;
use plimsoll_units::count_text;

use crate::context::StepPlan;
use crate::load::workers;
use crate::made::Made;
use crate::overload::TRIES;
use crate::session::Session;
use crate::step::EndsWhen;

/// The first rate, as a part of the highest throughput of the ladder: open-loop arrivals queue at a lower rate than a closed loop.
const FIRST_PART: f64 = 0.9;

/// The first rate, as a part of the throughput of the lowest step, if that step was too slow for some of its requests: a quota or a
/// garbage collector stops a closed loop that takes all it can get, but may not stop a rate that leaves pauses.
const FIRST_PART_OF_SLOW: f64 = 0.5;

/// The parameters of one trial.
#[derive(Debug, Clone, Copy)]
struct TrialOrder {
    rate_per_sec: f64,
    /// The connections that are open when the trial begins.
    connections: u32,
    limit: Duration,
}

/// The results of a trial that decide the rest after it.
#[derive(Debug, Clone, Copy)]
struct Tried {
    is_held: bool,
    success_ratio: Option<f64>,
    lasted_sec: f64,
}

impl Tried {
    fn of(trial: &TrialSummary) -> Self {
        let TrialSummary { step, outcome, .. } = trial;
        let lasted_sec = step.warmup_sec + step.measured_sec + step.drain_sec;
        Self { is_held: *outcome == TrialOutcome::Held, success_ratio: step.success_ratio, lasted_sec }
    }
}

/// How long the target rests after these trials, the last of which broke. A target that held an earlier rate and now fails most
/// requests may still be working on the requests of all broken rates since, with several tries of each.
fn rest_after(trials: &[Tried]) -> Duration {
    let since_held = trials.rsplit(|trial| trial.is_held).next().unwrap_or_default();
    let has_held = since_held.len() < trials.len();
    let succeeded = since_held.last().and_then(|trial| trial.success_ratio);
    if !has_held || succeeded.is_none_or(|ratio| ratio >= DOWN) {
        return REST;
    }
    let worked_sec: f64 = since_held.iter().map(|trial| trial.lasted_sec).sum();
    Duration::try_from_secs_f64(worked_sec).map_or(REST, |worked| (TRIES * worked).max(REST))
}

impl Session<'_> {
    /// Searches, if the plan asks for it and the steps so far allow it.
    pub(crate) fn search(&mut self) -> Result<(), EngineError> {
        let Some(order) = self.context.plan.search else { return Ok(()) };
        let run = self.recorder.run();
        let made = Made::new(run, &self.context.plan);
        if self.is_over() || run.steps.is_empty() || made.has_overloads() || made.has_profile() {
            return Ok(());
        }
        // Histograms that this process made itself, or has already read, can be read.
        let Ok(trials) = trials(run, &self.context.plan) else { return Ok(()) };
        let begins = if trials.is_empty() { self.first_rate() } else { self.next_rate(order, &trials) };
        let Some((first, connections)) = begins else { return Ok(()) };
        self.try_rates(order, (first, connections), trials)
    }

    /// The rate after these trials, with the connections that are open when it begins; `None` if the search is over.
    fn next_rate(&self, order: RateSearchOrder, trials: &[TrialSummary]) -> Option<(f64, u32)> {
        let findings = analyze(self.recorder.run()).ok()?;
        let (_, best) = findings.best_answered_step()?;
        match bracket::next(aim(&self.context.plan, order), &tried(trials)) {
            Next::Try { rate_per_sec, .. } => Some((rate_per_sec, best.connections)),
            Next::Done | Next::GaveUp => None,
        }
    }

    /// The first rate, with the connections that are open when it begins; `None` if no rate can hold: without any success, or if
    /// half of the requests of the lowest step are already too slow.
    fn first_rate(&self) -> Option<(f64, u32)> {
        let findings = analyze(self.recorder.run()).ok()?;
        let (_, best) = findings.best_answered_step()?;
        let check = findings.slo.as_ref()?;
        if let Some(within) = check.throughput_within {
            return Some((FIRST_PART * within.value, best.connections));
        }
        let succeeded = |step: &StepSummary| step.throughput.value * step.success_ratio.unwrap_or_default();
        if !check.is_too_slow() {
            let most = findings.steps.iter().map(succeeded).fold(0.0, f64::max);
            return (most > 0.0).then_some((FIRST_PART * most, best.connections));
        }
        let lowest = findings.steps.iter().min_by_key(|step| step.connections)?;
        let served = succeeded(lowest);
        let can_hold = served > 0.0 && !findings.is_too_slow_for_any_rate();
        can_hold.then_some((FIRST_PART_OF_SLOW * served, lowest.connections))
    }

    fn try_rates(
        &mut self,
        order: RateSearchOrder,
        (first, connections): (f64, u32),
        mut trials: Vec<TrialSummary>,
    ) -> Result<(), EngineError> {
        let aim = aim(&self.context.plan, order);
        let mut rate_per_sec = first;
        loop {
            let left = self.budget.left_for_load(self.load_begins());
            let Some(limit) = longest_trial(&self.context.plan.slo, rate_per_sec, order.tolerance, left)
            else {
                self.note_end_of_search(rate_per_sec);
                return Ok(());
            };
            let order_of_trial = TrialOrder { rate_per_sec, connections, limit };
            let Some(trial) = self.try_rate(&order_of_trial, order.tolerance, trials.last())? else {
                return Ok(());
            };
            let is_overloaded = matches!(trial.outcome, TrialOutcome::Broken(_));
            trials.push(trial);
            let Next::Try { rate_per_sec: next, at_once } = bracket::next(aim, &tried(&trials)) else {
                return Ok(());
            };
            rate_per_sec = next;
            if is_overloaded && !at_once {
                self.rest_from_overload(&trials);
                if self.is_over() {
                    return Ok(());
                }
            }
        }
    }

    /// Lets the target rest after a rate that broke, for at most half of the remaining time.
    fn rest_from_overload(&mut self, trials: &[TrialSummary]) {
        let tried: Vec<Tried> = trials.iter().map(Tried::of).collect();
        let rest = rest_after(&tried);
        let left = self.budget.left(self.recorder.now());
        self.pause(left.map_or(rest, |left| rest.min(left / 2)).max(REST));
    }

    /// Makes one trial; `None` if the run ends with it.
    fn try_rate(
        &mut self,
        order: &TrialOrder,
        tolerance: f64,
        before: Option<&TrialSummary>,
    ) -> Result<Option<TrialSummary>, EngineError> {
        let TrialOrder { rate_per_sec, connections, limit } = *order;
        let index = self.recorder.run().steps.len() as u32;
        let (Load::Ladder { depth, .. } | Load::Single { level: Level::Closed { depth, .. }, .. }) =
            self.context.plan.load
        else {
            return Ok(None);
        };
        let level = Level::Open {
            profile: RateProfile::Constant(rate_per_sec),
            arrivals: ArrivalProcess::Poisson,
            connections,
            depth,
        };
        let spec = StepPlan { index, level, limit, interval: self.context.interval, requests_max: None };
        let workers = workers(&self.context, self.peers.as_ref(), connections) as usize;
        let judge = Judge::new(self.context.plan.slo.clone(), rate_per_sec, workers, tolerance);
        self.step(spec, EndsWhen::Decided(Box::new(judge)))?;
        let run = self.recorder.run();
        let Some(step) = run.steps.iter().find(|step| step.index == index) else { return Ok(None) };
        let over = self.is_over();
        // Histograms that this process made itself can be read.
        let summary = trial(run, &self.context.plan, step, before).ok().flatten();
        Ok(summary.filter(|_| !over))
    }

    fn note_end_of_search(&mut self, rate_per_sec: f64) {
        let text = format!(
            "the time budget ended before the rate of {} requests/s was tried; give more with --budget for a narrower interval",
            count_text(rate_per_sec)
        );
        self.recorder.event(EventKind::BudgetEnded, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Tried = Tried { is_held: true, success_ratio: Some(1.0), lasted_sec: 10.0 };
    const LATE: Tried = Tried { is_held: false, success_ratio: Some(0.9), lasted_sec: 2.0 };
    const DEAD: Tried = Tried { is_held: false, success_ratio: Some(0.0), lasted_sec: 1.5 };

    #[test]
    fn a_target_that_is_down_rests_until_the_work_of_the_overload_may_be_done() {
        assert_eq!(rest_after(&[HELD, LATE]), REST);
        assert_eq!(rest_after(&[HELD, LATE, DEAD]), Duration::from_millis(10_500));
        assert_eq!(rest_after(&[HELD, LATE, DEAD, DEAD]), Duration::from_secs(15));
        assert_eq!(rest_after(&[HELD, DEAD, HELD, LATE]), REST);
    }

    #[test]
    fn a_target_that_never_held_a_rate_is_not_waited_for() {
        assert_eq!(rest_after(&[DEAD, DEAD]), REST);
        assert_eq!(rest_after(&[HELD, Tried { success_ratio: None, ..DEAD }]), REST);
    }
}
