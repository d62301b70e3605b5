//! wrk and wrk2 as others know them: the command line in, the text out.
//!
//! Three modules without I/O: [`options`] turns an argument vector into options or into what wrk says before it
//! ends, [`stats`] computes the figures that wrk prints from what Plimsoll measured, [`text`] prints them to the
//! letter. Running the load is not done here. What differs from wrk on purpose stands in `docs/wrk.md`.

pub mod options;
pub mod stats;
pub mod text;
