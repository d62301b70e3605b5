//! The `.dat` format of load-test scripts around wrk: one row per step, `concurrency QPS avg-latency-ms success%`.
//!
//! Columns are separated by one space and have two decimals, so that tools for such files read these too. A latency below
//! 10 ms has three significant digits.

use plimsoll_analyze::{Estimate, Findings, StepOutcome, StepSummary};
use plimsoll_units::cut_percent;

/// The longest mean latency that a row may have: no request takes a year.
const MAX_MEAN_MS: f64 = 366.0 * 86_400e3;

/// A `.dat` file that cannot be read, or not be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DatError {
    #[error(
        "line {line} has {columns} columns; a row is `concurrency QPS avg-latency-ms success%`, such as `200 47812.00 4.33 100.00`"
    )]
    Columns {
        /// The line, from 1.
        line: usize,
        columns: usize,
    },
    #[error("line {line}: {column} is `{text}`; it must be {expected}")]
    Value {
        /// The line, from 1.
        line: usize,
        column: &'static str,
        text: String,
        expected: &'static str,
    },
    #[error(
        "it has no rows; a row is `concurrency QPS avg-latency-ms success%`, such as `200 47812.00 4.33 100.00`"
    )]
    Empty,
    /// The run offered a rate, but a row stands for a concurrency.
    #[error(
        "the run was made at an offered rate of {rate_per_sec} requests/s, which has no concurrency for a row to begin with; export csv or json"
    )]
    OfferedRate { rate_per_sec: f64 },
}

/// The rows of a ladder, by rising concurrency.
///
/// # Errors
/// When a step was an open loop: it opens connections as it needs them.
pub fn render(findings: &Findings) -> Result<String, DatError> {
    let mut steps: Vec<&StepSummary> = findings.steps.iter().collect();
    if let Some(rate_per_sec) = steps.iter().find_map(|step| step.rate_per_sec) {
        return Err(DatError::OfferedRate { rate_per_sec });
    }
    steps.sort_by_key(|step| step.connections);
    Ok(steps.into_iter().map(row).collect())
}

fn row(step: &StepSummary) -> String {
    let number = |value: f64| if value.is_finite() { value } else { 0.0 };
    format!(
        "{} {:.2} {} {:.2}\n",
        step.connections,
        number(step.throughput.value),
        latency_ms(number(step.latency.mean_ns / 1e6)),
        success_percent(step.success_ratio.unwrap_or(0.0)),
    )
}

/// Formats a latency with at least two decimals and, below 10 ms, three significant digits.
fn latency_ms(ms: f64) -> String {
    let decimals = if ms > 0.0 { (2.0 - ms.log10().floor()).clamp(2.0, 6.0) } else { 2.0 };
    format!("{ms:.*}", decimals as usize)
}

/// Cuts a ratio to two decimals of a per cent instead of rounding it: 100.00 means that nothing failed.
fn success_percent(ratio: f64) -> f64 {
    if ratio < 1.0 { cut_percent(ratio, 2) } else { 100.0 }
}

/// Reads rows. Blank lines, lines that begin with `#` and a `%` after the last column are ignored.
///
/// # Errors
/// When a line is not such a row, with its number and what was expected, or when there is none.
pub fn parse(text: &str) -> Result<Vec<StepOutcome>, DatError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let rows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let steps = rows.map(|(number, line)| parse_row(number, line)).collect::<Result<Vec<_>, _>>()?;
    if steps.is_empty() { Err(DatError::Empty) } else { Ok(steps) }
}

fn parse_row(line: usize, text: &str) -> Result<StepOutcome, DatError> {
    let columns: Vec<&str> = text.split_whitespace().collect();
    let &[connections, qps, mean_ms, success] = columns.as_slice() else {
        return Err(DatError::Columns { line, columns: columns.len() });
    };
    let error =
        |column, text: &str, expected| DatError::Value { line, column, text: text.to_owned(), expected };
    let amount = |column, text: &str| {
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        value.ok_or_else(|| error(column, text, "a number from 0 on"))
    };
    let mean = amount("avg-latency-ms", mean_ms)?;
    if mean > MAX_MEAN_MS {
        return Err(error("avg-latency-ms", mean_ms, "at most a year"));
    }
    let step = connections.parse::<u32>().ok().filter(|connections| *connections > 0);
    let percent = amount("success%", success.trim_end_matches('%'))?;
    if percent > 100.0 {
        return Err(error("success%", success, "from 0 to 100"));
    }
    Ok(StepOutcome {
        lower_bound: false,
        unfinished: false,
        connections: step.ok_or_else(|| error("concurrency", connections, "a whole number from 1 on"))?,
        throughput: Estimate::exact(amount("QPS", qps)?),
        exact: true,
        mean_latency_ns: mean * 1e6,
        p99_ns: None,
        success_ratio: percent / 100.0,
        success_interval: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_has_three_digits_and_two_decimals_at_least() {
        let text = |ms| latency_ms(ms);
        assert_eq!(
            [text(0.1744), text(0.002_345), text(4.334), text(43.34)],
            ["0.174", "0.00234", "4.33", "43.34"]
        );
        assert_eq!(text(0.0), "0.00");
    }

    #[test]
    fn rows_of_the_script_are_read_whatever_their_spacing() {
        let steps = parse("# concurrency\n200 47812.00 4.33 100.00\n\n 500\t46100.5  56.33 99.5%\n").unwrap();
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].connections, steps[0].throughput.value), (200, 47812.0));
        assert_eq!((steps[1].mean_latency_ns, steps[1].success_ratio), (56.33e6, 0.995));
        assert_eq!(steps[1].throughput.interval, None);
    }

    #[test]
    fn errors_name_their_line() {
        let check = |text: &str, expected: &str| {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("200 1 2 100\n500 46100.5 56.33\n", "line 2 has 3 columns");
        check("200 -nan 4.33 100.00", "line 1: QPS is `-nan`");
        check("2.5 1 1 100", "concurrency is `2.5`");
        check("200 1 1 101", "success% is `101`");
        check("200 1 1e25 100", "avg-latency-ms is `1e25`; it must be at most a year");
        check("<html>", "line 1 has 1 columns");
        check("\n# only this\n", "no rows");
    }

    #[test]
    fn a_hundred_per_cent_means_that_nothing_failed() {
        assert_eq!(success_percent(1.0), 100.0);
        assert_eq!(success_percent(0.999_999), 99.99);
        assert_eq!(success_percent(0.999_999_999_999_9), 99.99);
        assert_eq!(success_percent(0.9995), 99.95);
        assert_eq!(success_percent(0.0), 0.0);
    }
}
