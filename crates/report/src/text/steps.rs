//! Tables of steps, of the requests in a step and of its windows over time; and the law fitted over the steps.

use plimsoll_analyze::{
    Estimate, Findings, Moment, RequestSummary, Steadiness, StepSummary, TimeSummary, Usl, UslFit,
};
use plimsoll_plan::Plan;
use plimsoll_record::StepEnd;
use plimsoll_units::{
    bytes_text, count_text, duration_text, escape_control, grouped, percent_text, significant,
};

use super::failures::in_brief;
use super::paragraph::wrapped;
use super::table::Table;
use crate::amount::{
    NOT_KNOWN, NOT_KNOWN_NOTE, any_unknown, bound, chosen_step, counted, half_width, load_of, percentile,
    seconds,
};
use crate::reason;

/// A shorter warm-up gets no note.
const WARMUP_NOTED_SEC: f64 = 0.05;
/// A shorter drain gets no note.
const DRAIN_NOTED_SEC: f64 = 1.0;
/// At most this many kinds of failure are noted; the block of failures has all.
const KINDS_NOTED: usize = 2;

/// The steps by rising connections, with footnotes.
pub(super) fn table(findings: &Findings) -> String {
    if findings.steps.is_empty() {
        return "No step was recorded.\n".to_owned();
    }
    let mut steps: Vec<&StepSummary> = findings.steps.iter().collect();
    steps.sort_by_key(|step| step.connections);
    let mut table =
        Table::new(&["conns", "QPS", "± 95 %", "mean", "p50", "p99", "success", "bytes/s", "notes"]);
    steps.iter().for_each(|step| table.row(cells(&findings.plan, step)));
    table.render() + &footnotes(&steps) + &requests_at_chosen(findings)
}

fn cells(plan: &Plan, step: &StepSummary) -> Vec<String> {
    vec![
        grouped(u64::from(step.connections)),
        format!("{}{}", bound(!step.generator.healthy()), count_text(step.throughput.value)),
        half_width(step.throughput).map_or_else(|| NOT_KNOWN.to_owned(), count_text),
        mean(&step.latency),
        percentile(step.latency.p50),
        percentile(step.latency.p99),
        ratio(step.success_ratio),
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
    // The self-check below the table is that of the decisive step; a lower bound in another step needs its own reason.
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
    let is = |steadiness: Steadiness| steps.iter().any(|step| step.steadiness == steadiness);
    let columns = "conns: connections. QPS: responses per second after the warm-up, ± half its 95 % interval. mean, p50, \
                   p99: from the instant a request was due to its last byte. bytes/s: received.";
    let notes = [
        (true, columns),
        (
            any(&|step| !step.generator.healthy()),
            "≥: a lower bound. The load generator was the limit; the last note says why.",
        ),
        (is(Steadiness::Wide), "not steady: the 95 % interval is wider than ±2 %."),
        (is(Steadiness::Moving), "changed: throughput changed within the step; all of it was measured."),
        (is(Steadiness::TooShort), "short: too few intervals to find the warm-up."),
        (any(&drained_long), "drain: time until the last response, after the load of the step."),
        (any(&has_unknown), NOT_KNOWN_NOTE),
    ];
    notes.iter().filter(|(applies, _)| *applies).map(|(_, note)| wrapped("  ", "  ", note)).collect()
}

fn drained_long(step: &StepSummary) -> bool {
    step.drain_sec > DRAIN_NOTED_SEC
}

fn has_unknown(step: &StepSummary) -> bool {
    any_unknown(&[step.latency.p50, step.latency.p99])
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text)
}

fn mean(times: &TimeSummary) -> String {
    if times.count > 0 { duration_text(times.mean_ns) } else { NOT_KNOWN.to_owned() }
}

/// The requests of a plan with several, at the step that the answer speaks of.
fn requests_at_chosen(findings: &Findings) -> String {
    let Some(step) = chosen_step(findings).filter(|step| !step.requests.is_empty()) else {
        return String::new();
    };
    format!("\nEach request at {}\n{}", load_of(step), requests(&findings.plan, step))
}

/// A row for each request of a plan with several; empty for a plan with one.
pub(super) fn requests(plan: &Plan, step: &StepSummary) -> String {
    if step.requests.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new(&["QPS", "completed", "failed", "success", "mean", "p50", "p99", "p99.9", "request"]);
    let lower_bound = !step.generator.healthy();
    step.requests.iter().for_each(|request| table.row(request_cells(plan, request, lower_bound)));
    table.render()
}

/// The name is in the last column, which may wrap, followed by the failures.
fn request_cells(plan: &Plan, request: &RequestSummary, lower_bound: bool) -> Vec<String> {
    let name = escape_control(&request.name);
    let notes: Vec<String> = std::iter::once(name).chain(in_brief(plan, &request.counts)).collect();
    vec![
        format!("{}{}", bound(lower_bound), count_text(request.throughput_per_sec)),
        grouped(request.counts.completed),
        grouped(request.counts.failed.total()),
        ratio(request.success_ratio),
        mean(&request.latency),
        percentile(request.latency.p50),
        percentile(request.latency.p99),
        percentile(request.latency.p999),
        notes.join(", "),
    ]
}

/// A row for each window of a step whose rate changes; else empty.
pub(super) fn windows(step: &StepSummary) -> String {
    if step.moments.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["from", "rate", "QPS", "p50", "p99", "success", "under way", "backlog", ""]);
    let lower_bound = !step.generator.healthy();
    step.moments.iter().for_each(|window| table.row(window_cells(window, lower_bound)));
    // The table of the whole step explains it if it has an unknown value too.
    let explained = any_unknown(&[step.latency.p99, step.latency.p999]);
    let unknown = !explained
        && step.moments.iter().any(|window| any_unknown(&[window.latency.p50, window.latency.p99]));
    let columns = "from: since the load began. rate: offered in the middle of the row. QPS, p50, p99 and success: of the \
                   requests that ended within it. under way, backlog: sent but not answered, due but not sent, at its end.";
    let notes = std::iter::once(columns).chain(unknown.then_some(NOT_KNOWN_NOTE));
    table.render() + &notes.map(|note| wrapped("  ", "  ", note)).collect::<String>()
}

fn window_cells(window: &Moment, lower_bound: bool) -> Vec<String> {
    vec![
        format!("{} s", significant(window.began_sec)),
        count_text(window.rate_per_sec),
        format!("{}{}", bound(lower_bound), count_text(window.throughput_per_sec)),
        percentile(window.latency.p50),
        percentile(window.latency.p99),
        ratio(window.success_ratio),
        grouped(window.in_flight),
        grouped(window.backlog),
        String::new(),
    ]
}

/// The Universal Scalability Law fitted over the steps, or why it was not fitted; empty for a single level.
pub(super) fn usl(findings: &Findings) -> String {
    let Some(fit) = &findings.usl else { return String::new() };
    let text = match fit {
        UslFit::Fitted(usl) => fitted(usl, findings.lower_bound),
        UslFit::TooFewPoints(steps) => {
            format!("not fitted: it needs six steps with throughput, and this ladder has {steps}.")
        }
        UslFit::Poor => "not fitted: it does not describe this ladder.".to_owned(),
    };
    wrapped("", "  ", &format!("Scalability law (USL): {text}"))
}

fn fitted(usl: &Usl, lower_bound: bool) -> String {
    let peak = match usl.peak {
        Some(peak) => format!("throughput would peak near {} connections", count_text(peak)),
        None => "the peak of throughput cannot be found from these steps".to_owned(),
    };
    let bound = if lower_bound { " It was fitted to lower bounds." } else { "" };
    format!(
        "one connection gives γ {} requests/s; contention α {}, coherence β {}; {peak}. R² {}.{bound}",
        estimate(usl.gamma, count_text),
        estimate(usl.alpha, significant),
        estimate(usl.beta, significant),
        significant(usl.r_squared),
    )
}

fn estimate(estimate: Estimate, text: fn(f64) -> String) -> String {
    let interval = estimate.interval.map(|(lower, upper)| format!(" ({} to {})", text(lower), text(upper)));
    format!("{}{}", text(estimate.value), interval.unwrap_or_default())
}
