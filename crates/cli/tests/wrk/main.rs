//! The binary as people who use wrk meet it, and next to wrk itself where that shows something.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

mod caller;
mod ends;
mod errors;
mod recorder;
mod scripts;
mod side_by_side;
mod text;
mod truth;
