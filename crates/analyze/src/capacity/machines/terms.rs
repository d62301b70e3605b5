//! The terms of a plan of machines: resources of a tier, units, the goal.

use crate::findings::Limit;

/// The most machines that a tier may have.
pub(super) const MAX_MACHINES: u64 = 1_000_000;

/// The target rate, and how full machines may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    pub target_per_sec: f64,
    /// The share of a machine's capacity that may be used, above 0 and at most 1.
    pub utilisation: f64,
}

/// A resource that a tier can run out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TierResource {
    Cpu,
    /// The one core that each process can use.
    OneCore,
    /// The busiest thread of a machine.
    Thread,
    /// The processor quota of a control group.
    Quota,
    BandwidthIn,
    BandwidthOut,
    /// Bits in both directions together, where a link is sold so.
    BandwidthBoth,
    PacketsIn,
    PacketsOut,
    /// Workers, each occupied for a whole request.
    Pool,
    /// The measured throughput of one machine alone, whatever resource limits it.
    Alone,
}

/// The unit of an amount of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandUnit {
    /// Cores; a request takes core-seconds.
    Cores,
    /// Whole machines, where the number of cores is not known; a request takes machine-seconds.
    MachineShare,
    /// Bits per second; a request takes bits.
    Bits,
    /// Packets per second; a request takes packets.
    Packets,
    /// Workers; a request takes worker-seconds.
    Workers,
}

/// The source of a demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Run(String),
    /// Rows of a table.
    Rows {
        count: usize,
        group: Option<String>,
    },
}

impl TierResource {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OneCore => "core",
            Self::Thread => "thread",
            Self::Quota => "quota",
            Self::BandwidthIn => "bandwidth_in",
            Self::BandwidthOut => "bandwidth_out",
            Self::BandwidthBoth => "bandwidth_both",
            Self::PacketsIn => "packets_in",
            Self::PacketsOut => "packets_out",
            Self::Pool => "pool",
            Self::Alone => "alone",
        }
    }

    /// The limit that a verdict names when this resource is full; [`Self::Alone`] does not say which resource that is.
    pub fn limit(self) -> Limit {
        match self {
            Self::Cpu => Limit::Cpu,
            Self::OneCore | Self::Thread => Limit::Thread,
            Self::Quota => Limit::Quota,
            Self::BandwidthIn | Self::BandwidthOut | Self::BandwidthBoth => Limit::Bandwidth,
            Self::PacketsIn | Self::PacketsOut => Limit::Packets,
            Self::Pool => Limit::Pool,
            Self::Alone => Limit::Unknown,
        }
    }
}

impl DemandUnit {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cores => "cores",
            Self::MachineShare => "machines",
            Self::Bits => "bits_per_sec",
            Self::Packets => "packets_per_sec",
            Self::Workers => "workers",
        }
    }
}
