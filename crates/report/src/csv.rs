//! CSV for spreadsheets and scripts: one row per step, and one per request if the plan has several. Unknown values are
//! empty cells.

use plimsoll_analyze::{Estimate, Findings, Percentile, RequestSummary, StepSummary, TimeSummary};
use plimsoll_plan::Plan;
use plimsoll_units::escape_control;

use crate::amount::list;
use crate::json::failed_checks;

/// The steps in the order they were run, with a header row. `request` is empty in the row of a step; where a plan has
/// several requests, their rows follow that of each step, with their names there. `failed_checks_by_name` is empty or a
/// JSON object. Every other cell is a number, `true`, `false`, or empty if the value is not known or does not apply.
pub fn render(findings: &Findings) -> String {
    let header = COLUMNS.map(|(name, _)| name).join(",");
    let rows = findings.steps.iter().flat_map(|step| {
        let plan = &findings.plan;
        let requests = step.requests.iter().map(move |request| {
            Row { plan, step: &alone(step, request), request: Some(&request.name) }.line()
        });
        std::iter::once(Row { plan, step, request: None }.line()).chain(requests)
    });
    header + "\n" + &rows.collect::<String>()
}

/// Returns the step as if only this request had been in it.
fn alone(step: &StepSummary, request: &RequestSummary) -> StepSummary {
    StepSummary {
        counts: request.counts.clone(),
        success_ratio: request.success_ratio,
        success_interval: request.success_interval,
        throughput: Estimate { value: request.throughput_per_sec, interval: None },
        bytes_in_per_sec: f64::NAN,
        latency: request.latency,
        service: request.service,
        ..step.clone()
    }
}

/// The subject of a row: a step, or one request of a step.
struct Row<'a> {
    plan: &'a Plan,
    step: &'a StepSummary,
    request: Option<&'a str>,
}

/// A column: its name, and the cell that a row has in it.
type Column = (&'static str, fn(&Row<'_>) -> String);

/// Due requests are counted per step, because the request of the mix is chosen only later. Connections also belong to the
/// whole step.
const COLUMNS: [Column; 35] = [
    ("connections", |row| row.step.connections.to_string()),
    ("rate_per_sec", |row| maybe(row.step.rate_per_sec)),
    ("measured_sec", |row| number(row.step.measured_sec)),
    ("warmup_sec", |row| number(row.step.warmup_sec)),
    ("intended", |row| row.of_step(|step| step.counts.intended.to_string())),
    ("sent", |row| row.step.counts.sent.to_string()),
    ("completed", |row| row.step.counts.completed.to_string()),
    ("ok", |row| row.step.counts.ok.to_string()),
    ("failed", |row| row.step.counts.failed.total().to_string()),
    ("throughput_per_sec", |row| number(row.step.throughput.value)),
    ("throughput_lower", |row| maybe(row.step.throughput.interval.map(|(lower, _)| lower))),
    ("throughput_upper", |row| maybe(row.step.throughput.interval.map(|(_, upper)| upper))),
    ("success_ratio", |row| maybe(row.step.success_ratio)),
    ("success_lower", |row| maybe(row.step.success_interval.map(|(lower, _)| lower))),
    ("success_upper", |row| maybe(row.step.success_interval.map(|(_, upper)| upper))),
    ("latency_mean_ms", |row| mean_ms(&row.step.latency)),
    ("latency_p50_ms", |row| percentile_ms(row.step.latency.p50)),
    ("latency_p90_ms", |row| percentile_ms(row.step.latency.p90)),
    ("latency_p99_ms", |row| percentile_ms(row.step.latency.p99)),
    ("latency_p999_ms", |row| percentile_ms(row.step.latency.p999)),
    ("latency_max_ms", |row| known_ms(&row.step.latency, row.step.latency.max_ns)),
    ("service_mean_ms", |row| mean_ms(&row.step.service)),
    ("service_p99_ms", |row| percentile_ms(row.step.service.p99)),
    ("bytes_in_per_sec", |row| number(row.step.bytes_in_per_sec)),
    ("lower_bound", |row| row.step.lower_bound.to_string()),
    ("depth", |row| row.step.depth.to_string()),
    ("failed_checks", |row| row.step.counts.checks.iter().map(|(_, count)| count).sum::<u64>().to_string()),
    ("connects", |row| row.of_step(|step| step.counts.connects.to_string())),
    ("connect_mean_ms", |row| row.of_step(|step| mean_ms(&step.connect))),
    ("connect_p99_ms", |row| row.of_step(|step| percentile_ms(step.connect.p99))),
    ("handshakes", |row| row.of_step(|step| step.counts.handshakes.to_string())),
    ("handshake_mean_ms", |row| row.of_step(|step| mean_ms(&step.handshake))),
    ("handshake_p99_ms", |row| row.of_step(|step| percentile_ms(step.handshake.p99))),
    ("request", |row| row.request.map(quoted).unwrap_or_default()),
    ("failed_checks_by_name", checks_by_name),
];

impl Row<'_> {
    /// Fills a cell that is empty in the row of a request.
    fn of_step(&self, cell: fn(&StepSummary) -> String) -> String {
        if self.request.is_none() { cell(self.step) } else { String::new() }
    }

    fn line(&self) -> String {
        list(COLUMNS.map(|(_, cell)| cell(self)), ",") + "\n"
    }
}

/// The failed checks with their counts as a JSON object.
fn checks_by_name(row: &Row<'_>) -> String {
    let failed = failed_checks(row.plan, &row.step.counts.checks);
    if failed.is_empty() { String::new() } else { quoted(&serde_json::json!(failed).to_string()) }
}

/// Quotes a text as a cell (RFC 4180). Control characters are escaped. A text that a spreadsheet would take for a formula
/// gets a leading apostrophe, which makes it text there.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", escape_control(text).replace('"', "\"\""))
}

fn mean_ms(times: &TimeSummary) -> String {
    known_ms(times, times.mean_ns)
}

fn known_ms(times: &TimeSummary, ns: f64) -> String {
    maybe((times.count > 0).then_some(ns / 1e6))
}

fn percentile_ms(percentile: Percentile) -> String {
    maybe(percentile.ns.map(|ns| ns / 1e6))
}

fn number(value: f64) -> String {
    maybe(Some(value))
}

fn maybe(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}
