//! What one worker hands over at the end of each interval.

use serde::{Deserialize, Serialize};

use crate::{Counts, EncodedHistogram, Trace};

/// What the worker was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The load of the step was on.
    Measure,
    /// No new request fell due; those in flight were waited for.
    Drain,
}

/// The CPU time of a worker's thread during one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerTime {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time the thread was ready to run and had no CPU, in nanoseconds.
    pub starved_ns: u64,
    /// Time the thread should have run and did not, in nanoseconds: the process was stopped or the machine suspended. Only
    /// gaps of a tenth of a second or more count.
    pub stalled_ns: u64,
}

/// Everything about a frame but its histograms.
///
/// A worker hands over one frame for each request of the plan at the end of an interval. That of the first
/// request is always there and also carries what belongs to the worker as a whole: `in_flight`, `backlog`,
/// `connections` and `time`, and among the counts `reconnects`, `connects`, `handshakes` and `resumed`. These
/// are zero in the frames of the other requests, which are left out where nothing was counted. All frames of one
/// worker and interval begin and end together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameHead {
    pub step: u32,
    pub worker: u32,
    /// Index of the request among those of the plan.
    pub request: u16,
    /// Number of the interval within the step, from 0; the same number in two workers means the same time.
    pub interval: u32,
    pub phase: Phase,
    /// In nanoseconds since the run began, as the end.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub counts: Counts,
    /// Requests sent and not answered when the frame ended.
    pub in_flight: u64,
    /// Requests due and not yet sent when the frame ended.
    pub backlog: u64,
    /// Open connections when the frame ended.
    pub connections: u64,
    pub time: WorkerTime,
}

impl FrameHead {
    /// True if this frame carries what belongs to the worker as a whole.
    pub fn of_worker(&self) -> bool {
        self.request == 0
    }

    /// The length of the frame in seconds.
    pub fn span_sec(&self) -> f64 {
        self.ended_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }
}

/// A sealed frame: the counts, and the histograms in the form they are stored in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub head: FrameHead,
    /// done − intended of every request that ended, in nanoseconds.
    pub latency: EncodedHistogram,
    /// The same of those that ended without success: they failed, or their response is not [`Counts::ok`]. What `latency` has
    /// besides are the times of successful responses.
    #[serde(default)]
    pub unsuccessful: EncodedHistogram,
    /// done − sent of every request that ended after it was sent, in nanoseconds; `None` where each of these
    /// times is the request's latency too, as in a closed loop whose connections stay open.
    pub service: Option<EncodedHistogram>,
    /// How long the generator itself held a request back: sent − intended where a connection was
    /// free (open loop), or from the wake-up that brought the response to the next send (closed loop), in
    /// nanoseconds. Of all requests together, in the worker's own frame.
    pub send_lag: EncodedHistogram,
    /// Time to open a connection until it was ready for its first request, a TLS handshake included, in
    /// nanoseconds. In the worker's own frame.
    pub connect: EncodedHistogram,
    /// The TLS handshake's part of it, in nanoseconds. In the worker's own frame.
    pub handshake: EncodedHistogram,
    /// Of the requests of a worker that carried a trace id, those that were among the slowest of the step when they ended, and
    /// the first of the step without success. In the worker's own frame.
    #[serde(default)]
    pub traces: Vec<Trace>,
}

impl Frame {
    /// done − sent of every request that ended after it was sent, in nanoseconds.
    pub fn service_times(&self) -> &EncodedHistogram {
        self.service.as_ref().unwrap_or(&self.latency)
    }
}
