//! The figures that wrk prints, from what Plimsoll measured.

mod counter;
mod distribution;

pub use counter::{Counter, SocketErrors, counter_of};
pub use distribution::Distribution;

use std::time::Duration;

use plimsoll_record::Histogram;

/// What one run measured, over all threads.
#[derive(Debug, Clone)]
pub struct Measured {
    /// From the start of the load to its end, in microseconds.
    pub runtime_us: u64,
    /// Complete responses of whatever status.
    pub requests: u64,
    /// Bytes received, heads included.
    pub bytes: u64,
    /// What went wrong on sockets.
    pub errors: SocketErrors,
    /// Responses with a status above 399.
    pub bad_statuses: u64,
    /// Every latency (done − intended) in nanoseconds, requests that failed by their age included.
    pub latency: Histogram,
    /// Every service time (done − sent) in nanoseconds, if the options ask for it; wrk2 calls it uncorrected latency.
    pub service_time: Histogram,
    /// What the [`RateSampler`] of each thread saw, in requests a second.
    pub rates: Vec<u64>,
}

impl Measured {
    /// Latencies as wrk has them: whole microseconds.
    pub fn latency_us(&self) -> Distribution {
        Distribution::from_histogram_ns(&self.latency)
    }

    /// The rates of the threads, in requests a second.
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

/// Turns the counts of one thread's intervals into wrk's samples of its rate.
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

    #[test]
    fn an_interval_without_responses_lengthens_the_next() {
        let mut sampler = RateSampler::default();
        let samples = [50, 0, 0, 30, 7].map(|responses| sampler.observe(responses, RateSampler::INTERVAL));
        assert_eq!(samples, [Some(500), None, None, Some(100), Some(70)]);
    }
}
