//! Raw counters of a host, one file per source.
//!
//! A source reads one thing and gives a sample: counters as the kernel keeps them, with the instants
//! between which they were read. Differences and rates are made by whoever reads the samples. The root
//! of the file tree is an argument, so tests bring trees of their own. Servers that tell about themselves are sources too,
//! and samples of another machine come as a stream of lines.

mod component;
mod conntrack;
mod cpu;
mod cpu_model;
mod descriptors;
mod disk;
mod host;
mod interface;
mod memory;
mod ports;
mod pressure;
mod recent;
mod scheduler;
mod sockets;
mod source;
mod stream;
mod tcp;

pub use component::{Component, Login};
pub use cpu_model::cpu_model;
pub use host::Host;
pub use stream::{Ender, Remote, SampleStream, Ssh, StreamClock, StreamError, opening_line, sample_line};
