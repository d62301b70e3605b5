//! Bounds of a body's length.

use std::ops::RangeInclusive;

/// The lengths that are right, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SizeRange(RangeInclusive<u64>);

impl SizeRange {
    /// Reads `<10k`, `<=10k`, `>0`, `>=1.5M` or `=512`; none when there is no comparison or no size.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let sign_len = text.find(|c| !matches!(c, '<' | '>' | '='))?;
        let (sign, size) = text.split_at(sign_len);
        let size = size.trim();
        let size = plimsoll_units::parse_count(size.strip_suffix('B').unwrap_or(size)).ok()?;
        Some(Self(match sign {
            // Nothing is shorter than no bytes, so `<0` is refused.
            "<" => 0..=size.checked_sub(1)?,
            "<=" => 0..=size,
            ">" => size + 1..=u64::MAX,
            ">=" => size..=u64::MAX,
            "=" => size..=size,
            _ => return None,
        }))
    }

    pub(super) fn holds(&self, bytes: u64) -> bool {
        self.0.contains(&bytes)
    }
}
