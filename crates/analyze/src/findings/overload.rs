//! The behaviour of the target under overload.

use plimsoll_plan::{Onset, OverloadClass, RampEffect};
use plimsoll_record::FailureCounts;
use plimsoll_stats::Estimate;

use super::times::TimeSummary;

/// One phase of an overload's step.
#[derive(Debug, Clone, PartialEq)]
pub struct OverloadPhase {
    /// The planned rate, requests per second; its mean where it changes.
    pub offered_per_sec: f64,
    pub span_sec: f64,
    /// Requests that fell due within it.
    pub due: u64,
    /// Successful responses within the limit of latency, per second.
    pub goodput: Estimate,
    /// The good responses over all requests that ended or are missing; missing are requests that fell due and did not end, beyond
    /// what random arrivals explain. `None` if there were none.
    pub good_ratio: Option<f64>,
    /// All responses, whatever their status and latency.
    pub answered: u64,
    /// Successful responses later than the limit.
    pub late: u64,
    /// Responses without success.
    pub refused: u64,
    /// Requests without a response.
    pub failed: FailureCounts,
    /// done − intended of everything that ended within it.
    pub latency: TimeSummary,
    /// The mean of done − sent, in nanoseconds.
    pub service_mean_ns: f64,
    /// Requests sent and not answered at its end.
    pub in_flight: u64,
    /// Requests that waited for a connection at its end.
    pub backlog: u64,
}

impl OverloadPhase {
    /// Returns `per_sec`, a rate observed in this phase; `None` if the load ended before the phase began.
    pub fn if_it_began(&self, per_sec: f64) -> Option<f64> {
        (self.span_sec > 0.0).then_some(per_sec)
    }

    /// Responses without success and requests without a response, over everything that ended; `None` if nothing did.
    pub fn failed_ratio(&self) -> Option<f64> {
        let failed = self.refused + self.failed.total();
        // Not the latencies: a connection that is refused has none.
        let ended = self.answered + self.failed.total();
        (ended > 0).then(|| failed as f64 / ended as f64)
    }
}

/// One moment of an overload's step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverloadMoment {
    /// Its middle, in seconds since the step began.
    pub at_sec: f64,
    /// Requests that fell due, per second.
    pub due_per_sec: f64,
    /// Successful responses within the limit of latency, per second.
    pub goodput_per_sec: f64,
    /// All responses, whatever their status and latency, per second.
    pub answered_per_sec: f64,
}

/// Whether goodput came back at the base after an overload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recovery {
    /// It came back `sec` seconds after the overload had ended.
    After { sec: f64 },
    /// It did not come back while the base was watched.
    Not {
        watched_sec: f64,
        /// After this time, a queue of all excess requests would have been served.
        queue_sec: f64,
        /// True if the watch was long enough to say that something other than such a queue keeps the target down.
        stuck: bool,
    },
    /// The run ended too early to know.
    Unknown,
}

/// Why an overload shows nothing, or not everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverloadDoubt {
    /// Goodput was already low at the base before the overload.
    Base,
    /// The generator was the limit.
    Generator,
    /// Too few requests fell due.
    TooFew,
    /// The overload ended before its second half.
    Interrupted,
    /// At the rate that should be the highest within the conditions, goodput was well below the rate.
    RateNotHeld,
    /// No rate is known that the target holds.
    NoRate,
}

/// What became of goodput during one overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverloadOutcome {
    /// Nearly all of the goodput at the rate that holds.
    Kept,
    /// Part of it.
    Reduced,
    /// Less than half of it, or the target itself was lost.
    Lost,
    Unknown(OverloadDoubt),
}

/// Factors whose ratio differs from 1 by less than this are the same.
const SAME_FACTOR: f64 = 1e-6;

/// One overload.
#[derive(Debug, Clone, PartialEq)]
pub struct OverloadStep {
    /// Index of its step in the run.
    pub index: u32,
    /// The offered rate over the highest rate within the conditions.
    pub factor: f64,
    pub onset: Onset,
    /// The base load before it.
    pub before: OverloadPhase,
    /// All of it, including the ramp that leads to it.
    pub whole: OverloadPhase,
    /// Its second half, which is judged: queues have grown by then.
    pub settled: OverloadPhase,
    /// Goodput in the second half over that at the rate that holds; `None` where the overload was not judged.
    pub kept: Option<Estimate>,
    pub outcome: OverloadOutcome,
    /// When the target was lost, in seconds since the overload began, its ramp included; `None` if it was not, or before that.
    pub lost_sec: Option<f64>,
    pub recovery: Recovery,
    pub over_time: Vec<OverloadMoment>,
}

impl OverloadStep {
    /// True if this is the overload of `factor`, up to rounding.
    pub fn is_of(&self, factor: f64) -> bool {
        (self.factor / factor - 1.0).abs() < SAME_FACTOR
    }
}

/// A target that served requests within the conditions, until the ladder brought it down: no rate of the search held after that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outage {
    /// What the ladder served within the conditions, requests per second.
    pub served_per_sec: f64,
    /// The last rate that was tried, requests per second; most of its requests failed.
    pub tried_per_sec: f64,
    /// How long it was down at least: from the end of the ladder to that of the search.
    pub watched_sec: f64,
    /// After this time, a queue of all requests that were not answered well would have been served.
    pub queue_sec: f64,
    /// True if it was down for long enough to say that something other than such a queue keeps it down.
    pub stuck: bool,
}

/// The target's behaviour under overload, and what protects it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overload {
    pub class: OverloadClass,
    /// The lowest overload that shows it, as a multiple of the rate.
    pub at_factor: Option<f64>,
    /// Why the class is not known.
    pub doubt: Option<OverloadDoubt>,
    /// Set where the ladder itself was the overload: it brought the target down, so that no rate is known to overload from.
    pub by_ladder: Option<Outage>,
    /// The highest rate within the conditions, given or found, requests per second; `None` if none is known.
    pub rate_per_sec: Option<f64>,
    /// The limit of latency of goodput, in milliseconds; without one every success counts.
    pub limit_ms: Option<f64>,
    /// The phase at `rate_per_sec` itself, offered before any overload.
    pub reference: Option<OverloadPhase>,
    /// Why that phase does not show that the target holds the rate.
    pub reference_doubt: Option<OverloadDoubt>,
    /// The rate that the target holds, unless that phase or a search contradicts it, requests per second.
    pub held_per_sec: Option<f64>,
    /// The overloads in order.
    pub steps: Vec<OverloadStep>,
    /// The ramp compared with a jump; `None` unless both are judged.
    pub ramp: Option<RampEffect>,
}

impl Overload {
    /// The overload that begins with a ramp.
    pub fn ramped(&self) -> Option<&OverloadStep> {
        self.steps.iter().find(|step| step.onset == Onset::Ramp)
    }

    /// The jump to the rate of the ramped overload.
    pub fn jump_to_the_same(&self) -> Option<&OverloadStep> {
        let ramped = self.ramped()?;
        self.steps.iter().find(|step| step.onset == Onset::Jump && step.is_of(ramped.factor))
    }
}

/// The limits that keep a service within what it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Protection {
    /// The most requests per second to admit: the highest rate within the conditions.
    pub rate_per_sec: f64,
    /// Requests that may be admitted at once beyond an even flow of that rate.
    pub burst: u64,
    /// The most requests to work on at a time.
    pub concurrency: u64,
    /// The mean number of requests in progress at that rate, by Little's law.
    pub in_progress: f64,
    /// The limit of latency from which these limits follow, in milliseconds.
    pub limit_ms: Option<f64>,
    /// The longest time that a request should wait for admission, in milliseconds.
    pub wait_ms: f64,
}
