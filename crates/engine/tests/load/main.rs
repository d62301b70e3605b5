//! The engine against real sockets, with each driver: servers that behave, and servers that do not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]
#![expect(
    clippy::duplicate_mod,
    reason = "the same tests are run with each driver, and their names tell which"
)]

mod epoll;
mod uring;
