//! One row a step, and one for each request of a plan of several, for spreadsheets and scripts. What is not known is an
//! empty cell.

use plimsoll_analyze::{Estimate, Findings, Percentile, RequestSummary, StepSummary, TimeSummary};
use plimsoll_plan::Plan;

const HEADER: &str = "connections,rate_per_sec,measured_sec,warmup_sec,intended,sent,completed,ok,failed,\
    throughput_per_sec,throughput_lower,throughput_upper,success_ratio,success_lower,\
    success_upper,latency_mean_ms,latency_p50_ms,latency_p90_ms,latency_p99_ms,latency_p999_ms,latency_max_ms,service_mean_ms,service_p99_ms,\
    bytes_in_per_sec,lower_bound,depth,failed_checks,connects,connect_mean_ms,connect_p99_ms,handshakes,\
    handshake_mean_ms,handshake_p99_ms,request,failed_checks_by_name\n";

/// The steps in the order they were run, with a header row. `request` is empty in the row of a step; where a plan has
/// several requests, their rows follow that of each step, with their names there. `failed_checks_by_name` is empty or a
/// JSON object. Every other cell is a number, `true`, `false`, or empty if the value is not known or does not apply.
pub fn render(findings: &Findings) -> String {
    let rows = findings.steps.iter().map(|step| rows(&findings.plan, step));
    HEADER.to_owned() + &rows.collect::<String>()
}

fn rows(plan: &Plan, step: &StepSummary) -> String {
    let requests = step.requests.iter().map(|request| row(plan, &alone(step, request), Some(&request.name)));
    row(plan, step, None) + &requests.collect::<String>()
}

/// The step as if only this request had been in it.
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

fn row(plan: &Plan, step: &StepSummary, request: Option<&str>) -> String {
    let cells = [
        load_cells(step, request.is_none()),
        throughput_cells(step),
        success_cells(step),
        time_cells(step),
        last_cells(step),
        opening_cells(step, request.is_none()),
        vec![request.map_or_else(String::new, quoted), checks_by_name(plan, step)],
    ];
    cells.concat().join(",") + "\n"
}

/// Due requests are counted for a whole step: which request of the mix is sent is decided later.
fn load_cells(step: &StepSummary, whole: bool) -> Vec<String> {
    let counts = &step.counts;
    let amounts = [counts.sent, counts.completed, counts.ok, counts.failed.total()];
    let mut cells = vec![
        step.connections.to_string(),
        maybe(step.rate_per_sec),
        maybe(Some(step.measured_sec)),
        maybe(Some(step.warmup_sec)),
        if whole { counts.intended.to_string() } else { String::new() },
    ];
    cells.extend(amounts.map(|amount| amount.to_string()));
    cells
}

fn throughput_cells(step: &StepSummary) -> Vec<String> {
    let Estimate { value, interval } = step.throughput;
    let [lower, upper] = bounds(interval);
    vec![maybe(Some(value)), lower, upper]
}

fn success_cells(step: &StepSummary) -> Vec<String> {
    let [lower, upper] = bounds(step.success_interval);
    vec![maybe(step.success_ratio), lower, upper]
}

fn bounds(interval: Option<(f64, f64)>) -> [String; 2] {
    [interval.map(|(lower, _)| lower), interval.map(|(_, upper)| upper)].map(maybe)
}

fn time_cells(step: &StepSummary) -> Vec<String> {
    let (latency, service) = (&step.latency, &step.service);
    let percentiles = [latency.p50, latency.p90, latency.p99, latency.p999].map(percentile_ms);
    let mut cells = vec![known_ms(latency, latency.mean_ns)];
    cells.extend(percentiles);
    cells.extend([
        known_ms(latency, latency.max_ns),
        known_ms(service, service.mean_ns),
        percentile_ms(service.p99),
    ]);
    cells
}

fn last_cells(step: &StepSummary) -> Vec<String> {
    let failed_checks: u64 = step.counts.checks.iter().map(|(_, count)| count).sum();
    vec![
        maybe(Some(step.bytes_in_per_sec)),
        (!step.generator.healthy()).to_string(),
        step.depth.to_string(),
        failed_checks.to_string(),
    ]
}

/// Connections belong to a step as a whole, not to one of its requests.
fn opening_cells(step: &StepSummary, whole: bool) -> Vec<String> {
    if !whole {
        return vec![String::new(); 6];
    }
    let times = |count: u64, times: &TimeSummary| {
        [count.to_string(), known_ms(times, times.mean_ns), percentile_ms(times.p99)]
    };
    let connects = times(step.counts.connects, &step.connect);
    connects.into_iter().chain(times(step.counts.handshakes, &step.handshake)).collect()
}

/// The failed checks with their counts as a JSON object.
fn checks_by_name(plan: &Plan, step: &StepSummary) -> String {
    let failed = crate::json::failed_checks(plan, &step.counts.checks);
    if failed.is_empty() { String::new() } else { quoted(&serde_json::json!(failed).to_string()) }
}

/// A text as a cell (RFC 4180).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn known_ms(times: &TimeSummary, ns: f64) -> String {
    maybe((times.count > 0).then_some(ns / 1e6))
}

fn percentile_ms(percentile: Percentile) -> String {
    maybe(percentile.ns.map(|ns| ns / 1e6))
}

fn maybe(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}
