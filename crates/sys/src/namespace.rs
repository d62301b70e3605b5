//! Namespaces: networks of their own, enclosures of processes, and a user namespace for those who are not root.
//!
//! Nothing here outlives its handle. A network is kept by a descriptor, an enclosure by a pipe that its first process
//! reads from: when this process ends, however it ends, the kernel closes both, and what was in them is gone.

mod enclosure;
mod init;
mod network;
mod user;

pub use enclosure::{Enclosure, EnclosureError, EnclosureSetup};
pub use init::InitStep;
pub use network::NetworkNamespace;
pub use user::{Permission, become_root_of_own_namespace, namespace_permission, user_number};
