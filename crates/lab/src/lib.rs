//! Hosts with known limits, made on this machine out of namespaces.
//!
//! Each host is a network, a set of mounts and a set of processes of its own. Its link is a pair of virtual interfaces
//! that ends at a bridge; the bridge is in a network of its own too, so that nothing of a lab shows in the machine's and
//! its traffic cannot leave. What a host may use is capped by the kernel: links and packets by token buckets, processors
//! and memory by control groups.
//!
//! A lab is owned by its handle. Processes, interfaces and networks are gone with the process that holds it, in whatever
//! way it ends; folders and groups, which the kernel keeps, are written down in a file that the next lab reads.

mod address;
mod error;
mod fill;
mod group;
mod host;
mod lab;
mod lease;
mod link;
mod permission;
mod ready;
mod service;
mod tool;

pub use error::LabError;
pub use fill::{Filled, fill_hosts};
pub use group::Capping;
pub use host::{LabHost, LabProcess};
pub use lab::{Lab, LabOptions, LabParts, LabSpec};
pub use permission::{Standing, permit};
pub use plimsoll_sys::{CgroupPaths, NetworkNamespace};
