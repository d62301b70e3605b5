//! The search for the highest rate within the conditions.

use plimsoll_analyze::{Breach, Findings, RateSearch, SearchEnd, TrialOutcome, TrialSummary};
use plimsoll_record::Run;

use super::document::{document, each};
use super::step::StepDocument;

document! {
    /// The highest rate of requests that arrive at random at which the conditions hold.
    pub struct SearchDocument(run: &Run, findings: &Findings, search: &RateSearch) {
        /// The highest rate that held, requests per second; null if none did.
        held_per_sec: Option<f64> = search.held_per_sec,
        /// The lowest rate above it that broke a condition, requests per second: the maximum lies between the two. Null if
        /// none did.
        broken_per_sec: Option<f64> = search.broken_per_sec,
        /// What broke there: `latency`, `success` or `queue`.
        breach: Option<&'static str> = search.breach.map(breach),
        /// Why the search ended: `found`, `unfinished` (budget or user), `generator_limited` or `never_held`.
        end: &'static str = match search.end {
            SearchEnd::Found => "found",
            SearchEnd::Unfinished => "unfinished",
            SearchEnd::GeneratorLimited => "generator_limited",
            SearchEnd::NeverHeld => "never_held",
        },
        /// True if a rate held at one time and not at another.
        moved: bool = search.moved,
        /// Every rate that was tried, in order.
        trials: Vec<SearchTrialDocument> = each(&search.trials, |trial| SearchTrialDocument::new(run, findings, trial)),
    }

    /// A rate that was tried.
    pub struct SearchTrialDocument(run: &Run, findings: &Findings, trial: &TrialSummary) {
        /// `held`, `broken`, `close` (too near to the limit to be decided in its time) or `generator_limited`.
        outcome: &'static str = match trial.outcome {
            TrialOutcome::Held => "held",
            TrialOutcome::Broken(_) => "broken",
            TrialOutcome::Close => "close",
            TrialOutcome::GeneratorLimited => "generator_limited",
        },
        /// What broke: `latency`, `success` or `queue`; null if nothing did.
        breach: Option<&'static str> = match trial.outcome {
            TrialOutcome::Broken(what) => Some(breach(what)),
            TrialOutcome::Held | TrialOutcome::Close | TrialOutcome::GeneratorLimited => None,
        },
        /// What was measured.
        step: StepDocument = StepDocument::new(run, findings, &trial.step),
    }
}

fn breach(breach: Breach) -> &'static str {
    match breach {
        Breach::Latency => "latency",
        Breach::Success => "success",
        Breach::Queue => "queue",
    }
}
