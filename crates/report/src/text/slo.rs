//! The SLO, one line for each of its conditions.

use plimsoll_analyze::{Findings, Held, Percentile, RateSearch, SloCheck, StepSummary};
use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_units::{count_text, duration_text, exact_count_text, exact_duration_text, exact_percent_text};

use super::claim;
use super::paragraph::{headed, wrapped};
use crate::amount::{bound, counted, load_of, percentile, ratio};
use crate::words;

/// Returns each condition with whether it held, the measured value and its limit; empty without an SLO.
pub(super) fn block(findings: &Findings) -> String {
    let Some((step, conditions)) = conditions(findings) else { return String::new() };
    let lines = conditions.iter().map(|condition| {
        let doubt = match condition.held {
            Held::Unknown => format!(", {}", doubt(findings)),
            Held::Yes | Held::No => String::new(),
        };
        wrapped("  ", "    ", &format!("{} {}{doubt}", sign(condition.held), condition.text()))
    });
    headed(&format!("SLO at {}", load_of(step)), lines.collect())
}

/// Says why it is not known whether a condition holds.
pub(crate) fn doubt(findings: &Findings) -> &'static str {
    if claim::lacks_rate(findings) {
        return "not known: no rate of arrivals is known to hold it";
    }
    "not known: too little was measured to decide"
}

/// A condition and its result.
pub(crate) struct Condition {
    pub(crate) held: Held,
    /// The name of the condition, the same in every run: `p99 ≤ 500 ms`.
    pub(crate) name: String,
    seen: String,
    /// The number of requests it was measured over, in words.
    over: String,
    limit: String,
}

impl Condition {
    /// Formats the measured value with its limit, and the number of requests it was measured over.
    pub(crate) fn text(&self) -> String {
        format!("{}{} ({})", self.seen, self.over, self.limit)
    }

    pub(crate) fn short_text(&self) -> String {
        format!("{} ({})", self.seen, self.limit)
    }
}

/// Returns the step that was judged, and each condition; `None` without an SLO or a step.
pub(crate) fn conditions(findings: &Findings) -> Option<(&StepSummary, Vec<Condition>)> {
    let check = findings.slo.as_ref()?;
    let step = judged_step(findings)?;
    let others = [success(check, step), throughput(findings, check)];
    Some((step, latency(check, step).chain(others.into_iter().flatten()).collect()))
}

/// Returns the sign of a condition.
pub(super) fn sign(held: Held) -> &'static str {
    match held {
        Held::Yes => "✔",
        Held::No => "✘",
        Held::Unknown => "?",
    }
}

/// Returns the step that decides the conditions: the trial that decided a search, else the best step within the limits,
/// or the lowest step if none is within them. `None` without an SLO or a step.
pub(crate) fn judged_step(findings: &Findings) -> Option<&StepSummary> {
    let check = findings.slo.as_ref()?;
    if let Some(trial) = findings.search.as_ref().and_then(RateSearch::deciding) {
        return Some(&trial.step);
    }
    match check.best_step {
        Some(index) => findings.steps.iter().find(|step| step.index == index),
        None => findings.steps.iter().min_by_key(|step| step.connections),
    }
}

/// Judges the conditions that one step decides, at a step other than the judged one: met, broken, or not known.
pub(super) fn conditions_at(slo: &Slo, step: &StepSummary) -> Vec<Condition> {
    let check = SloCheck {
        slo: slo.clone(),
        best_step: None,
        throughput_within: None,
        latency: latency_held(slo, step),
        success: success_held(slo, step),
        throughput: Held::Unknown,
    };
    latency(&check, step).chain(success(&check, step)).collect()
}

/// True for a step that breaks a condition.
pub(super) fn is_broken(slo: &Slo, step: &StepSummary) -> bool {
    latency_held(slo, step).contains(&Held::No) || success_held(slo, step) == Held::No
}

/// Returns whether one step alone meets each limit of latency.
fn latency_held(slo: &Slo, step: &StepSummary) -> Vec<Held> {
    slo.latency.iter().zip(&step.limited).map(|(limit, seen)| limit_held(limit, seen, step)).collect()
}

/// Returns whether one step alone meets the limit of this percentile; not known if there is no limit.
pub(super) fn percentile_held(slo: &Slo, percent: f64, step: &StepSummary) -> Held {
    let mut limits = slo.latency.iter().zip(&step.limited);
    let limited = limits.find(|(limit, _)| limit.percent == percent);
    limited.map_or(Held::Unknown, |(limit, seen)| limit_held(limit, seen, step))
}

fn limit_held(limit: &LatencyLimit, seen: &Percentile, step: &StepSummary) -> Held {
    let times = &step.latency;
    // An unknown percentile is not below the shortest time, and from the median on not below the median.
    let shortest_ns = (times.count > 0).then_some(times.min_ns);
    let median_ns = times.p50.ns.filter(|_| limit.percent >= 50.0);
    let is_above = || [median_ns, shortest_ns].into_iter().flatten().any(|ns| ns > limit.limit_ns());
    held(match seen.ns {
        Some(ns) => Some(ns <= limit.limit_ns()),
        None => is_above().then_some(false),
    })
}

/// Returns whether one step alone meets the limit of the success ratio.
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

fn latency<'a>(check: &'a SloCheck, step: &'a StepSummary) -> impl Iterator<Item = Condition> + 'a {
    let limits = check.slo.latency.iter().zip(&step.limited).zip(&check.latency);
    limits.map(|((limit, seen), held)| {
        let percent = limit.name();
        let seen = match (held, seen.ns) {
            (Held::No, None) => format!("{percent} above its limit"),
            (Held::No, Some(ns)) if duration_text(ns) == duration_text(limit.limit_ns()) => {
                format!("{percent} {}", exact_duration_text(ns))
            }
            _ => format!("{percent} {}", percentile(*seen)),
        };
        let name = words::latency_limit(limit);
        let limit = format!("limit {}", exact_duration_text(limit.limit_ns()));
        Condition { held: *held, name, seen, over: String::new(), limit }
    })
}

fn success(check: &SloCheck, step: &StepSummary) -> Option<Condition> {
    let least = check.slo.success_ratio?;
    let limit = format!("at least {}", exact_percent_text(least));
    let seen = format!("success {}", ratio(step.success_ratio));
    let over = format!(" of {}", counted(step.counts.ended(), "request"));
    Some(Condition { held: check.success, name: words::success_limit(least), seen, over, limit })
}

fn throughput(findings: &Findings, check: &SloCheck) -> Option<Condition> {
    let least = check.slo.throughput_per_sec?;
    let limit = format!("at least {}", exact_count_text(least));
    let seen = match check.throughput_within {
        Some(within) => {
            let is_alike = check.throughput == Held::No && count_text(within.value) == count_text(least);
            let value = if is_alike { exact_count_text(within.value) } else { count_text(within.value) };
            format!("{}{value} requests/s within the others", bound(findings.lower_bound))
        }
        None => "no step within the others".to_owned(),
    };
    let seen = format!("throughput: {seen}");
    let name = words::throughput_limit(least);
    Some(Condition { held: check.throughput, name, seen, over: String::new(), limit })
}
