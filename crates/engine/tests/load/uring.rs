//! All tests, with io_uring.

const DRIVER: plimsoll_plan::DriverKind = plimsoll_plan::DriverKind::IoUring;

#[path = "bad_servers.rs"]
mod bad_servers;
#[path = "closed_loop.rs"]
mod closed_loop;
#[path = "generated.rs"]
mod generated;
#[path = "layered.rs"]
mod layered;
#[path = "long_bodies.rs"]
mod long_bodies;
#[path = "measured.rs"]
mod measured;
#[path = "open_loop.rs"]
mod open_loop;
#[path = "pipelined.rs"]
mod pipelined;
#[path = "refused.rs"]
mod refused;
#[path = "refuser.rs"]
mod refuser;
#[path = "routes.rs"]
mod routes;
