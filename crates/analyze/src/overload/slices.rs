//! Goodput over time, from the frames of one step.

use std::collections::BTreeMap;

use plimsoll_plan::Slo;
use plimsoll_record::{CorruptHistogram, FailureCounts, Frame, Phase, latency_histogram};
use plimsoll_stats::Weighted;

/// The latency limit that defines goodput, in milliseconds.
pub(super) fn limit_ms(slo: &Slo) -> Option<f64> {
    slo.tail_limit().map(|limit| limit.limit_ms)
}

/// The share of good requests where the conditions are just kept, relative to that for a 99th percentile and a success ratio of 0.99: for
/// a median half may be late, and with a success ratio of 80 % a fifth may fail.
pub(super) fn usual_part(slo: &Slo) -> f64 {
    let part = |required: f64| (required / 0.99).min(1.0);
    let in_time = slo.tail_limit().map_or(1.0, |limit| part(1.0 - limit.late_ratio()));
    in_time * slo.success_ratio.map_or(1.0, part)
}

/// One interval of a step, summed over all workers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slice {
    /// In seconds since the step began, like `ended_sec`.
    pub(super) began_sec: f64,
    pub(super) ended_sec: f64,
    pub(super) due: u64,
    pub(super) ended: u64,
    pub(super) answered: u64,
    pub(super) ok: u64,
    /// Successful responses within the limit of latency.
    pub(super) good: u64,
    /// Requests that ended after the limit, successful or not.
    pub(super) beyond: u64,
    pub(super) failed: FailureCounts,
    pub(super) in_flight: u64,
    pub(super) backlog: u64,
}

impl Slice {
    pub(super) fn span_sec(&self) -> f64 {
        self.ended_sec - self.began_sec
    }

    pub(super) fn middle_sec(&self) -> f64 {
        (self.began_sec + self.ended_sec) / 2.0
    }
}

/// The goodput of a slice, weighted by its length.
impl Weighted for Slice {
    fn value(&self) -> f64 {
        self.good as f64 / self.span_sec()
    }

    fn weight(&self) -> f64 {
        self.span_sec()
    }
}

/// Collects the slices of a step from its frames, in any order and at any time.
#[derive(Debug)]
pub(super) struct Slices {
    limit_ns: Option<u64>,
    workers: usize,
    /// Begin of the first frame, in nanoseconds since the run began.
    began_ns: u64,
    /// Begin, end and counts by interval; times in nanoseconds since the run began.
    by_interval: BTreeMap<u32, (u64, u64, Slice)>,
    /// The last interval of each worker.
    last: BTreeMap<u32, u32>,
}

impl Slices {
    /// Without a limit of latency every success is good.
    pub(super) fn new(limit_ms: Option<f64>, workers: usize) -> Self {
        Self {
            limit_ns: limit_ms.map(|ms| (ms * 1e6) as u64),
            workers,
            began_ns: u64::MAX,
            by_interval: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }

    /// Adds a frame; frames after the load are ignored.
    ///
    /// # Errors
    /// When a histogram cannot be read.
    pub(super) fn add(&mut self, frame: &Frame) -> Result<(), CorruptHistogram> {
        let head = &frame.head;
        if head.phase != Phase::Measure || head.ended_ns <= head.began_ns {
            return Ok(());
        }
        let (good, beyond) = self.good_and_beyond(frame)?;
        let new = || (u64::MAX, 0, Slice::default());
        let (began_ns, ended_ns, slice) = self.by_interval.entry(head.interval).or_insert_with(new);
        *began_ns = head.began_ns.min(*began_ns);
        *ended_ns = head.ended_ns.max(*ended_ns);
        slice.due += head.counts.intended;
        slice.ended += head.counts.ended();
        slice.answered += head.counts.completed;
        slice.ok += head.counts.ok;
        slice.good += good;
        slice.beyond += beyond;
        slice.failed.merge(&head.counts.failed);
        slice.in_flight += head.in_flight;
        slice.backlog += head.backlog;
        self.began_ns = self.began_ns.min(head.began_ns);
        if head.of_worker() {
            self.last.insert(head.worker, head.interval);
        }
        Ok(())
    }

    /// Counts the successes of a frame within the limit, and all requests that ended after it. The latencies of successes are those of all
    /// requests minus those of unsuccessful ones.
    fn good_and_beyond(&self, frame: &Frame) -> Result<(u64, u64), CorruptHistogram> {
        let ok = frame.head.counts.ok;
        let Some(limit_ns) = self.limit_ns else { return Ok((ok, 0)) };
        let (mut all, mut unsuccessful) = (latency_histogram(), latency_histogram());
        frame.latency.add_to(&mut all)?;
        frame.unsuccessful.add_to(&mut unsuccessful)?;
        let within = all.count_between(0, limit_ns).min(all.len());
        let good = within.saturating_sub(unsuccessful.count_between(0, limit_ns).min(unsuccessful.len()));
        Ok((good.min(ok), all.len() - within))
    }

    /// The slices that every worker has finished.
    pub(super) fn whole(&self) -> Vec<Slice> {
        let all = self.last.len() >= self.workers;
        let end = self.last.values().min().copied().filter(|_| all).unwrap_or_default();
        self.up_to(end)
    }

    /// All slices, including those that some workers did not hand over.
    pub(super) fn all(&self) -> Vec<Slice> {
        self.up_to(u32::MAX)
    }

    fn up_to(&self, end: u32) -> Vec<Slice> {
        let since_sec = |ns: u64| ns.saturating_sub(self.began_ns) as f64 / 1e9;
        let slice = |(began_ns, ended_ns, slice): &(u64, u64, Slice)| Slice {
            began_sec: since_sec(*began_ns),
            ended_sec: since_sec(*ended_ns),
            ..*slice
        };
        self.by_interval.range(..end).map(|(_, found)| slice(found)).collect()
    }
}
