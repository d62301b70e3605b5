//! The CPU profile: after the load, the plateau's level is loaded again while the profile is taken.
//!
//! This is a separate step for two reasons. The plateau's step is known only when the ladder has ended; and a step ends when its
//! throughput is known, not when a profile is complete. A profiled target is slower, so no figure of the run comes from this
//! step.

mod capture;
mod error;
mod page;
mod perf;

use std::time::Duration;

use plimsoll_analyze::{analyze, level_to_profile};
use plimsoll_engine::EngineError;
use plimsoll_plan::{Level, Load, Plan, Profiler};
use plimsoll_record::{CpuProfile, EventKind, ProfileOutcome, StepEnd};

use crate::budget::Budget;
use crate::context::StepPlan;
use crate::made::Made;
use crate::prepare::Prepared;
use crate::progress::Progress;
use crate::session::Session;
use crate::step::EndsWhen;
use crate::watch::Watch;
use capture::{Capture, Source, WARM_UP};
use error::GRACE;
pub use error::ProfileError;
use page::ProfilePage;
pub(crate) use page::without_query;
use perf::Perf;

/// The time that this step takes in addition to the profile and its warm-up.
const CLOSING: Duration = Duration::from_secs(1);

/// The longest interval of a frame of this step, short because the step is short.
const INTERVAL: Duration = Duration::from_millis(100);

/// The profile gets at most this fraction of the budget.
const BUDGET_PART: u32 = 6;

#[derive(Debug)]
pub(crate) struct Profiling {
    source: Source,
    time: Duration,
}

impl Profiling {
    /// The profile that the plan asks for. A trial profile is taken before the load, so that errors, such as a page without a profile
    /// or a forbidden `perf`, do not appear only after a long ladder.
    pub(crate) fn prepare(prepared: &Prepared) -> Result<Option<Self>, ProfileError> {
        let Some(order) = &prepared.context.plan.profile else { return Ok(None) };
        let source = match &order.profiler {
            Profiler::Page(url) => Source::Page(ProfilePage::new(url)),
            Profiler::Perf(profiled) => Source::Perf(Perf::find(*profiled, target_port(prepared))?),
        };
        source.try_out()?;
        let part =
            budget(&prepared.context.plan).map(|budget| (budget / BUDGET_PART).max(Duration::from_secs(1)));
        Ok(Some(Self { source, time: part.map_or(order.time, |part| part.min(order.time)) }))
    }
}

fn budget(plan: &Plan) -> Option<Duration> {
    match &plan.load {
        Load::Ladder { budget, .. } => *budget,
        Load::Single { .. } => None,
    }
}

/// The longest time of the load without the profile; `None` without a budget.
pub(crate) fn budget_of_load(plan: &Plan, profiling: Option<&Profiling>) -> Option<Duration> {
    let budget = budget(plan)?;
    let left =
        |profiling: &Profiling| budget.saturating_sub(WARM_UP + profiling.time + CLOSING).max(budget / 2);
    Some(profiling.map_or(budget, left))
}

/// The port of a target on this machine; `None` for any other target.
fn target_port(prepared: &Prepared) -> Option<u16> {
    let address = prepared.context.destinations.first().and_then(plimsoll_sys::Destination::tcp)?;
    prepared.preflight.local.then_some(address.port())
}

impl Session<'_> {
    /// Loads the plateau's level again and takes the profile. An error is recorded as an event and does not end the run.
    pub(crate) fn profile(&mut self, profiling: &Profiling) -> Result<(), EngineError> {
        let has_profile = Made::new(self.recorder.run(), &self.context.plan).has_profile();
        let Some(level) = self.level_to_profile().filter(|_| !has_profile) else { return Ok(()) };
        let step = self.recorder.run().steps.len() as u32;
        let source = profiling.source.name();
        self.recorder.show(&Progress::Profiling { source: &source, time: profiling.time });
        let (began, origin) = (self.recorder.now(), self.context.origin);
        let mut profile = CpuProfile {
            step,
            source,
            form: profiling.source.form(),
            began_ns: began.nanos_since(origin),
            ended_ns: (began + WARM_UP + profiling.time).nanos_since(origin),
            outcome: ProfileOutcome::UnderWay,
        };
        self.recorder.profile(profile.clone());
        let capture = Capture::begin(profiling.source.clone(), profiling.time);
        let spec = self.context.step(step, level, WARM_UP + profiling.time + GRACE);
        let spec = StepPlan { interval: spec.interval.min(INTERVAL), ..spec };
        let budget = std::mem::replace(&mut self.budget, Budget::new(began, None));
        self.watch = Watch::default();
        let end = self.step(spec, EndsWhen::Set(capture.done()));
        self.budget = budget;
        let taken = capture.end(|| self.interrupted());
        profile.began_ns = taken.began.nanos_since(origin);
        profile.ended_ns = taken.ended.nanos_since(origin);
        profile.outcome = match taken.content {
            Ok(content) => ProfileOutcome::Taken(content),
            Err(why) => {
                self.note_no_profile(&why);
                ProfileOutcome::Failed(why.to_string())
            }
        };
        self.recorder.profile(profile);
        end.map(drop)
    }

    /// The level to load again; `None` if the run ended early.
    fn level_to_profile(&mut self) -> Option<Level> {
        let ended_early = |end| matches!(end, StepEnd::Cut | StepEnd::TargetLost | StepEnd::Stopped);
        let run = self.recorder.run();
        let last = run.steps.last().filter(|last| !ended_early(last.end))?;
        if self.interrupted() || last.began_ns == last.ended_ns {
            return None;
        }
        match analyze(run) {
            Ok(findings) => level_to_profile(&self.context.plan, &findings),
            Err(error) => {
                self.note_no_profile(&error);
                None
            }
        }
    }

    fn note_no_profile(&mut self, why: &dyn std::error::Error) {
        self.recorder.event(EventKind::ProbeFailed, format!("no CPU profile: {why}"));
    }
}
