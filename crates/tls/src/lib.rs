//! Sans-IO TLS client sessions for the load engine: TLS 1.2 and 1.3, bytes in and bytes out.
//!
//! Nothing here opens a socket or reads a file. A [`Client`] is made once from [`TlsSettings`]; a
//! [`Session`] of it takes what arrived and appends what must be sent.
//!
//! The handshake is rustls's, over its unbuffered interface, which copies every record into vectors of its own. Once it
//! is done the session takes the keys over (rustls's `kernel` interface) and opens and seals records itself with aws-lc:
//! in place, and without allocating. Tickets and new keys that come later go back to rustls.
//!
//! An open and idle [`Session`] is 48 bytes without a buffer. On the heap it holds two cipher contexts of 0.6 KB plus
//! 0.7 KB under TLS 1.2; under TLS 1.3 1.5 KB with a server's certificate of 0.4 KB, because rustls keeps that and what
//! later tickets and keys are made from. A part of a record is kept until it is whole: at most 18 KB for a while.
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
