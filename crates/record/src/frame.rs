//! Frames: the counts and histograms of one worker for one interval.

use serde::{Deserialize, Serialize};

use crate::{Counts, EncodedHistogram, Trace};

/// The worker's activity during a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The step's load was on.
    Measure,
    /// No new requests became due; the worker waited for those in flight.
    Drain,
}

/// The CPU time of a worker's thread during one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerTime {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time that the thread was ready to run but had no CPU, in nanoseconds.
    pub starved_ns: u64,
    /// Time that the thread should have run and did not, in nanoseconds: the process was stopped, or the machine suspended. Only gaps of
    /// a tenth of a second or more count.
    pub stalled_ns: u64,
}

/// All data of a frame except its histograms.
///
/// At the end of an interval, a worker hands over one frame for each request of the plan. The frame of the first request always
/// exists. It also carries the data of the worker as a whole: `in_flight`, `backlog`, `connections` and `time`, and the counts
/// `reconnects`, `connects`, `handshakes` and `resumed`. These are zero in the frames of the other requests, and such a frame is left
/// out if nothing was counted. All frames of one worker and interval have the same beginning and end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameHead {
    pub step: u32,
    pub worker: u32,
    /// Index of the request in the plan.
    pub request: u16,
    /// Number of the interval within the step, from 0. The same number means the same time for all workers.
    pub interval: u32,
    pub phase: Phase,
    /// Beginning and end, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub counts: Counts,
    /// Requests sent but not yet answered at the end of the frame.
    pub in_flight: u64,
    /// Requests that were due but not yet sent at the end of the frame.
    pub backlog: u64,
    /// Open connections at the end of the frame.
    pub connections: u64,
    pub time: WorkerTime,
}

impl FrameHead {
    /// Whether this frame carries the data of the worker as a whole.
    pub fn of_worker(&self) -> bool {
        self.request == 0
    }

    /// Returns the length of the frame in seconds.
    pub fn span_sec(&self) -> f64 {
        self.ended_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }
}

/// A complete frame, with its histograms in the form in which they are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub head: FrameHead,
    /// done − intended of every request that ended, in nanoseconds.
    pub latency: EncodedHistogram,
    /// The part of `latency` that belongs to requests without success: they failed, or their response is not [`Counts::ok`]. The other
    /// values of `latency` are those of successful responses.
    #[serde(default)]
    pub unsuccessful: EncodedHistogram,
    /// done − sent of every request that ended after it was sent, in nanoseconds. `None` if all these times equal the latencies, as in a
    /// closed loop whose connections stay open.
    pub service: Option<EncodedHistogram>,
    /// The delay that the generator itself caused, in nanoseconds. In an open loop: sent − intended if a connection was free. In a closed
    /// loop: from the wake-up that delivered the response to the next send. For all requests together, in the frame of the worker.
    pub send_lag: EncodedHistogram,
    /// Time from opening a connection until it was ready for its first request, including a TLS handshake, in nanoseconds. In the frame
    /// of the worker.
    pub connect: EncodedHistogram,
    /// The part of `connect` that the TLS handshake took, in nanoseconds. In the frame of the worker.
    pub handshake: EncodedHistogram,
    /// Requests of a worker with a trace id that were among the slowest of the step when they ended, and the first one of the step
    /// without success. In the frame of the worker.
    #[serde(default)]
    pub traces: Vec<Trace>,
}

impl Frame {
    /// Returns done − sent of every request that ended after it was sent, in nanoseconds.
    pub fn service_times(&self) -> &EncodedHistogram {
        self.service.as_ref().unwrap_or(&self.latency)
    }
}
