//! Filters and sorts the runs of a history.

use std::cmp::Reverse;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use plimsoll_analyze::RunEntry;
use plimsoll_record::Tag;

/// Conditions that a run must meet. `None` means no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// A part of the name or of the target's URL.
    pub text: Option<String>,
    /// A part of the target's URL.
    pub target: Option<String>,
    pub tags: Vec<Tag>,
    /// The earliest and the latest start, in milliseconds since 1970-01-01 UTC.
    pub since_unix_ms: Option<u64>,
    pub until_unix_ms: Option<u64>,
    pub command: Option<String>,
    /// The name of the limit.
    pub limit: Option<String>,
    pub hostname: Option<String>,
}

impl RunFilter {
    /// Whether the run meets all conditions.
    pub fn holds(&self, run: &RunEntry) -> bool {
        let is = |asked: &Option<String>, own: &str| asked.as_ref().is_none_or(|asked| asked == own);
        let contains = |text: &String| run.name.contains(text) || run.target.contains(text);
        self.text.as_ref().is_none_or(contains)
            && self.target.as_ref().is_none_or(|part| run.target.contains(part))
            && self.tags.iter().all(|tag| run.tags.has(tag))
            && self.spans(run.started_unix_ms)
            && is(&self.command, run.command.name())
            && is(&self.limit, &run.figures.limit)
            && is(&self.hostname, &run.machine.hostname)
    }

    /// Whether a run with this start meets the conditions on time.
    pub fn spans(&self, started_unix_ms: u64) -> bool {
        self.since_unix_ms.is_none_or(|since| started_unix_ms >= since)
            && self.until_unix_ms.is_none_or(|until| started_unix_ms <= until)
    }
}

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunOrder {
    /// Newest first.
    #[default]
    Age,
    /// Highest number of requests per second first, as given by [`RunFigures::served`](plimsoll_analyze::RunFigures::served).
    Throughput,
    /// Lowest p99 first.
    P99,
    Name,
}

impl RunOrder {
    /// Sorts runs in this order. Runs without the figure come last.
    pub fn sort<T>(self, runs: &mut [T], entry: impl Fn(&T) -> Option<&RunEntry>) {
        let figure = |run: &T| {
            let figures = &entry(run)?.figures;
            Some(match self {
                Self::Throughput => -figures.served()?.0.value,
                _ => figures.p99_ns?.value,
            })
        };
        match self {
            Self::Age => runs.sort_by_key(|run| Reverse(entry(run).map(|run| run.started_unix_ms))),
            Self::Name => runs.sort_by_key(|run| entry(run).map(|run| (run.name.clone(), run.file.clone()))),
            Self::Throughput | Self::P99 => {
                runs.sort_by(|one, other| {
                    let key = |run| figure(run).unwrap_or(f64::INFINITY);
                    key(one).total_cmp(&key(other))
                });
            }
        }
    }
}

impl FromStr for RunOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "age" => Ok(Self::Age),
            "qps" => Ok(Self::Throughput),
            "p99" => Ok(Self::P99),
            "name" => Ok(Self::Name),
            _ => Err(format!("`{text}` is no order; write age, qps, p99 or name")),
        }
    }
}

const MINUTE_MS: f64 = 60e3;

/// Parses an instant to milliseconds since 1970-01-01 UTC: an age before `now_unix_ms` (`90min`, `12h`, `7d`, `2w`), a date or time in
/// UTC (`2026-11-01`, `2026-11-01T14:30`), or a time with its offset (`2026-11-01T14:30+01:00`). A date alone is its first instant, or
/// its last one if `ends`.
///
/// # Errors
/// When the text is none of these.
pub fn parse_instant(text: &str, now_unix_ms: u64, ends: bool) -> Result<u64, String> {
    let before = |ms: f64| now_unix_ms.saturating_sub(ms as u64);
    let parsed = age_ms(text).map(before).or_else(|| date_ms(text, ends));
    parsed.ok_or_else(|| {
        format!("`{text}` is no time; write how long ago (90min, 12h, 7d, 2w) or a date in UTC (2026-11-01)")
    })
}

fn age_ms(text: &str) -> Option<f64> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let unit_ms = match unit {
        "min" | "m" => MINUTE_MS,
        "h" => 60.0 * MINUTE_MS,
        "d" => 24.0 * 60.0 * MINUTE_MS,
        "w" => 7.0 * 24.0 * 60.0 * MINUTE_MS,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * unit_ms)
}

fn date_ms(text: &str, ends: bool) -> Option<u64> {
    let time = text.split_once(['T', 't', ' ']).map(|(_, time)| time);
    // A parsed civil time would drop its offset or zone.
    let is_zoned = text.contains('[') || time.is_some_and(|time| time.contains(['Z', 'z', '+', '-']));
    let is_end = ends && time.is_none();
    let instant = match is_zoned {
        true => text.parse::<Timestamp>().ok()?,
        false => instant_in_utc(text.parse().ok()?, is_end)?,
    };
    u64::try_from(instant.as_millisecond()).ok().map(|ms| ms.saturating_sub(u64::from(is_end)))
}

/// Returns the instant of a date and time in UTC, or the end of that day if `is_end`.
fn instant_in_utc(given: DateTime, is_end: bool) -> Option<Timestamp> {
    let start = if is_end { given.date().tomorrow().ok()?.to_datetime(Time::midnight()) } else { given };
    Some(start.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-02-29 12:34:56.789 UTC.
    const NOW_MS: u64 = 1_709_210_096_789;
    const DAY_MS: u64 = 86_400_000;

    #[test]
    fn an_instant_is_an_age_or_a_date() {
        let since = |text| parse_instant(text, NOW_MS, false);
        assert_eq!(since("7d"), Ok(NOW_MS - 7 * DAY_MS));
        assert_eq!(since("1.5h"), Ok(NOW_MS - 5_400_000));
        assert_eq!(since("2w"), Ok(NOW_MS - 14 * DAY_MS));
        let day = 1_709_164_800_000;
        assert_eq!(since("2024-02-29"), Ok(day));
        assert_eq!(since("2024-02-29T12:30"), Ok(day + 45_000_000));
        assert_eq!(parse_instant("2024-02-29", NOW_MS, true), Ok(day + DAY_MS - 1));
        for text in ["2024-02-29T12:30", "2024-02-29 12:30", "2024-02-29t12:30"] {
            assert_eq!(parse_instant(text, NOW_MS, true), Ok(day + 45_000_000), "{text}");
        }
        for text in ["2024-02-29T12:30Z", "2024-02-29T14:30+02:00", "2024-02-29 10:00-02:30[Europe/Berlin]"] {
            assert_eq!(since(text), Ok(day + 45_000_000), "{text}");
        }
        for text in ["", "7", "7x", "yesterday", "2024-13-01", "d", "2024-02-29[Europe/Berlin]"] {
            assert!(since(text).unwrap_err().contains("7d"), "{text}");
        }
    }
}
