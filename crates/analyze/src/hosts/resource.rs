//! What a host can run out of.

use plimsoll_record::{Source, Subject};

use super::demand::Demand;
use crate::findings::{Limit, Part, Place};

/// One kind of thing that is used up by requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    Cpu,
    Core,
    /// One thread: it can use one processor at most.
    Thread,
    /// The processor quota of a control group below that of its host.
    Quota,
    BandwidthOut,
    BandwidthIn,
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
}

impl ResourceKind {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Core => "core",
            Self::Thread => "thread",
            Self::Quota => "quota",
            Self::BandwidthOut => "bandwidth_out",
            Self::BandwidthIn => "bandwidth_in",
            Self::PacketsOut => "packets_out",
            Self::PacketsIn => "packets_in",
            Self::Disk => "disk",
            Self::DiskRead => "disk_read",
            Self::DiskWrite => "disk_write",
            Self::Memory => "memory",
            Self::Descriptors => "descriptors",
            Self::AcceptQueue => "accept_queue",
            Self::Connections => "connections",
        }
    }

    /// The unit of what is used, and of the capacity.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Core | Self::Thread | Self::Quota => "cores",
            Self::BandwidthOut | Self::BandwidthIn => "bits_per_sec",
            Self::PacketsOut | Self::PacketsIn => "packets_per_sec",
            Self::Disk => "ratio",
            Self::DiskRead | Self::DiskWrite => "bytes_per_sec",
            Self::Memory => "bytes",
            Self::Descriptors => "descriptors",
            Self::AcceptQueue | Self::Connections => "connections",
        }
    }

    /// What it is called when it stops growth.
    pub fn limit(self) -> Limit {
        match self {
            Self::Cpu | Self::Core => Limit::Cpu,
            Self::Thread => Limit::Thread,
            Self::Quota => Limit::Quota,
            Self::BandwidthOut | Self::BandwidthIn => Limit::Bandwidth,
            Self::PacketsOut | Self::PacketsIn => Limit::Packets,
            Self::Disk | Self::DiskRead | Self::DiskWrite => Limit::Disk,
            Self::Memory => Limit::Memory,
            Self::Descriptors | Self::AcceptQueue | Self::Connections => Limit::Connections,
        }
    }

    /// What of a host it is of.
    fn part(self) -> fn(String) -> Part {
        match self {
            Self::Cpu | Self::Memory => |_| Part::Whole,
            Self::Core => Part::Core,
            Self::Thread => Part::Thread,
            Self::Quota | Self::DiskRead | Self::DiskWrite => Part::Group,
            Self::BandwidthOut | Self::BandwidthIn | Self::PacketsOut | Self::PacketsIn => Part::Interface,
            Self::Disk => Part::Device,
            Self::Descriptors => Part::Process,
            Self::AcceptQueue => Part::Listener,
            Self::Connections => Part::Component,
        }
    }

    /// True if each request uses a part of a second's worth of it, so that the utilisation law gives its limit. A
    /// device's time is no such thing: many of them serve several requests at once.
    pub(crate) fn is_spent(self) -> bool {
        match self {
            Self::Cpu | Self::Core | Self::Thread | Self::Quota => true,
            Self::BandwidthOut | Self::BandwidthIn | Self::PacketsOut | Self::PacketsIn => true,
            Self::DiskRead | Self::DiskWrite => true,
            Self::Disk | Self::Memory | Self::Descriptors | Self::AcceptQueue | Self::Connections => false,
        }
    }
}

/// One resource of one host, and what was used of it in each step.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub kind: ResourceKind,
    /// The host it belongs to; `generator` for the machine that makes the load.
    pub host: String,
    /// What of the host: a thread, an interface, a device, a control group; empty for the host itself.
    pub detail: String,
    /// How much there is, in its kind's unit; `None` where it is not known.
    pub capacity: Option<f64>,
    /// How much was used while each step was measured, in the order of the steps: the mean over the window for what is
    /// spent, the most for what is held. `None` where it was not sampled.
    pub used: Vec<Option<f64>>,
    /// What a request uses of it, by regression over the steps; `None` for what is not spent by requests, or not known.
    pub demand: Option<Demand>,
}

impl Resource {
    /// What of its host it is, as samples have it.
    pub(crate) fn subject(&self) -> Subject<'_> {
        let word = self.detail.as_str();
        let either = |first, second| match Subject::parse(first, word) {
            Subject::Other(_) => Subject::parse(second, word),
            known => known,
        };
        match self.kind {
            ResourceKind::Cpu | ResourceKind::Memory => Subject::Host,
            ResourceKind::Core => Subject::parse(Source::Core, word.trim_start_matches("core ")),
            ResourceKind::Thread => either(Source::Thread, Source::Process),
            ResourceKind::Quota => either(Source::Process, Source::Cgroup),
            ResourceKind::DiskRead | ResourceKind::DiskWrite => Subject::parse(Source::Cgroup, word),
            ResourceKind::Descriptors => Subject::parse(Source::Process, word),
            ResourceKind::AcceptQueue => Subject::parse(Source::Listener, word),
            ResourceKind::Disk
            | ResourceKind::Connections
            | ResourceKind::BandwidthOut
            | ResourceKind::BandwidthIn
            | ResourceKind::PacketsOut
            | ResourceKind::PacketsIn => Subject::Named(word),
        }
    }

    /// The name of its process or thread; of the thread of a component its address.
    pub(crate) fn name(&self) -> &str {
        self.detail.split_once(' ').map_or("", |(_, name)| name)
    }

    /// A resource whose use and demand are not known yet.
    pub(crate) fn new(kind: ResourceKind, host: &str, detail: &str, capacity: Option<f64>) -> Self {
        let (host, detail) = (host.to_owned(), detail.to_owned());
        Self { kind, host, detail, capacity, used: Vec::new(), demand: None }
    }

    /// The share of the capacity that was used in one step.
    pub fn utilisation(&self, step: usize) -> Option<f64> {
        let used = self.used.get(step).copied().flatten()?;
        self.capacity.filter(|capacity| *capacity > 0.0).map(|capacity| used / capacity)
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        Place::part(&self.host, self.kind.part(), &self.detail)
    }

    /// What it is called, with its capacity.
    pub fn id(&self) -> ResourceId {
        let (host, detail) = (self.host.clone(), self.detail.clone());
        ResourceId { kind: self.kind, host, detail, capacity: self.capacity }
    }
}

/// A resource by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceId {
    pub kind: ResourceKind,
    pub host: String,
    pub detail: String,
    pub capacity: Option<f64>,
}

impl ResourceId {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place::part(&self.host, self.kind.part(), &self.detail)
    }
}

/// A resource, and the share of it that was used.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceUse {
    pub resource: ResourceId,
    pub share: f64,
}
