//! One value of a plan file, read as what its key needs.

use std::time::Duration;

use plimsoll_units::{
    ParseQuantityError, parse_bandwidth, parse_bytes, parse_count, parse_duration, parse_rate,
};
use toml::de::{DeInteger, DeValue};

use super::error::{PlanFileError, line_of};
use crate::checked_name;

/// A value with its place in the file.
#[derive(Debug, Clone)]
pub(super) struct Entry<'s, 'a> {
    pub(super) text: &'s str,
    /// The keys that lead here.
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) value: &'s DeValue<'a>,
}

/// A whole number; an error for one beyond what a `u64` holds, or below zero.
fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

impl<'s, 'a> Entry<'s, 'a> {
    pub(super) fn string(&self) -> Result<String, PlanFileError> {
        match self.value {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong("a text in quotes")),
        }
    }

    /// A text that is shown in one line: not empty, and without characters that would break it.
    pub(super) fn one_line(&self) -> Result<String, PlanFileError> {
        const EXPECTED: &str = "a text of one line, with something in it";
        let text = self.string()?;
        if text.contains(char::is_control) {
            return Err(self.wrong_as("a text with a line break, a tab or the like", EXPECTED));
        }
        if text.trim().is_empty() {
            return Err(self.wrong_as("empty", EXPECTED));
        }
        Ok(text)
    }

    /// A name that files can carry.
    pub(super) fn name(&self) -> Result<String, PlanFileError> {
        checked_name(self.string()?).map_err(|_| self.wrong("a name of letters, digits, - _ and dots"))
    }

    pub(super) fn boolean(&self) -> Result<bool, PlanFileError> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// A number above zero.
    pub(super) fn positive(&self, expected: &str) -> Result<f64, PlanFileError> {
        let value = match self.value {
            DeValue::Integer(number) => whole(number).map(|value| value as f64),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        value.filter(|value: &f64| value.is_finite() && *value > 0.0).ok_or_else(|| self.wrong(expected))
    }

    /// A ratio: `0.9995`, or `"99.95%"`.
    pub(super) fn ratio(&self) -> Result<f64, PlanFileError> {
        const EXPECTED: &str = "a ratio such as 0.9995 or \"99.95%\"";
        let value = match self.value {
            DeValue::String(text) => {
                let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
                percent.map(|percent| percent / 100.0).ok_or_else(|| self.wrong(EXPECTED))?
            }
            _ => self.positive(EXPECTED)?,
        };
        if value <= 1.0 { Ok(value) } else { Err(self.wrong(EXPECTED)) }
    }

    /// A text that one of the parsers of units reads.
    fn quantity<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, ParseQuantityError>,
        expected: &str,
    ) -> Result<T, PlanFileError> {
        match self.value {
            DeValue::String(text) => parse(text).map_err(|_| self.wrong(expected)),
            _ => Err(self.wrong(expected)),
        }
    }

    /// A number, or a text such as `"10k"`.
    pub(super) fn count(&self) -> Result<u64, PlanFileError> {
        const EXPECTED: &str = "a whole number above 0 such as 200 or \"10k\"";
        let value = match self.value {
            DeValue::Integer(number) => whole(number).ok_or_else(|| self.wrong(EXPECTED))?,
            _ => self.quantity(parse_count, EXPECTED)?,
        };
        if value > 0 { Ok(value) } else { Err(self.wrong(EXPECTED)) }
    }

    /// How often a request is sent compared with the others.
    pub(super) fn weight(&self) -> Result<u32, PlanFileError> {
        u32::try_from(self.count()?).map_err(|_| self.wrong("a weight of at most 4294967295"))
    }

    /// Requests a second: a number, or a text such as `"2k"`.
    pub(super) fn rate_per_sec(&self) -> Result<f64, PlanFileError> {
        const EXPECTED: &str = "a rate above 0 such as 500 or \"2k\"";
        match self.value {
            DeValue::String(_) => self.quantity(parse_rate, EXPECTED),
            _ => self.positive(EXPECTED),
        }
    }

    /// A time of nothing at all: `0`, or `"0s"`.
    pub(super) fn is_zero(&self) -> bool {
        match self.value {
            DeValue::String(text) => parse_duration(text).is_ok_and(|time| time.is_zero()),
            DeValue::Integer(number) => whole(number) == Some(0),
            _ => false,
        }
    }

    pub(super) fn duration(&self) -> Result<Duration, PlanFileError> {
        const EXPECTED: &str = "a duration such as \"500ms\", \"10s\" or \"2m\"";
        match self.value {
            DeValue::String(_) => self.quantity(parse_duration, EXPECTED),
            _ => self.positive(EXPECTED).map(Duration::from_secs_f64),
        }
    }

    /// Bits per second.
    pub(super) fn bandwidth(&self) -> Result<u64, PlanFileError> {
        self.quantity(parse_bandwidth, "a bandwidth such as \"200Mbit\" or \"2.5Gbit\"")
    }

    /// A number of bytes; `expected` describes it in errors.
    pub(super) fn bytes(&self, expected: &str) -> Result<u64, PlanFileError> {
        self.quantity(parse_bytes, expected)
    }

    /// The values of a list, each with its own place.
    pub(super) fn items(&self) -> Result<Vec<Self>, PlanFileError> {
        let DeValue::Array(items) = self.value else { return Err(self.wrong("a list in brackets")) };
        let entry = |item: &'s toml::Spanned<DeValue<'a>>| Self {
            text: self.text,
            path: self.path.clone(),
            line: line_of(self.text, item.span().start),
            value: item.get_ref(),
        };
        Ok(items.iter().map(entry).collect())
    }

    /// The values of a list; a single value stands for a list of it.
    pub(super) fn one_or_more(&self) -> Result<Vec<Self>, PlanFileError> {
        match self.value {
            DeValue::Array(_) => self.items(),
            _ => Ok(vec![self.clone()]),
        }
    }
}
