//! What a rule found, as data; `report` makes a sentence of it.
//!
//! A claim stands in a verdict, which says what limits and where: a claim repeats neither.

use super::{At, Estimate, Part, Place, PlaceCount};
use crate::hosts::resource::{ResourceId, ResourceUse};

/// What was found, one variant for each way to find a limit. Shares are of 1, throughput is in requests per second.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// All cores of a host are busy. How many there are may not be known; `busiest` is a watched process, `generator` the share
    /// of them that the load generator used, where that is on the host and matters.
    Cpu { cores: Option<f64>, used: Used, busiest: Option<BusiestProcess>, generator: Option<f64> },
    /// One core of a host is busy; `packets` is the share of its time spent on them.
    NetworkCore { used: Used, packets: f64 },
    /// The cores of a host that processes may run on are busy, and others are not.
    AllowedCores { used: Used },
    /// Others use a host's CPU up, this share of it; `generator` as above.
    CpuTaken { used: Used, by_others: f64, generator: Option<f64> },
    /// The machine below a host has no CPU for it. `kept` is the share of the time they needed a CPU that the target's threads
    /// had none.
    CpuBelow { kept: f64 },
    /// So many cores that the target may use are full, others idle; `kept` as above.
    Confined { cores: usize, kept: f64 },
    /// One thread is at its end. `waited` is the share of the time that it was ready and had no CPU, where that counts;
    /// `alike` how many threads of its process are at their end; `idle` the share of the host's CPU that was.
    Thread { used: Used, waited: Option<f64>, alike: usize, idle: Option<f64> },
    /// The threads of a process compute all the time of the requests they serve. They were `ready` for so many cores more than
    /// they used, the mean.
    Computing { cores: f64, ready: f64, threads: usize, at_once: f64, per_sec: f64 },
    /// A control group is at its CPU quota, and was throttled in this share of its periods.
    Quota { used: Used, throttled: Option<f64> },
    /// A link carries what it can.
    Link { link: ResourceId, used: Used },
    /// A control group reads or writes as many bytes as it may.
    DiskCap { disk: ResourceId, used: Used },
    /// So many threads wait for a disk at any moment, most of them of `process`. `device` is the busiest block device, with
    /// the share of the time that it was busy.
    DiskWait { process: Option<String>, threads: f64, device: Option<(Part, f64)> },
    /// A process spends this part of its work on garbage collection. `heap` is how full that was at its fullest.
    Collecting { part: f64, heap: Option<f64> },
    /// So many pages are fetched again for each request because there is no room for them.
    Paging { pages: f64 },
    /// The threads of a process share one core between them.
    OneAtATime { threads: usize, cores: f64, per_sec: f64 },
    /// The threads of a process take turns, any of them, and use so many cores together.
    TakingTurns { cores: f64, per_sec: f64 },
    /// One request is worked on at a time, and others have been read too.
    OneRequestAtATime(AtOnceLaw),
    /// The same of requests that several instances of a service have read, of which each could work on one.
    OneOfInstances { instances: Vec<PlaceCount>, law: AtOnceLaw },
    /// Some requests wait inside and others do not: at this load half of them took `median_sec`, as long as at the lowest load, while
    /// the mean was so many `times` what it was there.
    SomeTakeTurns { at: At, median_sec: f64, times: f64 },
    /// Each request has one of `workers` processes to itself, and fewer are worked on at a time.
    ProcessEach { workers: usize, law: AtOnceLaw },
    /// A fixed number of workers or connections: `size` in each of its owners, several where load is shared out, none where
    /// no tier is known. `delayed_ack` are the fewest and the most, where a delayed acknowledgement leaves that open. The size is
    /// `None` where the lowest load had all of the throughput: `law` then has the most that are served at once.
    Pool { owners: Vec<PlaceCount>, size: Option<Estimate>, law: AtOnceLaw, delayed_ack: Option<(f64, f64)> },
    /// `tier` passes requests on to what no probe watches. `busiest` is the resource that was used most.
    Dependency { tier: Place, connections: f64, busiest: Option<ResourceUse> },
    /// A process has no descriptors left.
    Descriptors { open: f64, limit: f64, at: At },
    /// A component turned so many connections away per second.
    TurnedAway { per_sec: f64, at: At },
    /// A component has as many connections open as it allows.
    ConnectionsFull { open: f64, most: f64 },
    /// So many connections were in a kernel's table of tracked connections, which has room for `limit`.
    TrackedFull { entries: f64, limit: f64, at: At },
    /// So many new connections per second found an accept queue full.
    AcceptQueue { per_sec: f64, at: At },
    /// A server accepts as many connections as it serves at once, with so many threads that run.
    Accepted { connections: f64, threads: f64 },
    /// As many connections of one request each are open at once as requests are served; `by` opens them.
    OpenedAnew { by: Place, connections: f64, law: AtOnceLaw },
    /// The connections of this part of the requests are closed without an answer, from a load on; others are served.
    Closed { part: f64, per_sec: f64, at: At, from: At },
    /// This part of the answers refuse by policy; `per_sec` are served.
    Refused { per_sec: f64, part: f64, at: At },
    /// A resource of the generator's host is used up; `rival` is one of the target's that is as full.
    GeneratorFull { used: ResourceUse, rival: Option<ResourceUse> },
    /// What rows of a table say.
    Row(RowClaim),
}

/// What was found of a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum RowClaim {
    /// A row of a table breaks Little's law, at this many requests per second.
    Unlawful(LawBreach, f64),
    /// A tier in front does not let those behind it carry what they carry alone.
    Front { per_sec: f64, behind: Vec<String>, together_per_sec: f64 },
    /// Tiers carry together what they carry alone.
    AllOfAlone { tiers: Vec<String> },
    /// Tiers serve a fixed number of requests at once, however long each is held: `workers` in each. `like_alone` is false where
    /// it is known only that nothing else is used up.
    HeldPool { tiers: Vec<String>, workers: f64, like_alone: bool },
    /// Tiers hold a fixed number of requests, of which each is held some times: the time between two answers is
    /// `least_sec` and 1/`per_hold` of the time of a hold.
    HeldQueue { least_sec: f64, per_hold: f64 },
    /// A figure of a tier in a table is at its end: its pool, its memory or its disk.
    TierFull { used: ResourceUse, per_sec: f64 },
    /// Throughput follows the size of a tier's pool with this exponent.
    FollowsPool { size: f64, exponent: f64 },
    /// This part of the requests of a row failed.
    RowFails { part: f64 },
    /// Fewer machines, or smaller ones, gave as much under the same load, and with them throughput still grew with it.
    FewerGaveAsMuch { exponent: f64 },
    /// More load gave so much with the same machines.
    MoreLoadGaveMore { per_sec: f64 },
    /// More load was not tried.
    MoreLoadNotTried { fullest: ResourceUse },
    /// Throughput followed the load up to the last row with this exponent.
    StillGrows { exponent: f64 },
    /// Throughput follows the cores of the machines with this exponent.
    FollowsCores { exponent: f64 },
    /// Throughput follows the machines of a tier with this exponent: each is at its end.
    FollowsInstances { tier: String, exponent: f64 },
    /// Nothing that the row has figures of is used up; `fullest` is `None` where it has none.
    NotInTable { fullest: Option<ResourceUse>, load: LoadEffect },
}

impl From<RowClaim> for Claim {
    fn from(claim: RowClaim) -> Self {
        Self::Row(claim)
    }
}

/// What other loads of the same target say of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadEffect {
    /// More load gave so many requests per second.
    MoreGaveMore { per_sec: f64 },
    /// More was not tried, and up to here throughput followed the load with this exponent.
    StillGrows { exponent: f64 },
    /// Less load gave as much, or more load no more.
    Level,
    /// Less load gave so many requests per second, at least a ninth more.
    LessGaveMore { per_sec: f64 },
    /// No other load was tried.
    Untried,
}

/// How a row of a table breaks Little's law (Little 1961): N = X·R.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawBreach {
    /// X·R: the requests under way by the law.
    pub under_way: f64,
    /// N, as the table has it.
    pub connections: f64,
}

impl LawBreach {
    /// True for more requests under way than connections. Fewer may be: a client that does not keep its connections busy.
    pub(crate) fn is_impossible(&self) -> bool {
        self.under_way > self.connections
    }
}

/// How much of a resource was used at the throughput that decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    pub share: f64,
    /// The capacity in the resource's unit.
    pub capacity: f64,
    pub per_sec: f64,
    /// What a request uses, in the resource's unit times seconds; `None` where that is not known.
    pub per_request: Option<f64>,
}

/// The watched process that used most of a host's CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct BusiestProcess {
    pub name: String,
    /// Cores that all processes of this name used, with their children that ended.
    pub cores: f64,
    /// The share of all that was used on the host.
    pub part: f64,
    /// Those children used most of it.
    pub is_of_children: bool,
}

/// Requests worked on at once by Little's law (1961): X·S₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtOnceLaw {
    pub per_sec: f64,
    /// S₀, the time of a request that does not wait.
    pub unqueued_sec: f64,
    /// X·S₀.
    pub at_once: f64,
}
