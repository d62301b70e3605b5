//! What a rule found, as data; `report` makes a sentence of it.
//!
//! A claim stands in a verdict, which says what limits and where: a claim repeats neither.

use super::{At, Estimate, Part, Place, PlaceCount};
use crate::hosts::resource::{ResourceId, ResourceUse};

/// What a rule found, one variant for each way to find a limit. Shares are from 0 to 1, throughput is in requests per second.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// All cores of a host are busy. `cores` is `None` where their number is unknown; `busiest` is a watched process; `generator` is
    /// the share of the host's CPU that the load generator used, if it runs there and used 5 % or more.
    Cpu { cores: Option<f64>, used: Used, busiest: Option<BusiestProcess>, generator: Option<f64> },
    /// One core of a host is busy; `packets` is the share of its time spent on packets.
    NetworkCore { used: Used, packets: f64 },
    /// The cores of a host that processes may run on are busy, and others are not.
    AllowedCores { used: Used },
    /// Others than the target use up a host's CPU: `by_others` is their share. `generator` is as in [`Claim::Cpu`].
    CpuTaken { used: Used, by_others: f64, generator: Option<f64> },
    /// A host has CPU left, but the machine below does not give it: `kept` is the share of the CPU time needed by the target's
    /// threads that they did not get.
    CpuBelow { kept: f64 },
    /// `cores` cores of a host are full while others are idle; `kept` is as in [`Claim::CpuBelow`].
    Confined { cores: usize, kept: f64 },
    /// One thread is at its limit. `waited` is the share of the time that it was ready and had no CPU, where that counts; `alike` is
    /// how many threads of its process name are at their limit; `idle` is the idle share of the host's CPU.
    Thread { used: Used, waited: Option<f64>, alike: usize, idle: Option<f64> },
    /// The requests of a process are on a CPU, or ready for one, for about all of their time. `ready` is the mean number of threads
    /// that were ready and had no CPU.
    Computing { cores: f64, ready: f64, threads: usize, at_once: f64, per_sec: f64 },
    /// A control group is at its CPU quota, and was throttled in this share of its periods.
    Quota { used: Used, throttled: Option<f64> },
    /// A link carries what it can.
    Link { link: ResourceId, used: Used },
    /// A control group reads or writes as many bytes as its cap allows.
    DiskCap { disk: ResourceId, used: Used },
    /// `threads` threads of `process` wait for a disk, on average. `device` is the busiest block device, with the share of the time
    /// that it was busy.
    DiskWait { process: Option<String>, threads: f64, device: Option<(Part, f64)> },
    /// Garbage collection is the share `part` of a process's work. `heap` is the highest share of the heap in use.
    Collecting { part: f64, heap: Option<f64> },
    /// `pages` pages per request are fetched again because memory has no room for them.
    Paging { pages: f64 },
    /// The threads of a process share one core between them.
    OneAtATime { threads: usize, cores: f64, per_sec: f64 },
    /// The threads of a process take turns at the work and use `cores` cores together.
    TakingTurns { cores: f64, per_sec: f64 },
    /// One request is worked on at a time, although others have been read.
    OneRequestAtATime(AtOnceLaw),
    /// Some requests wait inside a process and others do not: at this load the median was `median_sec`, as at the lowest load, while
    /// the mean was `times` times as long as there.
    SomeTakeTurns { at: At, median_sec: f64, times: f64 },
    /// Each request has one of `workers` processes to itself, and fewer requests are worked on at a time.
    ProcessEach { workers: usize, law: AtOnceLaw },
    /// A fixed number of workers or connections, `size` in each owner; several owners share the load. `size` is `None` where the
    /// lowest load had all of the throughput: `law` then gives the most requests that are served at once. `delayed_ack` is the range
    /// of the size, where a delayed acknowledgement leaves it open.
    Pool { owners: Vec<PlaceCount>, size: Option<Estimate>, law: AtOnceLaw, delayed_ack: Option<(f64, f64)> },
    /// `tier` passes requests on to a dependency that no probe samples. `busiest` is the resource that was used most.
    Dependency { tier: Place, connections: f64, busiest: Option<ResourceUse> },
    /// A process has no descriptors left.
    Descriptors { open: f64, limit: f64, at: At },
    /// A component turned away `per_sec` connections per second.
    TurnedAway { per_sec: f64, at: At },
    /// A component has as many connections open as it allows.
    ConnectionsFull { open: f64, most: f64 },
    /// The kernel's table of tracked connections held `entries` connections and has room for `limit`.
    TrackedFull { entries: f64, limit: f64, at: At },
    /// `per_sec` new connections per second found an accept queue full.
    AcceptQueue { per_sec: f64, at: At },
    /// A server has accepted as many connections as it serves at once, and has `threads` threads.
    Accepted { connections: f64, threads: f64 },
    /// `by` opens a connection for each request, and as many are open as requests are served at once.
    OpenedAnew { by: Place, connections: f64, law: AtOnceLaw },
    /// From the load `from` on, connections are closed without an answer: those of the share `part` of the requests at the load `at`.
    Closed { part: f64, per_sec: f64, at: At, from: At },
    /// The share `part` of the answers refuses by policy; `per_sec` requests per second are served.
    Refused { per_sec: f64, part: f64, at: At },
    /// A resource of the generator's host is used up; `rival` is a resource of the target that is as full.
    GeneratorFull { used: ResourceUse, rival: Option<ResourceUse> },
    /// A finding about a row of a table.
    Row(RowClaim),
}

/// A finding about a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum RowClaim {
    /// A row of a table breaks Little's law, at this many requests per second.
    Unlawful(LawBreach, f64),
    /// A tier in front keeps those behind it from the throughput that they have alone.
    Front { per_sec: f64, behind: Vec<String>, together_per_sec: f64 },
    /// Tiers have the same throughput together as the sum of what each has alone.
    AllOfAlone { tiers: Vec<String> },
    /// Each of these tiers serves `workers` requests at once, however long each is held. `like_alone` is false where it is known only
    /// that nothing else is used up.
    HeldPool { tiers: Vec<String>, workers: f64, like_alone: bool },
    /// Tiers hold a fixed number of requests, each several times: the time between two answers is `least_sec` plus 1/`per_hold` of
    /// the time of a hold.
    HeldQueue { least_sec: f64, per_hold: f64 },
    /// The pool, the memory or the disk of a tier is used up, by the figures of a table.
    TierFull { used: ResourceUse, per_sec: f64 },
    /// Throughput follows the size of a tier's pool with this exponent.
    FollowsPool { size: f64, exponent: f64 },
    /// This part of the requests of a row failed.
    RowFails { part: f64 },
    /// Fewer or smaller machines gave as much under the same load, and their throughput still grew with the load.
    FewerGaveAsMuch { exponent: f64 },
    /// More load on the same machines gave `per_sec` requests per second.
    MoreLoadGaveMore { per_sec: f64 },
    /// More load was not tried.
    MoreLoadNotTried { fullest: ResourceUse },
    /// Throughput grew with the load up to the last row, with this exponent.
    StillGrows { exponent: f64 },
    /// Throughput follows the cores of the machines with this exponent.
    FollowsCores { exponent: f64 },
    /// Throughput follows the number of machines of a tier with this exponent: each is at its limit.
    FollowsInstances { tier: String, exponent: f64 },
    /// No resource that the row has figures of is used up; `fullest` is `None` where it has none.
    NotInTable { fullest: Option<ResourceUse>, load: LoadEffect },
}

impl From<RowClaim> for Claim {
    fn from(claim: RowClaim) -> Self {
        Self::Row(claim)
    }
}

/// What rows of the same target under other loads show about a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadEffect {
    /// More load gave `per_sec` requests per second.
    MoreGaveMore { per_sec: f64 },
    /// More load was not tried; up to this row throughput grew with the load with this exponent.
    StillGrows { exponent: f64 },
    /// Less load gave as much, or more load no more.
    Level,
    /// Less load gave `per_sec` requests per second, at least a ninth more.
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
    /// True for more requests under way than connections. Fewer are possible: a client may leave connections idle.
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
    /// Cores that all processes of this name used, including their children that ended.
    pub cores: f64,
    /// The share of all CPU used on the host.
    pub part: f64,
    /// True if those children used most of it.
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
