//! wrk on Plimsoll: what a user of wrk types, scripts and reads.
//!
//! Nothing here opens a connection of the load or measures anything. The engine does that; this crate gives it the
//! requests that a script makes and hands the script what came back.

mod script;

pub use script::{Errors, Samples, Script, ScriptError, ScriptTarget, Summary, ThreadState, Unresolved};
