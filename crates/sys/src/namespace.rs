//! Namespaces: networks, sandboxes, and a user namespace for users who are not root.
//!
//! No namespace outlives its handle. A descriptor keeps a network alive, and a pipe keeps a sandbox's first process alive. When
//! this process ends, in whatever way, the kernel closes both, which removes the namespaces.

mod init;
mod network;
mod sandbox;
mod user;

pub use init::InitStep;
pub use network::NetworkNamespace;
pub use sandbox::{Sandbox, SandboxError, SandboxSetup};
pub use user::{become_root_of_own_namespace, missing_capability, user_id};
