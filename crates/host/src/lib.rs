//! Raw counters of a host, one file per source.
//!
//! A source reads one thing and gives a sample: counters as the kernel keeps them, with the instants
//! between which they were read. Differences and rates are made by whoever reads the samples. The root
//! of the file tree is an argument, so tests bring trees of their own. So far the only host is the machine
//! that makes the load.

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
mod tcp;

pub use cpu_model::cpu_model;
pub use host::Host;
