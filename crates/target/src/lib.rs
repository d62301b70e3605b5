//! The built-in reference server: HTTP/1.1 over loopback or a LAN, for demos, tests and ground truth.
//!
//! One thread, one epoll set, no allocation for the shortest answers. Any method is taken, bodies of requests are read
//! and dropped, connections are kept alive. A connection's requests are worked on one after another, so pipelined
//! answers come in order even if the first one sleeps; a client that does not read its answers is not read from either.
//!
//! | path | answer |
//! | --- | --- |
//! | `/` | the list of paths |
//! | `/healthz` | `{"status":"ok"}` |
//! | `/stats` | `{"requests":N}`: requests answered so far, those to `/stats` left out |
//! | `/payload?number=N` | JSON with N records, cached; up to 64 MiB |
//! | `/sleep?ms=N&workers=K` | after N ms (decimals allowed), at most K at a time, the rest in order of arrival |
//! | `/cpu?us=N` | after N µs of this thread's CPU time |
//! | `/status/CODE` | that status, 200 to 599 |
//! | `/chunked` | 1000 bytes in four chunks |
//! | `/close` | an answer, then the end of the connection |
//! | `/stall?every=5s&for=500ms` | at once, except in stall windows: then when the window ends |
//!
//! Requests to `/sleep` with the same K share one pool of K workers, whatever their N; without `workers` there is no
//! limit. A worker is busy for its N ms even if the client has gone meanwhile, as it is in most servers.
//!
//! The clock of a pair (`every`, `for`) begins with the first request to it. Its windows are the ends
//! of the periods, [k·every + every − for, (k+1)·every) for k = 0, 1, 2 …, so that any span of n·every
//! holds exactly n·for of stall time.
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
pub use server::{Server, ServerError};
