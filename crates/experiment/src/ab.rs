//! A comparison of two services loaded in rounds: the order of loads, services started for each load, and the folder of runs.

mod error;
mod folder;
mod rounds;
mod service;

pub(crate) use error::AbFolderError;
pub use folder::{AbRecord, read_ab};
pub use rounds::{AbEnd, AbRuns, AbSideSpec, AbSpec, run_ab};
pub(crate) use service::ServiceError;
