//! wrk and wrk2 as others know them: the command line in, the text out, and scripts between.
//!
//! [`options`] turns an argument vector into options or into what wrk says before it ends, [`run()`] makes the run on
//! Plimsoll's engine, [`script`] runs a user's Lua, [`stats`] computes the figures that wrk prints from what Plimsoll
//! measured, [`text`] prints them to the letter. What differs from wrk on purpose stands in `docs/wrk.md`.

pub mod options;
mod run;
pub mod script;
pub mod stats;
pub mod text;

pub use run::{Streams, Watch, run};
