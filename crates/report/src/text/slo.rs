//! The SLO, part by part.

use plimsoll_analyze::{Findings, Held, SloCheck, StepSummary};
use plimsoll_units::{count_text, duration_text, percent_text};

use super::amount::{NOT_KNOWN, bound, counted, load_of, percentile};
use super::paragraph::fact;

/// The parts that were asked for, each with what was seen and whether it held; nothing if none was.
pub(super) fn block(findings: &Findings) -> String {
    let Some(check) = &findings.slo else { return String::new() };
    let Some(step) = judged_step(findings, check) else { return String::new() };
    let parts = [
        ("p99", p99(check, step)),
        ("success", success(check, step)),
        ("throughput", throughput(findings, check)),
    ];
    let lines = parts.into_iter().filter_map(|(name, text)| Some(fact(name, &text?)));
    format!("SLO, at {}\n{}", load_of(step), lines.collect::<String>())
}

/// The step the check speaks of: the best within the limits, or the lowest if none is.
fn judged_step<'a>(findings: &'a Findings, check: &SloCheck) -> Option<&'a StepSummary> {
    match check.best_step {
        Some(index) => findings.steps.iter().find(|step| step.index == index),
        None => findings.steps.iter().min_by_key(|step| step.connections),
    }
}

fn verdict(held: Held) -> &'static str {
    match held {
        Held::Yes => "yes",
        Held::No => "NO",
        Held::Unknown => "not known",
    }
}

fn p99(check: &SloCheck, step: &StepSummary) -> Option<String> {
    let limit = duration_text(check.slo.p99_ms? * 1e6);
    Some(format!("{}, wanted ≤ {limit}: {}", percentile(step.latency.p99), verdict(check.p99)))
}

fn success(check: &SloCheck, step: &StepSummary) -> Option<String> {
    let limit = percent_text(check.slo.success_ratio?);
    let seen = step.success_ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text);
    let requests = counted(step.counts.ended(), "request");
    Some(format!("{seen} of {requests}, wanted ≥ {limit}: {}", verdict(check.success)))
}

fn throughput(findings: &Findings, check: &SloCheck) -> Option<String> {
    let limit = count_text(check.slo.throughput_per_sec?);
    let seen = match check.throughput_within {
        Some(estimate) => format!("{}{} requests/s", bound(findings.lower_bound), count_text(estimate.value)),
        None => "no load".to_owned(),
    };
    Some(format!("{seen} within these limits, wanted ≥ {limit}: {}", verdict(check.throughput)))
}
