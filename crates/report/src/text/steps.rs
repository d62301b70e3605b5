//! The table of steps.

use plimsoll_analyze::{Findings, Steadiness, StepSummary};
use plimsoll_plan::Plan;
use plimsoll_record::StepEnd;
use plimsoll_units::{bytes_text, count_text, duration_text, grouped, percent_text};

use super::amount::{
    NOT_KNOWN, NOT_KNOWN_NOTE, any_unknown, bound, chosen_step, counted, half_width, load_of, percentile,
    seconds,
};
use super::failures::in_brief;
use super::paragraph::wrapped;
use super::requests;
use super::table::Table;
use crate::reason;

const HEADER: [&str; 9] = ["conns", "QPS", "± 95 %", "mean", "p50", "p99", "success", "bytes/s", "notes"];
/// A warm-up shorter than this is not worth a note.
const WARMUP_NOTED_SEC: f64 = 0.05;
/// A drain longer than this is worth one: the load of the step went on so long after its end.
const DRAIN_NOTED_SEC: f64 = 1.0;
/// More kinds of failure than this are left to the block of failures.
const KINDS_NOTED: usize = 2;

/// The steps by rising connections, and what the columns mean.
pub(super) fn table(findings: &Findings) -> String {
    if findings.steps.is_empty() {
        return "No step was recorded.\n".to_owned();
    }
    let mut steps: Vec<&StepSummary> = findings.steps.iter().collect();
    steps.sort_by_key(|step| step.connections);
    let mut table = Table::new(&HEADER);
    steps.iter().for_each(|step| table.row(cells(&findings.plan, step)));
    table.render() + &footnotes(&steps) + &requests_at_chosen(findings)
}

/// The requests of a plan of several, at the step that the answer speaks of.
fn requests_at_chosen(findings: &Findings) -> String {
    let Some(step) = chosen_step(findings).filter(|step| !step.requests.is_empty()) else {
        return String::new();
    };
    format!("\nEach request at {}\n{}", load_of(step), requests::table(&findings.plan, step))
}

fn cells(plan: &Plan, step: &StepSummary) -> Vec<String> {
    let answered = step.latency.count > 0;
    let mean = if answered { duration_text(step.latency.mean_ns) } else { NOT_KNOWN.to_owned() };
    vec![
        grouped(u64::from(step.connections)),
        format!("{}{}", bound(!step.generator.healthy()), count_text(step.throughput.value)),
        half_width(step.throughput).map_or_else(|| NOT_KNOWN.to_owned(), count_text),
        mean,
        percentile(step.latency.p50),
        percentile(step.latency.p99),
        step.success_ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text),
        bytes_text(step.bytes_in_per_sec),
        notes(plan, step).join(", "),
    ]
}

fn notes(plan: &Plan, step: &StepSummary) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(end_note(step.end).map(str::to_owned));
    notes.extend(steadiness_note(step.steadiness).map(str::to_owned));
    if step.warmup_sec >= WARMUP_NOTED_SEC {
        notes.push(format!("warm-up {}", seconds(step.warmup_sec)));
    }
    if drained_long(step) {
        notes.push(format!("drain {}", seconds(step.drain_sec)));
    }
    let failures = in_brief(plan, &step.counts);
    let rest = failures.len().saturating_sub(KINDS_NOTED);
    notes.extend(failures.into_iter().take(KINDS_NOTED));
    if rest > 0 {
        notes.push(counted(rest as u64, "more kind"));
    }
    // The self-check below the table is that of the step that decides; a bound in another needs its own reason.
    notes.extend(step.generator.reasons.first().map(reason::brief));
    notes
}

fn end_note(end: StepEnd) -> Option<&'static str> {
    match end {
        StepEnd::Steady | StepEnd::TimeLimit | StepEnd::RequestLimit => None,
        StepEnd::Stopped => Some("stopped by itself"),
        StepEnd::Cut => Some("cut short"),
        StepEnd::TargetLost => Some("target lost"),
    }
}

fn steadiness_note(steadiness: Steadiness) -> Option<&'static str> {
    match steadiness {
        Steadiness::Steady => None,
        Steadiness::Wide => Some("not steady"),
        Steadiness::Moving => Some("changed"),
        Steadiness::TooShort => Some("short"),
        Steadiness::Ramp => Some("ramp"),
    }
}

fn footnotes(steps: &[&StepSummary]) -> String {
    let any = |test: &dyn Fn(&StepSummary) -> bool| steps.iter().any(|step| test(step));
    let mut notes = vec![
        "conns: connections. QPS: responses per second after the warm-up, ± half its 95 % interval. mean, \
         p50, p99: from the instant a request was due to its last byte. bytes/s: received.",
    ];
    if any(&|step| !step.generator.healthy()) {
        notes.push(
            "≥: a lower bound, the load generator was held back in that step, by what its last note says.",
        );
    }
    if any(&|step| step.steadiness == Steadiness::Wide) {
        notes.push("not steady: the interval is wider than ±2 %.");
    }
    if any(&|step| step.steadiness == Steadiness::Moving) {
        notes.push("changed: throughput changed within the step, and all of it was measured.");
    }
    if any(&|step| step.steadiness == Steadiness::TooShort) {
        notes.push("short: too few intervals to tell the warm-up from the rest.");
    }
    if any(&drained_long) {
        notes.push("drain: how long the requests under way took to end, after the load of the step.");
    }
    if any(&has_unknown) {
        notes.push(NOT_KNOWN_NOTE);
    }
    notes.into_iter().map(|note| wrapped("  ", "  ", note)).collect()
}

fn drained_long(step: &StepSummary) -> bool {
    step.drain_sec > DRAIN_NOTED_SEC
}

fn has_unknown(step: &StepSummary) -> bool {
    any_unknown(&[step.latency.p50, step.latency.p99])
}
