//! The figure that a page prints large.

use plimsoll_analyze::Findings;

use super::document::document;
use crate::amount::chosen_step;
use crate::text::HeadlineFigure;

document! {
    /// The throughput that the first sentences of `text` speak of.
    pub struct HeadlineDocument(per_sec: Option<f64>, bound: &'static str, what: &'static str, step: Option<u32>) {
        /// Requests per second; null where no request succeeded, or no rate is known.
        per_sec: Option<f64> = per_sec,
        /// How it stands to what the target can do: `exact`; `generator_limited`, a lower bound because the load generator was the limit;
        /// `unfinished`, at least so much because the run ended before it showed more.
        bound: &'static str = bound,
        /// What the target did with the requests: `held`, `answered` or `served`.
        what: &'static str = what,
        /// Index of the best step of `steps`: within the conditions, else of the highest throughput; null where no request of it
        /// succeeded. After a search `per_sec` is of a trial, not of this step.
        step: Option<u32> = step,
    }
}

/// The figure of a run.
pub(super) fn headline(findings: &Findings) -> HeadlineDocument {
    let HeadlineFigure { per_sec, bound, what } = HeadlineFigure::new(findings);
    let step = chosen_step(findings).filter(|step| step.counts.ok > 0).map(|step| step.index);
    HeadlineDocument::new(per_sec, bound.name(), what, step)
}
