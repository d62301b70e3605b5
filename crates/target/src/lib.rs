//! The built-in reference server: HTTP/1.1 over loopback or a LAN, for demos, tests and ground truth.
//!
//! It has one thread and one epoll set, and does not allocate for the shortest responses. It accepts any method, reads and
//! drops request bodies, and keeps connections alive. It handles the requests of a connection one after another, so pipelined
//! responses come in order even if the first is delayed; it does not read from a client that does not read its responses.
//!
//! `service.rs` lists the paths, as `/` shows them.
//!
//! Requests to `/sleep` with the same K share one pool of K workers, whatever their N; without `workers` there is no limit. A
//! worker is busy for its N ms even if the client disconnects meanwhile, as in most servers.
//!
//! The clock of a pair (`every`, `for`) of `/stall` begins with its first request. Its windows are the ends of the
//! periods, [k·every + every − for, (k+1)·every) for k = 0, 1, 2 …: n·every hold exactly n·for of stall time.
//!
//! The [`NullServer`] sends the same response to every request: a measurement against it measures the client.
//!
//! Not supported on purpose: TLS, the `Date` field, timeouts for idle clients, and a check of `Host`.

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
