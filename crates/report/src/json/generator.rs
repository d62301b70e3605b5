//! The load generator's check of itself.

use plimsoll_analyze::{CeilingUse, GeneratorHealth, GeneratorReason, MachineLoad, WorkerLoad};
use plimsoll_record::Run;
use schemars::JsonSchema;
use serde::Serialize;

use super::{finite, ms};
use crate::reason;

/// The load generator's check of itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GeneratorDocument {
    /// False where the measured window is too short for the check (100 ms): then nothing is known, and `healthy` is
    /// true for want of a reason against it.
    pub judged: bool,
    /// False if the generator held the load back: throughput is a lower bound then.
    pub healthy: bool,
    /// Why it is not healthy, in words.
    pub reasons: Vec<String>,
    /// The same, each with its number, its bound and what helps.
    pub causes: Vec<CauseDocument>,
    /// CPU seconds of all workers.
    pub cpu_sec: Option<f64>,
    /// The part of them spent in the kernel.
    pub kernel_sec: Option<f64>,
    /// The highest CPU ratio of any worker, 0 to 1.
    pub busiest_worker_ratio: Option<f64>,
    /// The highest ratio of time any worker was ready and had no CPU, 0 to 1.
    pub starved_ratio: Option<f64>,
    /// How late the requests left that were sent.
    pub send_lag_ms: LagDocument,
    /// |N − X·R| / N: in a closed loop N is the mean of open connections times the requests under way on each and R the
    /// latency, in an open loop N is the mean of the requests under way and R the service time; null where the law
    /// cannot be applied.
    pub littles_law_error: Option<f64>,
    /// Mean of open connections over those of the step, in a closed loop.
    pub open_ratio: Option<f64>,
    /// What drove the connections: `epoll` or `io_uring`.
    pub driver: String,
    /// Worker threads.
    pub workers: u32,
    /// Each of them while measured.
    pub by_worker: Vec<WorkerDocument>,
    /// What their machine told while the step ran; null where it does not tell.
    pub machine: MachineLoadDocument,
    /// How near each worker came to what one can do on this machine; null where that was not measured or does not compare.
    pub ceiling: Option<CeilingDocument>,
}

/// How late requests left, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LagDocument {
    /// At the median.
    pub p50: Option<f64>,
    /// At the 99th percentile.
    pub p99: Option<f64>,
    /// What the 99th percentile must not exceed; null where the median service time is not known.
    pub bound: Option<f64>,
}

/// One reason for which the generator is not healthy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CauseDocument {
    /// A stable name.
    pub id: &'static str,
    /// The same in words.
    pub what: String,
    /// What was seen: a ratio from 0 to 1, seconds, a count, or requests per second.
    pub value: Option<f64>,
    /// The bound that it is beyond, in the same unit.
    pub bound: Option<f64>,
    /// What helps.
    pub remedy: &'static str,
}

/// What one worker's thread spent of the measured time; ratios from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkerDocument {
    /// The worker.
    pub worker: u32,
    /// CPU time over time.
    pub cpu_ratio: Option<f64>,
    /// CPU time in the kernel over time, a part of `cpu_ratio`.
    pub kernel_ratio: Option<f64>,
    /// Time ready to run and without a CPU over time.
    pub starved_ratio: Option<f64>,
}

/// What the generator's machine told while a step ran; null is not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MachineLoadDocument {
    /// CPU time taken by the hypervisor over all CPU time, 0 to 1.
    pub stolen_ratio: Option<f64>,
    /// Time in which some task was ready and had no CPU over time (PSI), 0 to 1.
    pub pressure_ratio: Option<f64>,
    /// TCP segments sent.
    pub segments_sent: Option<u64>,
    /// TCP segments sent again, but for those that open connections.
    pub segments_retransmitted: Option<u64>,
    /// TCP segments that open connections and were sent again.
    pub syn_retransmitted: Option<u64>,
    /// The most TCP sockets open at a time, of all processes.
    pub sockets_open: Option<u64>,
    /// The most TCP sockets in TIME-WAIT at a time.
    pub sockets_time_wait: Option<u64>,
    /// Local ports from one source address to one target address.
    pub ports: Option<u64>,
    /// The most descriptors the generator had open when it was looked at.
    pub descriptors_open: Option<u64>,
    /// Descriptors it may have open.
    pub descriptors_limit: Option<u64>,
}

/// How near each worker came to what one can do on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CeilingDocument {
    /// Requests per second and worker.
    pub per_worker_per_sec: Option<f64>,
    /// What one worker made at most when the machine was calibrated, requests per second.
    pub ceiling_per_sec: Option<f64>,
    /// False if that was not the worker's own limit: it can do at least as much.
    pub known: bool,
    /// How old the calibration was when the run began.
    pub age_sec: Option<f64>,
}

impl CauseDocument {
    fn of(reason: &GeneratorReason) -> Self {
        let (value, bound) = reason.number_and_bound();
        Self {
            id: reason.name(),
            what: reason::text(reason),
            value: finite(value),
            bound: finite(bound),
            remedy: reason.remedy(),
        }
    }
}

impl WorkerDocument {
    fn of(load: &WorkerLoad) -> Self {
        Self {
            worker: load.worker,
            cpu_ratio: finite(load.cpu_ratio),
            kernel_ratio: finite(load.kernel_ratio),
            starved_ratio: finite(load.starved_ratio),
        }
    }
}

impl MachineLoadDocument {
    fn of(load: &MachineLoad) -> Self {
        Self {
            stolen_ratio: load.stolen_ratio.and_then(finite),
            pressure_ratio: load.pressure_ratio.and_then(finite),
            segments_sent: load.segments_sent,
            segments_retransmitted: load.segments_retransmitted,
            syn_retransmitted: load.syn_retransmitted,
            sockets_open: load.sockets_open,
            sockets_time_wait: load.sockets_time_wait,
            ports: load.ports,
            descriptors_open: load.descriptors_open,
            descriptors_limit: load.descriptors_limit,
        }
    }
}

impl CeilingDocument {
    fn of(used: &CeilingUse) -> Self {
        Self {
            per_worker_per_sec: finite(used.per_worker_per_sec),
            ceiling_per_sec: finite(used.ceiling_per_sec),
            known: used.known,
            age_sec: finite(used.age_sec),
        }
    }
}

impl GeneratorDocument {
    pub(super) fn of(run: &Run, health: &GeneratorHealth) -> Self {
        Self {
            judged: !health.too_short,
            healthy: health.healthy(),
            reasons: health.reasons.iter().map(reason::text).collect(),
            causes: health.reasons.iter().map(CauseDocument::of).collect(),
            cpu_sec: finite(health.cpu_sec),
            kernel_sec: finite(health.kernel_sec),
            busiest_worker_ratio: finite(health.busiest_worker_ratio),
            starved_ratio: finite(health.starved_ratio),
            send_lag_ms: LagDocument {
                p50: ms(health.send_lag_p50_ns),
                p99: ms(health.send_lag_p99_ns),
                bound: health.send_lag_bound_ns.and_then(ms),
            },
            littles_law_error: health.littles_law_error.and_then(finite),
            open_ratio: health.open_ratio.and_then(finite),
            driver: run.manifest.driver.clone(),
            workers: health.workers,
            by_worker: health.by_worker.iter().map(WorkerDocument::of).collect(),
            machine: MachineLoadDocument::of(&health.machine),
            ceiling: health.ceiling.as_ref().map(CeilingDocument::of),
        }
    }
}
