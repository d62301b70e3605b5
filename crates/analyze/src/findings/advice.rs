//! What to try next, as data; `report` gives it words.
//!
//! Advice stands in a verdict, whose limit and place it does not repeat.

use plimsoll_record::FailureKind;

use super::PlaceCount;
use crate::generator::health::GeneratorReason;
use crate::hosts::resource::ResourceId;

/// What to try next.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// The run ended before its first step.
    NothingRan,
    /// No request ended.
    NothingEnded,
    /// One level shows no limit: run a ladder.
    Sweep,
    /// The rate is kept up with: raise it.
    HigherRate,
    /// What was measured is too short.
    TooShort,
    /// An answer takes longer than the load was on.
    LongerRun,
    /// An answer takes longer than a step: `--step`.
    LongerSteps,
    /// An answer takes longer than a step: `--budget`.
    LongerBudget,
    /// The target was lost so many seconds after the run began.
    TargetLost(f64),
    /// Failures of one kind, and what helps in this run.
    Failure(FailureAdvice),
    /// Responses of a status that is no success.
    Status(u16),
    /// Answers that fail a check.
    Check(String),
    /// What held the generator back.
    Generator(GeneratorReason),
    /// More of a resource of the generator's host.
    MoreForGenerator(ResourceId),
    /// Watch the target at so many connections.
    WatchAtConnections(u32),
    /// Watch the target at a rate, requests per second.
    WatchAtRate(f64),
    /// Compare what is worked on at once with cores and pools.
    CompareAtOnce(f64),
    /// Throughput was still growing at so many connections.
    Climb(u32),
    /// Half as many cores again, at so many connections; with another worker where one thread has a whole core.
    MoreCores {
        /// Connections of the load.
        connections: u32,
        /// True if a thread of the host has a whole core.
        another_worker: bool,
    },
    /// Spread packets over cores.
    SpreadPackets,
    /// Move others away from a host.
    MoveOthers,
    /// Find what else runs on the machine below.
    FindOthers,
    /// Let the target use more of its host's cores.
    MoreOfItsCores,
    /// Another worker, thread or instance, at so many connections.
    AnotherWorker(u32),
    /// Half as much CPU quota again.
    MoreQuota {
        /// Cores then.
        cores: f64,
        /// Connections of the load.
        connections: u32,
    },
    /// Fewer packets, or more of them allowed.
    FewerPackets(ResourceId),
    /// Smaller messages, or a wider link.
    SmallerMessages,
    /// Fewer bytes of a disk, or a higher cap.
    FewerDiskBytes,
    /// Batched writes, or a faster disk.
    BatchWrites,
    TwiceHeap {
        /// How much throughput should grow, a share.
        gain: f64,
    },
    /// Half as much memory again.
    MoreMemory,
    /// A profile of waits at so many connections.
    ProfileWaits(u32),
    /// What else holds throughput at this rate without being busy.
    HeldBack(f64),
    /// Half as many workers again.
    LargerPool {
        /// Whose.
        owners: Vec<PlaceCount>,
        /// How many there are of each.
        size: f64,
    },
    /// Answers in one piece, or no delay.
    NoDelay(Vec<PlaceCount>),
    /// Watch what requests are passed on to; it serves so many at once.
    WatchDependency(f64),
    MoreDescriptors,
    /// More connections allowed by a component that turned some away.
    RaiseSetting,
    /// Half as many connections again.
    MoreConnections,
    /// A longer accept queue.
    LongerBacklog,
    /// Half as many accepted connections again; so many there are.
    AcceptMore(f64),
    /// More connections allowed where some were closed.
    AllowMore,
    /// Half as much allowed by the policy that refuses.
    RaisePolicy,
    /// Throughput was the same from the lowest load on.
    BeginLower,
    /// Look for what else holds requests back, after a trial withdrew the verdict.
    SomethingElse,
    /// Measure a row that breaks Little's law again.
    MeasureRowAgain,
    /// More machines, or a wider link, for a tier.
    MoreLink,
    /// Another instance of a tier.
    MoreInstances,
    /// More machines or cores for a tier.
    MoreMachines,
    /// Look at the resources of a tier in front.
    LookAtFront,
    /// Look at the hosts of tiers.
    LookAtHosts(Vec<String>),
    /// A larger pool of tiers in a table.
    LargerTierPool {
        tiers: Vec<String>,
        /// Workers of each.
        workers: f64,
    },
    /// The row again with more load.
    MoreLoad,
    /// More figures of the machines.
    AddFigures,
    /// Look into a tier or behind it.
    LookInto,
}

/// What helps against a kind of failure, in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureAdvice {
    /// What helps against this kind over TCP.
    Usual(FailureKind),
    /// What helps against it over a unix socket.
    OverUnixSocket(FailureKind),
    /// Requests were not sent for want of descriptors.
    OutOfDescriptors,
    /// Requests were not sent for want of the generator's time.
    OutOfTime,
    /// Requests were not sent for want of connections.
    OutOfConnections,
}
