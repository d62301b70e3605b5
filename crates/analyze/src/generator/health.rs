//! The health of the load generator.

use plimsoll_record::{ConnectionResource, FailureKind};
use schemars::JsonSchema;
use serde::Serialize;

/// A measured window shorter than this cannot be judged, in seconds. The kernel counts CPU time in ticks of at most 10 ms (HZ = 100). One
/// tick is a tenth of this window, which is the difference between a busy worker and a whole core.
pub(crate) const MIN_WINDOW_SEC: f64 = 0.1;
/// A worker this busy has no room for another 10 % of load, whatever the target does.
pub(crate) const BUSY_RATIO: f64 = 0.90;
/// A worker that waits for a CPU for this ratio of its time sends late and notices answers late.
pub(crate) const STARVED_RATIO: f64 = 0.20;
/// A worker that did not run for this ratio of its time has lost as much of the throughput.
pub(crate) const STALLED_RATIO: f64 = 0.01;
/// Little's law may fall short by this ratio, because of requests cut at the edges of the window.
pub(crate) const LITTLE_ERROR: f64 = 0.05;
/// An open loop that sends less than this ratio of the due requests is behind schedule.
pub(crate) const SENT_RATIO: f64 = 0.99;
/// Above this ratio, stolen CPU time affects the load.
pub(crate) const STOLEN_RATIO: f64 = 0.05;
/// Above this ratio of retransmitted segments, waiting for lost packets shows in p99 and in throughput.
pub(crate) const RETRANSMITTED_RATIO: f64 = 0.01;
/// Above this ratio of one worker's maximum, the next 10 % of load may find it busy.
pub(crate) const CEILING_RATIO: f64 = 0.80;

/// Lag below this is within the resolution of timers and of one round of events, in nanoseconds.
const MIN_SEND_LAG_NS: f64 = 1e6;
/// Lag matters if it is at least this ratio of the median service time.
const SEND_LAG_RATIO: f64 = 0.5;

/// The largest accepted send lag at p99, in nanoseconds. Lag is compared with the median service time: half a millisecond is much
/// where an answer takes one, and nothing where it takes a hundred. A floor of 1 ms excludes a scheduler's ordinary jitter.
pub(crate) fn send_lag_ns(service_p50_ns: f64) -> f64 {
    MIN_SEND_LAG_NS.max(SEND_LAG_RATIO * service_p50_ns)
}

/// Why the generator limited the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeneratorReason {
    /// A worker used this ratio of a core.
    WorkerBusy { worker: u32, ratio: f64 },
    /// A worker was ready to run but had no CPU for this ratio of the time.
    WorkerStarved { worker: u32, ratio: f64 },
    /// A worker should have run but did not for this ratio of the time: it was stopped, or its machine suspended.
    WorkerStalled { worker: u32, ratio: f64 },
    /// Requests were sent late by this much at the 99th percentile.
    SendLag {
        p99_ns: f64,
        /// The median service time, to compare with, in nanoseconds.
        service_p50_ns: f64,
    },
    /// Little's law does not hold: connections are less busy than a closed loop keeps them.
    LittlesLaw {
        /// Requests that should be under way: the mean of open connections times the depth.
        expected: f64,
        /// Throughput times mean latency.
        observed: f64,
    },
    /// Less than 99 % of the offered rate was sent in time.
    BehindSchedule { offered_per_sec: f64, sent_per_sec: f64 },
    /// Requests failed because this machine had no port or no descriptor left.
    OutOfResources {
        /// `no_ports_left` or `no_descriptors_left`.
        kind: FailureKind,
        count: u64,
    },
    /// Requests of an open loop waited because this machine allows no more connections.
    OutOfConnections {
        resource: ConnectionResource,
        connections: u64,
        /// The connections that the resource allows.
        allowed: u64,
    },
    /// The machine's hypervisor, or other processes, took this ratio of the CPU time.
    Stolen { ratio: f64 },
    /// TCP of this machine retransmitted this ratio of its segments: the network loses packets.
    Retransmits { ratio: f64, count: u64 },
    /// Each worker made nearly as many requests as one worker can make on its machine.
    NearCeiling {
        /// The first worker of the fleet's generator; `None` if one machine made the load.
        worker: Option<u32>,
        per_worker_per_sec: f64,
        /// The maximum of one worker when the machine was calibrated, requests per second.
        ceiling_per_sec: f64,
    },
}

impl GeneratorReason {
    /// The stable name in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Self::WorkerBusy { .. } => "worker_busy",
            Self::WorkerStarved { .. } => "worker_starved",
            Self::WorkerStalled { .. } => "worker_stalled",
            Self::SendLag { .. } => "send_lag",
            Self::LittlesLaw { .. } => "littles_law",
            Self::BehindSchedule { .. } => "behind_schedule",
            Self::OutOfResources { kind, .. } => kind.name(),
            Self::OutOfConnections { .. } => "out_of_connections",
            Self::Stolen { .. } => "stolen",
            Self::Retransmits { .. } => "retransmits",
            Self::NearCeiling { .. } => "near_ceiling",
        }
    }

    /// The observed value and the bound that it violates: ratios from 0 to 1, times in seconds, counts, or requests per second.
    pub fn number_and_bound(&self) -> (f64, f64) {
        match *self {
            Self::WorkerBusy { ratio, .. } => (ratio, BUSY_RATIO),
            Self::WorkerStarved { ratio, .. } => (ratio, STARVED_RATIO),
            Self::WorkerStalled { ratio, .. } => (ratio, STALLED_RATIO),
            Self::SendLag { p99_ns, service_p50_ns } => (p99_ns / 1e9, send_lag_ns(service_p50_ns) / 1e9),
            Self::LittlesLaw { expected, observed } => (observed, (1.0 - LITTLE_ERROR) * expected),
            Self::BehindSchedule { offered_per_sec, sent_per_sec } => {
                (sent_per_sec, SENT_RATIO * offered_per_sec)
            }
            Self::OutOfResources { count, .. } => (count as f64, 0.0),
            Self::OutOfConnections { connections, allowed, .. } => (connections as f64, allowed as f64),
            Self::Stolen { ratio } => (ratio, STOLEN_RATIO),
            Self::Retransmits { ratio, .. } => (ratio, RETRANSMITTED_RATIO),
            Self::NearCeiling { per_worker_per_sec, ceiling_per_sec, .. } => {
                (per_worker_per_sec, CEILING_RATIO * ceiling_per_sec)
            }
        }
    }
}

/// How one worker's thread spent the measured time; ratios from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "WorkerDocument")]
pub struct WorkerLoad {
    /// From 0, over the workers of all generators.
    pub worker: u32,
    /// CPU time over time.
    pub cpu_ratio: f64,
    /// CPU time in the kernel over time, a part of `cpu_ratio`.
    pub kernel_ratio: f64,
    /// Time ready to run but without a CPU over time.
    pub starved_ratio: f64,
    /// Time in which it should have run and did not over the time of the whole step: the process was stopped, or the machine
    /// suspended.
    pub stalled_ratio: f64,
}

/// What the generator's machine reported while a step ran; null is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[schemars(rename = "MachineLoadDocument")]
pub struct MachineLoad {
    /// CPU time taken by the hypervisor over all CPU time, 0 to 1.
    pub stolen_ratio: Option<f64>,
    /// Time in which some task was ready but had no CPU over time (PSI), 0 to 1.
    pub pressure_ratio: Option<f64>,
    /// TCP segments sent.
    pub segments_sent: Option<u64>,
    /// TCP segments retransmitted, without those that open connections.
    pub segments_retransmitted: Option<u64>,
    /// TCP segments retransmitted that open connections.
    pub syn_retransmitted: Option<u64>,
    /// The maximum number of open TCP sockets, of all processes.
    pub sockets_open: Option<u64>,
    /// The maximum number of TCP sockets in TIME-WAIT.
    pub sockets_time_wait: Option<u64>,
    /// Local ports from one source address to one target address.
    pub ports: Option<u64>,
    /// The maximum number of descriptors that the generator had open, as sampled.
    pub descriptors_open: Option<u64>,
    /// Descriptors that it may have open.
    pub descriptors_limit: Option<u64>,
}

/// How close each worker came to the maximum of one worker on its machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CeilingDocument")]
pub struct CeilingUse {
    /// In a fleet, the first worker of the generator that this is about: of those whose maximum is known, the one that came
    /// closest. Null if one machine made the load.
    pub worker: Option<u32>,
    /// Requests per second and worker.
    pub per_worker_per_sec: f64,
    /// The maximum of one worker when the machine was calibrated, requests per second.
    pub ceiling_per_sec: f64,
    /// False if the worker itself was not the limit of the calibration: it can do at least as much.
    pub known: bool,
    /// Age of the calibration when the run began; null in a fleet.
    pub age_sec: Option<f64>,
}

impl CeilingUse {
    /// Requests per second of one worker over the maximum.
    pub fn ratio(&self) -> f64 {
        self.per_worker_per_sec / self.ceiling_per_sec
    }
}

/// The health of the generator over one step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeneratorHealth {
    /// True if the measured window is too short for the check: the health is unknown, and `reasons` is empty.
    pub too_short: bool,
    /// Empty when healthy.
    pub reasons: Vec<GeneratorReason>,
    /// CPU seconds of all workers, user and system.
    pub cpu_sec: f64,
    /// The part of `cpu_sec` spent in the kernel.
    pub kernel_sec: f64,
    /// The highest CPU ratio of any worker, 0 to 1.
    pub busiest_worker_ratio: f64,
    /// The highest ratio of time in which any worker was ready but had no CPU, 0 to 1.
    pub starved_ratio: f64,
    /// The highest ratio of the step's time in which any worker should have run but did not, 0 to 1.
    pub stalled_ratio: f64,
    pub send_lag_p50_ns: f64,
    /// Requests of an open loop that were due but not sent at the end of the measured window; the send lag is that of the others.
    pub backlog: u64,
    pub send_lag_p99_ns: f64,
    /// The largest accepted send lag at p99, in nanoseconds; `None` where the median service time is not known.
    pub send_lag_bound_ns: Option<f64>,
    /// |N − X·R| / N. In a closed loop N is the mean of open connections times the requests under way on each, and R the
    /// latency; in an open loop N is the mean of the requests under way, and R the service time.
    pub littles_law_error: Option<f64>,
    /// Mean of open connections over those of the step, in a closed loop.
    pub open_ratio: Option<f64>,
    /// Workers that took part.
    pub workers: u32,
    pub by_worker: Vec<WorkerLoad>,
    pub machine: MachineLoad,
    /// The use of the machine's ceiling, where it is known and applies; in a fleet, that of the generator that came closest.
    pub ceiling: Option<CeilingUse>,
}

impl GeneratorHealth {
    /// True if the generator was short of its own time: its workers were busy, or did not get their CPU.
    pub fn out_of_time(&self) -> bool {
        let of_time = |reason: &GeneratorReason| {
            !matches!(
                reason,
                GeneratorReason::OutOfResources { .. }
                    | GeneratorReason::OutOfConnections { .. }
                    | GeneratorReason::Retransmits { .. }
            )
        };
        self.reasons.iter().any(of_time)
    }

    /// True if the generator is not known to have limited the load.
    pub fn healthy(&self) -> bool {
        self.reasons.is_empty()
    }
}
