//! The SLO, one line for each of its conditions.

use plimsoll_analyze::{Findings, Held, SloCheck, StepSummary};
use plimsoll_plan::Slo;
use plimsoll_units::{count_text, duration_text, percent_text};

use super::paragraph::{headed, wrapped};
use crate::amount::{at_least, counted, load_of, percentile, ratio};

/// Each condition with whether it held, the measured value and its limit; empty without an SLO.
pub(super) fn block(findings: &Findings) -> String {
    let Some((step, conditions)) = conditions(findings) else { return String::new() };
    let lines = conditions.iter().map(|condition| {
        let doubt = match condition.held {
            Held::Unknown => ", not known: too little was measured to decide",
            Held::Yes | Held::No => "",
        };
        wrapped("  ", "    ", &format!("{} {}{doubt}", sign(condition.held), condition.text()))
    });
    headed(&format!("SLO at {}", load_of(step)), lines.collect())
}

/// A condition and what came of it.
pub(super) struct Condition {
    pub(super) held: Held,
    seen: String,
    /// How many requests it was seen over.
    over: String,
    limit: String,
}

impl Condition {
    fn text(&self) -> String {
        format!("{}{} ({})", self.seen, self.over, self.limit)
    }

    pub(super) fn short_text(&self) -> String {
        format!("{} ({})", self.seen, self.limit)
    }
}

/// The step that was judged, and each condition; `None` without an SLO or a step.
pub(super) fn conditions(findings: &Findings) -> Option<(&StepSummary, Vec<Condition>)> {
    let check = findings.slo.as_ref()?;
    let step = judged_step(findings, check)?;
    let conditions = [p99(check, step), success(check, step), throughput(findings, check)];
    Some((step, conditions.into_iter().flatten().collect()))
}

/// The sign of a condition.
pub(super) fn sign(held: Held) -> &'static str {
    match held {
        Held::Yes => "✔",
        Held::No => "✘",
        Held::Unknown => "?",
    }
}

/// The step that was checked: the best within the limits, or the lowest if none is.
fn judged_step<'a>(findings: &'a Findings, check: &SloCheck) -> Option<&'a StepSummary> {
    match check.best_step {
        Some(index) => findings.steps.iter().find(|step| step.index == index),
        None => findings.steps.iter().min_by_key(|step| step.connections),
    }
}

/// The conditions that one step decides, at a step that was not judged: met, broken, or not known.
pub(super) fn conditions_at(slo: &Slo, step: &StepSummary) -> Vec<Condition> {
    let check = SloCheck {
        slo: *slo,
        best_step: None,
        throughput_within: None,
        p99: p99_held(slo, step),
        success: success_held(slo, step),
        throughput: Held::Unknown,
    };
    [self::p99(&check, step), self::success(&check, step)].into_iter().flatten().collect()
}

/// True for a step that breaks a condition.
pub(super) fn is_broken(slo: &Slo, step: &StepSummary) -> bool {
    [p99_held(slo, step), success_held(slo, step)].contains(&Held::No)
}

/// Whether one step alone meets the limit of p99; not known also without a limit.
pub(super) fn p99_held(slo: &Slo, step: &StepSummary) -> Held {
    let times = &step.latency;
    // Where p99 is not known, it is below neither the median nor the shortest time.
    let shortest_ns = (times.count > 0).then_some(times.min_ns);
    let is_above =
        |limit_ms: f64| [times.p50.ns, shortest_ns].into_iter().flatten().any(|ns| ns > limit_ms * 1e6);
    let met = |limit_ms: f64| match times.p99.ns {
        Some(ns) => Some(ns <= limit_ms * 1e6),
        None => is_above(limit_ms).then_some(false),
    };
    held(slo.p99_ms.and_then(met))
}

/// The same of the success ratio.
pub(super) fn success_held(slo: &Slo, step: &StepSummary) -> Held {
    held(slo.success_ratio.zip(step.success_ratio).map(|(limit, ratio)| ratio >= limit))
}

fn held(is_met: Option<bool>) -> Held {
    match is_met {
        None => Held::Unknown,
        Some(true) => Held::Yes,
        Some(false) => Held::No,
    }
}

fn p99(check: &SloCheck, step: &StepSummary) -> Option<Condition> {
    let limit = format!("limit {}", duration_text(check.slo.p99_ms? * 1e6));
    let seen = match (check.p99, step.latency.p99.ns) {
        (Held::No, None) => "p99 above its limit".to_owned(),
        _ => format!("p99 {}", percentile(step.latency.p99)),
    };
    Some(Condition { held: check.p99, seen, over: String::new(), limit })
}

fn success(check: &SloCheck, step: &StepSummary) -> Option<Condition> {
    let limit = format!("at least {}", percent_text(check.slo.success_ratio?));
    let seen = format!("success {}", ratio(step.success_ratio));
    let over = format!(" of {}", counted(step.counts.ended(), "request"));
    Some(Condition { held: check.success, seen, over, limit })
}

fn throughput(findings: &Findings, check: &SloCheck) -> Option<Condition> {
    let limit = format!("at least {}", count_text(check.slo.throughput_per_sec?));
    let seen = match check.throughput_within {
        Some(within) => {
            format!("{} requests/s within p99 and success", at_least(within.value, findings.lower_bound))
        }
        None => "no step within p99 and success".to_owned(),
    };
    let seen = format!("throughput: {seen}");
    Some(Condition { held: check.throughput, seen, over: String::new(), limit })
}
