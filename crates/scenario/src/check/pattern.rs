//! What checks compare with: statuses, lengths, texts.

use std::ops::RangeInclusive;

use regex::bytes::Regex;

/// One status or one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusPattern {
    Code(u16),
    /// The first digit, as in `2xx`.
    Class(u16),
}

impl StatusPattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
            let class = class.parse().ok().filter(|class| (1..=5).contains(class))?;
            return (text.len() == 3).then_some(Self::Class(class));
        }
        let code = text.parse().ok().filter(|code| (100..=599).contains(code))?;
        (text.len() == 3).then_some(Self::Code(code))
    }

    pub(super) fn holds(self, status: u16) -> bool {
        match self {
            Self::Code(code) => status == code,
            Self::Class(class) => status / 100 == class,
        }
    }
}

/// Reads the lengths of a body that pass, in bytes: `<10k`, `<=10k`, `>0`, `>=1.5M` or `=512`; none when there is no comparison
/// or no size.
pub(super) fn parse_sizes(text: &str) -> Option<RangeInclusive<u64>> {
    let sign_len = text.find(|c| !matches!(c, '<' | '>' | '='))?;
    let (sign, size) = text.split_at(sign_len);
    let size = size.trim();
    let size = plimsoll_units::parse_count(size.strip_suffix('B').unwrap_or(size)).ok()?;
    Some(match sign {
        // Nothing is shorter than no bytes, so `<0` is refused.
        "<" => 0..=size.checked_sub(1)?,
        "<=" => 0..=size,
        ">" => size + 1..=u64::MAX,
        ">=" => size..=u64::MAX,
        "=" => size..=size,
        _ => return None,
    })
}

/// How a text is compared.
#[derive(Debug, Clone)]
pub(super) enum TextMatch {
    Is(String),
    /// The expression matches somewhere in the text.
    Finds(Regex),
}

impl TextMatch {
    pub(super) fn holds(&self, text: &[u8]) -> bool {
        match self {
            Self::Is(expected) => text == expected.as_bytes(),
            Self::Finds(regex) => regex.is_match(text),
        }
    }
}
