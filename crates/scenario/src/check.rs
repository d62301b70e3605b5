//! Checks: what an answer must look like to count as a success.

use std::fmt;

use regex::bytes::Regex;

mod json;
mod parse;
mod size;
mod status;
#[cfg(test)]
mod tests;

use json::JsonMatch;
use size::SizeRange;
use status::StatusPattern;

/// The most bytes of a body that a caller must keep for checks that look into it.
pub const BODY_KEPT_BYTES_MAX: usize = 1 << 20;

/// How much of an answer a check looks at; more includes less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing beyond the status and the length of the body, which are known anyway.
    #[default]
    Nothing,
    /// The head.
    Head,
    /// The head and the body.
    Body,
}

/// One answer, as far as it was kept.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The length of the whole body, without chunk framing.
    pub body_bytes: u64,
    /// Status line and header lines as received; only looked at if [`Needs::Head`] was said.
    pub head: &'a [u8],
    /// The body without chunk framing, as far as kept; only looked at if [`Needs::Body`] was said.
    pub body: &'a [u8],
}

impl Answer<'_> {
    fn is_cut(&self) -> bool {
        self.body_bytes > self.body.len() as u64
    }
}

/// What a check made of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The answer is as expected.
    Held,
    /// It is not.
    Broken,
    /// The check needs the whole body, and only its beginning was kept; this is no success.
    BodyTooLong,
}

impl Judgement {
    fn of(held: bool) -> Self {
        if held { Self::Held } else { Self::Broken }
    }

    /// Whether the answer is as expected.
    pub fn held(self) -> bool {
        self == Self::Held
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::BodyTooLong => "body longer than 1 MiB, not looked at",
        })
    }
}

/// Why a text is no check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// None of the forms.
    #[error(
        "`{0}` is no check; write status=200, status=2xx, body=TEXT, body~REGEX, json:/code=200, size<10k, \
         header:Name=TEXT or header:Name~REGEX"
    )]
    Form(String),
    /// Not status codes.
    #[error(
        "`{0}` is no status; write a code from 100 to 599 such as 200, a class such as 2xx, or several: 200,204,3xx"
    )]
    Status(String),
    /// Not a size.
    #[error("`{0}` is no size in bytes; write one such as 512, 10k or 1.5M")]
    Size(String),
    /// Not a header's name.
    #[error("`{0}` is no header name; write a check such as header:Content-Type~json")]
    HeaderName(String),
    /// Not a JSON pointer.
    #[error(
        "`{0}` is no JSON pointer (RFC 6901); it is empty for the whole document, or each step begins with a \
         slash: /items/0/id"
    )]
    Pointer(String),
    /// Not a regular expression.
    #[error("`{pattern}` is no regular expression: {reason}")]
    Regex {
        /// As typed.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// How a text is compared.
#[derive(Debug, Clone)]
enum TextMatch {
    /// It is this text.
    Is(String),
    /// The expression is found in it.
    Finds(Regex),
}

impl TextMatch {
    fn holds(&self, text: &[u8]) -> bool {
        match self {
            Self::Is(wanted) => text == wanted.as_bytes(),
            Self::Finds(regex) => regex.is_match(text),
        }
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Status(Vec<StatusPattern>),
    Size(SizeRange),
    Header { name: String, value: TextMatch },
    Body(TextMatch),
    Json(JsonMatch),
}

/// An expectation of every answer; see `docs/scenario.md` for the forms. It prints as it was typed.
///
/// Give each worker a clone: a regular expression shared by threads is slower.
#[derive(Debug, Clone)]
pub struct Check {
    typed: String,
    kind: Kind,
}

impl Check {
    /// How much of an answer must be kept for this check.
    pub fn needs(&self) -> Needs {
        match self.kind {
            Kind::Status(_) | Kind::Size(_) => Needs::Nothing,
            Kind::Header { .. } => Needs::Head,
            Kind::Body(_) | Kind::Json(_) => Needs::Body,
        }
    }

    /// Whether it decides which statuses are right, so that no other rule does.
    pub fn is_of_status(&self) -> bool {
        matches!(self.kind, Kind::Status(_))
    }

    /// Looks at an answer. Only regular expressions allocate, on their first use, and `json:` a little: for the
    /// value it looks for, and for the depth of those it skips.
    pub fn judge(&self, answer: &Answer<'_>) -> Judgement {
        if self.needs() == Needs::Body && answer.is_cut() {
            return Judgement::BodyTooLong;
        }
        Judgement::of(match &self.kind {
            Kind::Status(patterns) => patterns.iter().any(|pattern| pattern.holds(answer.status)),
            Kind::Size(range) => range.holds(answer.body_bytes),
            Kind::Header { name, value } => {
                header_values(answer.head, name).any(|found| value.holds(found.trim_ascii()))
            }
            Kind::Body(text) => text.holds(answer.body),
            Kind::Json(wanted) => wanted.holds(answer.body),
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

/// The values of a field in a head, one for each line that has it; names are the same in any case.
fn header_values<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(move |line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| &line[colon + 1..])
    })
}
