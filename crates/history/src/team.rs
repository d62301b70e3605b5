//! The PostgreSQL of a team: every run that was delivered, with its figures, its tags and its file.
//!
//! The client library is asynchronous; each call here runs a small loop of its own until its work is done or its time is over, so
//! that no thread and no loop of the load knows of it.

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
