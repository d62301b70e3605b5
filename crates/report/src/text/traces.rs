//! The trace ids of the slowest requests and of unsuccessful ones.

use plimsoll_analyze::{Findings, traces};
use plimsoll_record::{Run, Trace};
use plimsoll_units::{duration_text, exact_percent_text};

use super::paragraph::headed;
use super::table::table;

/// A request of a step, as a line of the table.
struct Line {
    step: u32,
    trace: Trace,
}

/// Returns one line: the slowest request with a trace id; `None` if none has one.
pub(super) fn slowest(run: &Run, findings: &Findings) -> Option<String> {
    let share = exact_percent_text(findings.plan.trace?);
    let steps = traces(run);
    let slowest = steps.iter().flat_map(|step| &step.slowest).max_by_key(|trace| trace.latency_ns)?;
    Some(format!("Traces: {share} of requests; the slowest is {} ({})", slowest.id, latency(slowest)))
}

/// Returns a table of the slowest requests of each step, and one of the first without success.
pub(super) fn block(run: &Run) -> String {
    let steps = traces(run);
    let of_kind = |unsuccessful: bool| -> Vec<Line> {
        let of_step = |step: &plimsoll_analyze::StepTraces| {
            let kind = if unsuccessful { &step.unsuccessful } else { &step.slowest };
            kind.iter().map(|trace| Line { step: step.step, trace: *trace }).collect::<Vec<_>>()
        };
        steps.iter().flat_map(of_step).collect()
    };
    headed_table("Slowest requests with a trace id", &of_kind(false))
        + &headed_table("First requests with a trace id and without success", &of_kind(true))
}

fn headed_table(heading: &str, lines: &[Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let text = table(
        lines,
        &[
            ("step", &|line| (line.step + 1).to_string()),
            ("sent after", &|line| duration_text(line.trace.sent_ns as f64)),
            ("latency", &|line| latency(&line.trace)),
            ("result", &|line| result(&line.trace)),
            ("trace id", &|line| line.trace.id.to_string()),
        ],
    );
    headed(heading, text)
}

fn latency(trace: &Trace) -> String {
    trace.latency_ns.map_or_else(|| "not known".to_owned(), |ns| duration_text(ns as f64))
}

fn result(trace: &Trace) -> String {
    let status = trace.status.map(|status| status.to_string());
    status.or_else(|| trace.failure.map(|kind| kind.name().to_owned())).unwrap_or_default()
}
