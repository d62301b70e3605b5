//! What the threads of an agent ask of each other.

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

/// How an agent works.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub broker: Broker,
    /// Unique in the fleet.
    pub name: String,
    /// The targets that it may load.
    pub allow: Vec<AllowedTarget>,
    /// The conductors that it obeys; any if there is none.
    pub trust: Vec<TrustedKey>,
    /// Without a word of the conductor for so long the load ends.
    pub orphan: Duration,
    /// End after one run.
    pub once: bool,
    pub version: &'static str,
    /// Makes its share of a run.
    pub generator: Generator,
}

/// What makes a share of a run as its conductor commands over the channel: [`plimsoll_conductor::follow`] with the calibrations
/// of its machine, except where the fleet is measured without a load. The parameters are the plan, the text of its CSV file, the
/// version of the tool, the channel, and the flag that ends it.
pub type Generator =
    fn(Plan, Option<&[u8]>, &str, Channel<Message, Command>, &AtomicBool) -> Result<(), ConductError>;

/// What the agent's task is asked for.
#[derive(Debug)]
pub(crate) enum AgentOrder {
    /// To the conductor.
    Message(Box<Message>),
    /// Compare the clocks by so many exchanges; the answer is `None` if the conductor does not answer.
    Measure { exchanges: usize, answer: Sender<Option<Comparison>> },
    /// The generator has nothing more to send.
    Finished,
    /// The invitation is refused.
    Refuse { run: String, why: String },
    /// The agent ends.
    Leave,
}

/// A run to take part in.
pub(crate) struct Invited {
    pub(crate) invitation: Invitation,
    pub(crate) channel: Channel<Message, Command>,
}

/// What the agent's task reports to its main thread.
pub(crate) enum Notice {
    Connected,
    Invited(Box<Invited>),
    /// A message that was not obeyed.
    Refused(Refusal),
}
