//! The experiment after the load: what limits is raised, and the plateau's level is loaded again.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_analyze::{Raise, analyze, experiment};
use plimsoll_engine::EngineError;
use plimsoll_plan::{Level, Load, PlanHost};
use plimsoll_record::{HostSample, Reading, Source, StepEnd};
use plimsoll_units::{Clock, RealClock};

use crate::budget::Budget;
use crate::climb::note_interruption;
use crate::observer::{Observer, Progress};
use crate::step::{StepContext, StepTask, run_step};
use crate::tape::Tape;
use crate::watch::Watch;

/// Hosts get this long to tell where their counters stood when the last step ended.
const PATIENCE_COUNTERS: Duration = Duration::from_secs(2);

/// Whoever raises a cap gets this long until it is done.
const PATIENCE_RAISE: Duration = Duration::from_secs(10);

/// Ctrl-C is looked for this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Somebody who can change hosts while a run goes on.
pub trait Lever: Debug {
    /// Asks for a cap to be raised. What came of it must arrive by one of the run's feeds, as a sample of the source
    /// [`Source::Intervention`] with the cap's name as subject and [`Raise::reading`], or with the reason why not.
    ///
    /// # Errors
    /// When nobody hears it.
    fn pull(&mut self, raise: &Raise) -> io::Result<()>;
}

/// Tries the verdict of a run whose steps are over. Where it cannot be tried, that is told, and no error.
pub(crate) fn prove(
    context: &mut StepContext<'_>,
    lever: &mut dyn Lever,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), EngineError> {
    let Some(last) = tape.run().steps.last() else { return Ok(()) };
    let ended_early = matches!(last.end, StepEnd::Cut | StepEnd::TargetLost);
    if ended_early || context.interrupted.load(Ordering::Relaxed) {
        return Ok(());
    }
    let ended_ns = last.ended_ns;
    let after_load = |sample: &HostSample| sample.host != PlanHost::GENERATOR && sample.began_ns > ended_ns;
    await_sample(context, (tape, observer), PATIENCE_COUNTERS, after_load);
    let found = analyze(tape.run()).map_err(|error| error.to_string());
    let (raise, step) = match found.and_then(|findings| experiment(&findings).map_err(|why| why.to_string()))
    {
        Ok(planned) => planned,
        Err(why) => {
            observer.observe(&Progress::NotTried(&why));
            return Ok(());
        }
    };
    match pulled(context, lever, &raise, (tape, observer)) {
        Ok(()) => {
            observer.observe(&Progress::Raised(&raise));
            load_again(context, step, tape, observer)
        }
        Err(_) if context.interrupted.load(Ordering::Relaxed) => Ok(()),
        Err(why) => {
            observer.observe(&Progress::NotTried(&why));
            Ok(())
        }
    }
}

/// Has the cap raised, and waits until that is on the tape.
fn pulled(
    context: &StepContext<'_>,
    lever: &mut dyn Lever,
    raise: &Raise,
    told: (&mut Tape, &mut dyn Observer),
) -> Result<(), String> {
    lever.pull(raise).map_err(|error| format!("nobody hears that a cap is to be raised: {error}"))?;
    match await_sample(context, told, PATIENCE_RAISE, |sample| sample.source == Source::Intervention) {
        Some(Reading::Ok(_)) => Ok(()),
        Some(Reading::Failed(why)) => Err(why),
        Some(Reading::Absent) | None => Err("the cap was not raised in time".to_owned()),
    }
}

/// Takes in what hosts tell until such a sample is there, or this time is over, or the user wants the end.
fn await_sample(
    context: &StepContext<'_>,
    (tape, observer): (&mut Tape, &mut dyn Observer),
    patience: Duration,
    wanted: impl Fn(&HostSample) -> bool,
) -> Option<Reading> {
    let deadline = RealClock.now() + patience;
    let mut seen = 0;
    loop {
        let samples = &tape.run().hosts;
        if let Some(sample) = samples[seen..].iter().find(|sample| wanted(sample)) {
            return Some(sample.reading.clone());
        }
        seen = samples.len();
        let left = deadline.since(RealClock.now());
        if left.is_zero() || context.interrupted.load(Ordering::Relaxed) {
            return None;
        }
        if !context.hosts.borrow_mut().await_more(left.min(LOOK_EVERY), tape, observer) {
            return None;
        }
    }
}

/// The level of a step once more. The run's budget was that of its ladder.
fn load_again(
    context: &mut StepContext<'_>,
    step: u32,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), EngineError> {
    context.budget = Budget::new(RealClock.now(), None);
    let steps = &tape.run().steps;
    let index = steps.len() as u32;
    let Some(connections) = steps.iter().find(|known| known.index == step).map(|step| step.connections)
    else {
        return Ok(());
    };
    let (level, limit, until_known, requests_max) = match &context.means.plan.load {
        Load::Single { level, duration, requests_max } => (level.clone(), *duration, false, *requests_max),
        Load::Ladder { depth, step_limit, .. } => {
            (Level::Closed { connections, depth: *depth }, *step_limit, true, None)
        }
    };
    let task = StepTask { index, level, limit, until_known, requests_max, ended_by: None };
    let end = run_step(context, task, &mut Watch::default(), tape, observer)?;
    note_interruption(end, tape, observer);
    Ok(())
}
