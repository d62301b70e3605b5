//! The built-in reference server: HTTP/1.1 over loopback or a LAN, for demos, tests and ground truth.
//!
//! One thread, one epoll set, no allocation for the shortest answers. Any method is taken, bodies of requests are read
//! and dropped, connections are kept alive. A connection's requests are worked on one after another, so pipelined
//! answers come in order even if the first one sleeps; a client that does not read its answers is not read from either.
//!
//! Its paths are listed in `service.rs`, as `/` shows them.
//!
//! Requests to `/sleep` with the same K share one pool of K workers, whatever their N; without `workers` there is no
//! limit. A worker is busy for its N ms even if the client has gone meanwhile, as it is in most servers.
//!
//! The clock of a pair (`every`, `for`) of `/stall` begins with the first request to it. Its windows are the ends of the
//! periods, [k·every + every − for, (k+1)·every) for k = 0, 1, 2 …: n·every hold exactly n·for of stall time.
//!
//! The [`NullServer`] gives every request the same response: a measurement against it measures the client.
//!
//! Deliberately absent: TLS, the `Date` field, timeouts for idle clients, and a check of `Host`.

mod connection;
mod delay;
mod null;
mod output;
mod payload;
mod request;
mod response;
mod route;
mod server;
mod service;
mod slots;

pub use null::NullServer;
pub use request::Request;
pub use route::Refusal;
pub use server::{Server, ServerError};
