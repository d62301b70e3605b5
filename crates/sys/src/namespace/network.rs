//! A network namespace without a process, kept alive by a descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// A network namespace. It ends, with all its interfaces, when this value is dropped and no process is in it.
#[derive(Debug)]
pub struct NetworkNamespace(OwnedFd);

impl NetworkNamespace {
    /// Creates an empty network.
    ///
    /// # Errors
    /// When the process lacks the permission (CAP_SYS_ADMIN), or there are too many networks (`user.max_net_namespaces`).
    pub fn create() -> io::Result<Self> {
        // A network namespace belongs to a thread; this thread exists only to create one.
        on_own_thread(|| {
            // SAFETY: only the network of this thread changes, not its table of descriptors.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(Self(File::open("/proc/thread-self/ns/net")?.into()))
        })
    }

    /// Opens the network that a file such as `/proc/1234/ns/net` stands for.
    ///
    /// # Errors
    /// When there is no such process, or this user may not inspect it.
    pub fn open(file: &Path) -> io::Result<Self> {
        Ok(Self(File::open(file)?.into()))
    }

    /// Returns a second handle to the same network.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Runs a closure in this network, on a new thread. Sockets that it opens and processes that it starts stay in the network.
    ///
    /// # Errors
    /// When the thread cannot be started or moved.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_own_thread(|| {
            move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(work())
        })
    }
}

/// Runs a closure on a new thread that ends with it.
pub(super) fn on_own_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread in a namespace panicked")))
    })
}
