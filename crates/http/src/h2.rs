//! HTTP/2 (RFC 9113) from the client's side, without I/O: bytes in, events out.
//!
//! A request's header block is made once ([`RequestHead::encode`]) and sent as the same bytes every
//! time. Both header compression tables have size 0: nothing is remembered from one block to the
//! next, so a response whose header block equals the last one is not decoded again, and a block
//! nobody waits for is skipped. A body is skipped by arithmetic, and flow-control windows are
//! so wide that bodies of ordinary size need no update.
//!
//! Deliberately absent: server push (refused in the settings), priorities (RFC 9113 section 5.3
//! deprecates them), CONNECT, and upgrading from HTTP/1.1 (RFC 9113 removed it).

pub use broken::Broken;
pub use connection::{Connection, Request};
pub use error_code::ErrorCode;
pub use event::Event;
pub use malformed::Malformed;
pub use memory::Memory;
pub use request::{RequestHead, push_field};

mod broken;
mod connection;
mod error_code;
mod event;
mod frame;
mod head;
pub mod hpack;
mod malformed;
mod memory;
mod peer;
mod request;
mod streams;
mod upload;
mod window;
