//! What a step asks of the engine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::Level;
use plimsoll_units::Instant;

use crate::drive::DriverKind;

/// One step, ready to be run: nothing in it needs looking up or checking any more.
#[derive(Debug, Clone)]
pub struct StepOrder {
    /// Index of the step, which its frames carry.
    pub step: u32,
    /// The load level.
    pub level: Level,
    /// The longest time the level is held.
    pub duration: Duration,
    /// Where the requests go.
    pub address: SocketAddr,
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
    /// The driver to use; if none is given, the better one that works here.
    pub driver: Option<DriverKind>,
    /// When the run began: frames count their time from here.
    pub origin: Instant,
}
