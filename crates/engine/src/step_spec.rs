//! What a step asks of the engine.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{DriverKind, IpRange, Level, Shard, Shares};
use plimsoll_sys::Destination;
use plimsoll_tls::{Client, ServerName};
use plimsoll_units::Instant;

use crate::requests::Traffic;

/// The most connections that one worker connects at the same time. More would overflow the accept queue of a usual
/// server (511 in nginx, 128 elsewhere), and each handshake that the kernel drops there costs a second.
pub const MAX_CONNECTING: usize = 100;

/// How connections are encrypted.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// What all sessions have in common.
    pub client: Client,
    /// The name that the server's certificate must have.
    pub name: ServerName,
}

/// The place of this process among several that make one load together. Each makes the share of its own workers, as if
/// all were threads of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerGroup {
    /// Number of workers of the processes before this one.
    pub workers_before: u32,
    /// How the workers of all processes share the load.
    pub shares: Shares,
    /// When the load begins, in all of them.
    pub begins: Instant,
}

/// One step, ready to run: everything in it is resolved and checked.
#[derive(Debug, Clone)]
pub struct StepSpec {
    /// Index of the step, which its frames carry.
    pub step: u32,
    /// The connections of a closed loop, or the rate of an open one.
    pub level: Level,
    /// The longest time the level is held.
    pub duration: Duration,
    /// Where the connections go, at least one; connections are dealt out in turn.
    pub destinations: Vec<Destination>,
    /// Local addresses the connections come from; empty leaves them to the engine.
    pub sources: Vec<IpRange>,
    /// What is requested.
    pub traffic: Traffic,
    /// How many requests of the plan are counted separately, at least one.
    pub requests: u16,
    /// The most requests in flight on one connection.
    pub depth: u16,
    /// The most requests sent in the step, if their number is limited.
    pub requests_max: Option<u64>,
    /// Requests go over the streams of HTTP/2 connections.
    pub streams: bool,
    /// How connections are encrypted, if they are.
    pub tls: Option<TlsConfig>,
    /// Worker threads of this process.
    pub workers: u32,
    /// The other processes that make the same load, if there are any.
    pub group: Option<PeerGroup>,
    /// The longest time to connect, and the longest from sending a request to its last byte.
    pub timeout: Duration,
    /// The most connections of all workers.
    pub connections_max: u32,
    /// The length of one frame.
    pub interval: Duration,
    /// Seed of random arrivals.
    pub seed: u64,
    /// The driver to use; `None` for the better one that works here.
    pub driver: Option<DriverKind>,
    /// When the run began: frames count their time from here.
    pub origin: Instant,
}

impl StepSpec {
    /// The bytes that a driver needs beforehand: the request, if it is fixed, as often as one connection may send it at a
    /// time.
    pub(crate) fn fixed_bytes(&self) -> Arc<[u8]> {
        match &self.traffic {
            Traffic::Generated(_) => Arc::new([]),
            Traffic::Fixed(request) if self.depth == 1 => Arc::clone(&request.bytes),
            Traffic::Fixed(request) => request.bytes.repeat(usize::from(self.depth)).into(),
        }
    }

    /// The worker of this number in this process, among those of all processes.
    pub(crate) fn shard(&self, worker: u32) -> Shard {
        self.group.as_ref().map_or(Shard { index: worker, of: self.workers }, |group| Shard {
            index: group.workers_before + worker,
            of: group.shares.workers(),
        })
    }

    /// How the workers share the load.
    pub(crate) fn shares(&self) -> Shares {
        self.group.as_ref().map_or_else(|| Shares::equal(self.workers), |group| group.shares.clone())
    }
}
