//! Plimsoll over HTTP: the metrics of a running load for Prometheus, its page while it goes on, and the pages of recorded runs.
//!
//! [`LiveTotals`] and [`LivePage`] watch a run as the display does. Separate threads answer scrapers and viewers
//! ([`LiveMetrics`]) and push to collectors ([`OtlpExporter`]): a slow or absent client does not affect the load.
//! [`RunViewer`] serves the runs of a [`RunLibrary`].

mod events;
mod facts;
mod guard;
mod live;
mod metrics;
mod open_metrics;
mod otlp;
mod pace;
mod server;
mod service;
mod totals;
mod viewer;

pub use live::{LiveFeed, LivePage};
pub use otlp::{OtlpError, OtlpExporter, OtlpSettings};
pub use server::LiveMetrics;
pub use totals::LiveTotals;
pub use viewer::{LibraryError, RunLibrary, RunQuery, RunViewer};
