//! The steps of a run, one after another.

use std::time::Duration;

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_engine::EngineError;
use plimsoll_plan::{LadderSteps, Level, Load, Slo};
use plimsoll_record::{EventKind, StepEnd};

use crate::context::StepPlan;
use crate::session::Session;
use crate::step::EndsWhen;
use crate::watch::Watch;

/// The steps of a ladder.
struct Ladder {
    steps: LadderSteps,
    depth: u16,
    step_limit: Duration,
    /// The share of requests that must succeed for the ladder to go on.
    success: f64,
}

impl Session<'_> {
    /// Makes all steps of the plan, until something ends the run.
    pub(crate) fn climb(&mut self) -> Result<(), EngineError> {
        let plan = &self.context.plan;
        match plan.load.clone() {
            Load::Single { level, duration: limit, requests_max } => {
                let interval = self.context.interval;
                let spec = StepPlan { index: 0, level, limit, interval, requests_max };
                let end = self.step(spec, EndsWhen::TimeLimit, &mut Watch::default())?;
                self.note_interruption(end);
                Ok(())
            }
            Load::Ladder { steps, depth, step_limit, .. } => {
                let success = plan.slo.or(Slo::REFERENCE).success_ratio.unwrap_or_default();
                self.climb_ladder(&Ladder { steps, depth, step_limit, success })
            }
        }
    }

    fn climb_ladder(&mut self, ladder: &Ladder) -> Result<(), EngineError> {
        let mut done: Vec<StepResult> = Vec::new();
        let mut watch = Watch::default();
        while let Some(connections) = ladder::next(&ladder.steps, ladder.success, &done) {
            let Some(limit) = self.budget.step(self.recorder.now(), ladder.step_limit) else {
                self.note_budget(connections);
                return Ok(());
            };
            let index = done.len() as u32;
            let level = Level::Closed { connections, depth: ladder.depth };
            let interval = self.context.interval;
            let spec = StepPlan { index, level, limit, interval, requests_max: None };
            let end = self.step(spec, EndsWhen::Known, &mut watch)?;
            self.note_interruption(end);
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
