//! What a run has of the steps of its plan: nothing as it begins, more where its conductor died and another one goes on with it.

use std::time::Duration;

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_analyze::search::bracket::{self, Next};
use plimsoll_analyze::search::{aim, trial, trials, tried};
use plimsoll_analyze::{StepKind, step_kind};
use plimsoll_plan::{LadderSteps, Load, Plan, Slo};
use plimsoll_record::{Event, EventKind, Run, Step, StepEnd};

/// The steps that a run has, as its plan sees them.
#[derive(Debug, Clone, Copy)]
pub struct Made<'a> {
    run: &'a Run,
    plan: &'a Plan,
}

impl<'a> Made<'a> {
    /// The steps of a run of this plan.
    pub fn new(run: &'a Run, plan: &'a Plan) -> Self {
        Self { run, plan }
    }

    pub(crate) fn plan(self) -> &'a Plan {
        self.plan
    }

    /// The steps that the machine of the run can open enough connections for.
    pub(crate) fn within_limits(self, steps: &LadderSteps) -> LadderSteps {
        match (steps, self.run.manifest.machine.lowered_to) {
            (LadderSteps::Fixed(steps), Some(allowed)) => {
                LadderSteps::Fixed(steps.iter().copied().filter(|step| allowed.allows(*step)).collect())
            }
            (steps, _) => steps.clone(),
        }
    }

    /// Whole steps of this kind. One that was cut as its conductor died is made again.
    fn whole(self, kind: StepKind) -> impl Iterator<Item = &'a Step> {
        let is_own = move |step: &&Step| self.kind(step) == Some(kind) && step.end != StepEnd::Cut;
        self.run.steps.iter().filter(is_own)
    }

    /// What a step is for; `None` if it was held for a profile.
    fn kind(self, step: &Step) -> Option<StepKind> {
        let is_held = self.run.profiles.iter().any(|profile| profile.step == step.index);
        // An overload of a given rate begins with the load of its plan.
        let is_load = step.index == 0 && matches!(self.plan.load, Load::Single { .. });
        match is_load {
            true => Some(StepKind::Load),
            false => (!is_held).then(|| step_kind(self.plan, step)),
        }
    }

    /// Whether a step that was cut is made again. A load that is the only one of its plan is not: it would be another run. Nor is a
    /// rate whose outcome was known by then.
    pub fn is_made_again(self, step: &Step) -> bool {
        step.end == StepEnd::Cut
            && match self.kind(step) {
                None | Some(StepKind::Load) => false,
                Some(StepKind::Trial) => !self.is_decided(step),
                Some(_) => true,
            }
    }

    /// Whether a step is a trial of a search that was cut, and whose outcome was known by then.
    pub(crate) fn is_decided(self, step: &Step) -> bool {
        step.end == StepEnd::Cut
            && self.kind(step) == Some(StepKind::Trial)
            && matches!(trial(self.run, self.plan, step, None), Ok(Some(_)))
    }

    /// Whether a step that was cut was made again by now.
    pub fn was_made_again(self, step: &Step) -> bool {
        self.run.steps.iter().any(|other| other.index > step.index && other.is_of_level(step))
    }

    /// Whether the search for the highest rate has a next rate.
    pub(crate) fn is_search_left(self) -> bool {
        let Some(order) = self.plan.search else { return false };
        // A ladder that used up its part has noted that, too, and left steps.
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
        // Of trials that cannot be read nothing is known.
        let Ok(trials) = trials(self.run, self.plan) else { return true };
        trials.is_empty() || matches!(bracket::next(aim(self.plan, order), &tried(&trials)), Next::Try { .. })
    }

    /// Whether an overload of the plan was not made.
    pub(crate) fn are_overloads_left(self) -> bool {
        let Some(order) = &self.plan.overload else { return false };
        // The first of a given rate is the load of the plan.
        let first = usize::from(order.rate_per_sec.is_some());
        let planned = order.profiles(order.rate_per_sec.unwrap_or(1.0)).len() - first;
        !self.has_profile() && self.overloads() < planned
    }

    /// Whether the plan has a step that was not made, and for which there was time.
    pub(crate) fn is_left(self) -> bool {
        let in_time = || !self.run.events.iter().any(|event| event.kind == EventKind::BudgetEnded);
        self.next_connections().is_some() && in_time() || self.is_search_left() || self.are_overloads_left()
    }

    /// The steps of the ladder, in the order in which they were made.
    pub(crate) fn ladder(self) -> Vec<StepResult> {
        let result = |step: &Step| {
            StepResult::observe(step.connections, self.run.frames_of(step.index).map(|frame| &frame.head))
        };
        self.whole(StepKind::Ladder).map(result).collect()
    }

    /// The connections of the next step, if that is one of the plan's ladder.
    pub fn next_connections(self) -> Option<u32> {
        match &self.plan.load {
            Load::Ladder { steps, .. } => self.next_of_ladder(&self.within_limits(steps)),
            Load::Single { .. } => None,
        }
    }

    /// The connections of the next step of the ladder; `None` if none follows.
    pub(crate) fn next_of_ladder(self, steps: &LadderSteps) -> Option<u32> {
        match self.is_beyond_ladder() {
            true => None,
            false => ladder::next(steps, success_budget(self.plan), &self.ladder()),
        }
    }

    /// Whether a step was begun.
    pub fn has_steps(self) -> bool {
        !self.run.steps.is_empty()
    }

    /// True if a step was begun that follows the ladder.
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

    /// How many of the overloads that follow the load were made.
    pub(crate) fn overloads(self) -> usize {
        self.whole(StepKind::Overload).count()
    }

    /// The end of the run, if a step that it has was the last whatever the plan says.
    pub fn end(self) -> Option<StepEnd> {
        let last = self.run.steps.last()?;
        let is_over = match last.end {
            StepEnd::TargetLost => true,
            // The search goes on after a rate that was decided.
            StepEnd::Cut => self.kind(last) != Some(StepKind::Trial) && !self.is_made_again(last),
            _ => false,
        };
        is_over.then_some(last.end)
    }

    /// The time that the load took so far. A pause without a conductor, in which no step was on, does not count.
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

/// The share of requests that must succeed for a ladder to go on.
pub(crate) fn success_budget(plan: &Plan) -> f64 {
    plan.slo.success_ratio.unwrap_or(Slo::REFERENCE_SUCCESS)
}

#[cfg(test)]
pub(crate) mod tests;
