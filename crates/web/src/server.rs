//! The HTTP server for Prometheus scrapes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::metrics::PREFIX;
use crate::open_metrics::Exported;
use crate::service::{Bound, Service};
use crate::totals::LiveTotals;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics of a running load, served until this is dropped.
#[derive(Debug)]
pub struct LiveMetrics {
    address: SocketAddr,
    _service: Service,
}

impl LiveMetrics {
    /// Serves these totals as `/metrics` at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn serve(address: SocketAddr, totals: LiveTotals) -> io::Result<Self> {
        let bound = Bound::new(address)?;
        let address = bound.address;
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(Exported(totals)));
        let router = Router::new().route("/metrics", get(scrape)).with_state(Arc::new(registry));
        // The server stops without waiting for scrapers that keep their connection open.
        let service = bound.serve("metrics", router, Duration::ZERO)?;
        Ok(Self { address, _service: service })
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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
