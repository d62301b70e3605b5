//! Counted things; text and JSON say the same.

use plimsoll_units::grouped;

/// `1 worker`, `2 workers`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// [`counted`] for a smaller count.
pub(crate) fn count_of(count: u32, noun: &str) -> String {
    counted(u64::from(count), noun)
}
