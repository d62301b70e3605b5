//! A team's PostgreSQL: every delivered run, with its figures, tags and file.
//!
//! The client library is asynchronous. Each call here runs a small event loop of its own until its work is done or times out, so that no
//! thread or loop of the load is involved.

mod address;
mod content;
mod error;
mod event_loop;
mod runs;
mod schema;
mod store;
mod tls;

pub use address::StoreAddress;
pub(crate) use content::SharedRun;
pub(crate) use error::Fault;
pub use error::TeamStoreError;
pub use runs::{Put, StoredFile, StoredRuns};
pub use store::TeamStore;
