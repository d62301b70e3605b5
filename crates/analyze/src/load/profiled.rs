//! The steps that were held for CPU profiles, which are no part of the load.

use std::borrow::Cow;

use plimsoll_plan::{Level, Load, Plan, RateProfile};
use plimsoll_record::{Run, Step};

use crate::Findings;
use crate::intervention::with_steps;

/// Whether a step was held for a profile.
fn is_held(run: &Run, step: &Step) -> bool {
    run.profiles.iter().any(|profile| profile.step == step.index)
}

/// The run without these steps: a profile changes neither its figures nor its verdict.
pub(crate) fn load(run: &Run) -> Cow<'_, Run> {
    if run.profiles.is_empty() {
        return Cow::Borrowed(run);
    }
    Cow::Owned(with_steps(run, |step| !is_held(run, step)))
}

/// These steps alone.
pub(crate) fn held(run: &Run) -> impl Iterator<Item = &Step> {
    run.steps.iter().filter(|step| is_held(run, step))
}

/// The level that is held for a profile: that of the plateau, or else of the last step; of a rate that changes, its
/// highest. `None` if no step was made.
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
