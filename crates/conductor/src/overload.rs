//! Overloads of the highest rate within the conditions, after everything else.

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

/// The time between two overloads for a target that is back.
const REST: Duration = Duration::from_secs(1);
/// A retry policy makes about so many tries of a request.
pub(crate) const TRIES: u32 = 3;
/// The time that the last requests of a step may take besides.
const DRAIN: Duration = Duration::from_secs(15);

/// How long a target that is not back is left alone, so that the next overload begins with one that is well. It may still be at work
/// on what was asked for since the overload began, and on several tries of each request.
fn rest_after(profile: &RateProfile) -> Duration {
    TRIES * profile.stages().iter().skip(1).map(|stage| stage.duration).sum::<Duration>()
}

impl Session<'_> {
    /// Overloads the target, if the plan says so and the load before came to an end. The time it takes is added to the run's budget.
    pub(crate) fn overload(&mut self) -> Result<(), EngineError> {
        let Some(order) = self.context.plan.overload.clone() else { return Ok(()) };
        if self.is_over() || self.recorder.run().steps.is_empty() {
            return Ok(());
        }
        let Some(rate_per_sec) = order.rate_per_sec.or_else(|| self.found_rate()) else { return Ok(()) };
        let mut profiles = order.profiles(rate_per_sec);
        if order.rate_per_sec.is_some() {
            // It was the load of the plan.
            profiles.remove(0);
        }
        let made = Made::new(self.recorder.run(), &self.context.plan).overloads();
        profiles.drain(..made.min(profiles.len()));
        let longest = (1 + TRIES) * order.longest(rate_per_sec) + DRAIN * profiles.len() as u32;
        self.budget = self.budget.later_by(longest);
        self.overload_by(profiles)
    }

    /// The rate that the search of this run found.
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
            // Nothing is to come back from the rate itself.
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

    /// A step ends early once goodput is back after its overload.
    fn ends_when(&self, spec: &StepPlan) -> EndsWhen {
        let workers = workers(&self.context, self.peers.as_ref(), spec.connections()) as usize;
        match RecoveryWatch::new(&spec.stages(), &self.context.plan.slo, workers) {
            Some(watch) => EndsWhen::Recovered(Box::new(watch)),
            None => EndsWhen::TimeLimit,
        }
    }
}
