//! The system's edge: readiness, rings, sockets, threads, limits and namespaces.
//!
//! The only crate in which `unsafe` may stand. Everything here is thin: a name, the right flags, and
//! the reason for them; what to do with it is decided above.
#![expect(unsafe_code, reason = "system calls that no safe library wraps; each block says why it is sound")]

mod backlog;
mod cores;
mod group;
mod limits;
#[cfg(feature = "lua")]
mod lua;
mod namespace;
mod peer;
mod poll;
mod process;
mod ring;
mod sock_diag;
mod socket;
mod tcp_table;
mod thread;
mod unix_table;

pub use backlog::accept_backlog;
pub use cores::Cores;
pub use group::CgroupPaths;
pub use limits::{
    ResourceLimits, accept_backlog_max, kernel_name, local_ports, out_of_descriptors, resource_limits,
};
#[cfg(feature = "lua")]
pub use lua::open_lua;
pub use namespace::{
    Enclosure, EnclosureError, EnclosureSetup, InitStep, NetworkNamespace, Permission,
    become_root_of_own_namespace, namespace_permission, user_number,
};
pub use peer::{Peer, Route};
pub use poll::{Poll, Readiness, Ready};
pub use process::interrupt;
pub use ring::{Arming, Completion, Gathering, Mishap, Ring, RingMemory};
pub use socket::{Connection, Life, Listener, is_local};
pub use tcp_table::{TcpSocket, TcpTable};
pub use thread::{ThreadTime, allowed_cores, sharpen_timers, thread_time};
pub use unix_table::{UnixSocket, UnixTable};
