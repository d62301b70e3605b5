//! Calibration: the maximum load that the generator can produce on one machine, measured against a server that does nothing.

use serde::{Deserialize, Serialize};

/// The generator keeps up with a rate up to this send lag at the 99th percentile, in nanoseconds.
const MAX_SEND_LAG_NS: u64 = 1_000_000;
/// The generator keeps up with a rate from this ratio of requests answered in time on.
const MIN_ANSWERED_RATIO: f64 = 0.99;
/// A worker that used this ratio of a core limited its level.
const BUSY_RATIO: f64 = 0.90;

/// The machine, version and driver for which a calibration is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationKey {
    pub hostname: String,
    pub kernel: String,
    pub cpu_model: String,
    /// The number of cores that the generator could run on.
    pub cores: u32,
    pub tool_version: String,
    /// `epoll` or `io_uring`.
    pub driver: String,
}

/// The result of one level of a closed loop. Connections, requests and times are sums over the workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibratedLevel {
    pub workers: u32,
    pub connections: u32,
    pub completed: u64,
    /// The duration of the level in nanoseconds, as the mean over the workers.
    pub span_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time that workers were ready and had no CPU, in nanoseconds.
    pub starved_ns: u64,
}

/// The result of one rate of an open loop with one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibratedRate {
    pub rate_per_sec: u64,
    /// Requests that became due.
    pub intended: u64,
    /// Requests completed while the load was on.
    pub completed: u64,
    pub send_lag_p50_ns: u64,
    pub send_lag_p99_ns: u64,
}

/// The cores that the threads of a measurement were bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinning {
    pub worker_core: u32,
    /// The core of the server; the same on a machine with one core.
    pub server_core: u32,
}

/// One calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    pub key: CalibrationKey,
    /// The time of the measurement, in milliseconds since 1970-01-01 UTC.
    pub measured_unix_ms: u64,
    /// The cores of one worker and its server; `None` if the system refused to bind them. Several workers are never bound.
    pub pinning: Option<Pinning>,
    pub closed: Vec<CalibratedLevel>,
    /// An open loop at a tenth of the rate that one worker reached in a closed loop.
    pub tenth: Option<CalibratedRate>,
    /// The open loops that searched for the highest rate, in order.
    pub rates: Vec<CalibratedRate>,
}

impl CalibratedLevel {
    /// Returns the requests per second of all workers together.
    pub fn per_sec(&self) -> f64 {
        per_sec(self.completed, self.span_ns)
    }

    /// Returns the requests per second of one worker.
    pub fn per_worker_per_sec(&self) -> f64 {
        self.per_sec() / f64::from(self.workers.max(1))
    }

    /// Returns CPU time divided by elapsed time, as the mean over the workers, 0 to 1.
    pub fn busy_ratio(&self) -> f64 {
        self.ratio_of(self.user_ns + self.system_ns)
    }

    /// Returns the time ready to run without a CPU divided by elapsed time, as the mean over the workers, 0 to 1.
    pub fn starved_ratio(&self) -> f64 {
        self.ratio_of(self.starved_ns)
    }

    /// Whether the workers used all their CPU time and so cannot do more.
    pub fn worker_was_limit(&self) -> bool {
        self.busy_ratio() >= BUSY_RATIO
    }

    fn ratio_of(&self, part_ns: u64) -> f64 {
        let all_ns = self.span_ns as f64 * f64::from(self.workers.max(1));
        if all_ns > 0.0 { part_ns as f64 / all_ns } else { 0.0 }
    }
}

fn per_sec(count: u64, span_ns: u64) -> f64 {
    if span_ns == 0 { 0.0 } else { count as f64 * 1e9 / span_ns as f64 }
}

impl CalibratedRate {
    /// Whether requests were sent on time and answered: send lag p99 ≤ 1 ms and ≥ 99 % answered.
    pub fn kept_up(&self) -> bool {
        self.send_lag_p99_ns <= MAX_SEND_LAG_NS
            && self.intended > 0
            && self.completed as f64 >= MIN_ANSWERED_RATIO * self.intended as f64
    }
}

impl Calibration {
    /// Returns the level at which a single worker made the most requests per second.
    pub fn ceiling(&self) -> Option<&CalibratedLevel> {
        let alone = self.closed.iter().filter(|level| level.workers == 1);
        alone.max_by(|a, b| a.per_sec().total_cmp(&b.per_sec()))
    }

    /// Returns the highest number of requests per second that one worker can make; `None` unless the worker limited the calibration.
    pub fn known_ceiling_per_sec(&self) -> Option<u64> {
        let ceiling = self.ceiling().filter(|level| level.worker_was_limit())?;
        Some(ceiling.per_sec().round() as u64).filter(|per_sec| *per_sec > 0)
    }

    /// Returns the highest rate, in requests per second, such that the worker kept up with it and with every lower rate that was tried.
    pub fn open_ceiling_per_sec(&self) -> Option<u64> {
        let tried = || self.rates.iter().chain(&self.tenth);
        let missed = tried().filter(|rate| !rate.kept_up()).map(|rate| rate.rate_per_sec);
        let lowest_missed = missed.min().unwrap_or(u64::MAX);
        let kept = tried().filter(|rate| rate.kept_up() && rate.rate_per_sec < lowest_missed);
        kept.map(|rate| rate.rate_per_sec).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(workers: u32, completed: u64, busy_ns: u64) -> CalibratedLevel {
        let (span_ns, starved_ns) = (2_000_000_000, 100_000_000);
        let (user_ns, system_ns) = (busy_ns / 4, busy_ns - busy_ns / 4);
        CalibratedLevel { workers, connections: 100, completed, span_ns, user_ns, system_ns, starved_ns }
    }

    fn rate(rate_per_sec: u64, send_lag_p99_ns: u64) -> CalibratedRate {
        let (intended, completed) = (rate_per_sec, rate_per_sec);
        CalibratedRate { rate_per_sec, intended, completed, send_lag_p50_ns: 1, send_lag_p99_ns }
    }

    fn calibration(closed: Vec<CalibratedLevel>, rates: Vec<CalibratedRate>) -> Calibration {
        let key = CalibrationKey {
            hostname: "here".to_owned(),
            kernel: "Linux".to_owned(),
            cpu_model: "any".to_owned(),
            cores: 2,
            tool_version: "0".to_owned(),
            driver: "epoll".to_owned(),
        };
        Calibration { key, measured_unix_ms: 0, pinning: None, closed, tenth: None, rates }
    }

    #[test]
    fn the_ceiling_is_that_of_one_worker() {
        let made = calibration(
            vec![
                level(1, 100_000, 1_000_000_000),
                level(1, 300_000, 1_900_000_000),
                level(2, 500_000, 3_900_000_000),
            ],
            Vec::new(),
        );
        let ceiling = made.ceiling().unwrap();
        assert_eq!((ceiling.per_sec(), ceiling.busy_ratio()), (150_000.0, 0.95));
        assert!(ceiling.worker_was_limit() && !made.closed[0].worker_was_limit());
        assert_eq!(made.known_ceiling_per_sec(), Some(150_000));
        let idle = calibration(vec![level(1, 300_000, 1_000_000_000)], Vec::new());
        assert_eq!(idle.known_ceiling_per_sec(), None, "the worker could have done more");
        assert_eq!(made.closed[2].per_worker_per_sec(), 125_000.0);
        assert_eq!(made.closed[2].starved_ratio(), 0.025);
    }

    #[test]
    fn a_rate_above_one_that_was_missed_is_no_ceiling() {
        let rates = vec![rate(1000, 10), rate(4000, 2_000_000), rate(5000, 20), rate(2000, 900_000)];
        assert_eq!(calibration(Vec::new(), rates).open_ceiling_per_sec(), Some(2000));
        assert_eq!(calibration(Vec::new(), vec![rate(9, 2_000_000)]).open_ceiling_per_sec(), None);
        let unanswered = CalibratedRate { completed: 980, ..rate(1000, 10) };
        assert!(!unanswered.kept_up());
    }

    #[test]
    fn a_calibration_is_read_as_it_was_written() {
        let made = calibration(vec![level(1, 7, 9)], vec![rate(12_345, 3)]);
        let text = serde_json::to_string(&made).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), made);
    }
}
