//! The evidence of a verdict, as data; `report` turns it into text.

use plimsoll_record::FailureKind;

use super::{Place, Raise};
use crate::generator::health::GeneratorReason;
use crate::hosts::resource::ResourceId;

/// One line of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub observed: Observation,
    pub value: f64,
    /// The capacity or the value to compare with, in the unit of `value`; `None` if there is none.
    pub of: Option<f64>,
    pub at: At,
}

/// Where in a run or a table something was observed.
#[derive(Debug, Clone, PartialEq)]
pub enum At {
    /// A step of a closed loop.
    Connections(u32),
    /// A step of an open loop, requests per second.
    Rate(f64),
    /// A part of a step, in seconds since the load began.
    Seconds {
        from: f64,
        to: f64,
    },
    /// A row of a table.
    Row(String),
    /// The step that was loaded again after a cap was raised; `ratio` is its throughput over that before.
    Again {
        connections: u32,
        ratio: f64,
    },
    Nowhere,
}

impl Evidence {
    pub(crate) fn new(observed: Observation, value: f64, of: Option<f64>, at: At) -> Self {
        Self { observed, value, of, at }
    }
}

/// What a line of evidence observes, with its unit. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Seconds measured, against the minimum that samples of hosts need.
    MeasuredTime,
    /// Requests per second answered, against those that fell due.
    Answered,
    /// The gain of the highest step over the best lower one, a share, against the smallest that counts as growth.
    LastGain,
    /// The highest throughput, requests per second.
    Plateau,
    /// Connections of the knee, against those that Little's law predicts.
    Knee,
    /// The share of a core that the busiest worker of the generator used.
    BusiestWorker,
    /// Requests that failed in one way, of those that ended.
    Failed(FailureKind),
    /// Responses of one status, of those that ended.
    Status(u16),
    /// Responses that failed a check, of those that ended.
    FailedCheck(String),
    /// In seconds.
    MeanLatency,
    /// In seconds.
    TimeUnderLoad,
    /// What held the generator back.
    Generator(GeneratorReason),
    /// The share of a resource that was used.
    Resource(ResourceId),
    /// The share of a host's CPU that was used.
    Cpu { host: String },
    /// The share of a core that one thread used.
    Thread(ResourceId),
    /// The share of the time that one thread was ready and had no CPU.
    ThreadWait(ResourceId),
    /// The share of one core that was used.
    Core(ResourceId),
    /// The share of a core's time spent on packets.
    CorePackets(ResourceId),
    /// The share of a host's CPU that others than the target used.
    CpuOfOthers(Place),
    /// The share of the CPU time needed by the target's threads that they did not get.
    TargetWait { host: String },
    /// The share of periods in which a control group was out of quota.
    Throttled(Place),
    /// The CPU of a control group against its quota.
    Quota(Place),
    /// Bits or packets per second of a link, one way, against what it carries.
    Link(ResourceId),
    /// Bytes per second that a control group read or wrote, against its cap.
    DiskBytes(ResourceId),
    /// Threads of a process that waited for a disk, the mean.
    DiskWaits(Place),
    /// The share of the time that a block device was busy.
    DeviceTime(ResourceId),
    /// The share of the time that tasks of a host waited for a disk.
    DiskStall { host: String },
    /// The share of the time that tasks of a host waited for memory.
    MemoryStall { host: String },
    /// Pages fetched again, for each request.
    PagesAgain { host: String },
    /// The share of a process's work that was garbage collection.
    Collecting(Place),
    /// The share of the heap in use at its fullest.
    Heap(Place),
    /// Cores that all threads of a process used.
    CoresOfProcess(Place),
    /// Threads of a process that took part in its work.
    BusyThreads(Place),
    /// Threads of a process that waited for another thread, the mean.
    LockWaits(Place),
    /// Cores that the threads of a process used or were ready for, against requests served at once.
    CoresNeeded(Place),
    /// Requests worked on at once, by Little's law.
    AtOnce,
    /// The share of the waiting requests that a tier has not read.
    Unread(Place),
    /// Processes of a tier, against requests under way.
    ProcessesOf(Place),
    /// The share of the waiting requests that are at the door of these tiers.
    AtTheDoor(Vec<PlaceCount>),
    /// Connections out of these tiers at the highest step, against requests served at once.
    ConnectionsOut(Vec<PlaceCount>),
    /// Connections of a tier to one that it calls, against requests served at once.
    ConnectionsTo { tier: Place, to: Place },
    /// Descriptors of a process that were open, of those it may have.
    Descriptors(Place),
    /// Connections per second that a component turned away.
    TurnedAway(Place),
    /// Connections open at a component, of those it allows.
    OpenConnections(Place),
    /// Entries in the kernel's table of tracked connections of a host, of its limit.
    Tracked { host: String },
    /// Connections per second that found an accept queue of a host full, against those opened.
    Overflown { host: String },
    /// The most connections to a tier that waited to be accepted.
    NotAccepted(Place),
    /// The share of requests whose connection was closed before an answer.
    Closed,
    /// Requests per second served while connections were closed: the lowest of the steps, against the highest.
    ServedWhileClosing,
    /// The share of answers with status 429 or 503.
    Refused,
    /// Requests per second served while requests were refused: the lowest of the steps, against the highest.
    ServedWhileRefusing,
    /// Requests per second after a cap was raised, against the prediction.
    Raised(Raise),
    /// Requests per second through a tier, against those of tiers measured alone.
    Through { front: String, alone: Vec<String> },
    /// Requests per second, against those of tiers measured alone.
    Together { alone: Vec<String> },
    /// Requests that each of these tiers holds at once.
    HeldAtOnce { tiers: Vec<String> },
    /// Requests under way by Little's law, against connections.
    UnderWay,
}

/// The unit of the value of a line of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceUnit {
    /// A part of 1.
    Share,
    Count,
    Cores,
    /// Requests or connections.
    PerSecond,
    BitsPerSecond,
    PacketsPerSecond,
    BytesPerSecond,
    Seconds,
    Milliseconds,
}

impl EvidenceUnit {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Share => "ratio",
            Self::Count => "count",
            Self::Cores => "cores",
            Self::PerSecond => "per_sec",
            Self::BitsPerSecond => "bits_per_sec",
            Self::PacketsPerSecond => "packets_per_sec",
            Self::BytesPerSecond => "bytes_per_sec",
            Self::Seconds => "sec",
            Self::Milliseconds => "ms",
        }
    }
}

impl Observation {
    /// The unit of its value, and of the value that it is compared with.
    pub fn unit(&self) -> EvidenceUnit {
        match self {
            Self::MeasuredTime | Self::MeanLatency | Self::TimeUnderLoad => EvidenceUnit::Seconds,
            Self::Answered
            | Self::Plateau
            | Self::TurnedAway(_)
            | Self::Overflown { .. }
            | Self::ServedWhileClosing
            | Self::ServedWhileRefusing
            | Self::Raised(_)
            | Self::Through { .. }
            | Self::Together { .. } => EvidenceUnit::PerSecond,
            Self::LastGain
            | Self::BusiestWorker
            | Self::Resource(_)
            | Self::Cpu { .. }
            | Self::Thread(_)
            | Self::ThreadWait(_)
            | Self::Core(_)
            | Self::CorePackets(_)
            | Self::CpuOfOthers(_)
            | Self::TargetWait { .. }
            | Self::Throttled(_)
            | Self::Quota(_)
            | Self::DeviceTime(_)
            | Self::DiskStall { .. }
            | Self::MemoryStall { .. }
            | Self::Collecting(_)
            | Self::Heap(_)
            | Self::Unread(_)
            | Self::AtTheDoor(_)
            | Self::Closed
            | Self::Refused => EvidenceUnit::Share,
            Self::Generator(reason) => unit_of(reason),
            Self::Link(link) if link.is_of_packets() => EvidenceUnit::PacketsPerSecond,
            Self::Link(_) => EvidenceUnit::BitsPerSecond,
            Self::DiskBytes(_) => EvidenceUnit::BytesPerSecond,
            Self::CoresOfProcess(_) | Self::CoresNeeded(_) => EvidenceUnit::Cores,
            Self::Knee
            | Self::Failed(_)
            | Self::Status(_)
            | Self::FailedCheck(_)
            | Self::DiskWaits(_)
            | Self::PagesAgain { .. }
            | Self::BusyThreads(_)
            | Self::LockWaits(_)
            | Self::AtOnce
            | Self::ProcessesOf(_)
            | Self::ConnectionsOut(_)
            | Self::ConnectionsTo { .. }
            | Self::Descriptors(_)
            | Self::OpenConnections(_)
            | Self::Tracked { .. }
            | Self::NotAccepted(_)
            | Self::HeldAtOnce { .. }
            | Self::UnderWay => EvidenceUnit::Count,
        }
    }
}

fn unit_of(reason: &GeneratorReason) -> EvidenceUnit {
    match reason {
        GeneratorReason::WorkerBusy { .. }
        | GeneratorReason::WorkerStarved { .. }
        | GeneratorReason::WorkerStalled { .. }
        | GeneratorReason::Stolen { .. }
        | GeneratorReason::Retransmits { .. } => EvidenceUnit::Share,
        GeneratorReason::SendLag { .. } => EvidenceUnit::Milliseconds,
        GeneratorReason::BehindSchedule { .. } | GeneratorReason::NearCeiling { .. } => {
            EvidenceUnit::PerSecond
        }
        GeneratorReason::LittlesLaw { .. }
        | GeneratorReason::OutOfResources { .. }
        | GeneratorReason::OutOfConnections { .. } => EvidenceUnit::Count,
    }
}

/// A place, and how many servers it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceCount {
    pub place: Place,
    pub count: usize,
}
