//! What a request uses of one resource of a tier.

use super::{Doubt, Goal, Taken};
use crate::{Estimate, Limit};

/// One kind of thing that a tier can run out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TierResource {
    /// All processors of a machine.
    Cpu,
    /// The one core that each process can use.
    OneCore,
    /// The busiest thread of a machine.
    Thread,
    /// The processor quota of a control group.
    Quota,
    /// Bits received.
    BandwidthIn,
    /// Bits sent.
    BandwidthOut,
    /// Bits both ways, where a link is sold so.
    BandwidthBoth,
    /// Packets received.
    PacketsIn,
    /// Packets sent.
    PacketsOut,
    /// Workers, each held for the whole of a request.
    Pool,
    /// What one machine was measured to carry by itself, whatever of it is used up then.
    Alone,
}

/// What an amount of a resource is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandUnit {
    /// Cores; a request takes core-seconds.
    Cores,
    /// Whole machines, where nobody said how many cores one has; a request takes a time of one.
    MachineShare,
    /// Bits per second; a request takes bits.
    Bits,
    /// Packets per second; a request takes packets.
    Packets,
    /// Workers; a request holds one for a time.
    Workers,
}

/// What a request uses of one resource, in all machines of a tier together.
#[derive(Debug, Clone, PartialEq)]
pub struct TierDemand {
    /// The resource.
    pub resource: TierResource,
    /// What of it: an interface, a thread; empty for the machine itself.
    pub detail: String,
    /// The unit of `per_request` (times seconds), `idle` and `capacity`.
    pub unit: DemandUnit,
    /// D, with its 95 % interval where it is known.
    pub per_request: Estimate,
    /// U₀: what one machine uses without requests.
    pub idle: f64,
    /// What one machine has; `None` where nobody said.
    pub capacity: Option<f64>,
    /// The largest share of a machine's capacity that was ever seen used; 0 where the capacity is not known.
    pub used_most: f64,
    /// What it was found from.
    pub origin: Origin,
}

/// What a demand was found from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A run.
    Run(String),
    /// Rows of a table.
    Rows {
        /// How many.
        count: usize,
        /// Which requests they are of.
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

    /// What it is called when it stops growth; what a machine carries alone tells no more than that something does.
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

impl TierDemand {
    /// Machines that one request per second takes up, by which demands from different sources are held against each other.
    /// Without a capacity it is the amount itself.
    pub(super) fn weight(&self) -> f64 {
        self.per_request.value / self.capacity.unwrap_or(1.0)
    }

    /// Why nothing is planned by it although its capacity is known, if that is so.
    pub(super) fn doubt(&self, goal: Goal) -> Option<Doubt> {
        let used_up = self.capacity.is_some_and(|capacity| capacity * goal.utilisation <= self.idle);
        let (idle, unit, resource) = (self.idle, self.unit, self.resource);
        used_up.then_some(Doubt::IdleUsesAll { idle, unit, resource })
    }

    /// What the target takes of resources whose capacity is not known.
    pub(super) fn without_capacity(demands: &[Self], goal: Goal) -> Option<Doubt> {
        let taken = |demand: &Self| Taken {
            amount: goal.target_per_sec * demand.per_request.value,
            unit: demand.unit,
            resource: demand.resource,
        };
        let unknown = demands.iter().filter(|demand| demand.capacity.is_none());
        let taken: Vec<Taken> = unknown.map(taken).collect();
        (!taken.is_empty()).then_some(Doubt::NoCapacity(taken))
    }

    /// The dearest of several of one resource: what else there was may be of cheaper requests, and nobody said how they mix. How
    /// full it was seen is that of all of them.
    pub(super) fn dearest(demands: Vec<Self>) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for demand in demands {
            match kept.iter_mut().find(|other| other.resource == demand.resource) {
                Some(other) => {
                    let used_most = other.used_most.max(demand.used_most);
                    if demand.weight() > other.weight() {
                        *other = demand;
                    }
                    other.used_most = used_most;
                }
                None => kept.push(demand),
            }
        }
        kept
    }
}
