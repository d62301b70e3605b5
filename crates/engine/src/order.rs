//! What a step asks of the engine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{DriverKind, IpRange, Level, Shard};
use plimsoll_sys::Peer;
use plimsoll_tls::{Client, ServerName};
use plimsoll_units::Instant;

use crate::traffic::Traffic;
use crate::worker::Requests;

/// Connections being opened at the same time by one worker. More at once overflow the accept backlog of a
/// usual server (511 in nginx, 128 elsewhere), whose dropped handshakes cost a second each.
pub const OPENING_MAX: usize = 100;

/// How connections are encrypted.
#[derive(Debug, Clone)]
pub struct TlsOrder {
    /// What all sessions have in common.
    pub client: Client,
    /// Whom the certificate must be for.
    pub name: ServerName,
}

/// The place of this process among several that make one load together: each makes the share of its own workers, as if
/// all were threads of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Company {
    /// Workers of the processes before this one.
    pub workers_before: u32,
    /// Workers of all processes together.
    pub workers: u32,
    /// When the load begins, in all of them.
    pub begins: Instant,
}

/// One step, ready to be run: nothing in it needs looking up or checking any more.
#[derive(Debug, Clone)]
pub struct StepOrder {
    /// Index of the step, which its frames carry.
    pub step: u32,
    /// The load level.
    pub level: Level,
    /// The longest time the level is held.
    pub duration: Duration,
    /// Where the connections go, at least one; they are dealt out equally.
    pub destinations: Vec<Peer>,
    /// Local addresses the connections come from; empty leaves them to the engine.
    pub sources: Vec<IpRange>,
    /// What is requested.
    pub traffic: Traffic,
    /// How many requests of the plan are counted apart, at least one; a worker records each by its index.
    pub requests: u16,
    /// The most requests under way on one connection.
    pub depth: u16,
    /// The most requests sent in the step, if their number is limited.
    pub requests_max: Option<u64>,
    /// Requests go over the streams of HTTP/2 connections.
    pub streams: bool,
    /// How connections are encrypted, if they are.
    pub tls: Option<TlsOrder>,
    /// Worker threads of this process.
    pub workers: u32,
    /// The other processes that make the same load, if there are any.
    pub company: Option<Company>,
    /// The longest time to connect, and the longest from sending a request to its last byte.
    pub timeout: Duration,
    /// The most connections over all workers.
    pub connections_max: u32,
    /// The length of one frame.
    pub interval: Duration,
    /// Seed of random arrivals.
    pub seed: u64,
    /// The driver to use; if none is given, the better one that works here.
    pub driver: Option<DriverKind>,
    /// When the run began: frames count their time from here.
    pub origin: Instant,
}

impl StepOrder {
    /// What a driver has to know beforehand: the request, if it is the same each time, as often as one
    /// connection may send it at a time.
    pub(crate) fn fixed_bytes(&self) -> Arc<[u8]> {
        match &self.traffic {
            Traffic::Made(_) => Arc::new([]),
            Traffic::Fixed(request) if self.depth == 1 => Arc::clone(&request.bytes),
            Traffic::Fixed(request) => request.bytes.repeat(usize::from(self.depth)).into(),
        }
    }

    /// The share of the whole load that the worker of this number in this process has.
    pub(crate) fn shard(&self, worker: u32) -> Shard {
        self.company.map_or(Shard { index: worker, of: self.workers }, |company| Shard {
            index: company.workers_before + worker,
            of: company.workers,
        })
    }

    /// What the requests of one worker come from.
    pub(crate) fn source(&self, shard: Shard) -> io::Result<Requests> {
        match &self.traffic {
            Traffic::Fixed(request) => Ok(Requests::Fixed(request.clone())),
            Traffic::Made(maker) => Ok(Requests::Made(maker.source(shard)?)),
        }
    }
}
