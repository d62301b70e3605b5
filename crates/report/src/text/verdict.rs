//! What limits the target, as far as it is known, and what to try next.

use plimsoll_analyze::{Confidence, Evidence, Findings, Limit, ProofOutcome, Verdict};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;
use plimsoll_units::{count_text, escape_control, share_text, significant};

use super::paragraph::{advice, headed, point, wrapped};
use crate::amount::list;
use crate::words;

/// The heading of the limits that the verdict rules out.
pub(crate) const RULED_OUT: &str = "Ruled out";

/// Returns the verdict in a sentence or two, and the advice.
pub(super) fn limit(run: &Run, findings: &Findings) -> String {
    let paragraph = words::paragraph(&findings.verdict);
    let verdict = wrapped("", "", &format!("What limits it: {}", verdict_text(run, findings, &paragraph)));
    let advised = words::advice(&findings.verdict);
    verdict + &advised.iter().map(|text| advice("  ", &escape_control(text))).collect::<String>()
}

/// Returns the paragraph of a verdict, or what is known about a verdict without one.
pub(super) fn verdict_text(run: &Run, findings: &Findings, paragraph: &str) -> String {
    if !paragraph.is_empty() {
        return escape_control(paragraph);
    }
    match findings.verdict.limit {
        Limit::Generator => generator_text(findings),
        Limit::None => "nothing yet; this load did not push it to its limit.".to_owned(),
        Limit::Unknown if findings.steps.is_empty() => "not known, because no step was recorded.".to_owned(),
        Limit::Unknown if findings.answered_late() => {
            "not known, because no request was answered under load.".to_owned()
        }
        Limit::Unknown if findings.steps.iter().all(|step| step.counts.ok == 0) => {
            "not known, because no request succeeded.".to_owned()
        }
        Limit::Unknown if findings.lost_step().is_some() => {
            format!("not known, because the target was lost.{}", unwatched(run))
        }
        Limit::Unknown => format!("not known.{}{}", generator_ruled_out(findings), unwatched(run)),
        limit => format!("{}, of {}.", limit.name(), escape_control(&findings.verdict.place.to_string())),
    }
}

fn generator_text(findings: &Findings) -> String {
    let reasons = list(findings.generator.reasons.iter().map(words::reason), "; ");
    let tail = if reasons.is_empty() { reasons } else { format!(" ({reasons})") };
    format!("this load generator, not the target{tail}. The target may hold more.")
}

fn generator_ruled_out(findings: &Findings) -> String {
    if !findings.generator.healthy() || findings.generator.too_short {
        return String::new();
    }
    let busy = share_text(findings.generator.busiest_worker_ratio);
    format!(" It was not the load generator (its busiest worker used {busy} of a core).")
}

/// Says that the target's machine was not watched, if that is so.
fn unwatched(run: &Run) -> &'static str {
    if is_watched(run) { "" } else { " The target's machine was not watched." }
}

/// True if a host other than the generator's was sampled.
pub(super) fn is_watched(run: &Run) -> bool {
    run.hosts.iter().any(|sample| sample.host != PlanHost::GENERATOR)
}

/// Returns the evidence of the verdict, and what it rules out.
pub(super) fn evidence(findings: &Findings) -> String {
    let points = |lines: Vec<String>| lines.iter().map(|line| point(line)).collect();
    let verdict = &findings.verdict;
    headed(&evidence_heading(verdict), points(evidence_rows(verdict)))
        + &headed(RULED_OUT, points(ruled_out(verdict)))
}

/// Returns the evidence of the verdict, a row each.
pub(crate) fn evidence_rows(verdict: &Verdict) -> Vec<String> {
    verdict.evidence.iter().map(row_text).collect()
}

/// Returns what the verdict rules out, a row each.
pub(crate) fn ruled_out(verdict: &Verdict) -> Vec<String> {
    words::excluded(verdict).iter().map(|line| escape_control(line)).collect()
}

pub(crate) fn evidence_heading(verdict: &Verdict) -> String {
    let withdrawn = verdict.proof().is_some_and(|proof| proof.outcome == ProofOutcome::Withdrawn);
    let basis = match verdict.confidence {
        _ if withdrawn => "withdrawn: raising it did not move throughput as predicted",
        Confidence::Proven => "proven: raising it moved throughput as predicted",
        Confidence::Measured => "measured",
        Confidence::Inferred => "inferred, by elimination",
        Confidence::Unknown => "too little is known for a verdict",
    };
    format!("Evidence ({basis})")
}

fn row_text(row: &Evidence) -> String {
    let amount = |value: f64| if value.abs() < 99.95 { significant(value) } else { count_text(value) };
    let value = match row.of {
        Some(1.0) => share_text(row.value),
        Some(of) => format!("{} / {}", amount(row.value), amount(of)),
        None => amount(row.value),
    };
    let observed = words::observed(&row.observed);
    match words::at(&row.at) {
        none if none.is_empty() => escape_control(&format!("{observed}: {value}")),
        at => escape_control(&format!("{observed}: {value} at {at}")),
    }
}
