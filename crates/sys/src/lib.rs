//! System calls: readiness, io_uring, sockets, threads, limits, namespaces, files that others may have written.
//!
//! The only crate with `unsafe` code. It is a thin layer: each function is a name, the right flags and the reason for them. The
//! crates above decide how to use it.
#![expect(unsafe_code, reason = "system calls that no safe library wraps; each block says why it is sound")]

mod cgroup;
mod clock;
mod file;
mod limits;
mod local;
#[cfg(feature = "lua")]
mod lua;
mod namespace;
mod poll;
mod process;
mod ring;
mod route;
mod sock_diag;
mod socket;
mod tcp_table;
mod unix_table;

pub use cgroup::CgroupPaths;
pub use clock::{KernelClock, kernel_clock};
pub use file::{create_private, read_regular, read_regular_of, read_stream};
pub use limits::{
    ResourceLimits, accept_backlog_max, descriptor_limit, kernel_name, local_ports, out_of_descriptors,
    resource_limits,
};
pub use local::is_local;
#[cfg(feature = "lua")]
pub use lua::open_lua;
pub use namespace::{
    InitStep, NetworkNamespace, Sandbox, SandboxError, SandboxSetup, become_root_of_own_namespace,
    missing_capability, user_id,
};
pub use poll::{Poll, Readiness, Ready};
pub use process::{
    Cores, ThreadTime, allowed_cores, disable_timer_slack, end_group, has_ended, interrupt, kill_group,
    suspended_ns, thread_time,
};
pub use ring::{Completion, CopyId, OpError, RecvMode, Ring, RingMemory, WaitPolicy};
pub use route::{Destination, Route};
pub use socket::{Listener, ReservedPort, Socket, SocketState};
pub use tcp_table::{TcpSocket, TcpTable, accept_backlog};
pub use unix_table::{UnixSocket, UnixTable};
