//! Servers for tests: scripted bad ones, a port where nothing listens, and the real nginx.
//!
//! Everything is on loopback, on free ports, and owned by handles: what a test started is gone when its handle is
//! dropped. What cannot be started fails the test with a panic, as a test without its server has nothing to show.

mod bad_server;
mod inbound;
mod nginx;
mod refused;
mod script;

pub use bad_server::BadServer;
pub use nginx::{Nginx, NginxError};
pub use refused::refused_address;
pub use script::Script;
