//! What a host can run out of.

use plimsoll_record::Subject;

use super::demand::Demand;
use crate::findings::{Limit, Part, Place};

/// One kind of thing that is used up by requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    Cpu,
    /// All processors of a machine of which it is not known how many there are.
    Machine,
    Core,
    /// The cores that processes may run on, where these are not all of a host.
    AllowedCores,
    /// One thread: it can use one processor at most.
    Thread,
    /// The processor quota of a control group below that of its host.
    Quota,
    BandwidthOut,
    BandwidthIn,
    /// Bits both ways, where a link is sold so.
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
    /// Connections of a server that allows so many.
    Connections,
    /// The workers or connections of a pool, each held for a time of each request.
    Pool,
}

impl ResourceKind {
    /// Its word in JSON, its unit, and the limit that it is when it stops growth.
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

    /// What it is called when it stops growth.
    pub fn limit(self) -> Limit {
        self.facts().2
    }

    /// True for bits and packets.
    pub(crate) fn is_of_link(self) -> bool {
        matches!(self.limit(), Limit::Bandwidth | Limit::Packets)
    }

    /// True for what all processes of a machine share, whichever of them a probe watches.
    pub(crate) fn is_of_machine(self) -> bool {
        let whole = matches!(self, Self::Cpu | Self::Core | Self::Disk | Self::Memory);
        whole || self.is_of_link()
    }

    /// True if each request uses a part of a second's worth of it, so that the utilisation law gives its limit. A
    /// device's time is no such thing: many of them serve several requests at once.
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
    /// How much was used while each step was measured, in the order of the steps: the mean over the window for what is
    /// spent, the most for what is held. `None` where it was not sampled.
    pub used: Vec<Option<f64>>,
    /// Of what was used of a host's CPU, the part that others than the target used; empty for all else.
    pub others: Vec<Option<f64>>,
    /// What a request uses of it, by regression over the steps; `None` for what is not spent by requests, or not known.
    pub demand: Option<Demand>,
}

impl Resource {
    /// What its samples are of; `None` where no rule looks for them.
    pub(crate) fn subject(&self) -> Option<Subject<'_>> {
        self.part.subject()
    }

    /// The name of its process or thread; of the thread of a component its address; empty for anything else.
    pub(crate) fn name(&self) -> &str {
        match &self.part {
            Part::ComponentThread { address, .. } => address,
            _ => self.subject().map_or("", Subject::name),
        }
    }

    /// True for what goes over the loopback interface.
    pub fn is_loopback(&self) -> bool {
        self.part.is_loopback()
    }

    /// A resource of which so much was used in each step, and whose demand is not known yet.
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

    /// What it is called, with its capacity.
    pub fn id(&self) -> ResourceId {
        let (host, part) = (self.host.clone(), self.part.clone());
        ResourceId { kind: self.kind, host, part, capacity: self.capacity }
    }
}

/// A resource by its name.
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

    /// A link counted in packets, not in bits.
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
