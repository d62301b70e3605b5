//! Which processes on which hosts a request passes, found by following connections from the target's listener.
//!
//! Hosts report listeners and the connections of their processes (samples `listener` and `peers`). The target's
//! address leads to a listener, its process to the addresses that it is connected to, and so on. Where nothing is sampled,
//! only the address is known, and the path ends.
//!
//! One walk gives both the tiers as reports draw them and the number of connections through each of them in each step,
//! from which the verdict concludes where requests wait.

mod at_place;
pub(crate) mod flow;
mod places;
mod sockets;
pub(crate) mod walk;

/// The processes that requests pass, the target first and each before those that it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    pub tiers: Vec<TierNode>,
}

/// A process that requests reach, with its children of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierNode {
    /// The name of its host, or its address if that is not sampled.
    pub host: String,
    /// The name of the process; `None` where it is not known.
    pub process: Option<String>,
    /// The process and its children, as far as they are known.
    pub pids: Vec<u32>,
    pub endpoint: Endpoint,
    /// Its distance from the load generator in connections, from 1.
    pub depth: u32,
    pub downstream: Vec<TierEdge>,
}

/// Where other processes reach a process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    Port(u16),
    /// A unix socket: its path, or its name after an `@`.
    Unix(String),
}

/// The connections from one tier to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierEdge {
    /// The index of the other tier.
    pub to: usize,
    /// The highest number of them that were established at a time, summed over processes.
    pub connections: u64,
}

impl Topology {
    /// True if anything is known of a tier beyond its address.
    pub fn is_known(&self) -> bool {
        self.tiers.iter().any(|tier| tier.process.is_some())
    }

    /// The tiers by depth, those nearest to the generator first.
    pub fn levels(&self) -> Vec<Vec<&TierNode>> {
        let deepest = self.tiers.iter().map(|tier| tier.depth).max().unwrap_or(0);
        (1..=deepest).map(|depth| self.tiers.iter().filter(|tier| tier.depth == depth).collect()).collect()
    }
}
