//! The steps of a run, one after another.

use std::time::Duration;

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_engine::EngineError;
use plimsoll_plan::{LadderSteps, Level, Load, Slo};
use plimsoll_record::{EventKind, StepEnd};

use crate::context::StepPlan;
use crate::session::Session;
use crate::step::EndsWhen;

impl Session<'_> {
    pub(crate) fn climb(&mut self) -> Result<(), EngineError> {
        let plan = &self.context.plan;
        match plan.load.clone() {
            Load::Single { level, duration, requests_max } => {
                let spec = StepPlan { requests_max, ..self.context.step(0, level, duration) };
                self.step(spec, EndsWhen::TimeLimit).map(drop)
            }
            Load::Ladder { steps, depth, step_limit, .. } => {
                // The share of requests that must succeed for the ladder to go on.
                let success = plan.slo.success_ratio.unwrap_or(Slo::REFERENCE_SUCCESS);
                let steps = self.within_limits(steps);
                let whole = self.budget;
                if plan.search.is_some() {
                    self.budget = whole.half(self.recorder.now());
                }
                let climbed = self.climb_ladder(&steps, success, depth, step_limit);
                self.budget = whole;
                climbed
            }
        }
    }

    /// The steps that this machine can open enough connections for.
    fn within_limits(&self, steps: LadderSteps) -> LadderSteps {
        match (steps, self.recorder.run().manifest.machine.lowered_to) {
            (LadderSteps::Fixed(mut steps), Some(allowed)) => {
                steps.retain(|connections| allowed.allows(*connections));
                LadderSteps::Fixed(steps)
            }
            (steps, _) => steps,
        }
    }

    fn climb_ladder(
        &mut self,
        steps: &LadderSteps,
        success: f64,
        depth: u16,
        step_limit: Duration,
    ) -> Result<(), EngineError> {
        let mut done: Vec<StepResult> = Vec::new();
        while let Some(connections) = ladder::next(steps, success, &done) {
            let highest_per_sec = done.iter().map(|step| step.throughput_per_sec).fold(0.0, f64::max);
            let Some(limit) = self.budget.step(self.recorder.now(), step_limit, highest_per_sec) else {
                self.note_budget(connections);
                return Ok(());
            };
            let index = done.len() as u32;
            let spec = self.context.step(index, Level::Closed { connections, depth }, limit);
            let end = self.step(spec, EndsWhen::Known)?;
            if matches!(end, StepEnd::Cut | StepEnd::TargetLost) || self.interrupted() {
                return Ok(());
            }
            let frames = self.recorder.run().frames_of(index);
            done.push(StepResult::observe(connections, frames.map(|frame| &frame.head)));
        }
        Ok(())
    }

    fn note_budget(&mut self, connections: u32) {
        let text = format!(
            "the time budget ended before the step of {connections} connections; give more with --budget to see it"
        );
        self.recorder.event(EventKind::BudgetEnded, text);
    }
}
