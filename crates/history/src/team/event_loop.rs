//! The loop in which the client library works.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::Error;

use super::error::{TeamStoreError, of_client};

/// The loop of one connection to a store. Dropped, it does not wait for the thread that asks a resolver: one that is away would hold
/// the program.
pub(super) struct EventLoop {
    /// The name of the store, for errors.
    store: String,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl EventLoop {
    pub(super) fn new(store: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { store: store.to_owned(), runtime: Some(runtime) })
    }

    /// Drives a piece of work to its end, or to the end of its time.
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
