//! The variables: their names and values.

use super::error::{Position, TemplateError};
use crate::feeder::Feeder;
use crate::suggestion::{did_you_mean, listed, quoted};
use crate::values::Values;

/// The forms of variables as errors list them.
const FORMS: &[&str] =
    &["${uuid}", "${counter}", "${random(1,100)}", "${csv.column}", "${timestamp_ms}", "${env.NAME}"];

/// The names that a mistyped one is compared with.
const NAMES: &[&str] = &["uuid", "counter", "random(1,100)", "csv.column", "timestamp_ms", "env.NAME"];

/// The maximum number of characters of a 64-bit number, including its sign.
const MAX_NUMBER_BYTES: usize = 20;

/// A value that is generated for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A random UUID, version 4; a different one at each place.
    Uuid,
    /// The request's number; the same at every place of one request.
    Counter,
    /// A whole number from a range, both ends included; a different one at each place.
    Random { low: i64, high: i64 },
    /// A column of the request's CSV row, by its index.
    Column(usize),
    /// The time of the request, in milliseconds since 1970.
    TimestampMs,
}

impl Variable {
    /// Parses the text between `${` and `}`.
    pub(super) fn parse(name: &str, at: Position, columns: &[String]) -> Result<Self, TemplateError> {
        match name {
            "uuid" => Ok(Self::Uuid),
            "counter" => Ok(Self::Counter),
            "timestamp_ms" => Ok(Self::TimestampMs),
            _ if name == "random" || name.starts_with("random(") => {
                parse_range(name).ok_or_else(|| TemplateError::Range { name: quoted(name), at })
            }
            _ => match name.strip_prefix("csv.") {
                Some(column) => parse_column(column, at, columns),
                None => Err(unknown(name, at)),
            },
        }
    }

    /// Appends the variable's value in the current request.
    pub(super) fn render(self, values: &mut Values, out: &mut Vec<u8>) {
        match self {
            Self::Uuid => {
                let uuid = uuid::Builder::from_random_bytes(values.random_bytes()).into_uuid();
                let mut text = uuid::Uuid::encode_buffer();
                out.extend_from_slice(uuid.hyphenated().encode_lower(&mut text).as_bytes());
            }
            Self::Counter => push_number(values.number(), out),
            Self::Random { low, high } => push_number(values.random_within(low, high), out),
            Self::Column(column) => out.extend_from_slice(values.cell(column)),
            Self::TimestampMs => push_number(values.unix_ms(), out),
        }
    }

    /// Returns the maximum length of the value, in bytes.
    pub(super) fn max_bytes(self, feeder: Option<&Feeder>) -> usize {
        match self {
            Self::Uuid => uuid::fmt::Hyphenated::LENGTH,
            Self::Counter | Self::Random { .. } | Self::TimestampMs => MAX_NUMBER_BYTES,
            Self::Column(column) => feeder.map_or(0, |feeder| feeder.max_cell_bytes(column)),
        }
    }
}

fn push_number(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn parse_range(name: &str) -> Option<Variable> {
    let (low, high) = name.strip_prefix("random(")?.strip_suffix(')')?.split_once(',')?;
    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low <= high).then_some(Variable::Random { low, high })
}

fn parse_column(column: &str, at: Position, columns: &[String]) -> Result<Variable, TemplateError> {
    if let Some(index) = columns.iter().position(|known| known == column) {
        return Ok(Variable::Column(index));
    }
    let name = quoted(column);
    if columns.is_empty() {
        return Err(TemplateError::NoColumns { column: name, at });
    }
    let known = || columns.iter().map(String::as_str);
    let (hint, known) = (did_you_mean(column, known()), listed(known()));
    Err(TemplateError::UnknownColumn { column: name, at, known, hint })
}

fn unknown(name: &str, at: Position) -> TemplateError {
    let hint = did_you_mean(name, NAMES.iter().copied());
    TemplateError::Unknown { name: quoted(name), at, known: listed(FORMS.iter().copied()), hint }
}
