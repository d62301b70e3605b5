//! Compatibility with wrk and wrk2: their command line, their text and their Lua scripts.
//!
//! [`options`] parses an argument vector into options, or into the messages with which wrk exits; [`run()`] makes the run
//! on Plimsoll's engine; [`script`] runs a user's Lua; [`stats`] computes the figures that wrk prints from what Plimsoll
//! measured; [`text`] formats them to the letter. `docs/wrk.md` lists the intended differences from wrk.

pub mod options;
mod run;
pub mod script;
pub mod stats;
pub mod text;

pub use run::{Streams, Watch, run};
