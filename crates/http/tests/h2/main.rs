//! The HTTP/2 client from outside: what it makes of a corpus of frames, that the way in which they
//! are cut never changes that, what it sends, and how it gets on with real servers.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has to fail"
)]

mod allocation;
mod client;
mod corpus;
mod flow;
mod frames;
mod hpack;
mod hpack_check;
mod invariance;
mod lifetime;
mod servers;
mod splits;
