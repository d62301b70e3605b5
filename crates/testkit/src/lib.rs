//! Servers for tests: scripted bad ones, a port where nothing listens, and real ones of the system; and
//! what several crates' tests share: the conformance cases, the fuzzers' corpora, and requests as text.
//!
//! Every server is on loopback, on free ports, and owned by handles: what a test started is gone when its handle is
//! dropped. What cannot be started fails the test with a panic, as a test without its server has nothing to show.

mod bad_server;
mod certificate;
mod collector;
pub mod conformance;
mod corpus;
mod faulty_disk;
mod frame_notation;
mod go_program;
mod jvm;
mod nginx;
mod noise;
mod page_server;
mod postgres;
mod random;
mod refused;
mod request_text;
mod script;
mod server;
mod sshd;
mod system_servers;

pub use bad_server::BadServer;
pub use corpus::{Mutations, seeds};
pub use faulty_disk::{DiskFault, FaultyDisk};
pub use frame_notation::{frame_bytes, hex};
pub use go_program::GoProgram;
pub use jvm::Jvm;
pub use nginx::Nginx;
pub use noise::Noise;
pub use page_server::{PageServer, Reply};
pub use postgres::Postgres;
pub use random::Random;
pub use refused::refused_address;
pub use request_text::read_request;
pub use script::Script;
pub use server::{Server, ServerError};
pub use sshd::Sshd;
