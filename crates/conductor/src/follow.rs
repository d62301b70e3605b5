//! The peer's side of the protocol: a generator that another one coordinates.

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

/// Facts about a generator that it reports to its coordinator.
#[derive(Debug, Clone, Copy)]
pub struct FollowOptions<'a> {
    pub version: &'a str,
    /// The measured calibrations of this machine, one per driver. The coordinator sizes the share by them.
    pub calibrations: &'a [Calibration],
}

/// Makes shares of the steps of `plan` as the coordinator at the other end of `channel` commands, until the channel closes. `csv`
/// is the text of the plan's CSV file, if it has one.
///
/// # Errors
/// When the load cannot be made here, which is reported to the coordinator, or when the coordinator is gone too early.
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
    let ceiling_per_sec =
        of_driver(options.calibrations, context.driver).and_then(Calibration::known_ceiling_per_sec);
    let (version, workers) = (options.version.to_owned(), context.workers);
    coordinator.send(&Message::Ready { version, workers, ceiling_per_sec }).map_err(PeerError::from)?;
    while let Ok(command) = commands.recv() {
        let asked = match command {
            Command::Begin(share) => {
                context.origin = share.origin;
                let Made { fault, asked } = make_share(&context, &share, &commands, coordinator)?;
                let step = Some(share.step.index);
                coordinator.send(&Message::Ended { step, fault }).map_err(PeerError::from)?;
                asked
            }
            Command::StandBy { asked } => Some(asked),
            // These commands arrive too late: the step is over.
            Command::EndLoad | Command::Abandon => None,
        };
        if let Some(asked) = asked {
            coordinator
                .send(&Message::StandsBy { asked, workers, ceiling_per_sec })
                .map_err(PeerError::from)?;
        }
    }
    Ok(())
}

/// The outcome of a share.
struct Made {
    fault: Option<String>,
    /// The number of the last [`Command::StandBy`] received during the share.
    asked: Option<u64>,
}

/// The coordinator's commands, until it is gone. An unreadable command ends the channel, because nothing after it could be
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

/// Makes one share, from its first request to its last response.
fn make_share(
    context: &RunContext,
    share: &StepShare,
    commands: &Receiver<Command>,
    coordinator: &mut dyn SendTo<Message>,
) -> Result<Made, EngineError> {
    let mut load = Load::share(context, share)?;
    let late_ns = RealClock.now().nanos_since(share.begins);
    let reachable = coordinator.send(&Message::Began { late_ns, clock_error_ns: None, wall: None }).is_ok();
    let mut following = Following { coordinator, commands, reachable, asked: None };
    measure(&mut load, &mut following)?;
    Ok(Made { fault: load.faults().pop(), asked: following.asked })
}

/// A share in progress: its frames go to the coordinator, whose commands end the load.
struct Following<'a> {
    coordinator: &'a mut dyn SendTo<Message>,
    commands: &'a Receiver<Command>,
    /// False once a message could not be sent to the coordinator.
    reachable: bool,
    /// The number of the last [`Command::StandBy`]; it is answered after the share.
    asked: Option<u64>,
}

impl Policy for Following<'_> {
    type Error = EngineError;

    // Each turn without a frame wakes up the thread. A command may wait this long.
    const WAIT: Duration = Duration::from_millis(20);

    fn frame(&mut self, _load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), EngineError> {
        self.reachable &= self.coordinator.send(&Message::Frame(frame)).is_ok();
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, _now: Instant) -> Result<(), EngineError> {
        match self.commands.try_recv() {
            Ok(Command::EndLoad) => load.end(),
            Ok(Command::Abandon) | Err(TryRecvError::Disconnected) => load.abandon(),
            Ok(Command::StandBy { asked }) => self.asked = Some(asked),
            Ok(Command::Begin(_)) | Err(TryRecvError::Empty) => {}
        }
        if !self.reachable {
            load.abandon();
        }
        Ok(())
    }
}
