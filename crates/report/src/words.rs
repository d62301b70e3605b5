//! Findings in words. Text and JSON say the same, so that both take their sentences from here.

mod advice;
mod claim;
mod conclusion;
mod evidence;
mod excluded;
mod experiment;
mod failure;
pub(crate) mod machines;
mod phrase;
mod resource;
mod table_claim;

use plimsoll_analyze::Verdict;

pub use advice::advice;
pub use claim::paragraph;
pub(crate) use conclusion::{conclusions, row_name};
pub(crate) use evidence::{at, observed};
pub(crate) use excluded::excluded;
pub use experiment::raise;
pub(crate) use failure::failure_advice;
pub(crate) use phrase::{connections, joined};
use phrase::{cores, counted, part_name, places, whole};
pub(crate) use resource::bits;
pub(crate) use table_claim::breach_meaning;

/// What a verdict says in short: its paragraph, or what to try where it has none.
pub fn summary(verdict: &Verdict) -> String {
    let text = paragraph(verdict);
    if text.is_empty() { advice(verdict).join(" ") } else { text }
}
