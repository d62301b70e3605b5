//! How the target behaves under overload.

use std::collections::BTreeMap;

use plimsoll_analyze::{
    Overload, OverloadDoubt, OverloadMoment, OverloadOutcome, OverloadPhase, OverloadStep, Protection,
    RampEffect, Recovery,
};

use super::document::{Interval, document, each, ms, value};
use crate::words;

document! {
    /// How the target behaves when more load is offered than it holds.
    pub struct OverloadDocument(overload: &Overload, limits: Option<&Protection>) {
        /// `graceful`, `degrades`, `collapses`, `metastable`, `not_overloaded` or `unknown`.
        class: &'static str = overload.class.name(),
        /// The lowest overload that shows the class (for `graceful` the highest), as a multiple of `rate_per_sec`; null
        /// if none does.
        at_factor: Option<f64> = overload.at_factor,
        /// True if the ladder was the overload that shows the class: it brought the target down, and no rate held after
        /// that.
        by_ladder: bool = overload.by_ladder.is_some(),
        /// Why the class is not known: `base`, `generator`, `too_few`, `interrupted`, `rate_not_held` or `no_rate`; null
        /// if it is known.
        doubt: Option<&'static str> = overload.doubt.map(doubt),
        /// The highest rate within the conditions, as given or found, requests per second.
        rate_per_sec: Option<f64> = overload.rate_per_sec,
        /// Goodput counts the successes within this time after they were due; null if every success counts.
        limit_ms: Option<f64> = overload.limit_ms,
        /// The load at `rate_per_sec` itself, in the second half of its time.
        reference: Option<OverloadPhaseDocument> = overload.reference.as_ref().map(OverloadPhaseDocument::new),
        /// Why the target is not known to hold `rate_per_sec`, as in `doubt`; null if it holds it.
        reference_doubt: Option<&'static str> = overload.reference_doubt.map(doubt),
        /// The overloads, in order.
        steps: Vec<OverloadStepDocument> = each(&overload.steps, OverloadStepDocument::new),
        /// The effect of a ramp to the highest overload, compared with a jump: `none`, `helps`, `keeps_up` (nearly all of
        /// the load is answered in it) or `hurts`; null if it is not known.
        ramp: Option<&'static str> = overload.ramp.map(RampEffect::name),
        /// The limits that protect the target; null where no rate is known to hold, and where it kept up with more.
        protection: Option<ProtectionDocument> = limits.map(ProtectionDocument::new),
    }

    /// One overload.
    pub struct OverloadStepDocument(step: &OverloadStep) {
        /// Index of its step in the run.
        index: u32 = step.index,
        /// The offered rate over the highest within the conditions.
        factor: f64 = step.factor,
        /// `jump` or `ramp`.
        onset: &'static str = words::onset_name(step.onset),
        /// `kept`, `reduced`, `lost` or `unknown`.
        outcome: &'static str = match step.outcome {
            OverloadOutcome::Kept => "kept",
            OverloadOutcome::Reduced => "reduced",
            OverloadOutcome::Lost => "lost",
            OverloadOutcome::Unknown(_) => "unknown",
        },
        /// Why the outcome is not known; null if it is.
        doubt: Option<&'static str> = match step.outcome {
            OverloadOutcome::Unknown(why) => Some(doubt(why)),
            OverloadOutcome::Kept | OverloadOutcome::Reduced | OverloadOutcome::Lost => None,
        },
        /// Seconds from the beginning of the overload, its ramp included, until the target refused every connection; null if it did not.
        lost_after_sec: Option<f64> = step.lost_sec,
        /// Goodput over the goodput at the rate that holds; null where the overload was not judged.
        kept: Option<f64> = value(step.kept),
        /// The 95 % interval of `kept`.
        kept_interval: Interval = step.kept,
        /// Seconds from the end of the overload until goodput was back; null if it did not come back, or that is not known.
        back_after_sec: Option<f64> = match step.recovery {
            Recovery::After { sec } => Some(sec),
            Recovery::Not { .. } | Recovery::Unknown => None,
        },
        /// Seconds for which goodput was watched and did not come back; null if it did, or that is not known.
        not_back_within_sec: Option<f64> = match step.recovery {
            Recovery::Not { watched_sec, .. } => Some(watched_sec),
            Recovery::After { .. } | Recovery::Unknown => None,
        },
        /// Seconds after which a queue of all that was offered in excess would have been gone; null where goodput came back.
        queue_gone_after_sec: Option<f64> = match step.recovery {
            Recovery::Not { queue_sec, .. } => Some(queue_sec),
            Recovery::After { .. } | Recovery::Unknown => None,
        },
        /// The base load before the overload.
        before: OverloadPhaseDocument = OverloadPhaseDocument::new(&step.before),
        /// The whole overload, with the ramp that leads to it.
        whole: OverloadPhaseDocument = OverloadPhaseDocument::new(&step.whole),
        /// The second half of the overload, which is judged.
        settled: OverloadPhaseDocument = OverloadPhaseDocument::new(&step.settled),
        /// The step over time.
        over_time: Vec<OverloadMomentDocument> = each(&step.over_time, OverloadMomentDocument::new),
    }

    /// A span of the load.
    pub struct OverloadPhaseDocument(phase: &OverloadPhase) {
        /// The planned rate, requests per second; its mean where it changes.
        offered_per_sec: f64 = phase.offered_per_sec,
        /// The length of the span.
        span_sec: f64 = phase.span_sec,
        /// Requests that fell due.
        due: u64 = phase.due,
        /// Successes within the limit of latency, per second; null where the load ended before the span began.
        goodput_per_sec: Option<f64> = phase.if_it_began(phase.goodput.value),
        /// The 95 % interval of `goodput_per_sec`.
        goodput_interval: Interval = phase.goodput,
        /// Successes within the limit over all requests that ended, or are missing beyond what random arrivals explain;
        /// null if there are none.
        good_ratio: Option<f64> = phase.good_ratio,
        /// Successes after the limit of latency.
        late: u64 = phase.late,
        /// Responses without success.
        refused: u64 = phase.refused,
        /// Requests without a response, by the kind of failure.
        failed: BTreeMap<&'static str, u64> =
            phase.failed.iter().map(|(kind, count)| (kind.name(), count)).collect::<BTreeMap<_, _>>(),
        /// Median latency of the requests that ended; null if they are too few.
        p50_ms: Option<f64> = phase.latency.p50.ns.map(ms),
        /// 99th percentile of the latency of the same requests.
        p99_ms: Option<f64> = phase.latency.p99.ns.map(ms),
        /// Requests sent and not answered at the end of the span.
        in_flight: u64 = phase.in_flight,
        /// Requests that waited for a connection at the end of the span.
        backlog: u64 = phase.backlog,
    }

    /// Half a second of an overload's step.
    pub struct OverloadMomentDocument(moment: &OverloadMoment) {
        /// Its middle, in seconds since the step began.
        at_sec: f64 = moment.at_sec,
        /// Requests that fell due, per second.
        due_per_sec: f64 = moment.due_per_sec,
        /// Successes within the limit of latency, per second.
        goodput_per_sec: f64 = moment.goodput_per_sec,
        /// Responses of any kind, per second.
        answered_per_sec: f64 = moment.answered_per_sec,
    }

    /// The limits that protect a service from overload.
    pub struct ProtectionDocument(limits: &Protection) {
        /// The maximum rate to admit, requests per second.
        rate_per_sec: f64 = limits.rate_per_sec,
        /// Requests to admit at once beyond an even flow.
        burst: u64 = limits.burst,
        /// The maximum number of requests to process at a time.
        concurrency: u64 = limits.concurrency,
        /// The mean number of requests in progress at `rate_per_sec`.
        in_progress: f64 = limits.in_progress,
        /// The longest time that a request should wait for admission.
        wait_ms: f64 = limits.wait_ms,
    }
}

fn doubt(doubt: OverloadDoubt) -> &'static str {
    match doubt {
        OverloadDoubt::Base => "base",
        OverloadDoubt::Generator => "generator",
        OverloadDoubt::TooFew => "too_few",
        OverloadDoubt::Interrupted => "interrupted",
        OverloadDoubt::RateNotHeld => "rate_not_held",
        OverloadDoubt::NoRate => "no_rate",
    }
}
