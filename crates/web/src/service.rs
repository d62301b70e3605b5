//! An HTTP server on a thread of its own.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use plimsoll_units::best_effort;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A listener that does not serve yet.
#[derive(Debug)]
pub(crate) struct Bound {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Bound {
    /// Listens at this address; port 0 takes a free one.
    pub(crate) fn new(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Serves until the returned service is dropped; responses under way may then take at most `grace`.
    pub(crate) fn serve(self, name: &str, router: Router, grace: Duration) -> io::Result<Service> {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
        let (end, ended) = oneshot::channel::<()>();
        let serve = move || {
            runtime.block_on(serve_until(self.listener, router, ended, grace));
            runtime.shutdown_background();
        };
        let thread = Some(thread::Builder::new().name(name.to_owned()).spawn(serve)?);
        Ok(Service { end: Some(end), thread })
    }
}

/// Serves until the sender is dropped, and at most `grace` longer: it does not wait for a peer that keeps its connection open.
async fn serve_until(listener: TcpListener, router: Router, ended: oneshot::Receiver<()>, grace: Duration) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { best_effort(stopped.await, "only its end is awaited") };
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);
    let deadline = async {
        best_effort(ended.await, "only its end is awaited");
        drop(stop);
        tokio::time::sleep(grace).await;
    };
    tokio::select! {
        _ = async { serving.await } => {}
        () = deadline => {}
    }
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "its panic was printed, and the run is not worse for it");
        }
    }
}
