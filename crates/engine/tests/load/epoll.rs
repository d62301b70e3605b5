//! All tests, with epoll.

const DRIVER: plimsoll_engine::DriverKind = plimsoll_engine::DriverKind::Epoll;

#[path = "bad_servers.rs"]
mod bad_servers;
#[path = "closed_loop.rs"]
mod closed_loop;
#[path = "long_bodies.rs"]
mod long_bodies;
#[path = "measured.rs"]
mod measured;
#[path = "open_loop.rs"]
mod open_loop;
