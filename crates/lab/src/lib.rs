//! Makes hosts with known limits on this machine, out of namespaces.
//!
//! Each host has its own network, mounts and processes. Its link is a pair of virtual interfaces that ends at a bridge. The bridge
//! is in a separate network too, so a lab does not appear in the machine's network and its traffic cannot leave. The kernel caps
//! each host: token buckets cap links and packets, control groups cap processors, memory and disk.
//!
//! A lab is owned by its handle. Processes, interfaces and networks end with the process that holds the handle, even if it is
//! killed. Folders and control groups outlive it; they are noted in a file that the next lab reads.

mod error;
mod group;
mod host;
mod lab;
mod lease;
mod link;
mod naming;
mod privileges;
mod readiness;
mod service;
mod substitution;

pub use error::{HostPhase, LabError};
pub use group::Capping;
pub use host::{LabHost, LabProcess};
pub use lab::{Lab, LabOptions, LabSpec};
pub use lease::{LeftOvers, remove_left_overs};
pub use plimsoll_sys::{CgroupPaths, NetworkNamespace};
pub use privileges::Privileges;
pub use readiness::{NotReady, check_ready, check_ready_unix};
pub use service::output_tail;
pub use substitution::{Variables, substitute_hosts, substitute_settings};
