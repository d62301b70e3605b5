//! What limits the target, as far as it is known, and what to try next.

use plimsoll_analyze::{Confidence, Evidence, Findings, Limit, ProofOutcome, Verdict};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;
use plimsoll_units::{count_text, escape_control, share_text, significant};

use super::paragraph::{point, wrapped};
use crate::{reason, words};

/// The verdict in a sentence or two, and the advice.
pub(super) fn limit(run: &Run, findings: &Findings) -> String {
    let mut text = wrapped("", "", &format!("What limits it: {}", verdict_text(run, findings)));
    for advice in words::advice(&findings.verdict) {
        text.push_str(&wrapped("  → ", "    ", &escape_control(&advice)));
    }
    text
}

fn verdict_text(run: &Run, findings: &Findings) -> String {
    let said = words::paragraph(&findings.verdict);
    if !said.is_empty() {
        return escape_control(&said);
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
    let reasons: Vec<String> = findings.generator.reasons.iter().map(reason::text).collect();
    let tail = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    format!("this load generator, not the target{tail}. The target may hold more.")
}

fn generator_ruled_out(findings: &Findings) -> String {
    if !findings.generator.healthy() || findings.generator.too_short {
        return String::new();
    }
    let busy = share_text(findings.generator.busiest_worker_ratio);
    format!(" It was not the load generator (its busiest worker used {busy} of a core).")
}

/// Nothing is said of the target's machine that was not seen.
fn unwatched(run: &Run) -> &'static str {
    let watched = run.hosts.iter().any(|sample| sample.host != PlanHost::GENERATOR);
    if watched { "" } else { " The target's machine was not watched." }
}

/// What the verdict rests on, and what it rules out.
pub(super) fn evidence(findings: &Findings) -> String {
    format!("{}{}", evidence_of(&findings.verdict), ruled_out(&findings.verdict))
}

fn ruled_out(verdict: &Verdict) -> String {
    if verdict.excluded.is_empty() {
        return String::new();
    }
    let lines = words::excluded(verdict).into_iter().map(|line| point(&escape_control(&line)));
    format!("Ruled out\n{}", lines.collect::<String>())
}

fn evidence_of(verdict: &Verdict) -> String {
    if verdict.evidence.is_empty() {
        return String::new();
    }
    let withdrawn = verdict.proof().is_some_and(|proof| proof.outcome == ProofOutcome::Withdrawn);
    let basis = match verdict.confidence {
        _ if withdrawn => "withdrawn: raising it did not move throughput as predicted",
        Confidence::Proven => "proven: raising it moved throughput as predicted",
        Confidence::Measured => "measured",
        Confidence::Inferred => "inferred, by elimination",
        Confidence::Unknown => "too little is known for a verdict",
    };
    let rows = verdict.evidence.iter().map(|row| point(&row_text(row)));
    format!("Evidence ({basis})\n{}", rows.collect::<String>())
}

fn row_text(row: &Evidence) -> String {
    let amount = |value: f64| if value.abs() < 99.95 { significant(value) } else { count_text(value) };
    let value = match row.of {
        Some(1.0) => share_text(row.value),
        Some(of) => format!("{} / {}", amount(row.value), amount(of)),
        None => amount(row.value),
    };
    let at = Some(words::at(&row.at)).filter(|at| !at.is_empty());
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    escape_control(&format!("{}: {value}{at}", words::observed(&row.observed)))
}
