//! What limits the target, as far as the load alone shows it.
//!
//! Without a look at the hosts there are three answers: the generator was the limit, the target was not
//! pushed to its limit, or it was and the reason is not known. Each comes with what it rests on and with
//! the next thing to try; a load alone never proves more.

mod advice;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::{FailureKind, StepEnd};
use plimsoll_units::{count_text, grouped};

use crate::knee::{counts_for_capacity, whole};
use crate::summary::answered_late;
use crate::{
    Confidence, EvidenceRow, GeneratorHealth, GeneratorReason, Knee, Limit, Moment, Steadiness, StepSummary,
    Verdict, wants_status,
};

/// An open loop that is answered at less than this ratio of its rate is not kept up with.
const ACHIEVED_RATIO: f64 = 0.99;

/// In one moment of a changing rate less than this ratio of what falls due is short of it. At a rising rate answers are
/// always a little behind.
const MOMENT_RATIO: f64 = 0.95;

/// What the verdict is made from.
pub(crate) struct Case<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// All steps.
    pub(crate) steps: &'a [StepSummary],
    /// The knee, if there is one.
    pub(crate) knee: Option<&'a Knee>,
    /// The generator's health at the step that decides.
    pub(crate) generator: &'a GeneratorHealth,
}

impl Case<'_> {
    fn target(&self) -> String {
        self.plan.target.authority()
    }

    fn verdict(&self, limit: Limit, confidence: Confidence) -> Verdict {
        let place = if limit == Limit::Generator { "generator".to_owned() } else { self.target() };
        Verdict::new(limit, place, confidence)
    }
}

/// One line of evidence.
fn row(what: impl Into<String>, value: f64, of: Option<f64>, at: String) -> EvidenceRow {
    EvidenceRow { what: what.into(), value, of, at }
}

/// Where a step stands: `600 connections`, or `2,000 requests/s` for an open loop.
fn at(step: &StepSummary) -> String {
    step.rate_per_sec
        .map_or_else(|| connections_text(step.connections), |rate| format!("{} requests/s", count_text(rate)))
}

fn connections_text(connections: u32) -> String {
    let plural = if connections == 1 { "" } else { "s" };
    format!("{} connection{plural}", grouped(u64::from(connections)))
}

/// The verdict on a run.
pub(crate) fn verdict(case: &Case<'_>) -> Verdict {
    let Some(last) = case.steps.last() else { return nothing_ran(case) };
    if case.steps.iter().all(|step| step.counts.ok == 0) {
        return all_failed(case, last);
    }
    if let Some(step) = case.steps.iter().find(|step| step.end == StepEnd::TargetLost) {
        return lost(case, step);
    }
    if answered_late(case.steps) {
        return all_late(case, last);
    }
    if !case.generator.healthy() {
        return generator_limited(case);
    }
    match (&case.plan.load, case.knee) {
        (Load::Single { .. }, _) if last.rate_per_sec.is_some() => open_loop(case, last),
        (Load::Single { .. }, _) => one_level(case, last),
        (Load::Ladder { .. }, Some(knee)) if knee.reached => plateau(case, knee),
        (Load::Ladder { .. }, _) if whole(last) && !counts_for_capacity(last) => failing(case, last),
        (Load::Ladder { .. }, knee) => still_growing(case, knee, last),
    }
}

fn nothing_ran(case: &Case<'_>) -> Verdict {
    let advice = vec![advice::NOTHING_RAN.to_owned()];
    Verdict { advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

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
fn failures(case: &Case<'_>, step: &StepSummary) -> (Vec<EvidenceRow>, Vec<String>) {
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
        advice.push(kind.row().remedy.to_owned());
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

fn all_failed(case: &Case<'_>, last: &StepSummary) -> Verdict {
    let (evidence, advice) = failures(case, last);
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The target went away under load. Whatever the generator's health was, that ended the run, and why it did
/// only the target's own log can tell.
fn lost(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (evidence, mut advice) = failures(case, step);
    advice.insert(0, advice::lost(step.lost_at_sec.unwrap_or_default()));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Answers took longer than the steps, so nothing is known of throughput.
fn all_late(case: &Case<'_>, last: &StepSummary) -> Verdict {
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

/// What the generator's own clocks and counters show is measured; what follows from a law is inferred.
fn generator_limited(case: &Case<'_>) -> Verdict {
    let seen = |reason: &GeneratorReason| !matches!(reason, GeneratorReason::LittlesLaw { .. });
    let reasons = &case.generator.reasons;
    let confidence = if reasons.iter().any(seen) { Confidence::Measured } else { Confidence::Inferred };
    let place = case
        .knee
        .and_then(|knee| case.steps.iter().find(|step| step.connections == knee.plateau_connections))
        .or(case.steps.last())
        .map_or_else(String::new, at);
    Verdict {
        evidence: reasons.iter().map(|reason| reason_row(reason, &place)).collect(),
        advice: advice::generator(reasons),
        ..case.verdict(Limit::Generator, confidence)
    }
}

fn reason_row(reason: &GeneratorReason, place: &str) -> EvidenceRow {
    let (what, value, of) = match *reason {
        GeneratorReason::WorkerBusy { worker, ratio } => {
            (format!("CPU of worker {worker}"), ratio, Some(1.0))
        }
        GeneratorReason::WorkerStarved { worker, ratio } => {
            (format!("time that worker {worker} was ready and had no CPU"), ratio, Some(1.0))
        }
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => {
            let what = "send lag p99 in ms, against the median service time".to_owned();
            (what, p99_ns / 1e6, Some(service_p50_ns / 1e6))
        }
        GeneratorReason::LittlesLaw { expected, observed } => {
            ("requests under way by Little's law, against connections".to_owned(), observed, Some(expected))
        }
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => {
            ("requests/s sent, against those due".to_owned(), sent_per_sec, Some(offered_per_sec))
        }
        GeneratorReason::OutOfResources { kind, count } => {
            (format!("requests failed: {}", kind.row().meaning), count as f64, None)
        }
        GeneratorReason::OutOfConnections { connections, descriptors } => {
            let what = "connections open, against the descriptors of this process".to_owned();
            (what, connections as f64, Some(descriptors as f64))
        }
        GeneratorReason::Stolen { ratio } => {
            ("CPU time of this machine taken by others".to_owned(), ratio, Some(1.0))
        }
        GeneratorReason::Retransmits { ratio, .. } => {
            ("TCP segments of this machine sent again".to_owned(), ratio, Some(1.0))
        }
        GeneratorReason::NearCeiling { per_worker_per_sec, ceiling_per_sec } => {
            let what = "requests/s of a worker, against its ceiling when calibrated".to_owned();
            (what, per_worker_per_sec, Some(ceiling_per_sec))
        }
    };
    row(what, value, of, place.to_owned())
}

/// The generator's own load, the first thing to rule out.
fn generator_row(case: &Case<'_>, step: &StepSummary) -> EvidenceRow {
    row(
        "CPU of the busiest worker of the generator",
        case.generator.busiest_worker_ratio,
        Some(1.0),
        at(step),
    )
}

const ANSWERED: &str = "requests/s answered, against those offered";

/// The first moment of a changing rate in which clearly less was answered than fell due, if it was so in every later one
/// of at least that rate too: where a rate begins to rise, answers are behind only until the first of them are in.
fn first_short(step: &StepSummary) -> Option<&Moment> {
    let short = |moment: &Moment| moment.throughput_per_sec < MOMENT_RATIO * moment.due_per_sec;
    let moments = &step.moments;
    moments.iter().enumerate().map(|(index, moment)| (&moments[index..], moment)).find_map(
        |(later, moment)| {
            let comparable = |other: &&Moment| other.rate_per_sec >= moment.rate_per_sec;
            later.iter().filter(comparable).all(short).then_some(moment)
        },
    )
}

/// An open loop shows whether one rate is kept up with, and no more.
fn open_loop(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let offered_per_sec = step.rate_per_sec.unwrap_or_default();
    let achieved_per_sec = step.throughput.value;
    let behind = step.steadiness == Steadiness::Moving
        || achieved_per_sec < ACHIEVED_RATIO * offered_per_sec
        || first_short(step).is_some();
    let mut evidence = Vec::new();
    if let Some(moment) = first_short(step) {
        let place = format!("{} s to {} s", count_text(moment.began_sec), count_text(moment.end_sec));
        evidence.push(row(ANSWERED, moment.throughput_per_sec, Some(moment.due_per_sec), place));
    }
    evidence.push(row(ANSWERED, achieved_per_sec, Some(offered_per_sec), at(step)));
    evidence.push(generator_row(case, step));
    if !counts_for_capacity(step) {
        failing(case, step)
    } else if behind {
        let short_per_sec = first_short(step).map_or(offered_per_sec, |moment| moment.rate_per_sec);
        let advice = vec![advice::watch_target_at_rate(short_per_sec), advice::SWEEP.to_owned()];
        Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
    } else {
        let advice = vec![advice::HIGHER_RATE.to_owned()];
        Verdict { evidence, advice, ..case.verdict(Limit::None, Confidence::Measured) }
    }
}

/// One closed-loop level cannot tell whether more connections would give more.
fn one_level(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, mut advice) =
        if counts_for_capacity(step) { Default::default() } else { failures(case, step) };
    evidence.push(generator_row(case, step));
    advice.push(advice::SWEEP.to_owned());
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// Failures ended the growth before throughput did.
fn failing(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, advice) = failures(case, step);
    evidence.push(generator_row(case, step));
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}

/// Throughput of the highest usable step over that of the best lower one, minus 1.
fn last_gain(steps: &[StepSummary]) -> Option<(f64, &StepSummary)> {
    let usable = crate::knee::usable(steps);
    let (last, before) = usable.split_last()?;
    let best = before.iter().map(|step| step.throughput.value).max_by(f64::total_cmp)?;
    Some((last.throughput.value / best - 1.0, last))
}

fn still_growing(case: &Case<'_>, knee: Option<&Knee>, last: &StepSummary) -> Verdict {
    let mut evidence = Vec::new();
    if let Some((gain, step)) = last_gain(case.steps) {
        evidence.push(row("gain of the last step", gain, Some(0.05), at(step)));
    }
    evidence.push(generator_row(case, last));
    let advice = vec![advice::climb(&connections_text(last.connections))];
    let confidence = if knee.is_some() { Confidence::Measured } else { Confidence::Unknown };
    Verdict { evidence, advice, ..case.verdict(Limit::None, confidence) }
}

/// The target is at its limit and the generator is not: the target, or something behind it or between,
/// is the limit. Which, only a look at the hosts can tell.
fn plateau(case: &Case<'_>, knee: &Knee) -> Verdict {
    let mut evidence = vec![row(
        "plateau in requests/s",
        knee.plateau.value,
        None,
        connections_text(knee.plateau_connections),
    )];
    if let Some((gain, step)) = last_gain(case.steps) {
        evidence.push(row("gain of the last step", gain, Some(0.05), at(step)));
    }
    evidence.push(row(
        "knee in connections, against plateau × latency of the lowest step",
        f64::from(knee.connections),
        Some(knee.connections_predicted),
        connections_text(knee.connections),
    ));
    if let Some(step) = case.steps.iter().find(|step| step.connections == knee.plateau_connections) {
        evidence.push(generator_row(case, step));
    }
    let depth = case.steps.first().map_or(1.0, |step| f64::from(step.depth));
    let advice = vec![
        advice::watch_target_at(knee.connections),
        advice::many_at_once(knee.connections_predicted * depth),
    ];
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}
