//! The input of the engine: the specification of one step.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{DriverKind, IpRange, Level, Shard, Shares};
use plimsoll_sys::Destination;
use plimsoll_tls::{Client, ServerName};
use plimsoll_units::Instant;

use crate::requests::Traffic;

/// The most connections that one worker has connecting at the same time. More would overflow the accept queue of a usual
/// server (511 in nginx, 128 elsewhere), and each handshake that the kernel drops there costs a second.
pub const MAX_CONNECTING: usize = 100;

/// The TLS configuration of a step.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// The configuration that all sessions share.
    pub client: Client,
    /// The name that the server's certificate must have.
    pub name: ServerName,
}

/// The position of this process among several that generate one load together. Each process generates the share of its own
/// workers, as if all workers were threads of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerGroup {
    /// Number of workers in the processes before this one.
    pub workers_before: u32,
    /// The shares of the load of all workers of all processes.
    pub shares: Shares,
    /// When the load begins in all processes.
    pub begins: Instant,
}

/// One step, ready to run: all values are resolved and checked.
#[derive(Debug, Clone)]
pub struct StepSpec {
    /// Index of the step; each of its frames carries it.
    pub step: u32,
    /// The number of connections of a closed loop, or the arrival rate of an open loop.
    pub level: Level,
    /// The longest duration of the load.
    pub duration: Duration,
    /// Targets of the connections, at least one; connections are distributed over them round-robin.
    pub destinations: Vec<Destination>,
    /// Local addresses of the connections; if empty, the engine chooses.
    pub sources: Vec<IpRange>,
    /// The requests to send.
    pub traffic: Traffic,
    /// Number of requests of the plan that are counted separately, at least one.
    pub requests: u16,
    /// Maximum number of requests in flight on one connection.
    pub depth: u16,
    /// Maximum number of requests sent in the step; `None` if it is not limited.
    pub requests_max: Option<u64>,
    /// True if requests are streams of HTTP/2 connections.
    pub streams: bool,
    /// TLS configuration; `None` for unencrypted connections.
    pub tls: Option<TlsConfig>,
    /// Number of worker threads of this process.
    pub workers: u32,
    /// The position among other processes that generate the same load; `None` if this process is alone.
    pub group: Option<PeerGroup>,
    /// Timeout of connecting, and of a request from sending it to the last byte of its response.
    pub timeout: Duration,
    /// Maximum number of connections of all workers.
    pub connections_max: u32,
    /// The length of one frame.
    pub interval: Duration,
    /// Seed of random arrivals.
    pub seed: u64,
    /// The driver to use; if `None`, io_uring where it works, otherwise epoll.
    pub driver: Option<DriverKind>,
    /// When the run began; frames count their time from this instant.
    pub origin: Instant,
}

impl StepSpec {
    /// Returns the bytes that a driver gets in advance: a fixed request, repeated `depth` times. Empty if requests are
    /// generated.
    pub(crate) fn fixed_bytes(&self) -> Arc<[u8]> {
        match &self.traffic {
            Traffic::Generated(_) => Arc::new([]),
            Traffic::Fixed(request) if self.depth == 1 => Arc::clone(&request.bytes),
            Traffic::Fixed(request) => request.bytes.repeat(usize::from(self.depth)).into(),
        }
    }

    /// Returns the position of worker `worker` of this process among the workers of all processes.
    pub(crate) fn shard(&self, worker: u32) -> Shard {
        self.group.as_ref().map_or(Shard { index: worker, of: self.workers }, |group| Shard {
            index: group.workers_before + worker,
            of: group.shares.workers(),
        })
    }

    /// The shares of the load of all workers.
    pub(crate) fn shares(&self) -> Shares {
        self.group.as_ref().map_or_else(|| Shares::equal(self.workers), |group| group.shares.clone())
    }
}
