//! The CPU profile: when the load is over, the plateau's level is held once more while it is taken.
//!
//! A step of its own, for two reasons. Which step is the plateau is known only when the ladder has ended, and a step ends
//! when its throughput is known, which is not when a profile is complete. And whoever is being profiled is slower: so no
//! figure of the run comes from a target that was.

mod capture;
mod error;
mod page;
mod perf;

use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_analyze::{analyze, level_to_profile};
use plimsoll_engine::EngineError;
use plimsoll_plan::{Level, Load, Plan, Profiler};
use plimsoll_record::{CpuProfile, EventKind, ProfileForm, ProfileOutcome, StepEnd};
use plimsoll_units::{Clock, RealClock};

use crate::budget::Budget;
use crate::climb::note_interruption;
use crate::observer::{Observer, Progress};
use crate::prepare::Prepared;
use crate::step::{StepContext, StepTask, run_step};
use crate::tape::Tape;
use crate::watch::Watch;
use capture::Capture;
pub use error::ProfileError;
use page::Page;
use perf::Perf;

/// The load is on for so long before the profile begins.
const WARM_UP: Duration = Duration::from_secs(1);

/// A busy target may take so much longer than asked.
const GRACE: Duration = Duration::from_secs(15);

/// What a held step takes besides.
const CLOSING: Duration = Duration::from_secs(1);

/// The longest interval of a frame of a held step: it is short whatever the run is.
const INTERVAL: Duration = Duration::from_millis(100);

/// A whole answer has a budget, of which the profile gets at most this part.
const BUDGET_PART: u32 = 6;

/// What takes the profile, tried out.
#[derive(Debug, Clone)]
enum Source {
    Page(Page),
    Perf(Perf),
}

/// A profile that can be taken.
#[derive(Debug)]
pub(crate) struct Profiling {
    source: Source,
    time: Duration,
}

impl Profiling {
    /// What the plan asks for, tried out before the load: that a page is none, or `perf` not allowed, is not to be learnt
    /// after a long ladder.
    pub(crate) fn of(prepared: &Prepared) -> Result<Option<Self>, ProfileError> {
        let Some(order) = &prepared.plan.profile else { return Ok(None) };
        let source = match &order.profiler {
            Profiler::Page(url) => Source::Page(Page::new(url)),
            Profiler::Perf(profiled) => Source::Perf(Perf::of(*profiled, target_port(prepared))?),
        };
        source.try_out()?;
        let part = budget(&prepared.plan).map(|budget| (budget / BUDGET_PART).max(Duration::from_secs(1)));
        Ok(Some(Self { source, time: part.map_or(order.time, |part| part.min(order.time)) }))
    }

    /// What is left of a budget for the load.
    fn left_of(&self, budget: Duration) -> Duration {
        budget.saturating_sub(WARM_UP + self.time + CLOSING).max(budget / 2)
    }
}

fn budget(plan: &Plan) -> Option<Duration> {
    match &plan.load {
        Load::Ladder { budget, .. } => *budget,
        Load::Single { .. } => None,
    }
}

/// The longest time of the whole load, if there is one.
pub(crate) fn budget_of_load(plan: &Plan, profiling: Option<&Profiling>) -> Option<Duration> {
    budget(plan).map(|budget| profiling.map_or(budget, |profiling| profiling.left_of(budget)))
}

/// The port of a target that is on this machine.
fn target_port(prepared: &Prepared) -> Option<u16> {
    let address = prepared.peers.first().and_then(plimsoll_sys::Peer::tcp)?;
    prepared.preflight.local.then_some(address.port())
}

impl Source {
    fn form(&self) -> ProfileForm {
        match self {
            Self::Page(_) => ProfileForm::Pprof,
            Self::Perf(_) => ProfileForm::Perf,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Page(page) => page.url().to_owned(),
            Self::Perf(perf) => perf.name(),
        }
    }

    fn try_out(&self) -> Result<(), ProfileError> {
        match self {
            Self::Page(page) => page.take(Duration::from_secs(1)).map(drop),
            Self::Perf(perf) => perf.try_out(),
        }
    }
}

/// Holds the plateau and takes the profile. What goes wrong is an event, and the run is what it was without.
pub(crate) fn hold(
    context: &mut StepContext<'_>,
    profiling: &Profiling,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), EngineError> {
    let Some(level) = level(context, tape) else { return Ok(()) };
    let step = tape.run().steps.len() as u32;
    let source = profiling.source.name();
    observer.observe(&Progress::Profiling { source: &source, time: profiling.time });
    let began = RealClock.now();
    let mut profile = CpuProfile {
        step,
        source,
        form: profiling.source.form(),
        began_ns: began.nanos_since(context.means.origin),
        ended_ns: (began + WARM_UP + profiling.time).nanos_since(context.means.origin),
        outcome: ProfileOutcome::UnderWay,
    };
    tape.profile(profile.clone());
    let capture = Capture::begin(profiling.source.clone(), profiling.time);
    let task = StepTask {
        index: step,
        level,
        limit: WARM_UP + profiling.time + GRACE,
        until_known: false,
        requests_max: None,
        ended_by: Some(capture.done()),
    };
    let (interval, budget) = (context.means.interval, context.budget);
    context.means.interval = interval.min(INTERVAL);
    context.budget = Budget::new(began, None);
    let end = run_step(context, task, &mut Watch::default(), tape, observer);
    (context.means.interval, context.budget) = (interval, budget);
    let taken = capture.end();
    profile.began_ns = taken.began.nanos_since(context.means.origin);
    profile.ended_ns = taken.ended.nanos_since(context.means.origin);
    profile.outcome = taken.content.map_or_else(|why| failed(why, tape, observer), ProfileOutcome::Taken);
    tape.profile(profile);
    note_interruption(end?, tape, observer);
    Ok(())
}

/// The level to be held; `None` after a run that did not end by itself.
fn level(context: &StepContext<'_>, tape: &Tape) -> Option<Level> {
    let ended_early = |end| matches!(end, StepEnd::Cut | StepEnd::TargetLost | StepEnd::Stopped);
    let last = tape.run().steps.last().filter(|last| !ended_early(last.end))?;
    if context.interrupted.load(Ordering::Relaxed) || last.began_ns == last.ended_ns {
        return None;
    }
    level_to_profile(context.means.plan, &analyze(tape.run()).ok()?)
}

fn failed(why: ProfileError, tape: &mut Tape, observer: &mut dyn Observer) -> ProfileOutcome {
    let text = format!("no CPU profile: {why}");
    let event = tape.event(EventKind::ProbeFailed, text);
    observer.observe(&Progress::Happened(&event));
    ProfileOutcome::Failed(why.to_string())
}
