//! Decides during a load whether its rate keeps the conditions.

use std::collections::BTreeMap;
use std::ops::Add as _;

use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_record::{CorruptHistogram, FailureKind, Frame, Histogram, Phase, latency_histogram};
use plimsoll_stats::batch_means::{BATCHES, split};
use plimsoll_stats::sequential::{Precision, Side, Tally, side, side_of_independent};
use plimsoll_stats::{line, t_quantile, variance};

use crate::{Breach, TrialOutcome};

/// The shortest time for which a rate must hold, in seconds: a queue takes time to grow.
const MIN_HELD_SEC: f64 = 3.0;
/// The longest time required because of few arrivals or of the longest latency limit, in seconds.
const MAX_HELD_SEC: f64 = 10.0;
/// The time over which the growth of a queue is extrapolated, in seconds.
const HORIZON_SEC: f64 = 30.0;
/// No rate is judged before this time, in seconds, while connections are opened.
const MIN_SEC: f64 = 1.0;
/// The precision of the tests while there is time left.
pub(super) const FINE: Precision = Precision { factor: 1.5, error: 0.05 };
/// The precision of the tests when there is no time left.
pub(super) const COARSE: Precision = Precision { factor: 2.0, error: 0.1 };
/// Responses within this time are not tested against latency limits, in seconds: the queue is empty when a load begins.
const WARM_SEC: f64 = 1.0;
/// The limit for the time in a queue if there is no latency limit, in seconds.
const QUEUE_SEC: f64 = 1.0;
/// The limit of this percentile or a higher one also bounds mean latency, since at most one response in a hundred may be late.
const TAIL_PERCENT: f64 = 99.0;
/// A queue breaks the conditions once it has lasted for this many times the latency limit, within these bounds in seconds: a burst is
/// shorter.
const BURST_LIMITS: f64 = 10.0;
const MIN_BURST_SEC: f64 = 0.5;
const MAX_BURST_SEC: f64 = 3.0;
/// At a slow service, the number of requests under way varies by chance over the time that one of them takes. There a queue must last for
/// at least this many times the limit.
const SLOW_BURST_LIMITS: f64 = 3.0;

/// Judges one rate from the frames of its step; workers may deliver theirs in any order.
///
/// Sequential tests ([`plimsoll_stats::sequential`]) decide whether too many responses are late, or too many requests fail. Little's
/// law gives the limit of the queue: at a mean latency of L, λ·L requests are under way. Where L is the limit of p99 or a higher
/// percentile, more than that is a queue. Below p99, a share q of all requests may be late, and all of these may still be under way:
/// the limit after t seconds is λ·(L + q·t).
#[derive(Debug)]
pub struct Judge {
    slo: Slo,
    rate_per_sec: f64,
    tolerance: f64,
    workers: usize,
    /// The shortest time for which the rate must hold, in seconds.
    held_sec: f64,
    /// The last interval of each worker.
    last: BTreeMap<u32, u32>,
    intervals: BTreeMap<u32, Interval>,
    /// The number of intervals that were judged.
    judged: usize,
    /// Requests of all workers that ended after the load.
    drained: Interval,
    outcome: Option<TrialOutcome>,
    /// The latencies of one frame. Reused, since a histogram is large.
    times: Histogram,
}

/// The counts of one interval, over all workers.
#[derive(Debug, Clone, Default)]
struct Interval {
    span_sec: f64,
    /// For each latency limit, the responses that exceed it.
    late: Vec<Tally>,
    failed: Tally,
    /// Requests due but not answered at the end of the interval.
    under_way: u64,
}

/// The shortest time for which a rate must hold, in seconds. Of n random arrivals two standard deviations are 2/√n: until that is
/// within the tolerance, the arrivals may be fewer than the mean. No response can be late before the longest limit has passed. The
/// queue of a slow service is judged once it has settled.
pub(super) fn held_sec(slo: &Slo, rate_per_sec: f64, tolerance: f64) -> f64 {
    let longest_sec = slo.latency.iter().map(|limit| limit.limit_ms / 1e3).fold(0.0, f64::max);
    let usual_sec =
        ((2.0 / tolerance).powi(2) / rate_per_sec).max(longest_sec).clamp(MIN_HELD_SEC, MAX_HELD_SEC);
    let settling_sec = slo.settling_sec();
    if settling_sec > WARM_SEC { usual_sec.max(settling_sec + MIN_HELD_SEC) } else { usual_sec }
}

/// Whether a queue that grows on stays within the limits for [`HORIZON_SEC`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    Within,
    Beyond,
    Open,
}

impl Judge {
    /// Creates a judge of this rate, in requests per second, for a load by `workers` workers in a search of this tolerance.
    pub fn new(slo: Slo, rate_per_sec: f64, workers: usize, tolerance: f64) -> Self {
        Self {
            held_sec: held_sec(&slo, rate_per_sec, tolerance),
            slo,
            rate_per_sec,
            tolerance,
            workers,
            last: BTreeMap::new(),
            intervals: BTreeMap::new(),
            judged: 0,
            drained: Interval::default(),
            outcome: None,
            times: latency_histogram(),
        }
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// When its histogram cannot be read.
    pub fn add(&mut self, frame: &Frame) -> Result<(), CorruptHistogram> {
        let head = &frame.head;
        self.times.reset();
        frame.latency.add_to(&mut self.times)?;
        let interval = match head.phase {
            Phase::Measure => self.intervals.entry(head.interval).or_default(),
            Phase::Drain => &mut self.drained,
        };
        let failed_counts = &head.counts.failed;
        // The outcome of requests that were under way when the run ended is not known.
        let unknown = failed_counts.of(FailureKind::Unanswered);
        let ended = head.counts.ended().saturating_sub(unknown);
        let failed = ended.saturating_sub(head.counts.ok);
        interval.failed = interval.failed + Tally { trials: ended, hits: failed, near: failed };
        interval.late.resize(self.slo.latency.len(), Tally::default());
        for (tally, limit) in interval.late.iter_mut().zip(&self.slo.latency) {
            *tally = *tally + late(&self.times, limit.limit_ms);
        }
        if head.of_worker() && head.phase == Phase::Measure {
            interval.span_sec = interval.span_sec.max(head.span_sec());
            interval.under_way += head.in_flight + head.backlog;
            self.last.insert(head.worker, head.interval);
        }
        Ok(())
    }

    /// The outcome, once it is known. It is final, and does not depend on when frames are added: an interval counts once every worker
    /// has finished it.
    pub fn outcome(&mut self) -> Option<TrialOutcome> {
        let all = self.last.len() >= self.workers;
        let whole = self.last.values().min().copied().filter(|_| all).unwrap_or_default();
        let known: Vec<Interval> =
            self.intervals.range(..whole).map(|(_, interval)| interval.clone()).collect();
        while self.outcome.is_none() && self.judged < known.len() {
            self.judged += 1;
            self.outcome = self.outcome_of(&known[..self.judged], FINE);
        }
        self.outcome
    }

    /// The outcome over all of the load, with the requests that ended after it.
    pub fn last_outcome(&mut self) -> Option<TrialOutcome> {
        let known = self.outcome();
        let all: Vec<Interval> = self.intervals.values().cloned().collect();
        let outcome = known.or_else(|| self.outcome_of(&all, COARSE))?;
        Some(if outcome == TrialOutcome::Held { self.drained_outcome(&all) } else { outcome })
    }

    /// The outcome of a rate that held during its load, with the requests that ended after it: some may have been under way all the time.
    fn drained_outcome(&self, intervals: &[Interval]) -> TrialOutcome {
        let all = |counted: &[Interval], of: &dyn Fn(&Interval) -> Option<Tally>| {
            counted.iter().chain([&self.drained]).filter_map(of).fold(Tally::default(), Tally::add)
        };
        let late = |(which, limit): (usize, &LatencyLimit)| {
            let tally = all(counted(intervals, limit), &|interval| interval.late.get(which).copied());
            with_drain(tally, limit.late_ratio(), Breach::Latency(*limit))
        };
        let failed = |required| {
            with_drain(all(intervals, &|interval| Some(interval.failed)), 1.0 - required, Breach::Success)
        };
        let outcomes =
            self.slo.latency.iter().enumerate().map(late).chain(self.slo.success_ratio.map(failed));
        let weight = |outcome: &TrialOutcome| match outcome {
            TrialOutcome::Broken(_) => 2,
            TrialOutcome::Close => 1,
            TrialOutcome::Held | TrialOutcome::GeneratorLimited => 0,
        };
        outcomes.max_by_key(weight).unwrap_or(TrialOutcome::Held)
    }

    fn outcome_of(&self, intervals: &[Interval], precision: Precision) -> Option<TrialOutcome> {
        let span_sec = total_sec(intervals);
        if span_sec < MIN_SEC {
            return None;
        }
        // Until answers may be late, all due requests are under way without being a queue.
        let growth = self.growth(after(intervals, self.slo.settling_sec()), precision == FINE);
        if self.is_queue(intervals) || growth == Growth::Beyond {
            return Some(TrialOutcome::Broken(Breach::Queue));
        }
        let failed = self.failed_side(intervals, precision);
        let mut sides = Vec::with_capacity(self.slo.latency.len() + 1);
        for (which, limit) in self.slo.latency.iter().enumerate() {
            let late = late_side(counted(intervals, limit), which, limit, precision);
            if late == Some(Side::Above) {
                return Some(TrialOutcome::Broken(Breach::Latency(*limit)));
            }
            sides.push(late);
        }
        if failed == Some(Side::Above) {
            return Some(TrialOutcome::Broken(Breach::Success));
        }
        sides.push(failed);
        let is_below = sides.iter().all(|side| *side == Some(Side::Below));
        (is_below && span_sec >= self.held_sec && growth == Growth::Within).then_some(TrialOutcome::Held)
    }

    /// Without any failure, success holds, however few requests there were.
    fn failed_side(&self, intervals: &[Interval], precision: Precision) -> Option<Side> {
        let tallies: Vec<Tally> = intervals.iter().map(|interval| interval.failed).collect();
        let none = tallies.iter().all(|tally| tally.hits == 0);
        let Some(required) = self.slo.success_ratio.filter(|_| !none) else { return Some(Side::Below) };
        if required >= 1.0 { Some(Side::Above) } else { side(&tallies, 1.0 - required, precision) }
    }

    /// The requests that fall due within this time, at least one. With more of them under way, mean latency is above it.
    fn due_within(&self, limit_ms: Option<f64>) -> f64 {
        let limit_sec = limit_ms.map_or(QUEUE_SEC, |ms| ms / 1e3);
        (self.rate_per_sec * limit_sec).max(1.0)
    }

    /// The most requests that may be under way after this time, in seconds, if the limit of the highest percentile is kept.
    fn most_under_way(&self, after_sec: f64) -> f64 {
        let highest = self.slo.highest_limit();
        let within = self.due_within(highest.map(|limit| limit.limit_ms));
        let below_tail = highest.filter(|limit| limit.percent < TAIL_PERCENT);
        let late_ratio = below_tail.map_or(0.0, |limit| limit.late_ratio());
        within + late_ratio * self.rate_per_sec * after_sec
    }

    /// Judges how far the queue grows within [`HORIZON_SEC`]. A rate slightly above capacity breaks nothing at first.
    ///
    /// `Within`: it stays within the limits at the upper end of the 95 % interval of its growth, which is at most half of the tolerance of
    /// the rate. Without more time (not `fine`) it may leave them, if growth of 0 is in the interval. `Beyond`: it exceeds the limits at
    /// the lower end of the interval, and has grown by more than random arrivals explain: of n arrivals, three standard deviations are 3√n.
    fn growth(&self, intervals: &[Interval], fine: bool) -> Growth {
        let means = queue(intervals);
        let Some(line) = line::fit(&means) else { return Growth::Open };
        let half = line.slope_half.max(half_of_steps(&means));
        let (slowest, fastest) = (line.slope - half, line.slope + half);
        let least = self.due_within(self.slo.shortest_limit_ms());
        let most = self.most_under_way(HORIZON_SEC);
        let span_sec = total_sec(intervals);
        let tolerance = self.tolerance.max(2.0 / (self.rate_per_sec * span_sec).sqrt());
        let by_chance = 3.0 * (self.rate_per_sec * span_sec).sqrt();
        let is_slow = fastest <= tolerance / 2.0 * self.rate_per_sec;
        let stays = fastest * HORIZON_SEC <= least || (!fine && slowest <= 0.0);
        let is_real = span_sec >= MIN_HELD_SEC && line.slope * span_sec > by_chance;
        match () {
            () if is_slow && stays => Growth::Within,
            () if is_real && slowest * HORIZON_SEC > most => Growth::Beyond,
            () => Growth::Open,
        }
    }

    /// True if more requests are under way than the latency limit allows, for longer than a burst takes.
    fn is_queue(&self, intervals: &[Interval]) -> bool {
        let limit_sec = self.slo.highest_limit().map_or(QUEUE_SEC, |limit| limit.limit_ms / 1e3);
        let most = self.most_under_way(total_sec(intervals));
        let usual_sec = (BURST_LIMITS * limit_sec).clamp(MIN_BURST_SEC, MAX_BURST_SEC);
        let burst_sec = usual_sec.max(SLOW_BURST_LIMITS * limit_sec);
        let beyond = intervals.iter().rev().take_while(|interval| interval.under_way as f64 > most);
        beyond.map(|interval| interval.span_sec).sum::<f64>() >= burst_sec
    }
}

/// The side of its allowed share on which the responses above this limit are; where none may be late, one decides.
fn late_side(
    intervals: &[Interval],
    which: usize,
    limit: &LatencyLimit,
    precision: Precision,
) -> Option<Side> {
    let tallies: Vec<Tally> =
        intervals.iter().filter_map(|interval| interval.late.get(which).copied()).collect();
    if limit.late_ratio() > 0.0 {
        return side(&tallies, limit.late_ratio(), precision);
    }
    Some(if tallies.iter().any(|tally| tally.hits > 0) { Side::Above } else { Side::Below })
}

/// The outcome for a share of hits that includes the drain, at a rate that held without it.
fn with_drain(tally: Tally, allowed: f64, breach: Breach) -> TrialOutcome {
    match side_of_independent(tally, allowed, COARSE) {
        _ if tally.hits == 0 => TrialOutcome::Held,
        _ if allowed <= 0.0 => TrialOutcome::Broken(breach),
        Some(Side::Above) => TrialOutcome::Broken(breach),
        _ if tally.hits as f64 > allowed * tally.trials as f64 => TrialOutcome::Close,
        _ => TrialOutcome::Held,
    }
}

/// The intervals whose responses count for this limit: all for a limit of the longest time, which holds in the first second too; else
/// those after [`WARM_SEC`].
fn counted<'a>(intervals: &'a [Interval], limit: &LatencyLimit) -> &'a [Interval] {
    if limit.late_ratio() > 0.0 { after(intervals, WARM_SEC) } else { intervals }
}

/// The intervals after the first `first_sec` seconds.
fn after(intervals: &[Interval], first_sec: f64) -> &[Interval] {
    let ends = intervals.iter().scan(0.0, |sec, interval| {
        *sec += interval.span_sec;
        Some(*sec)
    });
    &intervals[ends.take_while(|sec| *sec <= first_sec).count()..]
}

fn total_sec(intervals: &[Interval]) -> f64 {
    intervals.iter().map(|interval| interval.span_sec).sum()
}

/// Half of the 95 % interval of the growth per second, from the steps between batches. A random walk moves farther from its start with
/// time, which the scatter about a line does not show.
fn half_of_steps(means: &[(f64, f64)]) -> f64 {
    let steps: Vec<f64> =
        means.windows(2).map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)).collect();
    let count = steps.len() as f64;
    t_quantile(count - 1.0) * (variance(&steps) / count).sqrt()
}

/// Counts the responses that took longer than the limit (`hits`), and those that took longer than half of it (`near`).
fn late(times: &Histogram, limit_ms: f64) -> Tally {
    let longer_than = |ms: f64| times.len() - times.count_between(0, (ms * 1e6) as u64).min(times.len());
    Tally { trials: times.len(), hits: longer_than(limit_ms), near: longer_than(limit_ms / 2.0) }
}

/// The requests under way over time, in seconds since the load began, as means of batches.
fn queue(intervals: &[Interval]) -> Vec<(f64, f64)> {
    let mut ended_sec = 0.0;
    let at_ends: Vec<(f64, f64)> = intervals
        .iter()
        .map(|interval| {
            ended_sec += interval.span_sec;
            (ended_sec, interval.under_way as f64)
        })
        .collect();
    let mean = |batch: &[(f64, f64)]| {
        let sum = batch.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / batch.len() as f64, sum.1 / batch.len() as f64)
    };
    split(&at_ends, BATCHES).map(mean).collect()
}

#[cfg(test)]
mod tests;
