//! The agent's end of a run: the channel that its generator follows, with all instants translated to its own clock.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_conductor::peers::{Channel, Command, Message, ReceiveFrom, SendTo, StepShare};
use plimsoll_units::{Clock as _, RealClock, best_effort};
use tokio::sync::mpsc::UnboundedSender;

use crate::agent::order::AgentOrder;
use crate::clock::{Comparison, EXCHANGES, EXCHANGES_AFTER, MEASURED_WITHIN};
use crate::step_clock::StepClock;

/// The clock comparison of the current step.
pub(crate) type Measured = Arc<Mutex<StepClock>>;

/// Discards the comparison: another conductor, with another clock, resumes the run.
pub(crate) fn forget(measured: &Measured) {
    measured.lock().unwrap_or_else(PoisonError::into_inner).forget();
}

/// Makes the channel of one run: commands come from `commands`, and messages go through the agent's task.
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
    /// Compares the clocks by exchanges of timestamps with the conductor.
    fn measure(&self, exchanges: usize) -> io::Result<Comparison> {
        let (sender, answer) = mpsc::channel();
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.orders.send(AgentOrder::Measure { exchanges, answer: sender }).map_err(gone)?;
        match answer.recv_timeout(MEASURED_WITHIN) {
            Ok(Some(comparison)) => Ok(comparison),
            Ok(None) | Err(RecvTimeoutError::Timeout) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the conductor's clock could not be asked"))
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn step(&self) -> MutexGuard<'_, StepClock> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is wrong with the clock since the step began, if anything.
    fn fault(&self) -> Option<String> {
        let is_measured = self.step().is_measured();
        let after = is_measured.then(|| self.measure(EXCHANGES_AFTER))?;
        // If another conductor, with another clock, has come meanwhile, the earlier measurement is discarded by now.
        self.step().fault(after.map(|comparison| comparison.offset))
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
            Message::Began { late_ns, .. } => self.clock.step().began(*late_ns, RealClock.now()),
            Message::Ended { step, fault } => {
                Message::Ended { step: *step, fault: fault.clone().or_else(|| self.clock.fault()) }
            }
            other => other.clone(),
        };
        let sent = self.clock.orders.send(AgentOrder::Message(Box::new(message)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn close(&mut self) -> bool {
        // The agent's task still delivers what was sent.
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
        while let Ok(command) = self.commands.recv() {
            let Command::Begin(share) = command else { return Ok(Some(command)) };
            if let Some(share) = self.begin(share)? {
                return Ok(Some(Command::Begin(share)));
            }
        }
        Ok(None)
    }
}

impl Commands {
    /// Measures the clock, and translates the instants of a share to it. `None` if another conductor has come meanwhile. The
    /// conductor learns of a failure: otherwise it would wait for this agent.
    fn begin(&self, share: StepShare) -> io::Result<Option<StepShare>> {
        let before = *self.clock.step();
        let measured = self.clock.measure(EXCHANGES);
        let mut step = self.clock.step();
        if !step.is_of_same_conductor(before) {
            self.report(StepClock::succeeded(&share));
            return Ok(None);
        }
        let comparison = measured.inspect_err(|error| self.report(StepClock::failed(error)))?;
        Ok(Some(step.begin(comparison, share)))
    }

    fn report(&self, message: Message) {
        let order = AgentOrder::Message(Box::new(message));
        best_effort(self.clock.orders.send(order), "the run is over");
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use plimsoll_conductor::StepPlan;
    use plimsoll_plan::{Level, Shares};
    use plimsoll_units::Instant;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::clock::{DRIFT_PPB, Exchange, Offset};

    fn share() -> StepShare {
        let step = StepPlan {
            index: 0,
            level: Level::Closed { connections: 1, depth: 1 },
            limit: Duration::from_secs(1),
            interval: Duration::from_secs(1),
            requests_max: None,
        };
        let (begins, origin) = (Instant::from_nanos(2), Instant::from_nanos(1));
        StepShare { step, workers_before: 0, own_workers: 1, shares: Shares::equal(1), begins, origin }
    }

    /// The clock of a conductor that is so much ahead.
    fn comparison(ahead_ns: u64) -> Comparison {
        let at = |ns| Instant::from_nanos(ns);
        let exchange =
            Exchange { asked: at(1), received: at(1 + ahead_ns), answered: at(1 + ahead_ns), arrived: at(2) };
        Comparison { offset: Offset::best(&[exchange], DRIFT_PPB).unwrap(), wall: None }
    }

    #[test]
    fn a_clock_is_not_compared_with_that_of_another_conductor() {
        let (_commands, received) = mpsc::channel();
        let (orders, mut sent) = unbounded_channel();
        let measured = Measured::default();
        let mut generator = channel(received, orders, Arc::clone(&measured));
        measured.lock().unwrap().begin(comparison(0), share());
        let task = thread::spawn(move || {
            let Some(AgentOrder::Measure { answer, .. }) = sent.blocking_recv() else {
                panic!("not measured")
            };
            // Another conductor comes meanwhile, and answers.
            forget(&measured);
            answer.send(Some(comparison(3_600_000_000_000))).unwrap();
            sent
        });
        generator.sender.send(&Message::Ended { step: Some(0), fault: None }).unwrap();
        let Ok(AgentOrder::Message(message)) = task.join().unwrap().try_recv() else { panic!("no message") };
        assert_eq!(*message, Message::Ended { step: Some(0), fault: None });
    }

    #[test]
    fn a_step_of_a_conductor_that_another_one_succeeded_is_not_begun_by_the_clock_of_that_one() {
        let (commands, received) = mpsc::channel();
        let (orders, mut sent) = unbounded_channel();
        let measured = Measured::default();
        let mut generator = channel(received, orders, Arc::clone(&measured));
        commands.send(Command::Begin(share())).unwrap();
        commands.send(Command::StandBy { asked: 3 }).unwrap();
        let task = thread::spawn(move || {
            let Some(AgentOrder::Measure { answer, .. }) = sent.blocking_recv() else {
                panic!("not measured")
            };
            forget(&measured);
            answer.send(Some(comparison(3_600_000_000_000))).unwrap();
            sent
        });
        assert_eq!(generator.receiver.receive().unwrap(), Some(Command::StandBy { asked: 3 }));
        let Ok(AgentOrder::Message(message)) = task.join().unwrap().try_recv() else { panic!("no message") };
        assert!(matches!(*message, Message::Ended { fault: Some(_), .. }), "{message:?}");
    }

    #[test]
    fn the_conductor_learns_that_a_step_cannot_be_begun_as_its_clock_does_not_answer() {
        let (commands, received) = mpsc::channel();
        let (orders, mut sent) = unbounded_channel();
        let mut generator = channel(received, orders, Measured::default());
        commands.send(Command::Begin(share())).unwrap();
        let task = thread::spawn(move || {
            let Some(AgentOrder::Measure { answer, .. }) = sent.blocking_recv() else {
                panic!("not measured")
            };
            answer.send(None).unwrap();
            sent
        });
        assert!(generator.receiver.receive().is_err());
        let Ok(AgentOrder::Message(message)) = task.join().unwrap().try_recv() else { panic!("no message") };
        assert!(matches!(*message, Message::Failed { .. }), "{message:?}");
    }
}
