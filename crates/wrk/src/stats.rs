//! The figures that wrk prints, from what Plimsoll measured.

mod counter;
mod distribution;
mod rate;

pub use counter::{Counter, SocketErrors, counter_of};
pub use distribution::Distribution;
pub use rate::RateSampler;

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
