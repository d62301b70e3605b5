//! A calibration as one JSON document, schema `plimsoll/calibration/1`.

use plimsoll_record::{CalibratedLevel, CalibratedRate, Calibration};
use serde::Serialize;

use super::finite;

/// The name of the schema.
const SCHEMA: &str = "plimsoll/calibration/1";

/// What was measured, and what follows from it. Rates and throughputs are per second.
#[derive(Debug, Serialize)]
struct CalibrationDocument<'a> {
    schema: &'static str,
    calibration: &'a Calibration,
    /// The most requests of one worker in a closed loop.
    ceiling_per_sec: Option<f64>,
    /// True if the worker was the limit there, and not the server or a machine that was not quiet.
    ceiling_known: bool,
    /// The highest rate of one worker that was kept up with.
    open_ceiling_per_sec: Option<u64>,
    levels: Vec<LevelDocument>,
    rates: Vec<RateDocument>,
}

#[derive(Debug, Serialize)]
struct LevelDocument {
    workers: u32,
    connections: u32,
    throughput_per_sec: Option<f64>,
    busy_ratio: Option<f64>,
    starved_ratio: Option<f64>,
}

#[derive(Debug, Serialize)]
struct RateDocument {
    rate_per_sec: u64,
    send_lag_p50_ms: f64,
    send_lag_p99_ms: f64,
    kept_up: bool,
}

impl LevelDocument {
    fn of(level: &CalibratedLevel) -> Self {
        Self {
            workers: level.workers,
            connections: level.connections,
            throughput_per_sec: finite(level.per_sec()),
            busy_ratio: finite(level.busy_ratio()),
            starved_ratio: finite(level.starved_ratio()),
        }
    }
}

impl RateDocument {
    fn of(rate: &CalibratedRate) -> Self {
        Self {
            rate_per_sec: rate.rate_per_sec,
            send_lag_p50_ms: rate.send_lag_p50_ns as f64 / 1e6,
            send_lag_p99_ms: rate.send_lag_p99_ns as f64 / 1e6,
            kept_up: rate.kept_up(),
        }
    }
}

/// The document of a calibration as text, indented, with a line end.
///
/// # Errors
/// When it cannot be written as JSON, which no calibration should meet.
pub fn calibration(made: &Calibration) -> Result<String, serde_json::Error> {
    let ceiling = made.ceiling();
    let document = CalibrationDocument {
        schema: SCHEMA,
        calibration: made,
        ceiling_per_sec: ceiling.and_then(|level| finite(level.per_sec())),
        ceiling_known: ceiling.is_some_and(CalibratedLevel::worker_was_limit),
        open_ceiling_per_sec: made.open_ceiling_per_sec(),
        levels: made.closed.iter().map(LevelDocument::of).collect(),
        rates: made.tenth.iter().chain(&made.rates).map(RateDocument::of).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
