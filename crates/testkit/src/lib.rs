//! Servers for tests: scripted bad ones, a port where nothing listens, and real ones of the system; and
//! what several crates' tests look at: the fuzzers' corpora, and requests as text.
//!
//! Every server is on loopback, on free ports, and owned by handles: what a test started is gone when its handle is
//! dropped. What cannot be started fails the test with a panic, as a test without its server has nothing to show.

mod bad_server;
mod corpus;
mod go_program;
mod inbound;
mod jvm;
mod mariadb;
mod memcached;
mod nginx;
mod node_exporter;
mod noise;
mod redis;
mod refused;
mod request_text;
mod script;
mod server;
mod sshd;

pub use bad_server::BadServer;
pub use corpus::{Mutations, seeds};
pub use go_program::GoProgram;
pub use jvm::Jvm;
pub use mariadb::Mariadb;
pub use memcached::Memcached;
pub use nginx::{Nginx, NginxError};
pub use node_exporter::NodeExporter;
pub use noise::Noise;
pub use redis::Redis;
pub use refused::refused_address;
pub use request_text::read_request;
pub use script::Script;
pub use server::ServerError;
pub use sshd::Sshd;
