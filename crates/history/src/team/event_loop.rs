//! The event loop that runs the client library.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::Error;

use super::error::{TeamStoreError, of_client};

/// The event loop of one connection to a store. On drop it does not wait for the thread of a name lookup, which an unreachable resolver
/// could block for long.
pub(super) struct EventLoop {
    /// The store's name, for errors.
    store: String,
    /// `None` only during drop.
    runtime: Option<Runtime>,
}

impl EventLoop {
    pub(super) fn new(store: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { store: store.to_owned(), runtime: Some(runtime) })
    }

    /// Runs a future to its end, or until it times out.
    pub(super) fn within<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, TeamStoreError> {
        let timed = async { timeout(patience, work).await };
        match self.runtime.as_ref().map(|runtime| runtime.block_on(timed)) {
            Some(Ok(done)) => done.map_err(|error| of_client(&self.store, &error)),
            Some(Err(_)) | None => {
                Err(TeamStoreError::TimedOut { store: self.store.clone(), sec: patience.as_secs() })
            }
        }
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
