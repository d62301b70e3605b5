//! Raw counters of hosts.
//!
//! A collector reads one part of a host and returns samples: counters as the kernel keeps them, with the instants between which
//! they were read. Consumers of the samples compute differences and rates. The root of the file tree is an argument, so that
//! tests can use trees of their own.
//!
//! Collectors of processes share a [`ProcessTracker`](process::tracker::ProcessTracker). It finds the watched processes, follows
//! their connections to other processes on the same machine, and reads their threads and sockets once for all collectors. Work
//! that grows with the host has a [`Pace`](cost::Pace), so that sampling never loads a host noticeably.
//!
//! Servers that report about themselves are collectors too ([`component`]). Samples from another process, such as a probe on
//! another machine, arrive as lines of text ([`stream`]).

mod collector;
mod component;
mod cost;
mod host;
mod net {
    pub(crate) mod interface;
    pub(crate) mod snapshot;
    pub(crate) mod sockets;
    pub(crate) mod tcp;
    pub(crate) mod tcp_table;
    pub(crate) mod unix_table;
}
mod process {
    pub(crate) mod busiest;
    pub(crate) mod descriptors;
    pub(crate) mod listener;
    pub(crate) mod machine;
    pub(crate) mod others;
    pub(crate) mod owners;
    pub(crate) mod peers;
    pub(crate) mod stat;
    pub(crate) mod table;
    pub(crate) mod thread;
    pub(crate) mod threads;
    pub(crate) mod tracker;
    pub(crate) mod usage;
    pub(crate) mod waiting;
}
mod round;
mod sample_source;
mod stream;
mod system {
    pub(crate) mod cgroup;
    pub(crate) mod cpu;
    pub(crate) mod disk;
    pub(crate) mod memory;
    pub(crate) mod pressure;
}

pub use component::{AnswerForm, Component, page_agent, proxied_agent, read_answer, resolve_password};
pub use host::Host;
pub use plimsoll_sys::CgroupPaths;
pub use process::machine::{CpuTimes, ProcessCpuUse, serving};
pub use process::tracker::Watched;
pub use sample_source::{Received, SampleSource, SampleSources, SourceEvent, next_round, sampling_interval};
pub use stream::{Remote, SampleStream, Ssh, StreamClock, StreamError, opening_line, sample_line};
pub use system::cpu::cpu_model;
