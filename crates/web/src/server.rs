//! The server that a scraper asks.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use plimsoll_conductor::Progress;
use plimsoll_units::best_effort;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::metrics::Exported;
use crate::totals::Totals;

/// What every metric's name begins with.
const PREFIX: &str = "plimsoll";
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics of a running load, served until this is dropped.
#[derive(Debug)]
pub struct LiveMetrics {
    totals: Arc<Mutex<Totals>>,
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveMetrics {
    /// Serves `/metrics` at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn serve(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let totals = Arc::<Mutex<Totals>>::default();
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(Exported(Arc::clone(&totals))));
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let serve = move || {
            let router = Router::new().route("/metrics", get(scrape)).with_state(Arc::new(registry));
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                // It ends without waiting for scrapers that keep their connection.
                tokio::select! {
                    _ = async { axum::serve(listener, router).await } => {}
                    _ = ended => {}
                }
            });
            runtime.shutdown_background();
        };
        let thread = Some(thread::Builder::new().name("metrics".to_owned()).spawn(serve)?);
        Ok(Self { totals, address, end: Some(end), thread })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes in what happened in the run.
    pub fn observe(&self, progress: &Progress<'_>) {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).observe(progress);
    }
}

impl Drop for LiveMetrics {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "its panic was printed, and the run is not worse for it");
        }
    }
}

async fn scrape(State(registry): State<Arc<Registry>>) -> impl IntoResponse {
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => (StatusCode::OK, [(header::CONTENT_TYPE, CONTENT_TYPE)], text),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            format!("the metrics cannot be written: {error}\n"),
        ),
    }
}
