//! The requests of a plan of several, each by itself.

use plimsoll_analyze::{RequestSummary, StepSummary};
use plimsoll_units::{count_text, duration_text, escape_control, grouped, percent_text};

use super::amount::{NOT_KNOWN, bound, percentile};
use super::failures;
use super::table::Table;

const HEADER: [&str; 9] = ["QPS", "completed", "failed", "success", "mean", "p50", "p99", "p99.9", "request"];

/// A row for each request; nothing where the plan has only one.
pub(super) fn table(plan: &plimsoll_plan::Plan, step: &StepSummary) -> String {
    if step.requests.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&HEADER);
    let lower_bound = !step.generator.healthy();
    step.requests.iter().for_each(|request| table.row(cells(plan, request, lower_bound)));
    table.render()
}

/// The name comes last, where it may wrap, and after it what failed.
fn cells(plan: &plimsoll_plan::Plan, request: &RequestSummary, lower_bound: bool) -> Vec<String> {
    let known = request.latency.count > 0;
    let name = escape_control(&request.name);
    let notes: Vec<String> = std::iter::once(name).chain(failures::in_brief(plan, &request.counts)).collect();
    vec![
        format!("{}{}", bound(lower_bound), count_text(request.throughput_per_sec)),
        grouped(request.counts.completed),
        grouped(request.counts.failed.total()),
        request.success_ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text),
        if known { duration_text(request.latency.mean_ns) } else { NOT_KNOWN.to_owned() },
        percentile(request.latency.p50),
        percentile(request.latency.p99),
        percentile(request.latency.p999),
        notes.join(", "),
    ]
}
