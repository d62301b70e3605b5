//! The behaviour of the target under overload: goodput over offered load, and whether it recovers.
//!
//! Goodput counts the successful responses within the latency limit, measured from the instant at which a request was due.
//! [`RecoveryWatch`] follows an overload during its load, [`of_run`] evaluates all overloads of a recorded run, and
//! [`protection`] derives limits from the rate that holds.

mod judge;
mod phase;
mod protection;
mod recovery;
mod shape;
mod slices;

use std::collections::BTreeSet;

use plimsoll_plan::{MIN_DUE, OverloadOrder, Plan};
use plimsoll_record::{CorruptHistogram, FailureKind, Frame, Run, Step, StepEnd};

use crate::load::summary::summarize;
use crate::{
    GeneratorReason, Overload, OverloadDoubt, OverloadMoment, OverloadPhase, OverloadStep, RateSearch,
    Recovery,
};
use phase::{Part, moments, phase};
use shape::Shape;
use slices::{Slice, Slices, limit_ms, usual_part};

pub use protection::{held_rate, protection};
pub use recovery::RecoveryWatch;
pub(crate) use recovery::STUCK;

/// A send lag above this fraction of the latency limit distorts goodput.
const LAG_PART: f64 = 0.1;
/// An overload was interrupted if more than its last second is missing.
const CUT_SEC: f64 = 1.0;

/// True if a step is an overload of its run. The first of them may also be the load of the plan.
pub(crate) fn is_overload(plan: &Plan, step: &Step) -> bool {
    plan.overload.is_some() && !step.stages.is_empty()
}

/// Evaluates the overloads of a run; `None` if its plan has none.
pub(crate) fn of_run(
    run: &Run,
    plan: &Plan,
    search: Option<&RateSearch>,
) -> Result<Option<Overload>, (u32, CorruptHistogram)> {
    let Some(order) = &plan.overload else { return Ok(None) };
    let searched_per_sec = search.and_then(|search| search.held_per_sec);
    let Some(rate) = order.rate_per_sec.or(searched_per_sec) else {
        let outage = search.and_then(|search| search.outage);
        return Ok(Some(judge::without_rate(limit_ms(&plan.slo), outage)));
    };
    let (mut reference, mut steps) = (None, Vec::new());
    for step in run.steps.iter().filter(|step| is_overload(plan, step)) {
        let Some(shape) = Shape::of(&step.stages, &plan.slo) else { continue };
        let observed = Observed::new(run, plan, step, shape).map_err(|error| (step.index, error))?;
        match observed.shape.load_ends_sec > observed.shape.ends_sec {
            true => steps.push(observed.overload(rate)),
            false => reference = Some((observed.settled.clone(), observed.doubt())),
        }
    }
    let is_whole = is_whole(run, plan, order, &steps);
    Ok(Some(judge::judged(rate, searched_per_sec, &plan.slo, reference, steps, is_whole)))
}

/// True if the highest overload of a plan was made, and the target survived all of them. A missing ramp does not change what the jump
/// to the same rate showed.
fn is_whole(run: &Run, plan: &Plan, order: &OverloadOrder, steps: &[OverloadStep]) -> bool {
    let highest = order.factors.last().copied().unwrap_or(1.0);
    let is_lost = |step: &Step| is_overload(plan, step) && step.end == StepEnd::TargetLost;
    steps.iter().any(|step| step.is_of(highest)) && !run.steps.iter().any(is_lost)
}

/// When the target of a step was lost, in seconds since its load began: the end of the first interval after its last answer in which it
/// refused a connection.
fn lost_sec(slices: &[Slice]) -> f64 {
    let silent = slices.iter().rposition(|slice| slice.answered > 0).map_or(0, |last| last + 1);
    let refuses = |slice: &&Slice| slice.failed.of(FailureKind::ConnectRefused) > 0;
    let first = slices[silent..].iter().find(refuses);
    first.or(slices.last()).map_or(0.0, |slice| slice.ended_sec)
}

/// The observations of one overload step.
struct Observed {
    index: u32,
    shape: Shape,
    slices: Vec<Slice>,
    before: OverloadPhase,
    whole: OverloadPhase,
    settled: OverloadPhase,
    over_time: Vec<OverloadMoment>,
    is_generator_limited: bool,
    /// When the target was lost, in seconds since the jump or the ramp began.
    lost_sec: Option<f64>,
    is_base_well: bool,
}

impl Observed {
    fn new(run: &Run, plan: &Plan, step: &Step, shape: Shape) -> Result<Self, CorruptHistogram> {
        let frames: Vec<&Frame> = run.frames_of(step.index).collect();
        let workers = frames.iter().map(|frame| frame.head.worker).collect::<BTreeSet<_>>();
        let mut slices = Slices::new(limit_ms(&plan.slo), workers.len());
        frames.iter().try_for_each(|frame| slices.add(frame))?;
        let slices = slices.all();
        let part = |from_sec, to_sec, offered_per_sec| {
            phase(&frames, &slices, Part { from_sec, to_sec, offered_per_sec })
        };
        let ramped = (shape.base_per_sec + shape.peak_per_sec) / 2.0 * (shape.peak_sec - shape.begins_sec);
        let held = shape.peak_per_sec * (shape.ends_sec - shape.peak_sec);
        let mean_per_sec = (ramped + held) / (shape.ends_sec - shape.begins_sec);
        let (before, whole, settled) = (
            part(shape.counts_sec, shape.begins_sec, shape.base_per_sec)?,
            part(shape.begins_sec, shape.ends_sec, mean_per_sec)?,
            part(shape.settled_sec(), shape.ends_sec, shape.peak_per_sec)?,
        );
        let over_time = moments(&slices);
        let reasons = summarize(run, plan, step, &frames)?.generator.reasons;
        let is_generator_limited = reasons.iter().any(|reason| limits(reason, limit_ms(&plan.slo)));
        // A loss before the overload is not its effect.
        let lost_sec = (step.end == StepEnd::TargetLost).then(|| lost_sec(&slices) - shape.begins_sec);
        let lost_sec = lost_sec.filter(|sec| *sec >= 0.0);
        let is_base_well = judge::base_holds(&before, usual_part(&plan.slo));
        Ok(Self {
            index: step.index,
            shape,
            slices,
            before,
            whole,
            settled,
            over_time,
            is_generator_limited,
            lost_sec,
            is_base_well,
        })
    }

    /// Why the time at the highest rate cannot be judged.
    fn doubt(&self) -> Option<OverloadDoubt> {
        let known_sec = self.slices.last().map_or(0.0, |slice| slice.ended_sec);
        match () {
            () if known_sec < self.shape.ends_sec - CUT_SEC => Some(OverloadDoubt::Interrupted),
            () if self.is_generator_limited => Some(OverloadDoubt::Generator),
            () if self.settled.due < MIN_DUE => Some(OverloadDoubt::TooFew),
            () => None,
        }
    }

    fn overload(self, rate_per_sec: f64) -> OverloadStep {
        let doubt = self.doubt();
        // Without goodput before the overload there is no recovery to judge.
        let recovery = match self.lost_sec.is_some() || !self.is_base_well {
            true => Recovery::Unknown,
            false => recovery::recovery(&self.shape, &self.slices, rate_per_sec),
        };
        OverloadStep {
            index: self.index,
            factor: self.shape.peak_per_sec / rate_per_sec,
            onset: self.shape.onset,
            outcome: judge::before_comparison(self.is_base_well, self.lost_sec.is_some(), doubt),
            lost_sec: self.lost_sec,
            before: self.before,
            whole: self.whole,
            settled: self.settled,
            kept: None,
            recovery,
            over_time: self.over_time,
        }
    }
}

/// True if the generator's condition distorts goodput. Requests that wait for an overloaded target, and retransmitted packets, are no
/// such sign.
fn limits(reason: &GeneratorReason, limit_ms: Option<f64>) -> bool {
    match reason {
        GeneratorReason::SendLag { p99_ns, .. } => {
            limit_ms.is_none_or(|limit_ms| *p99_ns > LAG_PART * limit_ms * 1e6)
        }
        GeneratorReason::WorkerBusy { .. }
        | GeneratorReason::WorkerStarved { .. }
        | GeneratorReason::WorkerStalled { .. }
        | GeneratorReason::OutOfResources { .. }
        | GeneratorReason::OutOfConnections { .. }
        | GeneratorReason::Stolen { .. } => true,
        GeneratorReason::LittlesLaw { .. }
        | GeneratorReason::BehindSchedule { .. }
        | GeneratorReason::Retransmits { .. }
        | GeneratorReason::NearCeiling { .. } => false,
    }
}
