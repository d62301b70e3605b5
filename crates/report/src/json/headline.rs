//! The throughput that a page prints large.

use plimsoll_analyze::Findings;

use super::document::document;
use crate::amount::chosen_step;
use crate::text::HeadlineFigure;

document! {
    /// The throughput that the first sentences of `text` state.
    pub struct HeadlineDocument(per_sec: Option<f64>, bound: &'static str, what: &'static str, step: Option<u32>) {
        /// Requests per second; null where no request succeeded, or no rate is known.
        per_sec: Option<f64> = per_sec,
        /// How it relates to what the target can do: `exact`; `generator_limited`, a lower bound because the load
        /// generator was the limit; `unfinished`, a lower bound because the run ended before it showed more.
        bound: &'static str = bound,
        /// What the target did with the requests: `held`, `answered` or `served`.
        what: &'static str = what,
        /// Index of the best step in `steps`: within the conditions, or else with the highest throughput; null if none of
        /// its requests succeeded. After a search, `per_sec` comes from a trial, not from this step.
        step: Option<u32> = step,
    }
}

/// Returns the headline of a run.
pub(super) fn headline(findings: &Findings) -> HeadlineDocument {
    let HeadlineFigure { per_sec, bound, what } = HeadlineFigure::new(findings);
    let step = chosen_step(findings).filter(|step| step.counts.ok > 0).map(|step| step.index);
    HeadlineDocument::new(per_sec, bound.name(), what, step)
}
