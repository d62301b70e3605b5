//! One row a step, for spreadsheets and scripts. What is not known is an empty cell.

use plimsoll_analyze::{Estimate, Findings, Percentile, StepSummary, TimeSummary};

const HEADER: &str = "connections,rate_per_sec,measured_sec,warmup_sec,intended,sent,completed,ok,failed,\
    throughput_per_sec,throughput_lower,throughput_upper,success_ratio,success_lower,\
    success_upper,latency_mean_ms,latency_p50_ms,latency_p90_ms,latency_p99_ms,latency_p999_ms,latency_max_ms,service_mean_ms,service_p99_ms,\
    bytes_in_per_sec,lower_bound\n";

/// The steps in the order they were run, with a header row. Every cell is a number, or `true` or `false`.
pub fn render(findings: &Findings) -> String {
    HEADER.to_owned() + &findings.steps.iter().map(row).collect::<String>()
}

fn row(step: &StepSummary) -> String {
    let cells =
        [load_cells(step), throughput_cells(step), success_cells(step), time_cells(step), last_cells(step)];
    cells.concat().join(",") + "\n"
}

fn load_cells(step: &StepSummary) -> Vec<String> {
    let counts = &step.counts;
    let amounts = [counts.intended, counts.sent, counts.completed, counts.ok, counts.failed.total()];
    let mut cells = vec![
        step.connections.to_string(),
        maybe(step.rate_per_sec),
        maybe(Some(step.measured_sec)),
        maybe(Some(step.warmup_sec)),
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
    vec![maybe(Some(step.bytes_in_per_sec)), (!step.generator.healthy()).to_string()]
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
