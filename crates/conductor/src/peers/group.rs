//! The coordinator's side: the other generators of its run.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_record::Frame;
use plimsoll_units::{Clock, RealClock};

use super::channel::{Channel, ReceiveFrom, Rendezvous, SendTo};
use super::protocol::{Command, Message, StepShare};
use crate::context::StepPlan;

/// The time peers have to connect to the target and report that they are ready.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How often the interrupt flag is read meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Generators that begin further apart than this do not make one load.
const MAX_APART: Duration = Duration::from_millis(10);

/// Why the generators of a run do not come together.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("the generators of the run could not speak with each other ({0})")]
    Channel(#[from] io::Error),
    #[error("generator {number} could not begin: {why}")]
    Failed {
        /// Its number, from 2: the coordinator is the first.
        number: usize,
        why: String,
    },
    #[error("generator {number} is plimsoll {theirs}, and this one {ours}; start the same on all")]
    Version { number: usize, theirs: String, ours: String },
    #[error("{came} of {expected} other generators were ready within {} s", READY_WITHIN.as_secs())]
    Missing { came: usize, expected: usize },
    #[error("{why}; the generator that coordinates the run could not be reached either ({source})")]
    Unreported { why: String, source: io::Error },
    #[error("interrupted while the generators came together")]
    Interrupted,
}

#[derive(Debug)]
struct Peer {
    commands: Box<dyn SendTo<Command>>,
    /// Commands arrive, as far as is known. If not, its reader reports the end of the channel.
    reachable: bool,
    workers: u32,
    /// It makes a share of the step that is on.
    at_work: bool,
}

/// What came from the peer of this index; `None` once it has closed its channel. Nothing comes after that or an error.
type Received = (usize, io::Result<Option<Message>>);

/// Something that the coordinator has to know of a peer's share.
#[derive(Debug)]
pub(crate) enum PeerEvent {
    Frame(Box<Frame>),
    Fault(String),
    Late(String),
}

/// The other generators of a run. They end when it is dropped.
#[derive(Debug)]
pub struct PeerGroup {
    peers: Vec<Peer>,
    received: Receiver<Received>,
}

impl PeerGroup {
    /// Waits until `count` peers have arrived and are ready.
    ///
    /// # Errors
    /// When one cannot begin, is another version, or does not come in time.
    pub fn meet(
        rendezvous: &mut dyn Rendezvous,
        count: usize,
        version: &str,
        interrupted: &AtomicBool,
    ) -> Result<Self, PeerError> {
        let (sender, received) = mpsc::channel();
        let mut group = Self { peers: Vec::new(), received };
        let deadline = RealClock.now() + READY_WITHIN;
        let mut ready = 0;
        while ready < count {
            group.let_in(rendezvous, count, &sender)?;
            match group.received.recv_timeout(POLL_INTERVAL) {
                Ok((index, first)) => group.introduce(index, first, version).map(|()| ready += 1)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(PeerError::Interrupted);
            }
            if RealClock.now() > deadline {
                return Err(PeerError::Missing { came: ready, expected: count });
            }
        }
        Ok(group)
    }

    /// Takes the channels of those that have arrived.
    fn let_in(
        &mut self,
        rendezvous: &mut dyn Rendezvous,
        count: usize,
        sender: &Sender<Received>,
    ) -> io::Result<()> {
        while self.peers.len() < count
            && let Some(Channel { sender: commands, receiver }) = rendezvous.arrived()?
        {
            let (index, sender) = (self.peers.len(), sender.clone());
            let name = format!("peer-{index}");
            thread::Builder::new().name(name).spawn(move || pass_on(index, receiver, &sender))?;
            self.peers.push(Peer { commands, reachable: true, workers: 0, at_work: false });
        }
        Ok(())
    }

    fn introduce(
        &mut self,
        index: usize,
        first: io::Result<Option<Message>>,
        ours: &str,
    ) -> Result<(), PeerError> {
        let number = index + 2;
        let why = match first {
            Ok(Some(Message::Ready { version, .. })) if version != ours => {
                return Err(PeerError::Version { number, theirs: version, ours: ours.to_owned() });
            }
            Ok(Some(Message::Ready { workers, .. })) => {
                self.peers[index].workers = workers;
                return Ok(());
            }
            Ok(Some(Message::Failed { why })) => why,
            Ok(Some(_)) => "it reports something else than that it is ready".to_owned(),
            Ok(None) => "it ended; what it says stands above".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(PeerError::Failed { number, why })
    }

    pub(crate) fn workers(&self) -> u32 {
        self.peers.iter().map(|peer| peer.workers).sum()
    }

    /// Gives each its share of a step, of which `own` is the coordinator's. Workers are numbered from the coordinator's
    /// on; there may be fewer workers than all peers have. Only the coordinator counts requests up to a limit.
    pub(crate) fn begin(&mut self, own: &StepShare) {
        let step = StepPlan { requests_max: None, ..own.step.clone() };
        let mut workers_before = own.workers_before + own.own_workers;
        for peer in &mut self.peers {
            let own_workers = peer.workers.min(own.workers.saturating_sub(workers_before));
            let share = StepShare { step: step.clone(), workers_before, own_workers, ..own.clone() };
            peer.at_work = own_workers > 0 && peer.command(&Command::Begin(share));
            workers_before += own_workers;
        }
    }

    pub(crate) fn command_all(&mut self, command: &Command) {
        for peer in self.peers.iter_mut().filter(|peer| peer.at_work) {
            peer.command(command);
        }
    }

    pub(crate) fn at_work(&self) -> bool {
        self.peers.iter().any(|peer| peer.at_work)
    }

    /// What comes next, waited for at most this long.
    pub(crate) fn next(&mut self, longest: Duration) -> Option<PeerEvent> {
        let (index, received) = match longest.is_zero() {
            true => self.received.try_recv().ok()?,
            false => self.received.recv_timeout(longest).ok()?,
        };
        let number = index + 2;
        match received {
            Ok(Some(Message::Frame(frame))) => Some(PeerEvent::Frame(frame)),
            Ok(Some(Message::Began { late_ns })) if late_ns > MAX_APART.as_nanos() as u64 => {
                let late_ms = late_ns as f64 / 1e6;
                Some(PeerEvent::Late(format!("generator {number} began {late_ms:.0} ms after the others")))
            }
            Ok(Some(Message::Ended { fault })) => {
                self.peers[index].at_work = false;
                fault.map(|fault| PeerEvent::Fault(format!("generator {number} {fault}")))
            }
            Ok(Some(Message::Failed { why })) => self.lose(index, &format!("failed: {why}")),
            // In time, or nothing that concerns the step.
            Ok(Some(_)) => None,
            Ok(None) => self.lose(index, "is gone; what it measured last is not counted"),
            Err(error) => {
                self.lose(index, &format!("is gone ({error}); what it measured last is not counted"))
            }
        }
    }

    /// A peer that is gone takes part in no further step.
    fn lose(&mut self, index: usize, how: &str) -> Option<PeerEvent> {
        let peer = &mut self.peers[index];
        let known = peer.workers == 0 && !peer.at_work;
        (peer.workers, peer.at_work) = (0, false);
        (!known).then(|| PeerEvent::Fault(format!("generator {} {how}", index + 2)))
    }
}

impl Peer {
    /// False if the peer is gone.
    fn command(&mut self, command: &Command) -> bool {
        self.reachable = self.reachable && self.commands.send(command).is_ok();
        self.reachable
    }
}

impl Drop for PeerGroup {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            peer.commands.close();
        }
    }
}

/// Passes on what one peer reports, until that or the group is gone.
fn pass_on(index: usize, mut messages: Box<dyn ReceiveFrom<Message>>, to: &Sender<Received>) {
    loop {
        let received = match messages.receive() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            received => received,
        };
        // What cannot be read is as good as an end: nothing after it could be trusted.
        let goes_on = matches!(received, Ok(Some(_)));
        if to.send((index, received)).is_err() || !goes_on {
            return;
        }
    }
}
