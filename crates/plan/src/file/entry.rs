//! One value of a plan file, with a reader for each type of value.

use std::time::Duration;

use plimsoll_units::{parse_bandwidth, parse_bytes, parse_count, parse_duration, parse_rate, parse_ratio};
use toml::de::{DeInteger, DeValue};

use super::error::{PlanFileError, Problem, Result, instead, line_of};
use crate::{Condition, ConditionError, checked_name};

/// A value with its position in the file.
#[derive(Debug, Clone)]
pub(super) struct Entry<'s> {
    pub(super) text: &'s str,
    /// The path of keys to this value.
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) value: &'s DeValue<'s>,
}

/// Converts an integer; `None` if it does not fit into a `u64`.
fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

impl<'s> Entry<'s> {
    /// An error about this value, which the message shows.
    pub(super) fn wrong(&self, expected: &str) -> PlanFileError {
        let found = match self.value {
            DeValue::String(text) => &format!("`{text}`"),
            DeValue::Integer(number) => &number.to_string(),
            DeValue::Float(number) => &number.to_string(),
            DeValue::Boolean(value) => &value.to_string(),
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.wrong_as(found, expected)
    }

    /// An error about this value, which the message calls `found`.
    pub(super) fn wrong_as(&self, found: &str, expected: &str) -> PlanFileError {
        let problem =
            Problem::Wrong { key: self.path.clone(), found: found.to_owned(), expected: expected.to_owned() };
        PlanFileError { line: self.line, problem }
    }

    pub(super) fn string(&self) -> Result<String> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("a text in quotes"))
    }

    /// Reads a text that fits in one line: not empty, and without control characters.
    pub(super) fn one_line(&self) -> Result<String> {
        let text = self.string()?;
        let found = if text.contains(char::is_control) {
            "a text with a line break, a tab or the like"
        } else if text.trim().is_empty() {
            "empty"
        } else {
            return Ok(text);
        };
        Err(self.wrong_as(found, "a text of one line, with something in it"))
    }

    /// Reads a name that can be part of a file name.
    pub(super) fn name(&self) -> Result<String> {
        checked_name(self.string()?).map_err(|_| self.wrong("a name of letters, digits, - _ and dots"))
    }

    /// Reads one of these names.
    pub(super) fn one_of(&self, known: &[&str], what: &str) -> Result<String> {
        let name = self.string()?;
        match known.contains(&name.as_str()) {
            true => Ok(name),
            false => Err(self.wrong(&format!("{what}; {}", instead(&name, known)))),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// The value as a number above 0; `None` if it is not.
    fn number(&self) -> Option<f64> {
        let value = match self.value {
            DeValue::Integer(number) => whole(number)? as f64,
            DeValue::Float(number) => number.as_str().parse().ok()?,
            _ => return None,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }

    pub(super) fn positive(&self, expected: &str) -> Result<f64> {
        self.number().ok_or_else(|| self.wrong(expected))
    }

    /// Reads a ratio: `0.9995`, or `"99.95%"`.
    pub(super) fn ratio(&self) -> Result<f64> {
        let ratio = match self.value.as_str() {
            Some(text) => parse_ratio(text).ok(),
            None => self.number().filter(|ratio| *ratio <= 1.0),
        };
        ratio.ok_or_else(|| self.wrong("a ratio such as 0.9995 or \"99.95%\""))
    }

    /// Reads conditions, as typed after `--slo`.
    pub(super) fn conditions(&self) -> Result<Vec<Condition>> {
        let condition = |item: &Self| {
            item.string()?.parse().map_err(|error: ConditionError| PlanFileError {
                line: item.line,
                problem: Problem::Conditions(error.to_string()),
            })
        };
        self.one_or_more()?.iter().map(condition).collect()
    }

    /// Reads a count: a number, or a text such as `"10k"`.
    pub(super) fn count(&self) -> Result<u64> {
        let value = match self.value {
            DeValue::Integer(number) => whole(number),
            _ => self.value.as_str().and_then(|text| parse_count(text).ok()),
        };
        let count = value.filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong("a whole number above 0 such as 200 or \"10k\""))
    }

    /// Reads a count from 1 to `most`.
    pub(super) fn count_up_to<T: TryFrom<u64>>(&self, most: u64, expected: &str) -> Result<T> {
        let count = self.count()?;
        T::try_from(count).ok().filter(|_| count <= most).ok_or_else(|| self.wrong(expected))
    }

    /// Reads a rate in requests per second: a number, or a text such as `"2k"`.
    pub(super) fn rate_per_sec(&self) -> Result<f64> {
        let rate = self.value.as_str().map_or_else(|| self.number(), |text| parse_rate(text).ok());
        rate.ok_or_else(|| self.wrong("a rate above 0 such as 500 or \"2k\""))
    }

    /// True for a duration of zero: `0`, or `"0s"`.
    pub(super) fn is_zero(&self) -> bool {
        match self.value {
            DeValue::Integer(number) => whole(number) == Some(0),
            _ => self
                .value
                .as_str()
                .and_then(|text| parse_duration(text).ok())
                .is_some_and(|time| time.is_zero()),
        }
    }

    pub(super) fn duration(&self) -> Result<Duration> {
        let time = match self.value.as_str() {
            Some(text) => parse_duration(text).ok(),
            // A number may be more seconds than a duration holds.
            None => self.number().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        time.ok_or_else(|| self.wrong("a duration such as \"500ms\", \"10s\" or \"2m\""))
    }

    /// Reads a duration with its unit: a limit of 200 seconds that was meant as 200 ms would always hold.
    pub(super) fn duration_with_unit(&self) -> Result<Duration> {
        let has_unit = |text: &&str| text.trim().parse::<f64>().is_err();
        let time = self.value.as_str().filter(has_unit).and_then(|text| parse_duration(text).ok());
        time.ok_or_else(|| self.wrong("a duration with its unit such as \"200ms\" or \"1.5s\""))
    }

    /// Reads a bandwidth in bits per second.
    pub(super) fn bandwidth(&self) -> Result<u64> {
        let bandwidth = self.value.as_str().and_then(|text| parse_bandwidth(text).ok());
        bandwidth.ok_or_else(|| self.wrong("a bandwidth such as \"200Mbit\" or \"2.5Gbit\""))
    }

    pub(super) fn bytes(&self, expected: &str) -> Result<u64> {
        self.value.as_str().and_then(|text| parse_bytes(text).ok()).ok_or_else(|| self.wrong(expected))
    }

    /// The items of a list, each with its own position.
    pub(super) fn items(&self) -> Result<Vec<Self>> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list in brackets"))?;
        let entry = |item: &'s toml::Spanned<DeValue<'s>>| {
            let line = line_of(self.text, item.span().start);
            Self { line, path: self.path.clone(), text: self.text, value: item.get_ref() }
        };
        Ok(items.iter().map(entry).collect())
    }

    /// The items of a list; a single value counts as a list of one.
    pub(super) fn one_or_more(&self) -> Result<Vec<Self>> {
        if self.value.is_array() { self.items() } else { Ok(vec![self.clone()]) }
    }
}
