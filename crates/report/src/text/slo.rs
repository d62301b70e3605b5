//! The SLO, one line for each of its conditions.

use plimsoll_analyze::{Findings, Held, SloCheck, StepSummary};
use plimsoll_units::{count_text, duration_text, percent_text};

use super::paragraph::{headed, wrapped};
use crate::amount::{at_least, counted, load_of, percentile, ratio};

/// Each condition with whether it held, the measured value and its limit; empty without an SLO.
pub(super) fn block(findings: &Findings) -> String {
    let Some(check) = &findings.slo else { return String::new() };
    let Some(step) = judged_step(findings, check) else { return String::new() };
    let conditions = [p99(check, step), success(check, step), throughput(findings, check)];
    let lines = conditions.into_iter().flatten().map(|(held, condition)| line(held, &condition));
    headed(&format!("SLO at {}", load_of(step)), lines.collect())
}

/// The step that was checked: the best within the limits, or the lowest if none is.
fn judged_step<'a>(findings: &'a Findings, check: &SloCheck) -> Option<&'a StepSummary> {
    match check.best_step {
        Some(index) => findings.steps.iter().find(|step| step.index == index),
        None => findings.steps.iter().min_by_key(|step| step.connections),
    }
}

fn line(held: Held, condition: &str) -> String {
    let (sign, doubt) = match held {
        Held::Yes => ("✔", ""),
        Held::No => ("✘", ""),
        Held::Unknown => ("?", ", not known: too little was measured to decide"),
    };
    wrapped("  ", "    ", &format!("{sign} {condition}{doubt}"))
}

fn p99(check: &SloCheck, step: &StepSummary) -> Option<(Held, String)> {
    let limit = duration_text(check.slo.p99_ms? * 1e6);
    Some((check.p99, format!("p99 {} (limit {limit})", percentile(step.latency.p99))))
}

fn success(check: &SloCheck, step: &StepSummary) -> Option<(Held, String)> {
    let limit = percent_text(check.slo.success_ratio?);
    let (seen, requests) = (ratio(step.success_ratio), counted(step.counts.ended(), "request"));
    Some((check.success, format!("success {seen} of {requests} (at least {limit})")))
}

fn throughput(findings: &Findings, check: &SloCheck) -> Option<(Held, String)> {
    let limit = count_text(check.slo.throughput_per_sec?);
    let seen = match check.throughput_within {
        Some(within) => {
            format!("{} requests/s within p99 and success", at_least(within.value, findings.lower_bound))
        }
        None => "no step within p99 and success".to_owned(),
    };
    Some((check.throughput, format!("throughput: {seen} (at least {limit})")))
}
