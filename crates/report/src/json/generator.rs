//! The load generator's check of itself; and a calibration, schema `plimsoll/calibration/1`.

use plimsoll_analyze::{CeilingUse, GeneratorHealth, GeneratorReason, MachineLoad, WorkerLoad};
use plimsoll_record::{CalibratedLevel, CalibratedRate, Calibration, Run};

use super::document::{document, each, ms};
use crate::words;

document! {
    /// The load generator's check of itself.
    pub struct GeneratorDocument(run: &Run, health: &GeneratorHealth) {
        /// False where the measured window is too short for the check (100 ms). Then nothing is known, and `healthy` is true
        /// because no reason against it was found.
        judged: bool = !health.too_short,
        /// False if the generator held the load back: throughput is then a lower bound.
        healthy: bool = health.healthy(),
        /// Why it is not healthy, in words.
        reasons: Vec<String> = each(&health.reasons, words::reason),
        /// The same reasons, each with its value, its bound and its remedy.
        causes: Vec<CauseDocument> = each(&health.reasons, CauseDocument::new),
        /// CPU seconds of all workers.
        cpu_sec: f64 = health.cpu_sec,
        /// The part of them spent in the kernel.
        kernel_sec: f64 = health.kernel_sec,
        /// The highest CPU ratio of any worker, 0 to 1.
        busiest_worker_ratio: f64 = health.busiest_worker_ratio,
        /// The highest ratio of time that any worker was ready but had no CPU, 0 to 1.
        starved_ratio: f64 = health.starved_ratio,
        /// The highest ratio of the step's time in which any worker should have run and did not, 0 to 1: the process was
        /// stopped, or the machine suspended.
        stalled_ratio: f64 = health.stalled_ratio,
        /// How late requests were sent. Requests that were never sent are not included.
        send_lag_ms: LagDocument = LagDocument::new(health),
        /// |N − X·R| / N. In a closed loop N is the mean of open connections times the requests in flight on each, and R the
        /// latency. In an open loop N is the mean of the requests in flight, and R the service time. Null where the law cannot
        /// be applied.
        littles_law_error: Option<f64> = health.littles_law_error,
        /// Mean number of open connections over the connections of the step, in a closed loop.
        open_ratio: Option<f64> = health.open_ratio,
        /// The driver of the connections: `epoll` or `io_uring`.
        driver: String = &run.manifest.driver,
        /// Worker threads.
        workers: u32 = health.workers,
        /// The load of each worker while measured.
        by_worker: Vec<WorkerLoad> = health.by_worker.clone(),
        /// What their machine reported while the step ran; null where it does not report it.
        machine: MachineLoad = health.machine,
        /// How close each worker came to the maximum of one worker on its machine; null where that was not measured or does
        /// not apply.
        ceiling: Option<CeilingUse> = health.ceiling,
    }

    /// How late requests were sent, in milliseconds.
    pub struct LagDocument(health: &GeneratorHealth) {
        /// The median.
        p50: f64 = ms(health.send_lag_p50_ns),
        /// The 99th percentile.
        p99: f64 = ms(health.send_lag_p99_ns),
        /// The limit of the 99th percentile; null where the median service time is not known.
        bound: Option<f64> = health.send_lag_bound_ns.map(ms),
    }

    /// One reason why the generator is not healthy.
    pub struct CauseDocument(reason: &GeneratorReason) {
        /// A stable name.
        id: &'static str = reason.name(),
        /// The reason in words.
        what: String = words::reason(reason),
        /// The measured value: a ratio from 0 to 1, seconds, a count, or requests per second.
        value: f64 = reason.number_and_bound().0,
        /// The bound that it violates, in the same unit.
        bound: f64 = reason.number_and_bound().1,
        /// How to fix it.
        remedy: &'static str = words::remedy(reason),
    }

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

    /// A closed loop. Ratios are means over the workers, 0 to 1.
    pub struct LevelDocument(level: &CalibratedLevel) {
        /// Worker threads.
        workers: u32 = level.workers,
        /// Connections over all workers.
        connections: u32 = level.connections,
        /// Requests per second of all workers.
        throughput_per_sec: f64 = level.per_sec(),
        /// CPU time over elapsed time.
        busy_ratio: f64 = level.busy_ratio(),
        /// Time ready to run but without a CPU, over elapsed time.
        starved_ratio: f64 = level.starved_ratio(),
    }

    /// An open loop of one worker.
    pub struct RateDocument(rate: &CalibratedRate) {
        /// The offered rate, requests per second.
        rate_per_sec: u64 = rate.rate_per_sec,
        /// Median send lag.
        send_lag_p50_ms: f64 = ms(rate.send_lag_p50_ns as f64),
        /// 99th percentile of send lag.
        send_lag_p99_ms: f64 = ms(rate.send_lag_p99_ns as f64),
        /// True if requests were sent on time and were answered.
        kept_up: bool = rate.kept_up(),
    }
}
