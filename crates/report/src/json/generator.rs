//! The load generator's check of itself.

use plimsoll_analyze::{CeilingUse, GeneratorHealth, GeneratorReason, MachineLoad, WorkerLoad};
use plimsoll_record::Run;

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
        /// How late requests left. Requests that were never sent are not included.
        send_lag_ms: LagDocument = LagDocument::new(health),
        /// |N − X·R| / N. In a closed loop N is the mean of open connections times the requests in flight on each, and R the
        /// latency. In an open loop N is the mean of the requests in flight, and R the service time. Null where the law cannot
        /// be applied.
        littles_law_error: Option<f64> = health.littles_law_error,
        /// Mean of open connections over those of the step, in a closed loop.
        open_ratio: Option<f64> = health.open_ratio,
        /// What drove the connections: `epoll` or `io_uring`.
        driver: String = &run.manifest.driver,
        /// Worker threads.
        workers: u32 = health.workers,
        /// Each worker while measured.
        by_worker: Vec<WorkerDocument> = each(&health.by_worker, WorkerDocument::new),
        /// What their machine reported while the step ran; null where it does not report it.
        machine: MachineLoadDocument = MachineLoadDocument::new(&health.machine),
        /// How close each worker came to the maximum of one worker on this machine; null where that was not measured or does
        /// not apply.
        ceiling: Option<CeilingDocument> = health.ceiling.as_ref().map(CeilingDocument::new),
    }
}

document! {
    /// How late requests left, in milliseconds.
    pub struct LagDocument(health: &GeneratorHealth) {
        /// The median.
        p50: f64 = ms(health.send_lag_p50_ns),
        /// The 99th percentile.
        p99: f64 = ms(health.send_lag_p99_ns),
        /// The limit of the 99th percentile; null where the median service time is not known.
        bound: Option<f64> = health.send_lag_bound_ns.map(ms),
    }
}

document! {
    /// One reason why the generator is not healthy.
    pub struct CauseDocument(reason: &GeneratorReason) {
        /// A stable name.
        id: &'static str = reason.name(),
        /// The same in words.
        what: String = words::reason(reason),
        /// The measured value: a ratio from 0 to 1, seconds, a count, or requests per second.
        value: f64 = reason.number_and_bound().0,
        /// The bound that it violates, in the same unit.
        bound: f64 = reason.number_and_bound().1,
        /// How to fix it.
        remedy: &'static str = words::remedy(reason),
    }
}

document! {
    /// How one worker's thread spent the measured time; ratios from 0 to 1.
    pub struct WorkerDocument(load: &WorkerLoad) {
        /// The worker's number.
        worker: u32 = load.worker,
        /// CPU time over time.
        cpu_ratio: f64 = load.cpu_ratio,
        /// CPU time in the kernel over time, a part of `cpu_ratio`.
        kernel_ratio: f64 = load.kernel_ratio,
        /// Time ready to run but without a CPU over time.
        starved_ratio: f64 = load.starved_ratio,
    }
}

document! {
    /// What the generator's machine reported while a step ran; null is not known.
    pub struct MachineLoadDocument(load: &MachineLoad) {
        /// CPU time taken by the hypervisor over all CPU time, 0 to 1.
        stolen_ratio: Option<f64> = load.stolen_ratio,
        /// Time in which some task was ready but had no CPU over time (PSI), 0 to 1.
        pressure_ratio: Option<f64> = load.pressure_ratio,
        /// TCP segments sent.
        segments_sent: Option<u64> = load.segments_sent,
        /// TCP segments retransmitted, without those that open connections.
        segments_retransmitted: Option<u64> = load.segments_retransmitted,
        /// TCP segments retransmitted that open connections.
        syn_retransmitted: Option<u64> = load.syn_retransmitted,
        /// The maximum number of open TCP sockets, of all processes.
        sockets_open: Option<u64> = load.sockets_open,
        /// The maximum number of TCP sockets in TIME-WAIT.
        sockets_time_wait: Option<u64> = load.sockets_time_wait,
        /// Local ports from one source address to one target address.
        ports: Option<u64> = load.ports,
        /// The maximum number of descriptors that the generator had open, as sampled.
        descriptors_open: Option<u64> = load.descriptors_open,
        /// Descriptors that it may have open.
        descriptors_limit: Option<u64> = load.descriptors_limit,
    }
}

document! {
    /// How close each worker came to the maximum of one worker on this machine.
    pub struct CeilingDocument(used: &CeilingUse) {
        /// Requests per second and worker.
        per_worker_per_sec: f64 = used.per_worker_per_sec,
        /// The maximum of one worker when the machine was calibrated, requests per second.
        ceiling_per_sec: f64 = used.ceiling_per_sec,
        /// False if the worker itself was not the limit of the calibration: it can do at least as much.
        known: bool = used.known,
        /// Age of the calibration when the run began.
        age_sec: f64 = used.age_sec,
    }
}
