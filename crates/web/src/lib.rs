//! A running load over HTTP: its metrics for Prometheus.
//!
//! A [`LiveMetrics`] watches a run as the display does. It counts, in memory, and a thread of its own answers scrapes: a scraper that
//! is slow, or that stays away, changes nothing in the load.

mod metrics;
mod server;
mod totals;

pub use server::LiveMetrics;
