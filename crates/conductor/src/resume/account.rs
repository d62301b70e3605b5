//! The record of a step that lost its conductor, and the part of the plan that was not run.

use std::fmt;

use plimsoll_plan::{LadderSteps, Load, Plan};
use plimsoll_record::{FrameHead, GeneratorShare, Phase, Run, Step, StepEnd};
use plimsoll_store::UnderWay;

use crate::error::{ConductError, duration_text};
use crate::made::Made;

/// A load counts as complete if it ended at most this much early.
const TOLERANCE_NS: u64 = 1_000_000;

/// Computes the end of a step from its frames. Generators whose part is incomplete count as lost since then.
pub fn ended_step(run: &Run, plan: &Plan, step: &Step, open: UnderWay) -> Step {
    let heads: Vec<&FrameHead> = run.frames_of(step.index).map(|frame| &frame.head).collect();
    let requests_max = match plan.load {
        Load::Single { requests_max, .. } => requests_max,
        Load::Ladder { .. } => None,
    };
    let due: u64 = heads.iter().map(|head| head.counts.intended).sum();
    let has_all_requests = requests_max.is_some_and(|most| due >= most);
    let is_whole = |until: u64| has_all_requests || until + TOLERANCE_NS >= open.ends_ns;
    let untils: Vec<u64> =
        step.generators.iter().map(|share| recorded_until(&heads, share, step.began_ns)).collect();
    let share = |(share, until): (&GeneratorShare, &u64)| GeneratorShare {
        // A generator without workers in the step cannot miss anything.
        lost_ns: (share.workers > 0 && !is_whole(*until)).then_some(*until),
        ..share.clone()
    };
    let last = untils.iter().copied().max().unwrap_or(step.began_ns);
    let end = match untils.iter().any(|until| is_whole(*until)) {
        true if has_all_requests => StepEnd::RequestLimit,
        true => StepEnd::TimeLimit,
        false => StepEnd::Cut,
    };
    let ended_ns = if end == StepEnd::TimeLimit { open.ends_ns } else { last };
    let drained_ns = heads.iter().map(|head| head.ended_ns).max().unwrap_or(ended_ns).max(ended_ns);
    let generators = step.generators.iter().zip(&untils).map(share).collect();
    Step { ended_ns, drained_ns, end, generators, ..step.clone() }
}

/// The time up to which the load of all workers of a share is recorded without a gap.
fn recorded_until(heads: &[&FrameHead], share: &GeneratorShare, began_ns: u64) -> u64 {
    let workers = share.first_worker..share.first_worker + share.workers;
    workers.map(|worker| worker_until(heads, worker).unwrap_or(began_ns)).min().unwrap_or(began_ns)
}

/// The time up to which one worker's frames are recorded without a gap: each begins when the one before it ended.
fn worker_until(heads: &[&FrameHead], worker: u32) -> Option<u64> {
    let own = heads.iter().filter(|head| head.worker == worker && head.of_worker());
    let mut own: Vec<&&FrameHead> = own.collect();
    own.sort_by_key(|head| head.began_ns);
    let first = own.first().filter(|head| head.interval == 0)?;
    let mut recorded_to = first.began_ns;
    let mut until = None;
    for head in own {
        if head.began_ns > recorded_to {
            break;
        }
        recorded_to = head.ended_ns;
        if head.phase == Phase::Measure {
            until = Some(head.ended_ns);
        }
    }
    until
}

/// A sentence about the missing part of the step; `None` if the step is complete.
pub fn missing_text(step: &Step, open: UnderWay) -> Option<String> {
    let of_step = |ns: u64| duration_text(std::time::Duration::from_nanos(ns.saturating_sub(step.began_ns)));
    let lost = |share: &GeneratorShare| {
        let until = of_step(share.lost_ns?);
        Some(format!("{} up to {until}", share.name))
    };
    let lost: Vec<String> = step.generators.iter().filter_map(lost).collect();
    let whole = of_step(open.ends_ns);
    (!lost.is_empty()).then(|| {
        format!(
            "the load went on without its conductor and is not recorded to its end: of {whole} of the step there is {}",
            lost.join(", ")
        )
    })
}

/// Why the remaining steps of a run are not made.
#[derive(Debug)]
pub enum NotMade {
    /// The file is only completed: no step can follow, or the user asked for none.
    ConductorDied,
    NoAgents,
    /// An agent was lost, and the run was configured to end with that.
    AgentLost,
    /// This machine's clock does not reach back to the beginning of the run.
    Booted,
    NotPrepared(ConductError),
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConductorDied => f.write_str("its conductor died"),
            Self::NoAgents => f.write_str("its conductor died and no agent is left that makes further steps"),
            Self::AgentLost => f.write_str("a generator was lost"),
            Self::Booted => {
                f.write_str("its conductor died and this machine was started after the run began")
            }
            Self::NotPrepared(error) => {
                write!(f, "its conductor died and another one could not go on: {error}")
            }
        }
    }
}

/// A sentence about the part of the plan that was not run; `None` if there is none.
pub fn not_run_text(made: Made<'_>, why: &NotMade) -> Option<String> {
    let rest = rest(made);
    (!rest.is_empty()).then(|| format!("the run ends there, as {why}; not run: {}", rest.join(", ")))
}

/// The parts of the plan that remain after the steps of a run.
pub(super) fn rest(made: Made<'_>) -> Vec<String> {
    if made.end().is_some_and(|end| end == StepEnd::TargetLost) {
        return Vec::new();
    }
    let plan = made.plan();
    let load = matches!(plan.load, Load::Single { .. }) && !made.has_steps();
    let (search, overload) = (made.is_search_left(), made.are_overloads_left());
    let profile = plan.profile.is_some() && !made.has_profile();
    [
        load.then(|| "the load".to_owned()),
        rest_of_ladder(made),
        search.then(|| "the rest of the search for the highest rate".to_owned()),
        overload.then(|| "the rest of the overload".to_owned()),
        profile.then(|| "the profile".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rest_of_ladder(made: Made<'_>) -> Option<String> {
    let Load::Ladder { steps, .. } = &made.plan().load else { return None };
    let next = made.next_connections()?;
    Some(match made.within_limits(steps) {
        LadderSteps::Fixed(all) => {
            let rest: Vec<String> = all.iter().skip(made.ladder().len()).map(u32::to_string).collect();
            format!("the steps of {} connections", rest.join(", "))
        }
        LadderSteps::Doubling { .. } => format!("the ladder from the step of {next} connections on"),
    })
}
