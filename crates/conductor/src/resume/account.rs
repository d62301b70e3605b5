//! What is recorded of a step that lost its conductor, and what of the plan was not run.

use plimsoll_analyze::ladder::{self, StepResult};
use plimsoll_plan::{LadderSteps, Load, Plan, Slo};
use plimsoll_record::{FrameHead, GeneratorShare, Phase, Run, Step, StepEnd};
use plimsoll_store::UnderWay;

use crate::error::duration_text;

/// A load that ended so little before its time was not ended.
const TOLERANCE_NS: u64 = 1_000_000;

/// The step as its frames show it. Generators of which it is not whole are lost since then.
pub(super) fn ended_step(run: &Run, plan: &Plan, step: &Step, open: UnderWay) -> Step {
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
        // Nothing is missing of one without a worker in the step.
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

/// Up to when the load of all workers of a share is recorded without a gap.
fn recorded_until(heads: &[&FrameHead], share: &GeneratorShare, began_ns: u64) -> u64 {
    let workers = share.first_worker..share.first_worker + share.workers;
    workers.map(|worker| worker_until(heads, worker).unwrap_or(began_ns)).min().unwrap_or(began_ns)
}

/// The frames of a worker follow each other: each begins when the one before it ended.
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

/// What is missing of the step, in a sentence; `None` if it is whole.
pub(super) fn missing_text(step: &Step, open: UnderWay) -> Option<String> {
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

/// What the plan would have done after the steps of a run, in a sentence; `None` if nothing.
pub(super) fn not_run_text(run: &Run, plan: &Plan) -> Option<String> {
    let parts: Vec<String> = [
        rest_of_ladder(run, plan),
        plan.search.is_some().then(|| "the rest of the search for the highest rate".to_owned()),
        plan.overload.is_some().then(|| "the rest of the overload".to_owned()),
        plan.profile.is_some().then(|| "the profile".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty())
        .then(|| format!("the run ends there, as its conductor died; not run: {}", parts.join(", ")))
}

fn rest_of_ladder(run: &Run, plan: &Plan) -> Option<String> {
    let Load::Ladder { steps, .. } = &plan.load else { return None };
    let made: Vec<&Step> = run.steps.iter().filter(|step| step.rate_per_sec.is_none()).collect();
    match steps {
        LadderSteps::Fixed(all) => {
            let allowed = run.manifest.machine.lowered_to;
            let planned = all.iter().filter(|step| allowed.is_none_or(|limit| limit.allows(**step)));
            let rest: Vec<String> = planned.skip(made.len()).map(u32::to_string).collect();
            (!rest.is_empty()).then(|| format!("the steps of {} connections", rest.join(", ")))
        }
        LadderSteps::Doubling { .. } => {
            let success = plan.slo.success_ratio.unwrap_or(Slo::REFERENCE_SUCCESS);
            let result = |step: &&Step| {
                StepResult::observe(step.connections, run.frames_of(step.index).map(|frame| &frame.head))
            };
            let done: Vec<StepResult> = made.iter().map(result).collect();
            let next = ladder::next(steps, success, &done)?;
            Some(format!("the ladder from the step of {next} connections on"))
        }
    }
}
