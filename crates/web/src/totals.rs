//! The counts of a run so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_analyze::{RecentUse, Resource};
use plimsoll_conductor::{Progress, StepPlan};
use plimsoll_record::{Counts, Frame, Histogram, Manifest, latency_histogram};
use plimsoll_units::{Clock, Instant, RealClock};

/// The upper bounds of the latency buckets, in nanoseconds; one more bucket holds everything longer.
pub(crate) const BOUNDS_NS: [u64; 16] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// The counts of a running load so far, shared by all exporters.
#[derive(Debug, Clone, Default)]
pub struct LiveTotals(Arc<Mutex<Totals>>);

impl LiveTotals {
    /// Updates the totals with progress of the run.
    pub fn observe(&self, progress: &Progress<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).observe(progress, RealClock.now());
    }

    /// Returns what `read` copies from the totals, which stay locked meanwhile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Totals) -> T) -> T {
        read(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The counts and gauges of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The machine that makes the load.
    pub(crate) hostname: String,
    /// When the run began, in nanoseconds since 1970; `None` before the run is prepared.
    pub(crate) began_unix_ns: Option<u64>,
    pub(crate) counts: Counts,
    /// Requests that ended, by latency bucket.
    pub(crate) latency: [u64; BOUNDS_NS.len() + 1],
    /// The sum of the latencies of these requests, in seconds.
    pub(crate) latency_sum_sec: f64,
    /// The current step; `None` before the first.
    pub(crate) step: Option<CurrentStep>,
    /// The gauges of each worker, from its last frame.
    pub(crate) workers: BTreeMap<u32, Gauges>,
    /// The recent use of host resources.
    pub(crate) resources: Vec<Resource>,
    use_of_hosts: Option<RecentUse>,
    /// The latencies of one frame. The histogram is large, so it is reused.
    times: Option<Histogram>,
}

/// A step and the state of its load.
#[derive(Debug)]
pub(crate) struct CurrentStep {
    pub(crate) plan: StepPlan,
    /// When its load began.
    began: Instant,
    is_under_load: bool,
}

impl CurrentStep {
    /// The rate that is offered now, in requests per second; `None` for a closed loop.
    pub(crate) fn offered_per_sec(&self, now: Instant) -> Option<f64> {
        let rate = self.plan.rate_at(now.since(self.began))?;
        Some(if self.is_under_load { rate } else { 0.0 })
    }
}

/// The gauges of one worker.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub(crate) in_flight: u64,
    pub(crate) backlog: u64,
    pub(crate) connections: u64,
}

impl Totals {
    pub(crate) fn observe(&mut self, progress: &Progress<'_>, now: Instant) {
        match progress {
            Progress::Prepared(manifest) => self.prepared(manifest),
            Progress::StepBegan { step, .. } => {
                self.step = Some(CurrentStep { plan: (*step).clone(), began: now, is_under_load: true });
                self.workers.clear();
            }
            Progress::Moment(moment) => {
                // The load of a fleet begins some time after its step is shown.
                if let Some(step) = &mut self.step {
                    step.began = now - moment.elapsed;
                }
            }
            Progress::Draining | Progress::StepEnded { .. } => {
                if let Some(step) = &mut self.step {
                    step.is_under_load = false;
                }
            }
            Progress::Framed(frame) => self.frame(frame),
            Progress::Sampled(sample) => {
                let found = self.use_of_hosts.as_mut().and_then(|recent| recent.add(sample));
                self.resources = found.unwrap_or_else(|| std::mem::take(&mut self.resources));
            }
            _ => {}
        }
    }

    fn prepared(&mut self, manifest: &Manifest) {
        self.name.clone_from(&manifest.name);
        self.version.clone_from(&manifest.tool_version);
        self.hostname.clone_from(&manifest.machine.hostname);
        self.began_unix_ns = Some(manifest.started_unix_ms.saturating_mul(1_000_000));
        self.use_of_hosts = Some(RecentUse::new(manifest.clone()));
    }

    fn frame(&mut self, frame: &Frame) {
        let head = &frame.head;
        self.counts.merge(&head.counts);
        if head.of_worker() {
            let gauges =
                Gauges { in_flight: head.in_flight, backlog: head.backlog, connections: head.connections };
            self.workers.insert(head.worker, gauges);
        }
        let times = self.times.get_or_insert_with(latency_histogram);
        times.reset();
        // A histogram that cannot be decoded is reported when the run is analysed.
        if frame.latency.add_to(times).is_err() {
            return;
        }
        for value in times.iter_recorded() {
            let (ns, count) = (value.value_iterated_to(), value.count_at_value());
            self.latency[BOUNDS_NS.partition_point(|bound| *bound < ns)] += count;
            self.latency_sum_sec += ns as f64 / 1e9 * count as f64;
        }
    }

    /// Sums one gauge over all workers.
    pub(crate) fn sum(&self, of: impl Fn(&Gauges) -> u64) -> u64 {
        self.workers.values().map(of).sum()
    }
}
