//! Verdicts where requests failed, or were answered too late to count.

use plimsoll_plan::{Load, Plan};
use plimsoll_record::FailureKind;

use super::generator::generator_row;
use super::{Case, advice, at, row};
use crate::{Confidence, EvidenceRow, Limit, StepSummary, Verdict, remedy, wants_status};

/// The kind of failure that struck most often in a step.
fn main_failure(step: &StepSummary) -> Option<(FailureKind, u64)> {
    // The first of equals, so that the same counts always name the same kind.
    step.counts.failed.iter().reduce(|most, next| if next.1 > most.1 { next } else { most })
}

/// The unsuccessful status that came most often in a step.
fn main_status(plan: &Plan, step: &StepSummary) -> Option<(u16, u64)> {
    let bad = step.counts.status.iter().filter(|(status, _)| !wants_status(plan, *status));
    bad.reduce(|most, next| if next.1 > most.1 { next } else { most })
}

/// The check that failed most often in a step.
fn main_check(step: &StepSummary) -> Option<(u16, u64)> {
    step.counts.checks.iter().reduce(|most, next| if next.1 > most.1 { next } else { most })
}

/// Rows and advice on what failed in a step.
pub(super) fn failures(case: &Case<'_>, step: &StepSummary) -> (Vec<EvidenceRow>, Vec<String>) {
    let ended = step.counts.ended() as f64;
    let failure = main_failure(step);
    let status = main_status(case.plan, step);
    let mut rows = Vec::new();
    let mut advice = Vec::new();
    if let Some((kind, count)) = failure {
        rows.push(row(
            format!("requests failed: {}", kind.row().meaning),
            count as f64,
            Some(ended),
            at(step),
        ));
        advice.push(remedy(case.plan, std::slice::from_ref(step), kind.row()).to_owned());
    }
    if let Some((status, count)) = status {
        rows.push(row(format!("responses of status {status}"), count as f64, Some(ended), at(step)));
        advice.push(advice::status(status));
    }
    if let Some((check, count)) = main_check(step) {
        let name = case.plan.checks.get(usize::from(check)).map_or("?", String::as_str);
        rows.push(row(
            format!("responses that failed the check {name}"),
            count as f64,
            Some(ended),
            at(step),
        ));
        advice.push(advice::check(name));
    }
    if rows.is_empty() {
        advice.push(advice::NOTHING_ENDED.to_owned());
    }
    (rows, advice)
}

pub(super) fn all_failed(case: &Case<'_>, last: &StepSummary) -> Verdict {
    let (evidence, advice) = failures(case, last);
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The target went away under load. Whatever the generator's health was, that ended the run, and why it did
/// only the target's own log can tell.
pub(super) fn lost(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (evidence, mut advice) = failures(case, step);
    advice.insert(0, advice::lost(step.lost_at_sec.unwrap_or_default()));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Answers took longer than the steps, so nothing is known of throughput.
pub(super) fn all_late(case: &Case<'_>, last: &StepSummary) -> Verdict {
    let mean_sec = last.latency.mean_ns / 1e9;
    let evidence = vec![
        row("mean latency in s", mean_sec, None, at(last)),
        row("time under load in s", last.measured_sec, None, at(last)),
    ];
    let advice = match &case.plan.load {
        Load::Single { .. } => advice::LONGER_RUN,
        Load::Ladder { budget: Some(_), .. } => advice::LONGER_BUDGET,
        Load::Ladder { budget: None, .. } => advice::LONGER_STEPS,
    };
    Verdict { evidence, advice: vec![advice.to_owned()], ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Failures ended the growth before throughput did.
pub(super) fn failing(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, advice) = failures(case, step);
    evidence.push(generator_row(case, step));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}
