//! Sans-IO TLS client sessions for the load engine: TLS 1.2 and 1.3, bytes in and bytes out.
//!
//! Nothing here opens a socket or reads a file. A [`Client`] is made once from [`TlsSettings`]; a
//! [`Session`] of it takes what arrived and appends what must be sent.
//!
//! The handshake is rustls's, over its unbuffered interface. That interface copies every record it decrypts into a
//! vector of its own and every record it encrypts through another, so once the handshake is done the session takes the
//! keys over (rustls's `kernel` interface, made for this) and opens and seals records itself with aws-lc: in place, and
//! without allocating. Tickets and new keys that come later go back to rustls.
//!
//! # What an open session holds
//!
//! [`Session`] itself is 48 bytes. Open and idle it has no buffer. On the heap it holds two cipher
//! contexts of 0.6 KB plus 0.7 KB under TLS 1.2; under TLS 1.3 1.5 KB with a server's
//! certificate of 0.4 KB, because rustls keeps that and what later tickets and keys are made from. A
//! record of which only a part has come is kept until it is whole, so at most 18 KB for a while.
//!
//! Deliberately absent: early data (a replayed request would be counted twice), renegotiation and
//! certificates asked for after the handshake (both are refused by an alert), revocation lists.

mod alert;
mod channel;
mod client;
mod failure;
mod handshake;
mod record;
mod session;
mod settings;
mod tickets;
mod verifier;

pub use alert::Alert;
pub use client::{Client, ServerName};
pub use failure::{TlsFailure, TlsFailureKind};
pub use handshake::Established;
pub use session::Session;
pub use settings::{Identity, Roots, TlsError, TlsSettings};
