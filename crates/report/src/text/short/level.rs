//! The figures of a single level, in a few lines.

use plimsoll_analyze::{Findings, RampWindow, RequestSummary, StepSummary};
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, grouped, significant};

use crate::amount::{at_least, bound, counted, if_known, list, percentile, seconds};
use crate::text::page::Page;
use crate::text::paragraph::{WIDTH, cut, wrapped_to};
use crate::text::table::{Column, cells, laid_out};

/// The maximum number of requests, and of windows over time, shown.
const MAX_ROWS: usize = 8;

pub(super) fn level(findings: &Findings, page: &Page) -> String {
    let Some(step) = findings.steps.first() else { return String::new() };
    let line =
        |(name, text): (&str, String)| wrapped_to(page.width, &format!("{name:<10}"), &" ".repeat(10), &text);
    let lines: String = facts(step, findings.lower_bound).into_iter().map(line).collect();
    lines + &each_request(step, page) + &windows(step)
}

/// Returns the figures of a level, each with its name.
pub(crate) fn facts(step: &StepSummary, lower_bound: bool) -> Vec<(&'static str, String)> {
    let latency = (step.latency.count > 0).then(|| ("latency", latency(step)));
    let requests = [("requests", requests(step))].into_iter();
    requests.chain(latency).chain([("received", received(step, lower_bound))]).collect()
}

fn requests(step: &StepSummary) -> String {
    let counts = &step.counts;
    let others = counts.completed.saturating_sub(counts.ok);
    let others =
        if others > 0 { format!(" · {} answered without success", grouped(others)) } else { String::new() };
    let status = counts.status.iter().map(|(status, count)| format!("{status}: {}", grouped(count)));
    let status = list(status, ", ");
    let status = if status.is_empty() { status } else { format!(" · status {status}") };
    // The counts include the warm-up and, if the target was lost, what failed after that.
    let load = if_known(step.lost_at_sec.is_none().then_some(step.warmup_sec + step.measured_sec), |sec| {
        format!(" in {}", seconds(sec))
    });
    format!("{} ok{others} · {} failed{load}{status}", grouped(counts.ok), grouped(counts.failed.total()))
}

fn latency(step: &StepSummary) -> String {
    let times = &step.latency;
    format!(
        "mean {} · p50 {} · p90 {} · p99 {} · p99.9 {} · max {}",
        duration_text(times.mean_ns),
        percentile(times.p50),
        percentile(times.p90),
        percentile(times.p99),
        percentile(times.p999),
        duration_text(times.max_ns)
    )
}

fn received(step: &StepSummary, lower_bound: bool) -> String {
    let each = bytes_text(step.counts.bytes_in as f64 / step.counts.completed.max(1) as f64);
    format!("{}{}/s, {each} a response", bound(lower_bound), bytes_text(step.bytes_in_per_sec))
}

/// Returns a row for each request of a plan with several.
fn each_request(step: &StepSummary, page: &Page) -> String {
    // The figures before it leave this much of the line.
    let room = page.width.saturating_sub(50);
    below(&request_cells(step, room), step.requests.len(), "request")
}

/// Returns the cells of the first requests of a plan with several, with names of at most `room` columns; empty for a plan
/// with one.
pub(crate) fn request_cells(step: &StepSummary, room: usize) -> Vec<Vec<String>> {
    let lower_bound = step.lower_bound;
    let columns: [Column<'_, RequestSummary>; 5] = [
        ("QPS", &|request| at_least(request.throughput_per_sec, lower_bound)),
        ("failed", &|request| grouped(request.counts.failed.total())),
        ("p50", &|request| percentile(request.latency.p50)),
        ("p99", &|request| percentile(request.latency.p99)),
        ("request", &|request| cut(&escape_control(&request.name), room)),
    ];
    first(&step.requests, &columns)
}

/// Returns a row for each window of a rate that changes.
fn windows(step: &StepSummary) -> String {
    below(&window_cells(step), step.ramp_windows.len(), "window")
}

/// Returns the cells of the first windows of a rate that changes; empty for a rate that does not change.
pub(crate) fn window_cells(step: &StepSummary) -> Vec<Vec<String>> {
    let lower_bound = step.lower_bound;
    let columns: [Column<'_, RampWindow>; 5] = [
        ("from", &|window| format!("{} s", significant(window.began_sec))),
        ("rate", &|window| count_text(window.rate_per_sec)),
        ("QPS", &|window| at_least(window.throughput_per_sec, lower_bound)),
        ("p99", &|window| percentile(window.latency.p99)),
        ("waiting", &|window| grouped(window.backlog)),
    ];
    first(&step.ramp_windows, &columns)
}

/// Returns the cells of the first rows; empty if there are none.
fn first<T>(rows: &[T], columns: &[Column<'_, T>]) -> Vec<Vec<String>> {
    if rows.is_empty() { Vec::new() } else { cells(&rows[..rows.len().min(MAX_ROWS)], columns) }
}

/// Returns a table after an empty line, and how many rows it leaves out.
fn below(cells: &[Vec<String>], count: usize, noun: &str) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let rest = rest(count, noun);
    let rest = if rest.is_empty() { rest } else { rest + "\n" };
    format!("\n{}{rest}", laid_out(WIDTH, cells))
}

/// Says how many rows are left out; empty if none is.
pub(crate) fn rest(count: usize, noun: &str) -> String {
    match count.saturating_sub(MAX_ROWS) {
        0 => String::new(),
        more => format!("… and {}", counted(more as u64, &format!("more {noun}"))),
    }
}
