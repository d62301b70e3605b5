//! Raw counters of one host at one instant.

use serde::{Deserialize, Serialize};

use crate::{Counters, Text};

/// What a read of one source gave. Missing is never zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The counters, by name with the unit last (`steal_ms`, `segments_retransmitted`).
    Ok(Counters),
    /// This host does not have the source.
    Absent,
    /// The source is there and could not be read; the text says why.
    Failed(String),
}

/// One source of one host, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSample {
    /// The host's name; `generator` is the machine that makes the load.
    pub host: Text,
    /// The source, such as `cpu` or `pressure`.
    pub source: Text,
    /// What of the host was read: empty for the host itself, else a core's number, an interface, a process
    /// (`1234 nginx`), a thread of it (`1234/1240 nginx`), a cgroup's path or a component's address.
    pub subject: Text,
    /// When the read began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When the read ended, in nanoseconds since the run began.
    pub ended_ns: u64,
    /// What the read gave.
    pub reading: Reading,
}
