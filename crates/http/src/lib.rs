//! Sans-IO HTTP codecs: HTTP/1.1 request encoder and incremental response parser, HTTP/2 client.
//!
//! This crate opens no socket, reads no clock and keeps no body. A response is read as its bytes arrive; how the network
//! splits them never changes the result.
//!
//! Not supported on purpose: content codings (a body is counted as it was sent), trailer fields (they are skipped), and
//! upgrades to other protocols (Plimsoll never asks for one).

mod dissection;
pub mod h2;
mod memory;
mod request;
mod response;

pub use dissection::{Field, dissect};
pub use request::{EncodeError, EncodedRequest, HeadField, InvalidByte, Part, Request, USER_AGENT, Version};
pub use response::{
    Advance, Chunked, Expect, Finish, Malformed, ParserMemory, Response, ResponseParser, asks_to_close,
};
