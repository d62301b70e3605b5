//! The engine against real sockets: servers that behave, and servers that do not.

mod bad_servers;
mod closed_loop;
mod measured;
mod open_loop;
