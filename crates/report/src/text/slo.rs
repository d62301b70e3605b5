//! The SLO, one line for each of its conditions.

use plimsoll_analyze::{Findings, Held, SloCheck, StepSummary};
use plimsoll_units::{count_text, duration_text, percent_text};

use super::paragraph::wrapped;
use crate::amount::{NOT_KNOWN, bound, counted, load_of, percentile};

/// Each condition with whether it held, the measured value and its limit; empty without an SLO.
pub(super) fn block(findings: &Findings) -> String {
    let Some(check) = &findings.slo else { return String::new() };
    let Some(step) = judged_step(findings, check) else { return String::new() };
    let conditions = [p99(check, step), success(check, step), throughput(findings, check)];
    let lines = conditions.iter().flatten().map(|line| wrapped("  ", "    ", line));
    format!("SLO at {}\n{}", load_of(step), lines.collect::<String>())
}

/// The step that was checked: the best within the limits, or the lowest if none is.
fn judged_step<'a>(findings: &'a Findings, check: &SloCheck) -> Option<&'a StepSummary> {
    match check.best_step {
        Some(index) => findings.steps.iter().find(|step| step.index == index),
        None => findings.steps.iter().min_by_key(|step| step.connections),
    }
}

fn sign(held: Held) -> &'static str {
    match held {
        Held::Yes => "✔",
        Held::No => "✘",
        Held::Unknown => "?",
    }
}

/// Why a condition was not decided.
fn doubt(held: Held) -> &'static str {
    if held == Held::Unknown { ", not known: too little was measured to decide" } else { "" }
}

fn p99(check: &SloCheck, step: &StepSummary) -> Option<String> {
    let limit = duration_text(check.slo.p99_ms? * 1e6);
    let seen = percentile(step.latency.p99);
    Some(format!("{} p99 {seen} (limit {limit}){}", sign(check.p99), doubt(check.p99)))
}

fn success(check: &SloCheck, step: &StepSummary) -> Option<String> {
    let limit = percent_text(check.slo.success_ratio?);
    let seen = step.success_ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text);
    let requests = counted(step.counts.ended(), "request");
    let (sign, doubt) = (sign(check.success), doubt(check.success));
    Some(format!("{sign} success {seen} of {requests} (at least {limit}){doubt}"))
}

fn throughput(findings: &Findings, check: &SloCheck) -> Option<String> {
    let limit = count_text(check.slo.throughput_per_sec?);
    let seen = match check.throughput_within {
        Some(estimate) => {
            format!(
                "{}{} requests/s within p99 and success",
                bound(findings.lower_bound),
                count_text(estimate.value)
            )
        }
        None => "no step within p99 and success".to_owned(),
    };
    let (sign, doubt) = (sign(check.throughput), doubt(check.throughput));
    Some(format!("{sign} throughput: {seen} (at least {limit}){doubt}"))
}
