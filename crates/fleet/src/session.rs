//! The agent's end of a run: the channel that its generator follows, with all instants translated to its own clock.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_conductor::peers::{Channel, Command, Message, ReceiveFrom, SendTo, StepShare};
use plimsoll_units::{Clock as _, RealClock, duration_text};
use tokio::sync::mpsc::UnboundedSender;

use crate::agent::order::AgentOrder;
use crate::clock::Offset;

/// A measurement of the clock may take so long, of all its exchanges together.
const MEASURED_WITHIN: Duration = Duration::from_secs(10);

/// The clock as it was measured before the step that is on.
pub(crate) type Measured = Arc<Mutex<Option<Offset>>>;

/// Nothing is to be compared with it any more: another conductor, with another clock, goes on with the run.
pub(crate) fn forget(measured: &Measured) {
    *measured.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The channel of one run: its commands come from `commands`, and everything goes through the agent's task.
pub(crate) fn channel(
    commands: Receiver<Command>,
    orders: UnboundedSender<AgentOrder>,
    measured: Measured,
) -> Channel<Message, Command> {
    let clock = |measured| SessionClock { orders: orders.clone(), measured };
    Channel {
        name: None,
        sender: Box::new(Messages { clock: clock(Arc::clone(&measured)) }),
        receiver: Box::new(Commands { commands, clock: clock(measured) }),
    }
}

#[derive(Debug)]
struct SessionClock {
    orders: UnboundedSender<AgentOrder>,
    measured: Measured,
}

impl SessionClock {
    /// Exchanges timestamps with the conductor.
    fn measure(&self) -> io::Result<Offset> {
        let (sender, answer) = mpsc::channel();
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.orders.send(AgentOrder::Measure(sender)).map_err(gone)?;
        match answer.recv_timeout(MEASURED_WITHIN) {
            Ok(Some(offset)) => Ok(offset),
            Ok(None) | Err(RecvTimeoutError::Timeout) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the conductor's clock could not be asked"))
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn known(&self) -> Option<Offset> {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, offset: Offset) {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = Some(offset);
    }

    /// What is wrong with the clock since the step began, if anything.
    fn fault(&self) -> Option<String> {
        let before = self.known()?;
        let after = match self.measure() {
            Ok(after) => after,
            // The conductor is gone, which says nothing about this clock.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
            Err(error) => return Some(format!("could not compare its clock after the step ({error})")),
        };
        let moved = after.moved_since(before)?;
        let moved = duration_text(moved.as_nanos() as f64);
        Some(format!(
            "was set, or stood still: its clock moved by {moved} during the step, and its times are wrong by that"
        ))
    }
}

/// Sends to the conductor.
#[derive(Debug)]
struct Messages {
    clock: SessionClock,
}

impl SendTo<Message> for Messages {
    fn send(&mut self, message: &Message) -> io::Result<()> {
        let message = match message {
            Message::Began { late_ns, .. } => {
                let error_at = |offset: Offset| offset.error_at(RealClock.now());
                Message::Began { late_ns: *late_ns, clock_error_ns: self.clock.known().map(error_at) }
            }
            Message::Ended { fault } => {
                Message::Ended { fault: fault.clone().or_else(|| self.clock.fault()) }
            }
            other => other.clone(),
        };
        let sent = self.clock.orders.send(AgentOrder::Message(Box::new(message)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn close(&mut self) -> bool {
        // The agent's task goes on with what was sent.
        true
    }
}

/// Receives from the conductor.
struct Commands {
    commands: Receiver<Command>,
    clock: SessionClock,
}

impl ReceiveFrom<Command> for Commands {
    fn receive(&mut self) -> io::Result<Option<Command>> {
        match self.commands.recv() {
            Ok(Command::Begin(share)) => self.translated(share).map(Command::Begin).map(Some),
            Ok(command) => Ok(Some(command)),
            Err(_) => Ok(None),
        }
    }
}

impl Commands {
    /// The share with its instants by this machine's clock, which is measured now.
    fn translated(&self, share: StepShare) -> io::Result<StepShare> {
        let offset = self.clock.measure()?;
        self.clock.set(offset);
        Ok(StepShare {
            begins: offset.to_agent(share.begins),
            origin: offset.to_agent(share.origin),
            ..share
        })
    }
}
