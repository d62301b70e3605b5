//! The parts of a run that are judged separately: the load before an intervention that tests the verdict, the load after it, and steps
//! that were held for CPU profiles.

use std::borrow::Cow;

use plimsoll_plan::{Level, Load, Plan, RateProfile};
use plimsoll_record::{Frame, Reading, Run, Source, Step, StepEnd};

use crate::findings::{Findings, Raise};
use crate::overload::is_overload;
use crate::search::is_trial;

/// A change to the target that was requested during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intervention {
    /// The cap that was raised, or the recorded reason why it was not.
    pub(crate) outcome: Result<Raise, String>,
    began_ns: u64,
    ended_ns: u64,
}

impl Intervention {
    /// The first intervention of a run, if there is one.
    pub(crate) fn find(run: &Run) -> Option<Self> {
        let sample = run.hosts.iter().find(|sample| sample.source == Source::Intervention)?;
        let outcome = match &sample.reading {
            Reading::Ok(counters) => Ok(Raise::from_sample(sample, counters)?),
            Reading::Failed(why) => Err(why.clone()),
            Reading::Absent => return None,
        };
        Some(Self { outcome, began_ns: sample.began_ns, ended_ns: sample.ended_ns })
    }

    /// The run up to the intervention, as if it had ended there.
    pub(crate) fn before(&self, run: &Run) -> Run {
        let mut first = with_steps(run, |step| step.began_ns < self.began_ns);
        first.hosts.retain(|sample| sample.began_ns < self.began_ns);
        first
    }

    /// The load after the intervention, by itself.
    pub(crate) fn after(&self, run: &Run) -> Run {
        let mut second = with_steps(run, |step| step.began_ns >= self.ended_ns);
        second.hosts.retain(|sample| sample.source != Source::Intervention);
        second
    }
}

/// True if a step was held for a profile.
fn is_held(run: &Run, step: &Step) -> bool {
    run.profiles.iter().any(|profile| profile.step == step.index)
}

/// The run without steps held for profiles, so that a profile changes neither figures nor verdict.
pub(crate) fn without_held(run: &Run) -> Cow<'_, Run> {
    if run.profiles.is_empty() {
        return Cow::Borrowed(run);
    }
    Cow::Owned(with_steps(run, |step| !is_held(run, step)))
}

/// True if a step was cut when its conductor died and was repeated later; the figures are then those of the later step. Not for trials of
/// a search, which may have been decided before they were cut.
fn is_repeated(run: &Run, plan: &Plan, step: &Step) -> bool {
    let is_same = |other: &Step| other.index > step.index && other.is_of_level(step);
    step.end == StepEnd::Cut && !is_trial(plan, step) && run.steps.iter().any(is_same)
}

/// The run without steps that were repeated later. The run file keeps their measurements.
pub(crate) fn without_repeated<'a>(run: Cow<'a, Run>, plan: &Plan) -> Cow<'a, Run> {
    match run.steps.iter().any(|step| is_repeated(&run, plan, step)) {
        true => Cow::Owned(with_steps(&run, |step| !is_repeated(&run, plan, step))),
        false => run,
    }
}

/// The run without the steps of its search and overloads: the load of its plan, on which the verdict is based.
pub(crate) fn of_load<'a>(plan: &Plan, run: &'a Run) -> Cow<'a, Run> {
    let is_own = |step: &Step| {
        let is_first = step.index == 0 && matches!(plan.load, Load::Single { .. });
        is_first || !(is_trial(plan, step) || is_overload(plan, step))
    };
    if run.steps.iter().all(is_own) { Cow::Borrowed(run) } else { Cow::Owned(with_steps(run, is_own)) }
}

/// The steps that were held for profiles.
pub(crate) fn held(run: &Run) -> impl Iterator<Item = &Step> {
    run.steps.iter().filter(|step| is_held(run, step))
}

/// The level that is loaded for a profile: that of the plateau, else that of the last step; of a changing rate, the highest. `None` if
/// there is no step.
pub fn level_to_profile(plan: &Plan, findings: &Findings) -> Option<Level> {
    let last = findings.steps.last()?;
    Some(match &plan.load {
        Load::Ladder { depth, .. } => {
            let connections = findings.knee.map_or(last.connections, |knee| knee.plateau_connections);
            Level::Closed { connections, depth: *depth }
        }
        Load::Single { level: Level::Open { profile, arrivals, connections, depth }, .. } => Level::Open {
            profile: RateProfile::Constant(profile.peak_per_sec()),
            arrivals: *arrivals,
            connections: *connections,
            depth: *depth,
        },
        Load::Single { level, .. } => level.clone(),
    })
}

/// The run with only the steps that `keeps` selects, and their frames.
fn with_steps(run: &Run, keeps: impl Fn(&Step) -> bool) -> Run {
    let steps: Vec<_> = run.steps.iter().filter(|step| keeps(step)).cloned().collect();
    let of_steps = |frame: &&Frame| steps.iter().any(|step| step.index == frame.head.step);
    Run {
        manifest: run.manifest.clone(),
        frames: run.frames.iter().filter(of_steps).cloned().collect(),
        hosts: run.hosts.clone(),
        events: run.events.clone(),
        profiles: run.profiles.clone(),
        damage: run.damage.clone(),
        steps,
    }
}
