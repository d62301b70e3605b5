//! The test of the verdict after the load: raises the limiting cap, and loads the plateau's level again.

use std::time::Duration;

use plimsoll_analyze::{Raise, analyze, plan_proof};
use plimsoll_engine::EngineError;
use plimsoll_plan::{Level, Load, PlanHost};
use plimsoll_record::{HostSample, Reading, Source, StepEnd};

use crate::budget::Budget;
use crate::context::StepPlan;
use crate::progress::{NotTried, Progress};
use crate::session::Session;
use crate::step::EndsWhen;
use crate::watch::Watch;

/// How long hosts may take to report their counters at the end of the last step.
const COUNTERS_WITHIN: Duration = Duration::from_secs(2);

/// How long raising a cap may take.
const RAISED_WITHIN: Duration = Duration::from_secs(10);

impl Session<'_> {
    /// Tests the verdict of a run whose steps are over. A verdict that cannot be tested is shown, and is not an error.
    pub(crate) fn prove(&mut self) -> Result<(), EngineError> {
        let Some(last) = self.recorder.run().steps.last() else { return Ok(()) };
        let ended_early = matches!(last.end, StepEnd::Cut | StepEnd::TargetLost);
        if ended_early || self.interrupted() {
            return Ok(());
        }
        let ended_ns = last.ended_ns;
        let after_load =
            |sample: &HostSample| sample.host != PlanHost::GENERATOR && sample.began_ns > ended_ns;
        self.await_sample(COUNTERS_WITHIN, after_load);
        match self.raise_limit() {
            Ok((raise, step)) => {
                self.recorder.show(&Progress::Raised(&raise));
                self.load_again(step)
            }
            Err(_) if self.interrupted() => Ok(()),
            Err(why) => {
                self.recorder.show(&Progress::NotTried(&why));
                Ok(())
            }
        }
    }

    /// Raises the cap that the verdict names; returns the step to load again.
    fn raise_limit(&mut self) -> Result<(Raise, u32), NotTried> {
        let findings = analyze(self.recorder.run()).map_err(|error| NotTried::Failed(error.to_string()))?;
        let (raise, step) = plan_proof(&findings).map_err(NotTried::Untriable)?;
        self.raise(&raise).map_err(NotTried::Failed)?;
        Ok((raise, step))
    }

    /// Asks to raise the cap, and waits until that is recorded.
    fn raise(&mut self, raise: &Raise) -> Result<(), String> {
        let Some(caps) = &mut self.caps else {
            return Err("the hosts of this run have no caps that can be raised".to_owned());
        };
        caps.raise(raise).map_err(|error| format!("the request to raise a cap was not received: {error}"))?;
        match self.await_sample(RAISED_WITHIN, |sample| sample.source == Source::Intervention) {
            Some(Reading::Ok(_)) => Ok(()),
            Some(Reading::Failed(why)) => Err(why),
            Some(Reading::Absent) | None => Err("the cap was not raised in time".to_owned()),
        }
    }

    /// Makes a step's level again, without a budget: the run's budget was for its ladder.
    fn load_again(&mut self, step: u32) -> Result<(), EngineError> {
        (self.budget, self.watch) = (Budget::new(self.recorder.now(), None), Watch::default());
        let steps = &self.recorder.run().steps;
        let index = steps.len() as u32;
        let Some(known) = steps.iter().find(|known| known.index == step) else { return Ok(()) };
        let (level, limit, ends_when, requests_max) = match &self.context.plan.load {
            Load::Single { level, duration, requests_max } => {
                (level.clone(), *duration, EndsWhen::TimeLimit, *requests_max)
            }
            Load::Ladder { depth, step_limit, .. } => {
                let level = Level::Closed { connections: known.connections, depth: *depth };
                (level, *step_limit, EndsWhen::Known, None)
            }
        };
        let spec = StepPlan { requests_max, ..self.context.step(index, level, limit) };
        self.step(spec, ends_when).map(drop)
    }
}
