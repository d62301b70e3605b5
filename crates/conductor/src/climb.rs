//! The steps of a run, one after another.

use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_analyze::ladder::{self, Next, Rung};
use plimsoll_engine::EngineError;
use plimsoll_plan::{Level, Load, Rungs, Slo};
use plimsoll_record::{EventKind, StepEnd};
use plimsoll_units::{Clock, RealClock};

use crate::observer::{Observer, Progress};
use crate::step::{StepContext, StepTask, run_step};
use crate::tape::Tape;
use crate::watch::Watch;

/// Runs all steps that the plan asks for, until something ends the run.
pub(crate) fn run_steps(
    context: &StepContext<'_>,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), EngineError> {
    match &context.means.plan.load {
        Load::Single { level, duration, requests_max } => {
            let task = StepTask {
                index: 0,
                level: level.clone(),
                limit: *duration,
                until_known: false,
                requests_max: *requests_max,
                ended_by: None,
            };
            let end = run_step(context, task, &mut Watch::default(), tape, observer)?;
            note_interruption(end, tape, observer);
            Ok(())
        }
        Load::Ladder { rungs, depth, step_limit, .. } => {
            let steps = Steps { rungs, depth: *depth, step_limit: *step_limit };
            climb(context, &steps, tape, observer)
        }
    }
}

/// The steps of a ladder.
struct Steps<'a> {
    rungs: &'a Rungs,
    depth: u16,
    step_limit: Duration,
}

fn climb(
    context: &StepContext<'_>,
    steps: &Steps<'_>,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), EngineError> {
    let success = context.means.plan.slo.or(Slo::REFERENCE).success_ratio.unwrap_or_default();
    let mut done: Vec<Rung> = Vec::new();
    let mut watch = Watch::default();
    while let Next::Climb(connections) = ladder::next(steps.rungs, success, &done) {
        let Some(limit) = context.budget.step(RealClock.now(), steps.step_limit) else {
            note_budget(connections, tape, observer);
            return Ok(());
        };
        let level = Level::Closed { connections, depth: steps.depth };
        let index = done.len() as u32;
        let task = StepTask { index, level, limit, until_known: true, requests_max: None, ended_by: None };
        let end = run_step(context, task, &mut watch, tape, observer)?;
        note_interruption(end, tape, observer);
        if matches!(end, StepEnd::Cut | StepEnd::TargetLost) || context.interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        done.push(Rung::observe(connections, tape.run().frames_of(index).map(|frame| &frame.head)));
    }
    Ok(())
}

fn note_budget(connections: u32, tape: &mut Tape, observer: &mut dyn Observer) {
    let text = format!(
        "the time budget ended before the step of {connections} connections; give more with --budget to see it"
    );
    let event = tape.event(EventKind::BudgetEnded, text);
    observer.observe(&Progress::Happened(&event));
}

pub(crate) fn note_interruption(end: StepEnd, tape: &mut Tape, observer: &mut dyn Observer) {
    if end == StepEnd::Cut {
        let text = "interrupted: the last step is incomplete, what was measured is kept".to_owned();
        let event = tape.event(EventKind::Interrupted, text);
        observer.observe(&Progress::Happened(&event));
    }
}
