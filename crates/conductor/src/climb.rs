//! Makes the steps of a plan in order, from the first step that the run does not have yet.

use std::time::Duration;

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_engine::EngineError;
use plimsoll_plan::{LadderSteps, Level, Load};
use plimsoll_record::EventKind;

use crate::context::StepPlan;
use crate::made::{Made, success_budget};
use crate::session::Session;
use crate::step::EndsWhen;

impl Session<'_> {
    pub(crate) fn climb(&mut self) -> Result<(), EngineError> {
        let plan = &self.context.plan;
        let made = Made::new(self.recorder.run(), plan);
        match plan.load.clone() {
            _ if self.last_end.is_some() || made.is_beyond_ladder() => Ok(()),
            Load::Single { .. } if made.has_steps() => Ok(()),
            Load::Single { level, duration, requests_max } => {
                let spec = StepPlan { requests_max, ..self.context.step(0, level, duration) };
                self.step(spec, EndsWhen::TimeLimit).map(drop)
            }
            Load::Ladder { steps, depth, step_limit, .. } => {
                let steps = made.within_limits(&steps);
                let (whole, done) = (self.budget, made.ladder());
                if plan.search.is_some() {
                    self.budget = whole.half(self.recorder.now() - self.took);
                }
                let climbed = self.climb_ladder((&steps, done), depth, step_limit);
                self.budget = whole;
                climbed
            }
        }
    }

    fn climb_ladder(
        &mut self,
        (steps, mut done): (&LadderSteps, Vec<StepResult>),
        depth: u16,
        step_limit: Duration,
    ) -> Result<(), EngineError> {
        let success = success_budget(&self.context.plan);
        while let Some(connections) = ladder::next(steps, success, &done) {
            let highest_per_sec = done.iter().map(|step| step.throughput_per_sec).fold(0.0, f64::max);
            let Some(limit) = self.budget.step(self.load_begins(), step_limit, highest_per_sec) else {
                self.note_budget(connections);
                return Ok(());
            };
            let index = self.recorder.run().steps.len() as u32;
            let spec = self.context.step(index, Level::Closed { connections, depth }, limit);
            self.step(spec, EndsWhen::Known)?;
            if self.is_over() {
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
