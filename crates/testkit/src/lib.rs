//! Servers for tests: scripted bad ones, a port where nothing listens, and the real nginx; and
//! what several crates' tests look at: the fuzzers' corpora, and requests as text.
//!
//! Every server is on loopback, on free ports, and owned by handles: what a test started is gone when its handle is
//! dropped. What cannot be started fails the test with a panic, as a test without its server has nothing to show.

mod bad_server;
mod corpus;
mod inbound;
mod nginx;
mod refused;
mod request_text;
mod script;

pub use bad_server::BadServer;
pub use corpus::{Mutations, seeds};
pub use nginx::{Nginx, NginxError};
pub use refused::refused_address;
pub use request_text::read_request;
pub use script::Script;
