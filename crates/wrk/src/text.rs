//! Formats the text of wrk and of wrk2, to the letter.

mod cell;
mod spectrum;
#[cfg(test)]
mod tests;

use std::time::Duration;

use plimsoll_record::Histogram;

use crate::options::{Dialect, Options};
use crate::stats::{Distribution, Measured};

/// The time after which wrk2 prints a calibration line for each thread that still runs.
pub const CALIBRATION_DELAY: Duration = Duration::from_secs(10);

/// The shortest time in milliseconds between two of wrk2's samples of a rate.
const MIN_SAMPLING_INTERVAL_MS: f64 = 10.0;

/// The percentiles that wrk prints with `--latency`.
const PERCENTILES: [f64; 4] = [50.0, 75.0, 90.0, 99.0];

/// Returns the two lines that are printed when the load begins.
pub fn heading(options: &Options) -> String {
    format!(
        "Running {} test @ {}\n  {} threads and {} connections\n",
        cell::time_s(options.duration.as_secs()),
        options.url_text,
        options.threads,
        options.connections
    )
}

/// Returns the line that wrk2 prints for a thread after [`CALIBRATION_DELAY`], from the thread's latencies so far in
/// nanoseconds. `None` while there are none: wrk2 then waits for the same time again.
///
/// The interval is twice the 90th percentile, in whole milliseconds.
pub fn calibration(latency: &Histogram) -> Option<String> {
    if latency.is_empty() {
        return None;
    }
    let mean_us = (latency.mean() / 1e3).floor();
    let interval_ms = (latency.value_at_quantile(0.9) as f64 / 1e6 * 2.0).max(MIN_SAMPLING_INTERVAL_MS);
    Some(format!(
        "  Thread calibration: mean lat.: {:.3}ms, rate sampling interval: {}ms\n",
        mean_us / 1e3,
        interval_ms as u64
    ))
}

/// Returns everything that is printed when the run has ended.
pub fn summary(options: &Options, measured: &Measured) -> String {
    let latency = measured.latency_us();
    let mut text = statistics_header();
    text += &Row::new(options.dialect, &latency).line("Latency", cell::time_us);
    text += &Row::new(options.dialect, &measured.rates_per_sec()).line("Req/Sec", cell::count);
    text += &match options.dialect {
        Dialect::Wrk if options.latency => percentiles(&latency),
        Dialect::Wrk => String::new(),
        Dialect::Wrk2 => spectra(options, measured),
    };
    text += &requests_line(measured.requests, measured.runtime_us, measured.bytes);
    text += &error_lines(measured);
    text + &totals(measured.requests_per_sec(), measured.bytes_per_sec())
}

fn percentiles(latency: &Distribution) -> String {
    let lines = PERCENTILES.map(|percent| percentile_line(percent, latency.percentile(percent) as f64));
    format!("  Latency Distribution\n{}", lines.concat())
}

fn spectra(options: &Options, measured: &Measured) -> String {
    let mut text = String::new();
    if options.latency {
        text += &spectrum::section("Recorded Latency", &measured.latency);
    }
    if options.service_time {
        text.push('\n');
        text += &spectrum::section(spectrum::UNCORRECTED, &measured.service_time);
    }
    text
}

fn statistics_header() -> String {
    format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev")
}

/// The figures of one row of statistics.
struct Row {
    mean: f64,
    stdev: f64,
    max: f64,
    percent_within: f64,
}

impl Row {
    /// wrk2 computes the standard deviation of a population. Without values, it prints other cells than wrk.
    fn new(dialect: Dialect, values: &Distribution) -> Self {
        let stdev = match dialect {
            Dialect::Wrk => values.stdev(),
            Dialect::Wrk2 if values.count() == 0 => {
                return Self { mean: f64::NAN, stdev: f64::NAN, max: 0.0, percent_within: 0.0 };
            }
            Dialect::Wrk2 => values.stdev_of_whole(),
        };
        let percent_within = values.percent_within(stdev);
        Self { mean: values.mean(), stdev, max: values.max() as f64, percent_within }
    }

    fn line(&self, name: &str, unit: fn(f64) -> String) -> String {
        format!(
            "    {name:<10}{}{}{}{:>8}%\n",
            cell::cell(&unit(self.mean), 8),
            cell::cell(&unit(self.stdev), 10),
            cell::cell(&unit(self.max), 9),
            cell::fixed(self.percent_within, 2)
        )
    }
}

fn percentile_line(percent: f64, microseconds: f64) -> String {
    format!("{percent:>7.0}%{}\n", cell::cell(&cell::time_us(microseconds), 10))
}

fn requests_line(requests: u64, runtime_us: u64, bytes: u64) -> String {
    let (runtime, bytes) = (cell::time_us(runtime_us as f64), cell::bytes(bytes as f64));
    format!("  {requests} requests in {runtime}, {bytes}B read\n")
}

fn error_lines(measured: &Measured) -> String {
    let mut text = String::new();
    let errors = &measured.errors;
    if !errors.is_empty() {
        text += &format!(
            "  Socket errors: connect {}, read {}, write {}, timeout {}\n",
            errors.connect, errors.read, errors.write, errors.timeout
        );
    }
    if measured.bad_statuses > 0 {
        text += &format!("  Non-2xx or 3xx responses: {}\n", measured.bad_statuses);
    }
    text
}

fn totals(requests_per_sec: f64, bytes_per_sec: f64) -> String {
    let requests = cell::fixed(requests_per_sec, 2);
    format!("Requests/sec: {requests:>9}\nTransfer/sec: {:>10}B\n", cell::bytes(bytes_per_sec))
}
