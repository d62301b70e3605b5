//! Verdicts where requests failed, or were answered too late to count.

use plimsoll_plan::{Load, Plan};
use plimsoll_record::FailureKind;

use crate::findings::{Advice, Confidence, Evidence, Limit, Observation, StepSummary, Verdict};
use crate::load::requests::wants_status;
use crate::observations::Case;
use crate::remedy::failure_advice;

/// The entry with the highest count, the first of several, so that equal counts always give the same entry.
fn most<T>(counts: impl Iterator<Item = (T, u64)>) -> Option<(T, u64)> {
    counts.reduce(|most, next| if next.1 > most.1 { next } else { most })
}

/// The most frequent kind of failure in a step.
fn main_failure(step: &StepSummary) -> Option<(FailureKind, u64)> {
    most(step.counts.failed.iter())
}

/// The most frequent unsuccessful status in a step.
fn main_status(plan: &Plan, step: &StepSummary) -> Option<(u16, u64)> {
    most(step.counts.status.iter().filter(|(status, _)| !wants_status(plan, *status)))
}

/// The check that failed most often in a step, by its name.
fn main_check<'p>(plan: &'p Plan, step: &StepSummary) -> Option<(&'p str, u64)> {
    let (check, count) = most(step.counts.checks.iter())?;
    Some((plan.checks.get(usize::from(check)).map_or("?", String::as_str), count))
}

/// Evidence and advice about what failed in a step.
pub(super) fn failures(case: &Case<'_>, step: &StepSummary) -> (Vec<Evidence>, Vec<Advice>) {
    let mut rows = Vec::new();
    let mut advice = Vec::new();
    let ended = step.counts.ended() as f64;
    let mut add = |observed, count: u64, what| {
        rows.push(Evidence::new(observed, count as f64, Some(ended), step.at()));
        advice.push(what);
    };
    if let Some((kind, count)) = main_failure(step) {
        let helps = failure_advice(case.plan, std::slice::from_ref(step), kind);
        add(Observation::Failed(kind), count, Advice::Failure(helps));
    }
    if let Some((status, count)) = main_status(case.plan, step) {
        add(Observation::Status(status), count, Advice::Status(status));
    }
    if let Some((check, count)) = main_check(case.plan, step) {
        add(Observation::FailedCheck(check.to_owned()), count, Advice::Check(check.to_owned()));
    }
    if rows.is_empty() {
        advice.push(Advice::NothingEnded);
    }
    (rows, advice)
}

/// No request succeeded.
pub(super) fn all_failed(case: &Case<'_>, last: &StepSummary) -> Verdict {
    let (evidence, advice) = failures(case, last);
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The target was lost under load. That ended the run, whatever the generator's health was; only the target's own log can
/// say why.
pub(super) fn lost(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (evidence, mut advice) = failures(case, step);
    advice.insert(0, Advice::TargetLost(step.lost_at_sec.unwrap_or_default()));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Answers took longer than the steps, so nothing is known of throughput.
pub(super) fn all_late(case: &Case<'_>, last: &StepSummary) -> Verdict {
    let evidence = vec![
        Evidence::new(Observation::MeanLatency, last.latency.mean_ns / 1e9, None, last.at()),
        Evidence::new(Observation::TimeUnderLoad, last.measured_sec, None, last.at()),
    ];
    let advice = match &case.plan.load {
        Load::Single { .. } => Advice::LongerRun,
        Load::Ladder { budget: Some(_), .. } => Advice::LongerBudget,
        Load::Ladder { budget: None, .. } => Advice::LongerSteps,
    };
    Verdict { evidence, advice: vec![advice], ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Failures ended the load before throughput stopped growing.
pub(super) fn failing(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, advice) = failures(case, step);
    evidence.push(case.generator_row(step));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}
