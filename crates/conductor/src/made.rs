//! The steps of a plan that a run already has: none at first, more when a new conductor resumes a run whose conductor died.

use std::time::Duration;

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_analyze::search::bracket::{self, Next};
use plimsoll_analyze::search::{aim, trial, trials, tried};
use plimsoll_analyze::{StepKind, step_kind};
use plimsoll_plan::{LadderSteps, Load, Plan, Slo};
use plimsoll_record::{Event, EventKind, Run, Step, StepEnd};

/// A run's steps, in terms of its plan.
#[derive(Debug, Clone, Copy)]
pub struct Made<'a> {
    run: &'a Run,
    plan: &'a Plan,
}

impl<'a> Made<'a> {
    /// The recorded steps of a run of this plan.
    pub fn new(run: &'a Run, plan: &'a Plan) -> Self {
        Self { run, plan }
    }

    pub(crate) fn plan(self) -> &'a Plan {
        self.plan
    }

    /// The steps whose connections the machine of the run can open.
    pub(crate) fn within_limits(self, steps: &LadderSteps) -> LadderSteps {
        match (steps, self.run.manifest.machine.lowered_to) {
            (LadderSteps::Fixed(steps), Some(allowed)) => {
                LadderSteps::Fixed(steps.iter().copied().filter(|step| allowed.allows(*step)).collect())
            }
            (steps, _) => steps.clone(),
        }
    }

    /// The complete steps of this kind. A step cut because the conductor died is made again.
    fn whole(self, kind: StepKind) -> impl Iterator<Item = &'a Step> {
        let is_own = move |step: &&Step| self.kind(step) == Some(kind) && step.end != StepEnd::Cut;
        self.run.steps.iter().filter(is_own)
    }

    /// The kind of a step; `None` if it was held for a profile.
    fn kind(self, step: &Step) -> Option<StepKind> {
        let is_held = self.run.profiles.iter().any(|profile| profile.step == step.index);
        // An overload of a given rate begins with the load of its plan.
        let is_load = step.index == 0 && matches!(self.plan.load, Load::Single { .. });
        match is_load {
            true => Some(StepKind::Load),
            false => (!is_held).then(|| step_kind(self.plan, step)),
        }
    }

    /// True if a cut step is to be made again. A single load is not, because it would be another run. A rate whose outcome was
    /// known at the cut is not either.
    pub fn is_made_again(self, step: &Step) -> bool {
        step.end == StepEnd::Cut
            && match self.kind(step) {
                None | Some(StepKind::Load) => false,
                Some(StepKind::Trial) => !self.is_decided(step),
                Some(_) => true,
            }
    }

    /// True for a cut trial of a search whose outcome was known at the cut.
    pub(crate) fn is_decided(self, step: &Step) -> bool {
        step.end == StepEnd::Cut
            && self.kind(step) == Some(StepKind::Trial)
            && matches!(trial(self.run, self.plan, step, None), Ok(Some(_)))
    }

    /// True if a later step repeats this step's level.
    pub fn was_made_again(self, step: &Step) -> bool {
        self.run.steps.iter().any(|other| other.index > step.index && other.is_of_level(step))
    }

    /// True if the search for the highest rate has a next rate to try.
    pub(crate) fn is_search_left(self) -> bool {
        let Some(order) = self.plan.search else { return false };
        // A ladder that used up its half of the budget has recorded that too, and has steps left.
        let of_ladder = usize::from(self.next_connections().is_some());
        let count = self.run.events.iter().filter(|event| event.kind == EventKind::BudgetEnded).count();
        let first = self.run.steps.iter().find(|step| self.kind(step) == Some(StepKind::Trial));
        let has_ended = first.map_or(count > of_ladder, |first| {
            let ends = |event: &Event| event.kind == EventKind::BudgetEnded && event.at_ns >= first.began_ns;
            self.run.events.iter().any(ends)
        });
        if has_ended || self.has_overloads() || self.has_profile() {
            return false;
        }
        // If the trials cannot be read, their outcomes are unknown.
        let Ok(trials) = trials(self.run, self.plan) else { return true };
        trials.is_empty() || matches!(bracket::next(aim(self.plan, order), &tried(&trials)), Next::Try { .. })
    }

    /// True if the plan has overloads that were not made.
    pub(crate) fn are_overloads_left(self) -> bool {
        let Some(order) = &self.plan.overload else { return false };
        // With a given rate, the first overload is the load of the plan.
        let first = usize::from(order.rate_per_sec.is_some());
        let planned = order.profiles(order.rate_per_sec.unwrap_or(1.0)).len() - first;
        !self.has_profile() && self.overloads() < planned
    }

    /// True if the plan has a step that was not made although there was time for it.
    pub(crate) fn is_left(self) -> bool {
        let in_time = || !self.run.events.iter().any(|event| event.kind == EventKind::BudgetEnded);
        self.next_connections().is_some() && in_time() || self.is_search_left() || self.are_overloads_left()
    }

    /// The completed steps of the ladder, in the order in which they were made.
    pub(crate) fn ladder(self) -> Vec<StepResult> {
        let result = |step: &Step| {
            StepResult::observe(step.connections, self.run.frames_of(step.index).map(|frame| &frame.head))
        };
        self.whole(StepKind::Ladder).map(result).collect()
    }

    /// The connections of the next step of the plan's ladder; `None` if no ladder step is next.
    pub fn next_connections(self) -> Option<u32> {
        match &self.plan.load {
            Load::Ladder { steps, .. } => self.next_of_ladder(&self.within_limits(steps)),
            Load::Single { .. } => None,
        }
    }

    /// The connections of the next step among `steps`; `None` if none follows.
    pub(crate) fn next_of_ladder(self, steps: &LadderSteps) -> Option<u32> {
        match self.is_beyond_ladder() {
            true => None,
            false => ladder::next(steps, success_budget(self.plan), &self.ladder()),
        }
    }

    /// True if a step was begun.
    pub fn has_steps(self) -> bool {
        !self.run.steps.is_empty()
    }

    /// True if a step after the ladder was begun.
    pub(crate) fn is_beyond_ladder(self) -> bool {
        self.has_begun(StepKind::Trial) || self.has_overloads() || self.has_profile()
    }

    pub(crate) fn has_overloads(self) -> bool {
        self.has_begun(StepKind::Overload)
    }

    pub(crate) fn has_profile(self) -> bool {
        !self.run.profiles.is_empty()
    }

    fn has_begun(self, kind: StepKind) -> bool {
        self.run.steps.iter().any(|step| self.kind(step) == Some(kind))
    }

    /// The number of complete overloads after the load.
    pub(crate) fn overloads(self) -> usize {
        self.whole(StepKind::Overload).count()
    }

    /// How the run ended, if one of its steps rules out further ones; otherwise `None`.
    pub fn end(self) -> Option<StepEnd> {
        let last = self.run.steps.last()?;
        let is_over = match last.end {
            StepEnd::TargetLost => true,
            // A search goes on after a rate whose outcome was known.
            StepEnd::Cut => self.kind(last) != Some(StepKind::Trial) && !self.is_made_again(last),
            _ => false,
        };
        is_over.then_some(last.end)
    }

    /// The time that the load has taken so far. A pause without a conductor and without a step does not count.
    pub(crate) fn took(self) -> Duration {
        let resumed = || self.run.events.iter().filter(|event| event.kind == EventKind::Resumed);
        let is_pause = |from: u64, to: u64| resumed().any(|event| (from..to).contains(&event.at_ns));
        let steps = self.run.steps.iter().map(|step| step.drained_ns.saturating_sub(step.began_ns));
        let between = self.run.steps.windows(2).map(|pair| match (pair[0].drained_ns, pair[1].began_ns) {
            (from, to) if is_pause(from, to) => 0,
            (from, to) => to.saturating_sub(from),
        });
        Duration::from_nanos(steps.chain(between).sum())
    }
}

/// The ratio of requests that must succeed for a ladder to go on.
pub(crate) fn success_budget(plan: &Plan) -> f64 {
    plan.slo.success_ratio.unwrap_or(Slo::REFERENCE_SUCCESS)
}

#[cfg(test)]
pub(crate) mod tests;
