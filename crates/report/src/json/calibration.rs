//! A calibration as one JSON document, schema `plimsoll/calibration/1`.

use plimsoll_record::{CalibratedLevel, CalibratedRate, Calibration};

use super::document::{document, each, ms};

document! {
    /// What a calibration measured, and what follows from it. Rates and throughputs are per second.
    #[schemars(title = "A calibration of the load generator")]
    pub struct CalibrationDocument(made: &Calibration) {
        /// Always `plimsoll/calibration/1`.
        schema: &'static str = "plimsoll/calibration/1",
        /// The calibration as it is stored.
        #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
        calibration: Calibration = made.clone(),
        /// The maximum throughput of one worker in a closed loop.
        ceiling_per_sec: Option<f64> = made.ceiling().map(CalibratedLevel::per_sec),
        /// True if the worker was the limit there, and not the server or other load on the machine.
        ceiling_known: bool = made.ceiling().is_some_and(CalibratedLevel::worker_was_limit),
        /// The highest rate that one worker kept up with in an open loop.
        open_ceiling_per_sec: Option<u64> = made.open_ceiling_per_sec(),
        /// The closed loops.
        levels: Vec<LevelDocument> = each(&made.closed, LevelDocument::new),
        /// The open loops, the one at a tenth of the ceiling first.
        rates: Vec<RateDocument> = each(made.tenth.iter().chain(&made.rates), RateDocument::new),
    }
}

document! {
    /// A closed loop. Ratios are means over the workers, 0 to 1.
    pub struct LevelDocument(level: &CalibratedLevel) {
        /// Worker threads.
        workers: u32 = level.workers,
        /// Connections over all workers.
        connections: u32 = level.connections,
        /// Requests per second of all workers.
        throughput_per_sec: f64 = level.per_sec(),
        /// CPU time over time.
        busy_ratio: f64 = level.busy_ratio(),
        /// Time ready to run but without a CPU over time.
        starved_ratio: f64 = level.starved_ratio(),
    }
}

document! {
    /// An open loop of one worker.
    pub struct RateDocument(rate: &CalibratedRate) {
        /// The offered rate, requests per second.
        rate_per_sec: u64 = rate.rate_per_sec,
        /// Median send lag.
        send_lag_p50_ms: f64 = ms(rate.send_lag_p50_ns as f64),
        /// 99th percentile of send lag.
        send_lag_p99_ms: f64 = ms(rate.send_lag_p99_ns as f64),
        /// True if requests left on time and were answered.
        kept_up: bool = rate.kept_up(),
    }
}
