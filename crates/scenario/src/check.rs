//! Checks: the conditions that a response must meet to count as a success.

use std::fmt;
use std::ops::RangeInclusive;

use regex::bytes::Regex;

use json::JsonMatch;

mod json;
mod parse;
#[cfg(test)]
mod tests;

/// The part of a response that a check reads. Greater values include smaller ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Only the status and the length of the body, which are always known.
    #[default]
    Nothing,
    Head,
    Body,
}

/// A response, as far as it was kept.
#[derive(Debug, Clone, Copy)]
pub struct CheckedResponse<'a> {
    pub status: u16,
    /// The length of the whole body, without chunk framing.
    pub body_bytes: u64,
    /// Status line and header lines as received; read only by checks that need [`Needs::Head`].
    pub head: &'a [u8],
    /// The body without chunk framing, as far as kept; read only by checks that need [`Needs::Body`].
    pub body: &'a [u8],
}

impl CheckedResponse<'_> {
    fn is_cut(&self) -> bool {
        self.body_bytes > self.body.len() as u64
    }
}

/// Why a text is not a check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    #[error(
        "`{0}` is no check; write status=200, status=2xx, body=TEXT, body~REGEX, json:/code=200, size<10k, \
         header:Name=TEXT or header:Name~REGEX"
    )]
    Form(String),
    #[error(
        "`{0}` is no status; write a code from 100 to 599 such as 200, a class such as 2xx, or several: 200,204,3xx"
    )]
    Status(String),
    #[error("`{0}` is no size in bytes; write one such as 512, 10k or 1.5M")]
    Size(String),
    #[error("`{0}` is no header name; write a check such as header:Content-Type~json")]
    HeaderName(String),
    #[error(
        "`{0}` is no JSON pointer (RFC 6901); it is empty for the whole document, or each step begins with a \
         slash: /items/0/id, with ~ as ~0 and / as ~1 in a key"
    )]
    Pointer(String),
    #[error("`{pattern}` is no regular expression: {reason}")]
    Regex { pattern: String, reason: String },
}

/// How a text is compared.
#[derive(Debug, Clone)]
enum TextMatch {
    Is(String),
    /// The expression matches somewhere in the text.
    Finds(Regex),
}

impl TextMatch {
    fn holds(&self, text: &[u8]) -> bool {
        match self {
            Self::Is(expected) => text == expected.as_bytes(),
            Self::Finds(regex) => regex.is_match(text),
        }
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Status(Vec<RangeInclusive<u16>>),
    Size(RangeInclusive<u64>),
    Header { name: String, value: TextMatch },
    Body(TextMatch),
    Json(JsonMatch),
}

/// A condition for every response; see `docs/scenario.md` for the forms. It prints as it was typed.
///
/// Give each worker a clone: threads that share a regular expression are slower.
#[derive(Debug, Clone)]
pub struct Check {
    typed: String,
    kind: Kind,
}

impl Check {
    /// Returns the part of a response that must be kept for this check.
    pub fn needs(&self) -> Needs {
        match self.kind {
            Kind::Status(_) | Kind::Size(_) => Needs::Nothing,
            Kind::Header { .. } => Needs::Head,
            Kind::Body(_) | Kind::Json(_) => Needs::Body,
        }
    }

    /// Whether the check decides which statuses are successes, instead of the usual rule.
    pub fn is_of_status(&self) -> bool {
        matches!(self.kind, Kind::Status(_))
    }

    /// Whether a response meets the condition; false if the check needs the whole body and only its beginning was kept. Allocations are
    /// rare: regular expressions allocate on their first use, and `json:` allocates a little, for the value at its pointer and for the
    /// depth of skipped values.
    pub fn holds(&self, response: &CheckedResponse<'_>) -> bool {
        if self.needs() == Needs::Body && response.is_cut() {
            return false;
        }
        match &self.kind {
            Kind::Status(ranges) => ranges.iter().any(|range| range.contains(&response.status)),
            Kind::Size(range) => range.contains(&response.body_bytes),
            Kind::Header { name, value } => {
                header_values(response.head, name).any(|found| value.holds(found.trim_ascii()))
            }
            Kind::Body(text) => text.holds(response.body),
            Kind::Json(json) => json.holds(response.body),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

/// Returns the values of a header field, one for each line with its name, ignoring the name's case.
fn header_values<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(move |line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| &line[colon + 1..])
    })
}
