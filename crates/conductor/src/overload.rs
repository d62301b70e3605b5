//! Overloads of the highest rate within the conditions, after ladder and search.

use std::time::Duration;

use plimsoll_analyze::analyze;
use plimsoll_analyze::overload::RecoveryWatch;
use plimsoll_engine::EngineError;
use plimsoll_plan::{Load, RateProfile, open_level};
use plimsoll_record::StepEnd;

use crate::context::StepPlan;
use crate::load::workers;
use crate::made::Made;
use crate::session::Session;
use crate::step::EndsWhen;

/// The pause between two overloads if the target has recovered.
const REST: Duration = Duration::from_secs(1);
/// A typical number of tries of one request under a retry policy.
pub(crate) const TRIES: u32 = 3;
/// Additional time for the last requests of a step.
const DRAIN: Duration = Duration::from_secs(15);

/// The pause for a target that has not recovered, so that it is well when the next overload begins. It may still be working on all
/// requests since the overload began, with several tries of each.
fn rest_after(profile: &RateProfile) -> Duration {
    TRIES * profile.stages().iter().skip(1).map(|stage| stage.duration).sum::<Duration>()
}

impl Session<'_> {
    /// Overloads the target, if the plan asks for it and the load before it ended in order. The time is added to the run's budget.
    pub(crate) fn overload(&mut self) -> Result<(), EngineError> {
        let Some(order) = self.context.plan.overload.clone() else { return Ok(()) };
        if self.is_over() || self.recorder.run().steps.is_empty() {
            return Ok(());
        }
        let Some(rate_per_sec) = order.rate_per_sec.or_else(|| self.found_rate()) else { return Ok(()) };
        let mut profiles = order.profiles(rate_per_sec);
        if order.rate_per_sec.is_some() {
            // The first profile was the load of the plan.
            profiles.remove(0);
        }
        let made = Made::new(self.recorder.run(), &self.context.plan).overloads();
        profiles.drain(..made.min(profiles.len()));
        let longest = (1 + TRIES) * order.longest(rate_per_sec) + DRAIN * profiles.len() as u32;
        self.budget = self.budget.later_by(longest);
        self.overload_by(profiles)
    }

    /// The highest rate within the conditions, if the run's search found one.
    fn found_rate(&self) -> Option<f64> {
        analyze(self.recorder.run()).ok()?.search?.held_per_sec
    }

    fn depth(&self) -> u16 {
        match &self.context.plan.load {
            Load::Single { level, .. } => level.depth(),
            Load::Ladder { depth, .. } => *depth,
        }
    }

    fn overload_by(&mut self, profiles: Vec<RateProfile>) -> Result<(), EngineError> {
        let last = profiles.len().saturating_sub(1);
        for (number, profile) in profiles.into_iter().enumerate() {
            let index = self.recorder.run().steps.len() as u32;
            let limit = profile.duration().unwrap_or_default();
            let rest = rest_after(&profile);
            let connections_max = self.context.plan.generator.connections_max;
            let spec = self.context.step(index, open_level(profile, connections_max, self.depth()), limit);
            let ends_when = self.ends_when(&spec);
            // After the rate itself there is no recovery to wait for.
            let is_watched = matches!(ends_when, EndsWhen::Recovered(_));
            let end = self.step(spec, ends_when)?;
            if self.is_over() {
                return Ok(());
            }
            let is_down = is_watched && end != StepEnd::Steady;
            if number < last {
                self.pause(if is_down { rest } else { REST });
            }
            if self.is_over() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A step ends early once goodput has recovered after its overload.
    fn ends_when(&self, spec: &StepPlan) -> EndsWhen {
        let workers = workers(&self.context, self.peers.as_ref(), spec.connections()) as usize;
        match RecoveryWatch::new(&spec.stages(), &self.context.plan.slo, workers) {
            Some(watch) => EndsWhen::Recovered(Box::new(watch)),
            None => EndsWhen::TimeLimit,
        }
    }
}
