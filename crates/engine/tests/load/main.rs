//! The engine against real sockets: servers that behave, and servers that do not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

mod bad_servers;
mod closed_loop;
mod layered;
mod made;
mod measured;
mod open_loop;
mod pipelined;
mod ways;
