//! Checks what was measured against the SLO.

use plimsoll_plan::{LatencyLimit, Slo};

use crate::{Estimate, Held, Percentile, SloCheck, StepSummary};

/// What the throughput check needs besides the steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// True if the generator was healthy, so that throughput is not just a lower bound.
    pub(crate) healthy: bool,
    /// True if more load could have shown more: the ladder ended while throughput was growing.
    pub(crate) growing: bool,
}

/// Judges the steps; `None` if the SLO is empty. A part without a limit counts as held.
pub(crate) fn check(slo: &Slo, steps: &[StepSummary], reach: Reach) -> Option<SloCheck> {
    if slo.is_empty() {
        return None;
    }
    let best = steps
        .iter()
        .filter(|step| within(slo, step))
        .max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value));
    let judged = best.or_else(|| steps.iter().min_by_key(|step| step.connections));
    let throughput_within = best.map(|step| step.throughput);
    let unknown = || vec![Held::Unknown; slo.latency.len()];
    Some(SloCheck {
        slo: slo.clone(),
        best_step: best.map(|step| step.index),
        throughput_within,
        latency: judged.map_or_else(unknown, |step| latency_held(slo, step)),
        success: judged.map_or(Held::Unknown, |step| success_held(slo, step)),
        throughput: throughput_held(slo, steps, throughput_within, reach),
    })
}

/// The limits on latency and success at one step; a part without a limit counts as held.
fn parts(slo: &Slo, step: &StepSummary) -> Vec<Held> {
    let mut parts = latency_held(slo, step);
    parts.push(success_held(slo, step));
    parts
}

/// True if the step is known to hold the limits on latency and success, and has throughput.
fn within(slo: &Slo, step: &StepSummary) -> bool {
    parts(slo, step).iter().all(|part| *part == Held::Yes) && step.throughput.value > 0.0
}

fn latency_held(slo: &Slo, step: &StepSummary) -> Vec<Held> {
    slo.latency.iter().zip(&step.limited).map(|(limit, seen)| limit_held(limit, seen, step)).collect()
}

/// `Yes` if the upper bound of the percentile is within the limit. `No` if a lower bound exceeds it: that of the percentile itself, of a
/// lower percentile, or, with few samples, the shortest time.
fn limit_held(limit: &LatencyLimit, seen: &Percentile, step: &StepSummary) -> Held {
    let times = &step.latency;
    let lower = times.percentiles().into_iter().filter(|(percent, _)| *percent <= limit.percent);
    let mut bounds = lower.map(|(_, percentile)| percentile).chain([*seen]).filter_map(lower_ns);
    let shortest_ns = if times.count > 0 { times.min_ns } else { 0.0 };
    if shortest_ns > limit.limit_ns() || bounds.any(|bound| bound > limit.limit_ns()) {
        return Held::No;
    }
    let upper_ns = seen.interval_ns.map(|(_, upper)| upper);
    if upper_ns.is_some_and(|upper| upper <= limit.limit_ns()) { Held::Yes } else { Held::Unknown }
}

fn lower_ns(percentile: Percentile) -> Option<f64> {
    percentile.interval_ns.map(|(lower, _)| lower)
}

/// `Yes` without any failure, however few requests there are, or if the lower bound of the success ratio is at least the required
/// one; `No` if its upper bound is below it.
fn success_held(slo: &Slo, step: &StepSummary) -> Held {
    let Some(required) = slo.success_ratio else { return Held::Yes };
    match step.success_interval {
        _ if step.success_ratio == Some(1.0) => Held::Yes,
        Some((low, _)) if low >= required => Held::Yes,
        Some((_, high)) if high < required => Held::No,
        _ => Held::Unknown,
    }
}

/// Compares the highest throughput within the limits with the required one.
///
/// `No` needs proof that more was impossible: a healthy generator, and throughput that no longer grew.
fn throughput_held(slo: &Slo, steps: &[StepSummary], within: Option<Estimate>, reach: Reach) -> Held {
    let Some(required) = slo.throughput_per_sec else { return Held::Yes };
    let broken = |step: &StepSummary| parts(slo, step).contains(&Held::No);
    match within.map(|estimate| estimate.interval) {
        Some(Some((low, _))) if low >= required => Held::Yes,
        _ if !reach.healthy => Held::Unknown,
        Some(Some((_, high))) if high < required && !reach.growing => Held::No,
        None if !steps.is_empty() && steps.iter().all(broken) => Held::No,
        // No step has enough throughput, whether within the limits or not.
        None if !reach.growing && highest(steps).is_some_and(|high| high < required) => Held::No,
        _ => Held::Unknown,
    }
}

/// The highest upper bound of throughput over all steps; `None` if a step has no interval.
fn highest(steps: &[StepSummary]) -> Option<f64> {
    let upper = |step: &StepSummary| step.throughput.interval.map(|(_, high)| high);
    steps.iter().map(upper).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}
