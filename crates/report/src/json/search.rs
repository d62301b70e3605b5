//! The search for the highest rate within the conditions.

use plimsoll_analyze::{Breach, Drift, Findings, Outage, RateSearch, SearchEnd, TrialOutcome, TrialSummary};
use plimsoll_record::Run;

use super::document::{document, each};
use super::step::StepDocument;

document! {
    /// The search for the highest rate of random arrivals at which the conditions hold.
    pub struct SearchDocument(run: &Run, findings: &Findings, search: &RateSearch) {
        /// The highest rate that held, requests per second; null if none did.
        held_per_sec: Option<f64> = search.held_per_sec,
        /// The lowest rate above it that broke a condition, requests per second: the maximum lies between the two. Null if
        /// none did.
        broken_per_sec: Option<f64> = search.broken_per_sec,
        /// What broke there: `latency`, `success` or `queue`.
        breach: Option<&'static str> = search.breach.map(breach),
        /// The percentile whose limit broke there, from 0 to 100; null if something else did.
        breach_percentile: Option<f64> = search.breach.and_then(percentile),
        /// Why the search ended: `found`, `unfinished` (budget, user, or 60 trials that contradict each other), `generator_limited` or
        /// `never_held`.
        end: &'static str = match search.end {
            SearchEnd::Found => "found",
            SearchEnd::Unfinished => "unfinished",
            SearchEnd::GeneratorLimited => "generator_limited",
            SearchEnd::NeverHeld => "never_held",
        },
        /// Two trials that differ by more than chance explains: the maximum moved during the search. Null if it did not.
        drift: Option<DriftDocument> = search.drift.as_ref().map(DriftDocument::new),
        /// A rate that held before and after, but not right after an overload, requests per second; null without one.
        hysteresis_per_sec: Option<f64> = search.hysteresis_per_sec,
        /// Set if the ladder brought the target down, and no rate held after that; null if not.
        outage: Option<OutageDocument> = search.outage.as_ref().map(OutageDocument::new),
        /// Every rate that was tried, in order.
        trials: Vec<SearchTrialDocument> = each(&search.trials, |trial| SearchTrialDocument::new(run, findings, trial)),
    }

    /// A maximum that moved.
    pub struct DriftDocument(drift: &Drift) {
        /// A rate that held at one time, requests per second.
        held_per_sec: f64 = drift.held_per_sec,
        /// The lower rate that broke at another time.
        broken_per_sec: f64 = drift.broken_per_sec,
        /// True if the lower rate broke after the higher one had held.
        falls: bool = drift.falls,
    }

    /// A target that served requests within the conditions until the ladder brought it down.
    pub struct OutageDocument(outage: &Outage) {
        /// What the ladder served within the conditions, requests per second.
        served_per_sec: f64 = outage.served_per_sec,
        /// The last rate that was tried, requests per second; most of its requests failed.
        tried_per_sec: f64 = outage.tried_per_sec,
        /// The time from the end of the ladder to the end of the search, in seconds.
        watched_sec: f64 = outage.watched_sec,
        /// The time after which a queue of all requests without a good answer would have been gone, in seconds.
        queue_sec: f64 = outage.queue_sec,
        /// True if the target was down for so long that something other than such a queue must keep it down.
        stuck: bool = outage.stuck,
    }

    /// A rate that was tried.
    pub struct SearchTrialDocument(run: &Run, findings: &Findings, trial: &TrialSummary) {
        /// `held`, `broken`, `close` (too near to the limit to be decided in the time of the trial) or
        /// `generator_limited`.
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
        /// The percentile whose limit broke, from 0 to 100; null if something else did, or nothing.
        breach_percentile: Option<f64> = match trial.outcome {
            TrialOutcome::Broken(what) => percentile(what),
            TrialOutcome::Held | TrialOutcome::Close | TrialOutcome::GeneratorLimited => None,
        },
        /// True if it began right after the load of a rate that broke.
        after_overload: bool = trial.after_overload,
        /// What was measured.
        step: StepDocument = StepDocument::new(run, findings, &trial.step),
    }
}

fn percentile(breach: Breach) -> Option<f64> {
    match breach {
        Breach::Latency(limit) => Some(limit.percent),
        Breach::Success | Breach::Queue => None,
    }
}

fn breach(breach: Breach) -> &'static str {
    match breach {
        Breach::Latency(_) => "latency",
        Breach::Success => "success",
        Breach::Queue => "queue",
    }
}
