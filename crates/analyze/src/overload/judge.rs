//! Judges all overloads of a run together.

use plimsoll_plan::{OverloadClass, Slo};
use plimsoll_stats::{ratio, wilson};

use super::slices::{limit_ms, usual_part};
use crate::{
    Estimate, Outage, Overload, OverloadDoubt, OverloadOutcome, OverloadPhase, OverloadStep, RampEffect,
    Recovery,
};

/// Goodput of at least this fraction of the goodput at the rate that holds counts as kept. A service that refuses at no cost keeps all
/// of its goodput; one that refuses at a tenth of the cost of an answer keeps 0.9 of it at twice the rate.
const KEPT: f64 = 0.8;
/// Below this fraction, more than half of the service's capacity goes into useless answers.
const LOST: f64 = 0.5;
/// The target keeps up with an overload if its share of good requests is at least this fraction of the share at the rate that holds; where
/// the overload is little more than that rate, if it serves at least half of the excess.
const KEEPS_UP: f64 = 0.95;
/// A target that holds the rate reaches at least this fraction of it as goodput; a limit of a percentile below the 99th lowers the bound.
const HOLDS: f64 = 0.9;
/// The base before an overload is kept if at least this share of its requests is good, lowered in the same way.
const BASE_HOLDS: f64 = 0.9;
/// A ramp makes a difference if it exceeds the intervals and this fraction of the goodput at the rate that holds.
const DIFFERENCE: f64 = 0.1;

/// True if the target kept the base before an overload.
pub(super) fn base_holds(before: &OverloadPhase, usual_part: f64) -> bool {
    before.good_ratio.is_some_and(|ratio| ratio >= BASE_HOLDS * usual_part)
}

/// The outcome of an overload before it is compared with others.
pub(super) fn before_comparison(
    is_base_well: bool,
    is_lost: bool,
    doubt: Option<OverloadDoubt>,
) -> OverloadOutcome {
    match doubt {
        // Holds whatever else is unknown.
        _ if is_lost && is_base_well => OverloadOutcome::Lost,
        Some(doubt @ (OverloadDoubt::Interrupted | OverloadDoubt::Generator)) => {
            OverloadOutcome::Unknown(doubt)
        }
        _ if !is_base_well => OverloadOutcome::Unknown(OverloadDoubt::Base),
        Some(doubt) => OverloadOutcome::Unknown(doubt),
        // Replaced once it is compared with the rate that holds.
        None => OverloadOutcome::Reduced,
    }
}

/// The result without a rate that holds, which has no overloads. A ladder that brought the target down was an overload itself.
pub(super) fn without_rate(limit_ms: Option<f64>, outage: Option<Outage>) -> Overload {
    let (class, doubt) = match outage {
        Some(Outage { stuck: true, .. }) => (OverloadClass::Metastable, None),
        Some(_) => (OverloadClass::Collapses, None),
        None => (OverloadClass::Unknown, Some(OverloadDoubt::NoRate)),
    };
    Overload {
        class,
        at_factor: None,
        doubt,
        by_ladder: outage,
        rate_per_sec: None,
        limit_ms,
        reference: None,
        reference_doubt: Some(OverloadDoubt::NoRate),
        held_per_sec: None,
        steps: Vec::new(),
        ramp: None,
    }
}

/// Compares the overloads with the rate that holds, and judges all of them. `searched_per_sec` is the rate that a search found to hold;
/// `is_whole` is true if the highest overload was made and the target survived all of them.
pub(super) fn judged(
    rate_per_sec: f64,
    searched_per_sec: Option<f64>,
    slo: &Slo,
    reference: Option<(OverloadPhase, Option<OverloadDoubt>)>,
    mut steps: Vec<OverloadStep>,
    is_whole: bool,
) -> Overload {
    let (reference, reference_doubt) = match reference {
        Some((phase, doubt)) => {
            let doubt = reference_doubt(&phase, rate_per_sec, usual_part(slo), doubt);
            (Some(phase), doubt)
        }
        None => (None, Some(OverloadDoubt::Interrupted)),
    };
    if let Some(reference) = reference.as_ref().filter(|_| reference_doubt.is_none()) {
        steps.iter_mut().for_each(|step| compare(step, reference));
    }
    let (class, at_factor, doubt) = match reference.as_ref().filter(|_| reference_doubt.is_none()) {
        Some(reference) => class(&steps, reference, is_whole),
        None => (OverloadClass::Unknown, None, reference_doubt),
    };
    let overload = Overload {
        class,
        at_factor,
        doubt,
        by_ladder: None,
        rate_per_sec: Some(rate_per_sec),
        limit_ms: limit_ms(slo),
        reference,
        reference_doubt,
        held_per_sec: match reference_doubt {
            None => Some(rate_per_sec),
            Some(OverloadDoubt::RateNotHeld) => None,
            // At a slow target, too few requests are due to contradict a given rate.
            Some(OverloadDoubt::TooFew) => searched_per_sec.or(Some(rate_per_sec)),
            Some(_) => searched_per_sec,
        },
        steps,
        ramp: None,
    };
    Overload { ramp: ramp_effect(&overload), ..overload }
}

/// Why the rate is not known to hold. Where too few requests were due, their number varies by chance, so that only the share of good ones
/// is judged.
fn reference_doubt(
    reference: &OverloadPhase,
    rate_per_sec: f64,
    usual_part: f64,
    doubt: Option<OverloadDoubt>,
) -> Option<OverloadDoubt> {
    let not_held = match doubt {
        None => {
            let goodput = reference.goodput.interval.map_or(reference.goodput.value, |(_, high)| high);
            goodput < HOLDS * usual_part * rate_per_sec
        }
        Some(OverloadDoubt::TooFew) => reference.good_ratio.is_some_and(|ratio| {
            let good = (ratio * reference.due as f64).round() as u64;
            wilson(good, reference.due).is_some_and(|(_, high)| high < HOLDS * usual_part)
        }),
        Some(_) => false,
    };
    if not_held { Some(OverloadDoubt::RateNotHeld) } else { doubt }
}

/// Computes the fraction of goodput that is left. It is kept, or lost, if its whole interval is.
fn compare(step: &mut OverloadStep, reference: &OverloadPhase) {
    // A target that was lost may have ended the step before its second half.
    if !is_judged(step) || step.settled.span_sec <= 0.0 {
        return;
    }
    step.kept = ratio(step.settled.goodput, reference.goodput);
    let (OverloadOutcome::Reduced, Some(kept)) = (step.outcome, step.kept) else { return };
    let (low, high) = kept.interval.unwrap_or((kept.value, kept.value));
    step.outcome = match () {
        () if low >= KEPT => OverloadOutcome::Kept,
        () if high < LOST => OverloadOutcome::Lost,
        () => OverloadOutcome::Reduced,
    };
}

type Classified = (OverloadClass, Option<f64>, Option<OverloadDoubt>);

/// The worst class that a judged overload shows, and the lowest factor that shows it. Classes that depend on the highest overload require
/// that it was made and could be judged.
fn class(steps: &[OverloadStep], reference: &OverloadPhase, is_whole: bool) -> Classified {
    let lowest = |is: fn(&OverloadStep) -> bool| {
        let factors = steps.iter().filter(|step| is_judged(step) && is(step)).map(|step| step.factor);
        factors.reduce(f64::min)
    };
    let stuck = lowest(|step| matches!(step.recovery, Recovery::Not { stuck: true, .. }));
    let lost = lowest(|step| step.outcome == OverloadOutcome::Lost);
    let reduced = lowest(|step| step.outcome == OverloadOutcome::Reduced);
    let highest = highest(steps);
    let doubt = match highest.map(|step| step.outcome) {
        None => Some(OverloadDoubt::Interrupted),
        Some(OverloadOutcome::Unknown(doubt)) => Some(doubt),
        Some(_) if !is_whole => Some(OverloadDoubt::Interrupted),
        Some(OverloadOutcome::Kept | OverloadOutcome::Reduced | OverloadOutcome::Lost) => None,
    };
    match (stuck, lost, reduced, doubt) {
        (Some(factor), ..) => (OverloadClass::Metastable, Some(factor), None),
        (None, Some(factor), ..) => (OverloadClass::Collapses, Some(factor), None),
        (.., Some(doubt)) => (OverloadClass::Unknown, None, Some(doubt)),
        (_, _, Some(factor), None) => (OverloadClass::Degrades, Some(factor), None),
        _ if all_keep_up(steps, reference) => (OverloadClass::NotOverloaded, None, None),
        _ => (OverloadClass::Graceful, highest.map(|step| step.factor), None),
    }
}

/// The highest overload; of a jump and a ramp to it, one that could be judged.
fn highest(steps: &[OverloadStep]) -> Option<&OverloadStep> {
    let by_factor = |a: &&OverloadStep, b: &&OverloadStep| {
        a.factor.total_cmp(&b.factor).then(is_judged(a).cmp(&is_judged(b)))
    };
    steps.iter().max_by(by_factor)
}

/// True if the target keeps up in every judged overload to the highest rate, jump and ramp.
fn all_keep_up(steps: &[OverloadStep], reference: &OverloadPhase) -> bool {
    highest(steps).is_some_and(|highest| {
        let mut judged = steps.iter().filter(|step| is_judged(step) && step.is_of(highest.factor));
        judged.all(|step| keeps_up(step, reference))
    })
}

fn is_judged(step: &OverloadStep) -> bool {
    !matches!(step.outcome, OverloadOutcome::Unknown(_))
}

/// True if the target keeps up with the offered load. One that serves only the rate of the reference answers 1/f of the load; one that
/// keeps up answers all of it as well as the reference.
fn keeps_up(step: &OverloadStep, reference: &OverloadPhase) -> bool {
    let part = KEEPS_UP.max((1.0 + 1.0 / step.factor) / 2.0);
    let usual = reference.good_ratio.unwrap_or(1.0);
    step.settled.good_ratio.is_some_and(|ratio| ratio >= part * usual)
}

fn ramp_effect(overload: &Overload) -> Option<RampEffect> {
    let (jump, ramp) = (overload.jump_to_the_same()?, overload.ramped()?);
    let is_comparable = |step: &OverloadStep| is_judged(step) && step.lost_sec.is_none();
    if !is_comparable(jump) || !is_comparable(ramp) {
        return None;
    }
    let bounds = |kept: Estimate| kept.interval.unwrap_or((kept.value, kept.value));
    let (jumped, ramped) = (jump.kept?, ramp.kept?);
    let by = ramped.value - jumped.value;
    let helps = by >= DIFFERENCE && bounds(ramped).0 > bounds(jumped).1;
    let kept_up = overload.reference.as_ref().is_some_and(|reference| keeps_up(ramp, reference));
    Some(match () {
        () if helps && kept_up => RampEffect::KeepsUp,
        () if helps => RampEffect::Helps,
        () if -by >= DIFFERENCE && bounds(jumped).0 > bounds(ramped).1 => RampEffect::Hurts,
        () => RampEffect::None,
    })
}
