//! A target that the ladder brought down, so that the following search found no rate that holds.

use plimsoll_record::Run;

use crate::overload::STUCK;
use crate::{Outage, RateSearch, StepSummary};

/// A target is down if it answers less than this share of the requests successfully.
pub const DOWN: f64 = 0.5;
/// A rate of at most this fraction of the earlier throughput leaves capacity to work off a queue.
const ROOM: f64 = 0.5;

/// `None` unless the ladder served `served_per_sec` within the conditions, and the target was still down when the search ended at a rate
/// far below that.
pub(crate) fn outage(
    run: &Run,
    ladder: &[StepSummary],
    served_per_sec: f64,
    search: &RateSearch,
) -> Option<Outage> {
    let last = search.trials.last().map(|trial| &trial.step)?;
    let tried_per_sec = last.rate_per_sec.filter(|rate| *rate <= ROOM * served_per_sec)?;
    let is_down = last.success_ratio.is_some_and(|ratio| ratio < DOWN);
    if search.held_per_sec.is_some() || !is_down {
        return None;
    }
    let drained_ns = |step: &StepSummary| {
        run.steps.iter().find(|recorded| recorded.index == step.index).map(|recorded| recorded.drained_ns)
    };
    let watched_ns = drained_ns(last)?.saturating_sub(drained_ns(ladder.last()?)?);
    let watched_sec = watched_ns as f64 / 1e9;
    let loads = ladder.iter().chain(search.trials.iter().map(|trial| &trial.step));
    let unserved: u64 = loads.map(|step| step.counts.intended.saturating_sub(step.counts.ok)).sum();
    let queue_sec = unserved as f64 / served_per_sec;
    let stuck = watched_sec >= STUCK * queue_sec;
    Some(Outage { served_per_sec, tried_per_sec, watched_sec, queue_sec, stuck })
}
