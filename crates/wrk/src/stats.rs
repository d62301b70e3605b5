//! The figures that wrk prints, from what Plimsoll measured.

mod distribution;

use std::time::Duration;

use plimsoll_record::{FailureCounts, FailureKind, FailurePhase, Histogram};

pub use distribution::Distribution;

/// What one run measured, over all threads.
#[derive(Debug, Clone)]
pub struct Measured {
    /// From the start of the load to its end, in microseconds.
    pub runtime_us: u64,
    /// Complete responses of whatever status.
    pub requests: u64,
    /// Bytes received, heads included.
    pub bytes: u64,
    pub errors: SocketErrors,
    /// Responses with a status above 399.
    pub bad_statuses: u64,
    /// Every latency (done − intended) in nanoseconds; a request that failed counts with its age.
    pub latency: Histogram,
    /// Every service time (done − sent) in nanoseconds, if the options ask for it; wrk2 calls it uncorrected latency.
    pub service_time: Histogram,
    /// The samples of each thread's [`RateSampler`], in requests per second.
    pub rates: Vec<u64>,
}

impl Measured {
    /// Returns the latencies in whole microseconds, as in wrk.
    pub fn latency_us(&self) -> Distribution {
        Distribution::from_histogram_ns(&self.latency)
    }

    /// Returns the rates of the threads, in requests per second.
    pub fn rates_per_sec(&self) -> Distribution {
        self.rates.iter().copied().collect()
    }

    /// Complete responses per second of runtime.
    pub fn requests_per_sec(&self) -> f64 {
        self.requests as f64 / self.runtime_s()
    }

    /// Received bytes per second of runtime.
    pub fn bytes_per_sec(&self) -> f64 {
        self.bytes as f64 / self.runtime_s()
    }

    fn runtime_s(&self) -> f64 {
        self.runtime_us as f64 / 1e6
    }
}

/// wrk's counters of socket errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// Connections that could not be made.
    pub connect: u64,
    /// Connections and responses that broke.
    pub read: u64,
    /// Requests that could not be sent.
    pub write: u64,
    /// Requests without a complete response in time.
    pub timeout: u64,
}

impl SocketErrors {
    /// Sorts failures into wrk's counters. The phase decides, except for three kinds.
    ///
    /// A request that was due and never sent, since no connection was free, is in none of them: no socket failed. It shows
    /// in the latencies, and as a lower rate than requested.
    pub fn from_failures(failures: &FailureCounts) -> Self {
        let mut errors = Self::default();
        for (kind, count) in failures.iter() {
            let counter = match (kind, kind.row().phase) {
                (FailureKind::Unsent, _) => continue,
                (FailureKind::TimedOut | FailureKind::Unanswered, _) => &mut errors.timeout,
                (_, FailurePhase::Resolve | FailurePhase::Connect | FailurePhase::Handshake) => {
                    &mut errors.connect
                }
                (_, FailurePhase::Send) => &mut errors.write,
                (_, FailurePhase::FirstByte | FailurePhase::Read) => &mut errors.read,
            };
            *counter += count;
        }
        errors
    }

    /// Returns true if there was no error.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Converts the response counts of one thread's intervals into wrk's samples of its rate.
///
/// wrk samples every 100 ms. An interval without a response gives no sample; it lengthens the next.
#[derive(Debug, Clone, Default)]
pub struct RateSampler {
    elapsed: Duration,
}

impl RateSampler {
    /// wrk's sampling interval.
    pub const INTERVAL: Duration = Duration::from_millis(100);

    /// Adds one interval with its number of responses; returns its sample in whole requests per second, if it gives one.
    pub fn observe(&mut self, responses: u64, interval: Duration) -> Option<u64> {
        self.elapsed += interval;
        if responses == 0 {
            return None;
        }
        let elapsed_s = std::mem::take(&mut self.elapsed).as_secs_f64();
        (elapsed_s > 0.0).then(|| (responses as f64 / elapsed_s) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::FAILURES;

    #[test]
    fn an_interval_without_responses_lengthens_the_next() {
        let mut sampler = RateSampler::default();
        let samples = [50, 0, 0, 30, 7].map(|responses| sampler.observe(responses, RateSampler::INTERVAL));
        assert_eq!(samples, [Some(500), None, None, Some(100), Some(70)]);
    }

    #[test]
    fn failures_are_summed_in_the_counter_where_a_user_of_wrk_looks() {
        let mut failures = FailureCounts::default();
        for (kind, count) in [
            (FailureKind::ConnectRefused, 1),
            (FailureKind::NoPortsLeft, 2),
            (FailureKind::SendReset, 4),
            (FailureKind::ClosedBeforeResponse, 8),
            (FailureKind::MalformedHead, 16),
            (FailureKind::TimedOut, 32),
            (FailureKind::Unanswered, 64),
            (FailureKind::Unsent, 128),
        ] {
            failures.add(kind, count);
        }
        let errors = SocketErrors::from_failures(&failures);
        assert_eq!(errors, SocketErrors { connect: 3, read: 24, write: 4, timeout: 96 });
        assert!(SocketErrors::from_failures(&FailureCounts::default()).is_empty());
    }

    #[test]
    fn the_manual_has_the_same_table() {
        let manual = include_str!("../../../docs/wrk.md");
        for row in FAILURES {
            let mut failures = FailureCounts::default();
            failures.add(row.kind, 1);
            let SocketErrors { connect, read, write, timeout } = SocketErrors::from_failures(&failures);
            let counter = match [connect, read, write, timeout] {
                [1, 0, 0, 0] => "connect",
                [0, 1, 0, 0] => "read",
                [0, 0, 1, 0] => "write",
                [0, 0, 0, 1] => "timeout",
                _ => "–",
            };
            let line = format!("| `{}` | {counter} |", row.name);
            assert!(manual.contains(&line), "docs/wrk.md should hold: {line}");
        }
    }
}
