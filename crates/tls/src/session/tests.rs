//! A session against rustls's own server in memory, and against records that no good server sends.

mod authority;
mod bodies;
mod certificates;
mod cost;
mod cuts;
mod endings;
mod handshakes;
mod identities;
mod keys;
mod peer;
mod resumption;
