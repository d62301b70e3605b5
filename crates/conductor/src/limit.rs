//! Limits of this machine and of the target that a plan exceeds.

use std::fmt;

use plimsoll_record::{ConnectionResource, LoweredTo};

/// A resource that limits a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedResource {
    /// A resource whose limit is a number of connections.
    OfConnections(ConnectionResource),
    /// Places in the target's accept queue.
    Backlog,
    /// Concurrent requests on one connection that an HTTP/2 server allows.
    Streams,
    /// Cores that this process may run on; the limit is a number of worker threads.
    Cores,
}

/// The effect of a limit on the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Refused,
    /// The plan's open end is lowered to the limit.
    Lowered,
    /// The plan runs unchanged, and the limit may affect its result.
    Risked,
}

/// A limit that a plan exceeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    pub resource: LimitedResource,
    pub needed: u64,
    pub available: u64,
    pub effect: Effect,
    /// The command that raises the limit.
    pub remedy: String,
}

impl Limit {
    /// The lowest limit among those that lowered the plan's open end.
    pub(crate) fn lowered_to(limits: &[Self]) -> Option<LoweredTo> {
        let lowered = limits.iter().filter(|limit| limit.effect == Effect::Lowered);
        let bound = |limit: &Self| match limit.resource {
            LimitedResource::OfConnections(resource) => {
                Some(LoweredTo { connections: limit.available, resource })
            }
            LimitedResource::Backlog | LimitedResource::Streams | LimitedResource::Cores => None,
        };
        lowered.filter_map(bound).min_by_key(|bound| bound.connections)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, available, remedy, .. } = self;
        let bound = match self.resource {
            LimitedResource::OfConnections(ConnectionResource::Descriptors) => "descriptors of this process",
            LimitedResource::OfConnections(ConnectionResource::Ports) => "local ports to the target",
            LimitedResource::Backlog => {
                return write!(
                    f,
                    "the plan may open {needed} connections at once, and the target lets {available} wait to be \
                     accepted: what is beyond loses a second or is refused; {remedy}"
                );
            }
            LimitedResource::Streams => {
                return write!(
                    f,
                    "at most {available} requests at a time on each connection instead of {needed}: the server allows no \
                     more (SETTINGS_MAX_CONCURRENT_STREAMS); {remedy}"
                );
            }
            LimitedResource::Cores => {
                return write!(
                    f,
                    "{needed} busy threads share {available} of this machine's cores: latency includes their \
                     waiting for each other; {remedy}"
                );
            }
        };
        match self.effect {
            Effect::Lowered => {
                write!(
                    f,
                    "at most {available} connections instead of {needed}: {bound} allow no more; {remedy}"
                )
            }
            Effect::Refused | Effect::Risked => write!(
                f,
                "the plan asks for {needed} connections, and this machine allows {available} ({bound}); {remedy}"
            ),
        }
    }
}
