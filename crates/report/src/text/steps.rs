//! Tables of steps, of the requests in a step and of its windows over time; and the law fitted over the steps.

use plimsoll_analyze::{
    Estimate, Findings, NotRun, RampWindow, RequestSummary, Steadiness, StepSummary, Usl, UslFit,
};
use plimsoll_plan::Plan;
use plimsoll_record::{ConnectionResource, StepEnd};
use plimsoll_units::{bytes_text, count_text, escape_control, grouped, share_text, significant};

use super::failures::in_brief;
use super::paragraph::{notes, wrapped};
use super::table::table;
use crate::amount::{
    NOT_KNOWN, NOT_KNOWN_NOTE, any_unknown, at_least, chosen_step, counted, half_width, list, load_of, mean,
    percentile, range, ratio, seconds,
};
use crate::words;

/// A shorter warm-up gets no note.
const WARMUP_NOTED_SEC: f64 = 0.05;
/// A shorter drain gets no note.
const DRAIN_NOTED_SEC: f64 = 1.0;
/// The maximum number of kinds of failure noted; the block of failures has all.
const KINDS_NOTED: usize = 2;

/// Returns the steps by rising connections, with footnotes.
pub(super) fn steps(findings: &Findings) -> String {
    if findings.steps.is_empty() {
        return "No step was recorded.\n".to_owned() + &not_run(findings);
    }
    let mut steps: Vec<&StepSummary> = findings.steps.iter().collect();
    steps.sort_by_key(|step| step.connections);
    let lines = table(
        &steps,
        &[
            ("conns", &|step| grouped(step.connections.into())),
            ("QPS", &|step| at_least(step.throughput.value, step.lower_bound)),
            ("± 95 %", &|step| half_width(step.throughput).map_or_else(|| NOT_KNOWN.to_owned(), count_text)),
            ("mean", &|step| mean(&step.latency)),
            ("p50", &|step| percentile(step.latency.p50)),
            ("p99", &|step| percentile(step.latency.p99)),
            ("success", &|step| ratio(step.success_ratio)),
            ("bytes/s", &|step| bytes_text(step.bytes_in_per_sec)),
            ("notes", &|step| remarks(&findings.plan, step).join(", ")),
        ],
    );
    lines + &not_run(findings) + &footnotes(&steps) + &requests_at_chosen(findings)
}

/// Returns a line for each step that was not run.
pub(crate) fn not_run(findings: &Findings) -> String {
    let line = |step: &NotRun| {
        let resource = match step.allowed.resource {
            ConnectionResource::Descriptors => "descriptors",
            ConnectionResource::Ports => "local ports",
        };
        let (asked, allowed) = (grouped(step.connections.into()), grouped(step.allowed.connections));
        format!("{asked:>5}  not run: this machine has {resource} for {allowed} connections\n")
    };
    findings.not_run.iter().map(line).collect()
}

fn remarks(plan: &Plan, step: &StepSummary) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(end_note(step.end).map(str::to_owned));
    notes.extend(steadiness_note(step));
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
    notes.extend(step.generator.reasons.first().map(words::short_reason));
    notes
}

/// Returns the remark that matters most for reading a step, if there is one.
pub(super) fn chief_remark(plan: &Plan, step: &StepSummary) -> Option<String> {
    let failures = || in_brief(plan, &step.counts).into_iter().next();
    let held_back = || step.generator.reasons.first().map(words::short_reason);
    end_note(step.end)
        .map(str::to_owned)
        .or_else(failures)
        .or_else(held_back)
        .or_else(|| steadiness_note(step))
}

fn end_note(end: StepEnd) -> Option<&'static str> {
    match end {
        StepEnd::Steady | StepEnd::TimeLimit | StepEnd::RequestLimit => None,
        StepEnd::Stopped => Some("stopped by itself"),
        StepEnd::Cut => Some("cut short"),
        StepEnd::TargetLost => Some("target lost"),
    }
}

fn steadiness_note(step: &StepSummary) -> Option<String> {
    let note = match (step.steadiness, step.drift) {
        (Steadiness::Steady, _) => return None,
        (Steadiness::Moving, Some(rose)) if rose < 0.0 => return Some(format!("fell {}", share_text(-rose))),
        (Steadiness::Moving, Some(rose)) => return Some(format!("rose {}", share_text(rose))),
        (Steadiness::Wide, _) => "not steady",
        (Steadiness::Moving, None) => "changed",
        (Steadiness::TooShort, _) => "short",
        (Steadiness::Ramp, _) => "ramp",
    };
    Some(note.to_owned())
}

fn footnotes(steps: &[&StepSummary]) -> String {
    let any = |test: &dyn Fn(&StepSummary) -> bool| steps.iter().any(|step| test(step));
    let is = |steadiness: Steadiness| steps.iter().any(|step| step.steadiness == steadiness);
    let columns = "conns: connections. QPS: responses per second after the warm-up, ± half its 95 % interval. mean, p50, \
                   p99: from the instant a request was due to its last byte. bytes/s: received.";
    let known = [
        (true, columns),
        (
            any(&|step| step.lower_bound),
            "≥: a lower bound. The load generator was the limit; the last note says why.",
        ),
        (is(Steadiness::Wide), "not steady: the 95 % interval is wider than ±2 %."),
        (
            is(Steadiness::Moving),
            "fell, rose, changed: throughput did within the step, beyond chance; all of it was measured.",
        ),
        (is(Steadiness::TooShort), "short: too few intervals to find the warm-up."),
        (any(&drained_long), "drain: time until the last response, after the load of the step."),
        (any(&has_unknown), NOT_KNOWN_NOTE),
    ];
    notes(known.iter().filter(|(applies, _)| *applies).map(|(_, note)| *note))
}

fn drained_long(step: &StepSummary) -> bool {
    step.drain_sec > DRAIN_NOTED_SEC
}

fn has_unknown(step: &StepSummary) -> bool {
    any_unknown(&[step.latency.p50, step.latency.p99])
}

/// Returns the requests of a plan with several, at the step that the answer is about.
fn requests_at_chosen(findings: &Findings) -> String {
    let Some(step) = chosen_step(findings).filter(|step| !step.requests.is_empty()) else {
        return String::new();
    };
    format!("\nEach request at {}\n{}", load_of(step), requests(&findings.plan, step))
}

/// Returns a row for each request of a plan with several; empty for a plan with one. The name is in the last column,
/// which may wrap, followed by the failures.
pub(super) fn requests(plan: &Plan, step: &StepSummary) -> String {
    if step.requests.is_empty() {
        return String::new();
    }
    let lower_bound = step.lower_bound;
    let named = |request: &RequestSummary| {
        let failures = in_brief(plan, &request.counts);
        list([vec![escape_control(&request.name)], failures].concat(), ", ")
    };
    table(
        &step.requests,
        &[
            ("QPS", &|request| at_least(request.throughput_per_sec, lower_bound)),
            ("completed", &|request| grouped(request.counts.completed)),
            ("failed", &|request| grouped(request.counts.failed.total())),
            ("success", &|request| ratio(request.success_ratio)),
            ("mean", &|request| mean(&request.latency)),
            ("p50", &|request| percentile(request.latency.p50)),
            ("p99", &|request| percentile(request.latency.p99)),
            ("p99.9", &|request| percentile(request.latency.p999)),
            ("request", &named),
        ],
    )
}

/// Returns a row for each window of a step whose rate changes; otherwise empty.
pub(super) fn windows(step: &StepSummary) -> String {
    if step.ramp_windows.is_empty() {
        return String::new();
    }
    let lower_bound = step.lower_bound;
    let lines = table(
        &step.ramp_windows,
        &[
            ("from", &|window| format!("{} s", significant(window.began_sec))),
            ("rate", &|window| count_text(window.rate_per_sec)),
            ("QPS", &|window| at_least(window.throughput_per_sec, lower_bound)),
            ("p50", &|window| percentile(window.latency.p50)),
            ("p99", &|window| percentile(window.latency.p99)),
            ("success", &|window| ratio(window.success_ratio)),
            ("under way", &|window| grouped(window.in_flight)),
            ("backlog", &|window| grouped(window.backlog)),
            ("", &|_| String::new()),
        ],
    );
    // The table of the whole step already explains unknown values if it has one.
    let explained = any_unknown(&[step.latency.p99, step.latency.p999]);
    let unknown = |window: &RampWindow| any_unknown(&[window.latency.p50, window.latency.p99]);
    let unknown = !explained && step.ramp_windows.iter().any(unknown);
    let columns = "from: since the load began. rate: offered in the middle of the row. QPS, p50, p99 and success: of the \
                   requests that ended within it. under way, backlog: sent but not answered, due but not sent, at its end.";
    lines + &notes(std::iter::once(columns).chain(unknown.then_some(NOT_KNOWN_NOTE)))
}

/// Returns the Universal Scalability Law fitted over the steps, or why it was not fitted; empty for a single level.
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
    format!("{}{}", text(estimate.value), range(estimate.interval, text))
}
