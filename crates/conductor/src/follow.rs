//! A peer's side: a generator that another one coordinates.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use plimsoll_engine::EngineError;
use plimsoll_plan::Plan;
use plimsoll_record::{Calibration, Frame};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::calibration::of_driver;
use crate::context::RunContext;
use crate::error::ConductError;
use crate::load::{Load, Policy, measure};
use crate::peers::{Channel, Command, Message, PeerError, ReceiveFrom, SendTo, StepShare};
use crate::prepare::prepare;
use crate::traffic::Requests;

/// What a generator says of itself.
#[derive(Debug, Clone, Copy)]
pub struct FollowOptions<'a> {
    pub version: &'a str,
    /// What this machine's generator can do at most, as far as it was measured. The coordinator gives it its share by that.
    pub calibrations: &'a [Calibration],
}

/// Makes shares of the steps of `plan` as the coordinator at the other end of `channel` commands, until that is gone. `csv` is
/// the text of the plan's CSV file, if it has one.
///
/// # Errors
/// When the load cannot be made here, which is reported to the coordinator, or when that is gone too early.
pub fn follow(
    plan: Plan,
    csv: Option<&[u8]>,
    options: FollowOptions<'_>,
    channel: Channel<Message, Command>,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let Channel { mut sender, receiver, .. } = channel;
    let made = make_shares((plan, csv), options, &mut *sender, receiver, interrupted);
    made.map_err(|error| match sender.send(&Message::Failed { why: error.to_string() }) {
        Err(source) if !matches!(error, ConductError::Peers(_)) => {
            PeerError::Unreported { why: error.to_string(), source }.into()
        }
        Ok(()) | Err(_) => error,
    })
}

fn make_shares(
    (plan, csv): (Plan, Option<&[u8]>),
    options: FollowOptions<'_>,
    coordinator: &mut dyn SendTo<Message>,
    receiver: Box<dyn ReceiveFrom<Command>>,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let requests = Requests::new(&plan, csv)?;
    let mut context = prepare(plan, requests, false, interrupted)?.context;
    let commands = commands(receiver)?;
    let ceiling =
        of_driver(options.calibrations, context.driver).and_then(Calibration::known_ceiling_per_sec);
    let (version, workers) = (options.version.to_owned(), context.workers);
    let ready = Message::Ready { version, workers, ceiling_per_sec: ceiling };
    coordinator.send(&ready).map_err(PeerError::from)?;
    while let Ok(command) = commands.recv() {
        // Any other command comes too late: the step is over.
        if let Command::Begin(share) = command {
            context.origin = share.origin;
            let fault = make_share(&context, &share, &commands, coordinator)?;
            coordinator.send(&Message::Ended { fault }).map_err(PeerError::from)?;
        }
    }
    Ok(())
}

/// The coordinator's commands, until it is gone. One that cannot be read is as good as an end: nothing after it could be
/// trusted.
fn commands(mut receiver: Box<dyn ReceiveFrom<Command>>) -> Result<Receiver<Command>, PeerError> {
    let (sender, commands) = mpsc::channel();
    let pass_on = move || {
        while let Ok(Some(command)) = receiver.receive()
            && sender.send(command).is_ok()
        {}
    };
    thread::Builder::new().name("coordinator".to_owned()).spawn(pass_on)?;
    Ok(commands)
}

/// Makes one share, from its first request to its last answer; gives what went wrong in it.
fn make_share(
    context: &RunContext,
    share: &StepShare,
    commands: &Receiver<Command>,
    coordinator: &mut dyn SendTo<Message>,
) -> Result<Option<String>, EngineError> {
    let mut load = Load::share(context, share)?;
    let late_ns = RealClock.now().nanos_since(share.begins);
    let reachable = coordinator.send(&Message::Began { late_ns, clock_error_ns: None }).is_ok();
    measure(&mut load, &mut Following { coordinator, commands, reachable })?;
    Ok(load.faults().pop())
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

    fn frame(&mut self, _load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), EngineError> {
        self.reachable &= self.coordinator.send(&Message::Frame(frame)).is_ok();
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, _now: Instant) -> Result<(), EngineError> {
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
