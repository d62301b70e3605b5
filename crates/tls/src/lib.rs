//! Sans-IO TLS client sessions for the load engine: TLS 1.2 and 1.3, bytes in and bytes out.
//!
//! This crate opens no socket. A [`Client`] is created once from [`TlsSettings`]; each of its [`Session`]s takes received bytes
//! and appends the bytes to send.
//!
//! The handshake uses rustls's unbuffered interface, which copies every record into vectors of its own. When it is complete,
//! the session takes over the keys (rustls's `kernel` interface) and encrypts and decrypts records itself with aws-lc: in
//! place, and without allocating. Later tickets and new keys are passed back to rustls.
//!
//! An open and idle [`Session`] is 48 bytes without a buffer. On the heap it holds two cipher contexts of 0.6 KB. TLS 1.2 adds
//! 0.7 KB; TLS 1.3 adds 1.5 KB with a server's certificate of 0.4 KB, because rustls keeps that and the secrets for later
//! tickets and keys. An incomplete record is kept until it is whole: at most 18 KB for a short time.
//!
//! Not supported on purpose: early data (a replayed request would be counted twice), renegotiation and client certificates
//! requested after the handshake (both are refused by an alert), revocation lists.

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
