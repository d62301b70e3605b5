//! The generators of one run: the protocol between them, and the group that one of them coordinates.
//!
//! One process coordinates: it decides when a step begins and ends, and records the run. Its peers have the same plan, make
//! the shares of their workers and send their frames. In a lab all run on one machine, share its monotonic clock, and the
//! coordinator makes a share itself; in a fleet it only coordinates.
//!
//! - `protocol` defines the messages: a [`Command`] to a peer, a [`Message`] back. A generator that a lab started uses the
//!   same messages to have caps changed and to report its run file.
//! - `channel` transports them: boxed traits, implemented for lines of JSON over sockets and pipes. Another transport implements
//!   [`SendTo`], [`ReceiveFrom`] and [`Rendezvous`]; nothing else changes.
//! - `shares` is the coordinator's state about its peers, without I/O; `group` accepts peers and receives their messages.
//!   [`follow`](crate::follow()) is the other side.

mod channel;
mod error;
mod group;
mod protocol;
mod shares;
#[cfg(test)]
mod tests;

pub use channel::{Channel, ReceiveFrom, Rendezvous, SendTo, receive_line, send_line, socket_channel};
pub use error::PeerError;
pub use group::PeerGroup;
pub use protocol::{CapChange, Command, Message, StepShare};
pub use shares::{OnLoss, PeerEvent, Peers};
