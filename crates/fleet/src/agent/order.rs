//! The messages between the threads of an agent.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use plimsoll_conductor::ConductError;
use plimsoll_conductor::peers::{Channel, Command, Message};
use plimsoll_plan::Plan;

use crate::allow::AllowedTarget;
use crate::broker::Broker;
use crate::clock::Comparison;
use crate::signature::TrustedKey;
use crate::wire::{Invitation, Refusal};

/// The options of an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub broker: Broker,
    /// Unique in the fleet.
    pub name: String,
    /// The targets that it may load.
    pub allow: Vec<AllowedTarget>,
    /// Keys of the conductors that it obeys; it obeys any conductor if there are none.
    pub trust: Vec<TrustedKey>,
    /// The load ends after this long without a message of the conductor.
    pub orphan: Duration,
    /// End after one run.
    pub once: bool,
    pub version: &'static str,
    /// Generates its share of the load.
    pub generator: Generator,
}

/// Generates a share of the load, as the conductor commands over the channel: [`plimsoll_conductor::follow`] with the calibrations
/// of this machine, except where the fleet is measured without a load. The parameters are the plan, the text of its CSV file, the
/// version of the tool, the channel, and the flag that interrupts it.
pub type Generator =
    fn(Plan, Option<&[u8]>, &str, Channel<Message, Command>, &AtomicBool) -> Result<(), ConductError>;

/// An order to the agent's task.
#[derive(Debug)]
pub(crate) enum AgentOrder {
    /// Send this message to the conductor.
    Message(Box<Message>),
    /// Compare the clocks in this many exchanges; the answer is `None` if the conductor does not answer.
    Measure { exchanges: usize, answer: Sender<Option<Comparison>> },
    /// The generator has nothing more to send.
    Finished,
    /// Decline the invitation.
    Refuse { run: String, why: String },
    /// The agent ends.
    Leave,
}

/// A run to take part in.
pub(crate) struct Invited {
    pub(crate) invitation: Invitation,
    pub(crate) channel: Channel<Message, Command>,
}

/// A notice of the agent's task to its main thread.
pub(crate) enum Notice {
    Connected,
    Invited(Box<Invited>),
    /// A message that was not obeyed.
    Refused(Refusal),
}
