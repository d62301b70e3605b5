//! What a rule found, as data; `report` makes a sentence of it.
//!
//! A claim stands in a verdict, which says what limits and where: a claim repeats neither.

use super::{At, Estimate, FigureKind, Place, PlaceCount, TierFigure};
use crate::hosts::resource::{ResourceId, ResourceUse};

/// What was found, one variant for each way to find a limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// All cores of a host are busy.
    Cpu {
        /// How much was used, and what that is for a request.
        used: Used,
        /// The watched process that used most.
        busiest: Option<BusiestProcess>,
    },
    /// One core of a host is busy with packets.
    NetworkCore {
        /// How much of the core was used.
        used: Used,
        /// The share of its time spent on packets.
        packets: f64,
    },
    /// Others use a host's CPU up.
    CpuTaken {
        /// How much of the CPU was used.
        used: Used,
        /// The share of it that the others used.
        by_others: f64,
    },
    /// The machine below a host has no CPU for it.
    CpuBelow {
        /// The share of the time they needed a CPU that the target's threads had none.
        kept: f64,
    },
    /// The cores that the target may use are full, others idle.
    Confined {
        /// How many cores are full.
        cores: usize,
        /// The share of the time they needed a CPU that the target's threads had none.
        kept: f64,
    },
    /// One thread is at its end.
    Thread {
        /// How much of a core it used.
        used: Used,
        /// The share of the time that it was ready and had no CPU, where that counts.
        waited: Option<f64>,
        /// How many threads of its process are at their end.
        alike: usize,
        /// The share of the host's CPU that was idle.
        idle: Option<f64>,
    },
    /// The threads of a process compute all the time of the requests they serve.
    Computing {
        /// Cores that they used.
        cores: f64,
        /// Cores that they were ready for and did not get, the mean.
        ready: f64,
        /// Threads that took part.
        threads: usize,
        /// Requests served at once.
        at_once: f64,
        /// Requests per second.
        per_sec: f64,
    },
    /// A control group is at its CPU quota.
    Quota {
        /// How much of the quota was used.
        used: Used,
        /// The share of its periods in which it was throttled.
        throttled: Option<f64>,
    },
    /// A link carries what it can, one way.
    Link {
        /// The link, one way.
        link: ResourceId,
        /// How much of it was used.
        used: Used,
    },
    /// A control group reads or writes as many bytes as it may.
    DiskCap {
        /// The cap.
        disk: ResourceId,
        /// How much of it was used.
        used: Used,
    },
    /// Threads wait for a disk.
    DiskWait {
        /// The process with most of them, where known.
        process: Option<String>,
        /// How many at any moment.
        threads: f64,
        /// The block device that was busiest, and the share of the time that it was busy.
        device: Option<(String, f64)>,
    },
    /// A process spends its work on garbage collection.
    Collecting {
        /// The share of its work.
        part: f64,
        /// How full the heap was at its fullest.
        heap: Option<f64>,
    },
    /// Pages are fetched again because there is no room for them.
    Paging {
        /// Pages for each request.
        pages: f64,
    },
    /// The threads of a process share one core between them.
    OneAtATime {
        /// Threads that took part.
        threads: usize,
        /// Cores that they used together.
        cores: f64,
        /// Requests per second.
        per_sec: f64,
    },
    /// The threads of a process take turns, any of them.
    TakingTurns {
        /// Cores that they used together.
        cores: f64,
        /// Requests per second.
        per_sec: f64,
    },
    /// One request is worked on at a time, and those that wait were all read.
    OneRequestAtATime(AtOnceLaw),
    /// A fixed number of workers or connections.
    Pool {
        /// Whose it is, several where load is shared out; empty where no tier is known.
        owners: Vec<PlaceCount>,
        /// Workers of each.
        size: Estimate,
        /// The law that says so.
        law: AtOnceLaw,
        /// The fewest and the most, where a delayed acknowledgement leaves that open.
        delayed_ack: Option<(f64, f64)>,
    },
    /// Requests are passed on to what no probe watches.
    Dependency {
        /// Who passes them on.
        tier: Place,
        /// With so many connections under load.
        connections: f64,
        /// The resource that was used most.
        busiest: Option<ResourceUse>,
    },
    /// A process has no descriptors left.
    Descriptors {
        /// Those that were open.
        open: f64,
        /// Those that it may have.
        limit: f64,
        /// Where.
        at: At,
    },
    /// A component turned connections away.
    TurnedAway {
        /// How many a second.
        per_sec: f64,
        /// Where.
        at: At,
    },
    /// A component has as many connections open as it allows.
    ConnectionsFull {
        /// Those that were open.
        open: f64,
        /// Those that it allows.
        most: f64,
    },
    /// New connections found an accept queue full.
    AcceptQueue {
        /// How many a second.
        per_sec: f64,
        /// Where.
        at: At,
    },
    /// A server accepts as many connections as it serves at once.
    Accepted {
        /// How many.
        connections: f64,
        threads: f64,
    },
    /// New connections are closed without an answer, and others are served.
    Closed {
        /// The share of requests whose connection was closed.
        part: f64,
        /// Requests per second that were served all the same.
        per_sec: f64,
        /// Where the share is of.
        at: At,
        /// The load from which on this is so.
        from: At,
    },
    /// Requests are refused by policy.
    Refused {
        /// Requests per second that are served.
        per_sec: f64,
        /// The share of answers that refuse.
        part: f64,
        /// Where.
        at: At,
    },
    /// A resource of the generator's host is used up.
    GeneratorFull {
        /// The resource.
        used: ResourceUse,
        /// A resource of the target's that is as full.
        rival: Option<ResourceUse>,
    },
    /// A row of a table breaks Little's law, at this many requests per second.
    Unlawful(LawBreach, f64),
    /// A resource of a tier is used up in a row.
    TierFull {
        /// The resource, and the share that was used.
        used: TierUsed,
        /// Requests per second.
        per_sec: f64,
        /// Another one that is about as full.
        rival: Option<TierUsed>,
        /// The fullest of the rest.
        next: Option<TierUsed>,
    },
    /// A tier in front does not let those behind it carry what they carry alone.
    Front {
        /// Requests per second through it.
        per_sec: f64,
        /// The tiers behind it.
        behind: Vec<String>,
        /// What these carry alone, together.
        together_per_sec: f64,
    },
    /// Tiers carry together what they carry alone.
    AllOfAlone { tiers: Vec<String> },
    /// Tiers serve a fixed number of requests at once, however long each is held.
    HeldPool {
        tiers: Vec<String>,
        /// Workers of each.
        workers: f64,
        /// True if the tiers carry through a front what they carry alone; false if nothing else is used up.
        like_alone: bool,
    },
    /// More load gave more with the same machines.
    MoreLoadGaveMore {
        /// Requests per second with more load.
        per_sec: f64,
    },
    /// More load was not tried.
    MoreLoadNotTried {
        /// What was fullest.
        fullest: TierUsed,
    },
    /// The row has no figure of anything that could be used up.
    NoFigures,
    /// Nothing that the row has figures of is used up.
    Elsewhere {
        /// What was fullest.
        fullest: TierUsed,
        /// Requests per second.
        per_sec: f64,
    },
}

/// How a row of a table breaks Little's law (Little 1961): N = X·R.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawBreach {
    /// X·R: the requests under way by the law.
    pub under_way: f64,
    /// N, as the table has it.
    pub connections: f64,
}

/// How much of a resource was used at the throughput that decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// The share of the capacity.
    pub share: f64,
    /// The capacity in the resource's unit.
    pub capacity: f64,
    /// Requests per second.
    pub per_sec: f64,
    /// What a request uses, in the resource's unit times seconds; `None` where that is not known.
    pub per_request: Option<f64>,
}

/// The watched process that used most of a host's CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct BusiestProcess {
    pub name: String,
    /// Cores that all processes of this name used.
    pub cores: f64,
    /// The share of all that was used on the host.
    pub part: f64,
}

/// Requests worked on at once by Little's law (1961): X·S₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtOnceLaw {
    /// X, requests per second.
    pub per_sec: f64,
    /// S₀, the time of a request that does not wait, in seconds.
    pub unqueued_sec: f64,
    /// X·S₀.
    pub at_once: f64,
}

/// A figure of a tier in a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TierUsed {
    /// What it is of.
    pub figure: TierFigure,
    /// The share that was used.
    pub share: f64,
    /// False where the row does not have it, and what a request costs in other rows gives it.
    pub observed: bool,
}

impl TierUsed {
    /// The kind of figure.
    pub fn kind(&self) -> FigureKind {
        self.figure.resource
    }
}
