//! What a host can run out of.

use plimsoll_record::Subject;

use super::demand::Demand;
use crate::findings::{Limit, Part, Place};

/// A kind of resource that requests use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    Cpu,
    /// All processors of a machine whose number is unknown.
    Machine,
    Core,
    /// The cores that processes may run on, where these are not all cores of a host.
    AllowedCores,
    /// One thread: it can use one processor at most.
    Thread,
    /// The processor quota of a control group below that of its host.
    Quota,
    BandwidthOut,
    BandwidthIn,
    /// Bits in both directions, for a link that is sold by their sum.
    BandwidthBoth,
    PacketsOut,
    PacketsIn,
    /// The time of a block device.
    Disk,
    /// Bytes read from a disk that is capped.
    DiskRead,
    /// Bytes written to a disk that is capped.
    DiskWrite,
    Memory,
    Descriptors,
    /// Connections that wait to be accepted.
    AcceptQueue,
    /// Connections of a server that allows a fixed number.
    Connections,
    /// The workers or connections of a pool, each held for some time by each request.
    Pool,
}

impl ResourceKind {
    /// Its word in JSON, its unit, and its limit.
    fn facts(self) -> (&'static str, &'static str, Limit) {
        match self {
            Self::Cpu => ("cpu", "cores", Limit::Cpu),
            Self::Machine => ("cpu", "machines", Limit::Cpu),
            Self::Core => ("core", "cores", Limit::Cpu),
            Self::AllowedCores => ("allowed_cores", "cores", Limit::Cpu),
            Self::Thread => ("thread", "cores", Limit::Thread),
            Self::Quota => ("quota", "cores", Limit::Quota),
            Self::BandwidthOut => ("bandwidth_out", "bits_per_sec", Limit::Bandwidth),
            Self::BandwidthIn => ("bandwidth_in", "bits_per_sec", Limit::Bandwidth),
            Self::BandwidthBoth => ("bandwidth_both", "bits_per_sec", Limit::Bandwidth),
            Self::PacketsOut => ("packets_out", "packets_per_sec", Limit::Packets),
            Self::PacketsIn => ("packets_in", "packets_per_sec", Limit::Packets),
            Self::Disk => ("disk", "ratio", Limit::Disk),
            Self::DiskRead => ("disk_read", "bytes_per_sec", Limit::Disk),
            Self::DiskWrite => ("disk_write", "bytes_per_sec", Limit::Disk),
            Self::Memory => ("memory", "bytes", Limit::Memory),
            Self::Descriptors => ("descriptors", "descriptors", Limit::Connections),
            Self::AcceptQueue => ("accept_queue", "connections", Limit::Connections),
            Self::Connections => ("connections", "connections", Limit::Connections),
            Self::Pool => ("pool", "workers", Limit::Pool),
        }
    }

    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The unit of what is used, and of the capacity.
    pub fn unit(self) -> &'static str {
        self.facts().1
    }

    /// The limit of a verdict in which it stops growth.
    pub fn limit(self) -> Limit {
        self.facts().2
    }

    /// True for bits and packets.
    pub(crate) fn is_of_link(self) -> bool {
        matches!(self.limit(), Limit::Bandwidth | Limit::Packets)
    }

    /// True for resources that all processes of a machine share, whether or not a probe watches these.
    pub(crate) fn is_of_machine(self) -> bool {
        let whole = matches!(self, Self::Cpu | Self::Core | Self::Disk | Self::Memory);
        whole || self.is_of_link()
    }

    /// True if each request spends a part of its capacity per second, so that the utilisation law gives its limit. The time of a
    /// device does not count: many devices serve several requests at once.
    pub(crate) fn is_spent(self) -> bool {
        !matches!(self, Self::Disk | Self::Memory | Self::Descriptors | Self::AcceptQueue | Self::Connections)
    }
}

/// One resource of one host, and what was used of it in each step.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub kind: ResourceKind,
    /// The host it belongs to; `generator` for the machine that makes the load.
    pub host: String,
    pub part: Part,
    /// How much there is, in its kind's unit; `None` where it is not known.
    pub capacity: Option<f64>,
    /// How much was used while each step was measured, in the order of the steps: the mean over the window for a resource that is
    /// spent, the maximum for one that is held. `None` where it was not sampled.
    pub used: Vec<Option<f64>>,
    /// For a host's CPU, the part of the use that is by others than the target; empty for other resources.
    pub others: Vec<Option<f64>>,
    /// The use per request, by regression over the steps; `None` for a resource that requests do not spend, or if unknown.
    pub demand: Option<Demand>,
}

impl Resource {
    /// The subject of its samples; `None` where no rule looks for them.
    pub(crate) fn subject(&self) -> Option<Subject<'_>> {
        self.part.subject()
    }

    /// The name of its process or thread; for the thread of a component its address; empty for anything else.
    pub(crate) fn name(&self) -> &str {
        match &self.part {
            Part::ComponentThread { address, .. } => address,
            _ => self.subject().map_or("", Subject::name),
        }
    }

    /// True for the loopback interface.
    pub fn is_loopback(&self) -> bool {
        self.part.is_loopback()
    }

    /// Creates a resource with its use in each step; its demand is not known yet.
    pub(crate) fn new(
        kind: ResourceKind,
        (host, part): (&str, Part),
        capacity: Option<f64>,
        used: Vec<Option<f64>>,
    ) -> Self {
        Self { kind, host: host.to_owned(), part, capacity, used, others: Vec::new(), demand: None }
    }

    /// The share of the capacity that was used in one step.
    pub fn utilisation(&self, step: usize) -> Option<f64> {
        let used = self.used.get(step).copied().flatten()?;
        self.capacity.filter(|capacity| *capacity > 0.0).map(|capacity| used / capacity)
    }

    /// The share of the capacity that others than the target used in one step.
    pub fn used_by_others(&self, step: usize) -> Option<f64> {
        let others = self.others.get(step).copied().flatten()?;
        self.capacity.filter(|capacity| *capacity > 0.0).map(|capacity| others / capacity)
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        Place::part(&self.host, self.part.clone())
    }

    /// Its name, with its capacity.
    pub fn id(&self) -> ResourceId {
        let (host, part) = (self.host.clone(), self.part.clone());
        ResourceId { kind: self.kind, host, part, capacity: self.capacity }
    }
}

/// The name of a resource, without its use.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceId {
    pub kind: ResourceKind,
    pub host: String,
    pub part: Part,
    pub capacity: Option<f64>,
}

impl ResourceId {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::part(&self.host, self.part.clone())
    }

    /// True for a link counted in packets, not in bits.
    pub fn is_of_packets(&self) -> bool {
        matches!(self.kind, ResourceKind::PacketsIn | ResourceKind::PacketsOut)
    }
}

/// A resource, and the share of it that was used.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceUse {
    pub resource: ResourceId,
    pub share: f64,
}
