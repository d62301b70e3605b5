//! What a step asks of the engine.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{IpRange, Level};
use plimsoll_sys::Peer;
use plimsoll_units::Instant;

/// Connections being opened at the same time by one worker. More at once overflow the accept backlog of a
/// usual server (511 in nginx, 128 elsewhere), whose dropped handshakes cost a second each.
pub const OPENING_MAX: usize = 100;

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
    /// One request, complete, as it goes over the wire.
    pub request: Arc<[u8]>,
    /// The request's method, which decides how its response ends and whether it may be sent twice.
    pub method: String,
    /// Worker threads.
    pub workers: u32,
    /// The longest time to connect, and the longest from sending a request to its last byte.
    pub timeout: Duration,
    /// The most connections over all workers.
    pub connections_max: u32,
    /// The length of one frame.
    pub interval: Duration,
    /// Seed of random arrivals.
    pub seed: u64,
    /// When the run began: frames count their time from here.
    pub origin: Instant,
}
