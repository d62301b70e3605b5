//! Reads time series of production from the HTTP API of a Prometheus server.
//!
//! [`read`] queries the rate of requests, finds out which metrics of node_exporter, cAdvisor and kube-state-metrics exist, and reads the
//! use and the capacity of each resource at the same instants. Queries run one after another. Data that cannot be read is reported and
//! left out; a gap is missing data and never zero.

mod answer;
mod client;
mod defaults;
mod error;
mod matchers;
mod promql;
mod proxy;
mod read;
mod span;
mod tls;

pub use client::{Client, ClientError};
pub use error::QueryError;
pub use proxy::ProxyError;
pub use read::{OwnResource, Question, ReadError, Reading, ReadingNote, read};
pub use span::{Span, SpanError};
