//! The client side of HTTP/2 (RFC 9113), without I/O: takes bytes, returns events.
//!
//! [`crate::Request::encode`] writes the header blocks of requests. Both header compression tables have size 0, so no state is
//! kept from one block to the next, and a response whose header block equals the last one is not decoded again. A body is
//! skipped by arithmetic, and flow-control windows are so wide that bodies of ordinary size need no window update.
//!
//! Not supported on purpose: server push (refused in the settings), priorities (RFC 9113 section 5.3
//! deprecates them), CONNECT, and upgrading from HTTP/1.1 (RFC 9113 removed it).

pub use connection::{Connection, Request};
pub use error::{Broken, ErrorCode, Malformed};
pub use event::Event;
pub use memory::Memory;

mod connection;
mod error;
mod event;
mod frame;
mod head;
pub mod hpack;
mod memory;
mod server_settings;
mod streams;
mod window;
