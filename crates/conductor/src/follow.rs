//! A peer's side: a generator that another one coordinates.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, SendError, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

use plimsoll_engine::{EngineError, available_driver};
use plimsoll_plan::Plan;
use plimsoll_record::Frame;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::context::RunContext;
use crate::error::ConductError;
use crate::load::{Load, Policy, measure};
use crate::peers::{Channel, Command, Message, PeerError, ReceiveFrom, SendTo, StepShare};
use crate::prepare::prepare;
use crate::traffic::Requests;

/// Makes shares of the steps of `plan` as the coordinator at the other end of `channel` commands, until that is gone.
///
/// # Errors
/// When the load cannot be made here, which is reported to the coordinator, or when that is gone too early.
pub fn follow(
    plan: Plan,
    version: &str,
    channel: Channel<Message, Command>,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let Channel { mut sender, receiver } = channel;
    let made = Follower::prepare(plan, &mut *sender, interrupted)
        .and_then(|mut follower| follower.make_shares(version, receiver));
    made.map_err(|error| match sender.send(&Message::Failed { why: error.to_string() }) {
        Err(source) if !matches!(error, ConductError::Peers(_)) => {
            PeerError::Unreported { why: error.to_string(), source }.into()
        }
        Ok(()) | Err(_) => error,
    })
}

/// A generator that is ready to make shares.
struct Follower<'a> {
    context: RunContext,
    coordinator: &'a mut dyn SendTo<Message>,
    clock: RealClock,
}

impl<'a> Follower<'a> {
    fn prepare(
        plan: Plan,
        coordinator: &'a mut dyn SendTo<Message>,
        interrupted: &AtomicBool,
    ) -> Result<Self, ConductError> {
        let requests = Requests::new(&plan, None)?;
        let prepared = prepare(plan, None, interrupted)?;
        let driver = available_driver(prepared.plan.generator.driver)?;
        let context = prepared.into_context(requests, driver, RealClock.now());
        Ok(Self { context, coordinator, clock: RealClock })
    }

    fn make_shares(
        &mut self,
        version: &str,
        receiver: Box<dyn ReceiveFrom<Command>>,
    ) -> Result<(), ConductError> {
        let commands = commands(receiver)?;
        let workers = self.context.workers;
        self.report(&Message::Ready { version: version.to_owned(), workers })?;
        while let Ok(command) = commands.recv() {
            // Any other command comes too late: the step is over.
            if let Command::Begin(share) = command {
                let fault = self.make_share(&share, &commands)?;
                self.report(&Message::Ended { fault })?;
            }
        }
        Ok(())
    }

    fn report(&mut self, message: &Message) -> Result<(), PeerError> {
        Ok(self.coordinator.send(message)?)
    }

    /// Makes one share, from its first request to its last answer; gives what went wrong in it.
    fn make_share(
        &mut self,
        share: &StepShare,
        commands: &Receiver<Command>,
    ) -> Result<Option<String>, EngineError> {
        self.context.origin = share.origin;
        let mut load = Load::share(&self.context, share)?;
        let late_ns = self.clock.now().nanos_since(share.begins);
        let reachable = self.coordinator.send(&Message::Began { late_ns }).is_ok();
        let mut policy = Following { coordinator: self.coordinator, commands, reachable };
        measure(&mut load, &mut policy, &self.clock)?;
        Ok(load.faults().pop())
    }
}

/// A share while it is made: its frames go to the coordinator, whose commands end the load.
struct Following<'a> {
    coordinator: &'a mut dyn SendTo<Message>,
    commands: &'a Receiver<Command>,
    /// Messages reach the coordinator, as far as is known.
    reachable: bool,
}

impl Policy for Following<'_> {
    type Error = EngineError;

    const WAIT: Duration = Duration::from_millis(5);

    fn frame(&mut self, _load: &mut Load<'_>, frame: Box<Frame>, _now: Instant) -> Result<(), EngineError> {
        self.reachable &= self.coordinator.send(&Message::Frame(frame)).is_ok();
        Ok(())
    }

    fn turn(&mut self, load: &mut Load<'_>, _now: Instant) -> Result<(), EngineError> {
        match self.commands.try_recv() {
            Ok(Command::EndLoad) => load.end(),
            Ok(Command::Abandon) | Err(TryRecvError::Disconnected) => load.abandon(),
            Ok(Command::Begin(_)) | Err(TryRecvError::Empty) => {}
        }
        if !self.reachable {
            load.abandon();
        }
        Ok(())
    }
}

/// What the coordinator commands, until it is gone.
fn commands(receiver: Box<dyn ReceiveFrom<Command>>) -> Result<Receiver<Command>, PeerError> {
    let (sender, commands) = mpsc::channel();
    thread::Builder::new().name("coordinator".to_owned()).spawn(move || pass_on(receiver, &sender))?;
    Ok(commands)
}

/// Passes commands on. Fails only if nothing takes them any more.
fn pass_on(
    mut receiver: Box<dyn ReceiveFrom<Command>>,
    to: &Sender<Command>,
) -> Result<(), SendError<Command>> {
    // A command that cannot be read is as good as an end: nothing after it could be trusted.
    while let Ok(Some(command)) = receiver.receive() {
        to.send(command)?;
    }
    Ok(())
}
