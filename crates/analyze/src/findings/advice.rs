//! What to try next, as data; `report` turns it into text.
//!
//! Advice belongs to a verdict, whose limit and place it does not repeat.

use plimsoll_record::{ConnectionResource, FailureKind};

use super::PlaceCount;
use crate::generator::health::GeneratorReason;
use crate::hosts::resource::ResourceId;

/// What to try next. Connections are those of the load to repeat; `None` for a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    NothingRan,
    NothingEnded,
    /// One level shows no limit: run a ladder.
    Sweep,
    /// The rate is kept up with: raise it.
    HigherRate,
    TooShort,
    LongerRun,
    /// An answer takes longer than a step: `--step`.
    LongerSteps,
    /// An answer takes longer than a step: `--budget`.
    LongerBudget,
    /// The target was lost this many seconds after the run began.
    TargetLost(f64),
    Failure(FailureAdvice),
    /// Responses with a status that is no success.
    Status(u16),
    Check(String),
    /// What held the generator back.
    Generator(GeneratorReason),
    MoreForGenerator(ResourceId),
    /// Watch the target at this number of connections.
    WatchAtConnections(u32),
    /// Watch the target at a rate, requests per second.
    WatchAtRate(f64),
    /// Compare the number of requests worked on at once with cores and pools.
    CompareAtOnce(f64),
    /// Throughput was still growing at this number of connections.
    Climb(u32),
    /// Half as many cores again, at this number of connections; also another worker where one thread has a whole core.
    MoreCores {
        connections: Option<u32>,
        another_worker: bool,
    },
    SpreadPackets,
    MoveOthers,
    /// Find what else runs on the machine below the host.
    FindOthers,
    /// Let the target use more of its host's cores; also more workers where threads have a whole core each.
    MoreOfItsCores {
        more_workers: bool,
    },
    /// Another worker, thread or instance, at this number of connections.
    AnotherWorker(Option<u32>),
    /// Half as much CPU quota again: `cores` in total.
    MoreQuota {
        cores: f64,
        connections: Option<u32>,
    },
    /// Fewer packets, or more of them allowed.
    FewerPackets(ResourceId),
    SmallerMessages,
    FewerDiskBytes,
    BatchWrites,
    /// Twice the heap, by which throughput should grow by the share `gain`.
    TwiceHeap {
        gain: f64,
    },
    MoreMemory,
    /// A profile of waits at this number of connections.
    ProfileWaits(Option<u32>),
    /// Look for what else holds throughput at this rate without being busy.
    HeldBack(f64),
    /// Half as many workers again; each owner has `size` now.
    LargerPool {
        owners: Vec<PlaceCount>,
        size: f64,
    },
    /// Send answers in one piece, or set `TCP_NODELAY`.
    NoDelay(Vec<PlaceCount>),
    /// Watch the dependency that requests are passed on to; it serves this many at once.
    WatchDependency(f64),
    MoreDescriptors,
    /// Allow more connections to a component that turned some away.
    RaiseSetting,
    MoreConnections,
    /// More room in the kernel's table of tracked connections.
    TrackMore,
    LongerBacklog,
    /// Half as many accepted connections again; there are this many now.
    AcceptMore(f64),
    /// Allow more connections where some were closed.
    AllowMore,
    /// Let the policy that refuses allow half as much again.
    RaisePolicy,
    /// Begin with a lower load: throughput was the same from the lowest load on.
    BeginLower,
    /// Look for what else holds requests back, after a trial withdrew the verdict.
    SomethingElse,
    MeasureRowAgain,
    LookAtFront,
    LookAtHosts(Vec<String>),
    /// A larger pool of tiers in a table; each has `workers` workers now.
    LargerTierPool {
        tiers: Vec<String>,
        workers: f64,
    },
    MoreLoad,
    AddFigures,
    LookInto,
}

/// What helps against a kind of failure, in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureAdvice {
    /// What helps against this kind over TCP.
    Usual(FailureKind),
    /// What helps against it over a unix socket.
    OverUnixSocket(FailureKind),
    /// Requests were not sent because this machine allows no more connections.
    OutOf(ConnectionResource),
    /// Requests were not sent because the generator had no time.
    OutOfTime,
    /// Requests were not sent because no connection was free.
    OutOfConnections,
}
