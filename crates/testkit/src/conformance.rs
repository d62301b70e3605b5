//! The conformance suites: what servers send, right or wrong, and what the RFCs want a client to make of it.
//!
//! The cases are text files in `crates/testkit/conformance`, described in its README. [`CaseServer`] plays one of them to
//! a client; [`Observed`] is what the client made of it, and [`Verdict`] compares that with the RFC.

mod case;
mod case_file;
mod case_server;
mod http1;
mod http2;
mod observed;
mod page;
mod peers;
mod playback;

pub use case::{Answer, Case, Group, Right, Step, Suite};
pub use case_file::suite;
pub use case_server::CaseServer;
pub use observed::{Observed, Verdict, judge};
pub use page::page;
pub use peers::{PEER_FILE, Peers};
pub use playback::{CONTROL_STATUS, Pieces, Play, ServerView};
