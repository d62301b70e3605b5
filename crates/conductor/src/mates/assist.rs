//! A generator that another one leads.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use plimsoll_engine::{EngineError, PeerGroup, RunningStep, StepEvent, available_driver};
use plimsoll_plan::Plan;
use plimsoll_units::{Clock, RealClock};

use super::wire::{Lines, StepShare, Wish, Word, say};
use crate::conduct::ConductError;
use crate::load::Means;
use crate::prepare::prepare;
use crate::step::StepTask;
use crate::traffic::Requests;

/// How often the leader's wishes are looked for while no frame comes.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Makes shares of the steps of `plan` as the leader at the other end of `leader` wishes, until that is gone.
///
/// # Errors
/// When the load cannot be made here; the leader is told why.
pub fn assist(
    plan: Plan,
    version: &str,
    leader: &UnixStream,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let made = make_shares(plan, version, leader, interrupted);
    if let Err(error) = &made {
        // A leader that is gone needs no reason.
        say(leader, &Word::Failed { why: error.to_string() }).ok();
    }
    made
}

fn make_shares(
    plan: Plan,
    version: &str,
    leader: &UnixStream,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let requests = Requests::of(&plan, None)?;
    let prepared = prepare(plan, None, interrupted)?;
    let driver = available_driver(prepared.plan.generator.driver)?;
    let means = Means::of(&prepared, &requests, driver, RealClock.now());
    let lost = |error: io::Error| ConductError::Mates(error.into());
    let wishes = wishes(leader).map_err(lost)?;
    say(leader, &Word::Ready { version: version.to_owned(), workers: means.workers }).map_err(lost)?;
    while let Ok(wish) = wishes.recv() {
        // Any other wish comes too late: the step is over.
        if let Wish::Begin(share) = wish {
            let fault = make_share(&means, share, leader, &wishes)?;
            say(leader, &Word::Ended { fault }).map_err(lost)?;
        }
    }
    Ok(())
}

/// What the leader says, until it is gone.
fn wishes(leader: &UnixStream) -> io::Result<Receiver<Wish>> {
    let mut lines = Lines::of(leader)?;
    let (told, wishes) = mpsc::channel();
    thread::Builder::new().name("leader".to_owned()).spawn(move || {
        while let Ok(Some(wish)) = lines.next() {
            if told.send(wish).is_err() {
                return;
            }
        }
    })?;
    Ok(wishes)
}

/// One share from its first request to its last answer; gives what went wrong, if something did.
fn make_share(
    means: &Means<'_>,
    share: StepShare,
    leader: &UnixStream,
    wishes: &Receiver<Wish>,
) -> Result<Option<String>, EngineError> {
    let StepShare { step, workers_before, own_workers } = share;
    let group = PeerGroup { workers_before, workers: step.workers, begins: step.begins };
    let means = Means { origin: step.origin, interval: step.interval, ..means.clone() };
    let task = StepTask {
        index: step.step,
        level: step.level,
        limit: step.limit,
        until_known: false,
        requests_max: None,
        ended_by: None,
    };
    let mut running = RunningStep::start(&means.order(&task, own_workers, Some(group)))?;
    let late_ns = RealClock.now().nanos_since(step.begins);
    let mut heard = say(leader, &Word::Began { late_ns }).is_ok();
    loop {
        match running.next(LOOK_EVERY)? {
            StepEvent::Frame(frame) => heard &= say(leader, &Word::Frame(frame)).is_ok(),
            StepEvent::Timeout => {}
            StepEvent::Ended => return Ok(running.fault().map(ToString::to_string)),
        }
        match wishes.try_recv() {
            Ok(Wish::EndLoad) => running.end_load(),
            Ok(Wish::Abandon) | Err(TryRecvError::Disconnected) => running.abandon(),
            Ok(Wish::Begin(_)) | Err(TryRecvError::Empty) => {}
        }
        if !heard {
            running.abandon();
        }
    }
}
