//! The reference server from outside, over real sockets on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot talk to the server has to fail")]

mod client;
mod hostile;
mod paths;
mod timing;
