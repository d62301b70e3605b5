//! The coordinator's side: the other generators of its run.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_record::{Frame, GeneratorShare, Step};
use plimsoll_units::{Clock, Instant, RealClock};

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
    #[error("{name} could not begin: {why}")]
    Failed { name: String, why: String },
    #[error("{name} is plimsoll {theirs}, and this one {ours}; start the same on all")]
    Version { name: String, theirs: String, ours: String },
    #[error(
        "{came} of {expected} other generators were ready within {} s{}", READY_WITHIN.as_secs(), missing_text(.names)
    )]
    Missing {
        came: usize,
        expected: usize,
        /// Those that arrived and did not become ready.
        names: Vec<String>,
    },
    #[error("{why}; the generator that coordinates the run could not be reached either ({source})")]
    Unreported { why: String, source: io::Error },
    #[error("interrupted while the generators came together")]
    Interrupted,
}

fn missing_text(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; still waited for: {}", names.join(", ")) }
}

/// What becomes of a run that loses one of its generators. The step that is on goes on without it in any case but the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// The run ends.
    Stop,
    /// Later steps go on without its share: the target gets that much less.
    Continue,
    /// Later steps are dealt out to those that are left.
    #[default]
    Redistribute,
}

#[derive(Debug)]
struct Peer {
    /// As messages call it.
    name: String,
    commands: Box<dyn SendTo<Command>>,
    /// Commands arrive, as far as is known. If not, its reader reports the end of the channel.
    reachable: bool,
    workers: u32,
    /// It was ready, and is gone.
    is_lost: bool,
    /// It makes a share of the step that is on.
    at_work: bool,
    /// What it makes of the step that is on, or was last.
    share: Option<GeneratorShare>,
    /// How many of its messages were taken in.
    taken: u64,
    /// When the last of them was.
    heard: Instant,
}

/// What came from the peer of this index; `None` once it has closed its channel. Nothing comes after that or an error.
type Received = (usize, io::Result<Option<Message>>);

/// Something that the coordinator has to know of a peer's share.
#[derive(Debug)]
pub(crate) enum PeerEvent {
    Frame(Box<Frame>),
    Fault(String),
    Late(String),
    /// The run is to end, as a generator was lost.
    Stop(String),
}

/// The other generators of a run. They end when it is dropped.
#[derive(Debug)]
pub struct PeerGroup {
    peers: Vec<Peer>,
    received: Receiver<Received>,
    /// How long after the command a step begins.
    pub(crate) head_start: Duration,
    /// The coordinator makes a share of the load itself.
    pub(crate) coordinator_takes_part: bool,
    on_loss: OnLoss,
    /// The instant from which all times of the run count, as of the last step.
    origin: Instant,
    /// Something new of the shares is known.
    has_news: bool,
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
        let mut group = Self {
            peers: Vec::new(),
            received,
            head_start: rendezvous.head_start(),
            coordinator_takes_part: rendezvous.coordinator_takes_part(),
            on_loss: OnLoss::default(),
            origin: RealClock.now(),
            has_news: false,
        };
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
                let late = group.peers.iter().filter(|peer| peer.taken == 0);
                let names = late.map(|peer| peer.name.clone()).collect();
                return Err(PeerError::Missing { came: ready, expected: count, names });
            }
        }
        Ok(group)
    }

    /// The peers that make `step` already, if one is under way, for a coordinator that is gone. They arrive at once.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(crate) fn resume(
        rendezvous: &mut dyn Rendezvous,
        step: Option<&Step>,
        origin: Instant,
    ) -> Result<Self, PeerError> {
        let (sender, received) = mpsc::channel();
        let mut group = Self {
            peers: Vec::new(),
            received,
            head_start: rendezvous.head_start(),
            coordinator_takes_part: false,
            on_loss: OnLoss::default(),
            origin,
            has_news: false,
        };
        group.let_in(rendezvous, usize::MAX, &sender)?;
        let shares = step.map(|step| step.generators.as_slice()).unwrap_or_default();
        for peer in &mut group.peers {
            peer.share = shares.iter().find(|share| share.name == peer.name).cloned();
            peer.at_work = peer.share.is_some();
        }
        Ok(group)
    }

    /// Decides what becomes of the run if a peer is lost.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        self.on_loss = on_loss;
    }

    /// Takes the channels of those that have arrived.
    fn let_in(
        &mut self,
        rendezvous: &mut dyn Rendezvous,
        count: usize,
        sender: &Sender<Received>,
    ) -> io::Result<()> {
        while self.peers.len() < count
            && let Some(Channel { name, sender: commands, receiver }) = rendezvous.arrived()?
        {
            let (index, sender) = (self.peers.len(), sender.clone());
            let thread = format!("peer-{index}");
            thread::Builder::new().name(thread).spawn(move || pass_on(index, receiver, &sender))?;
            self.peers.push(Peer {
                // The coordinator is the first.
                name: name.unwrap_or_else(|| format!("generator {}", index + 2)),
                commands,
                reachable: true,
                workers: 0,
                is_lost: false,
                at_work: false,
                share: None,
                taken: 0,
                heard: RealClock.now(),
            });
        }
        Ok(())
    }

    fn introduce(
        &mut self,
        index: usize,
        first: io::Result<Option<Message>>,
        ours: &str,
    ) -> Result<(), PeerError> {
        let peer = &mut self.peers[index];
        let name = peer.name.clone();
        let why = match first {
            Ok(Some(Message::Ready { version, .. })) if version != ours => {
                return Err(PeerError::Version { name, theirs: version, ours: ours.to_owned() });
            }
            Ok(Some(Message::Ready { workers, .. })) => {
                (peer.workers, peer.taken) = (workers, 1);
                return Ok(());
            }
            Ok(Some(Message::Failed { why })) => why,
            Ok(Some(_)) => "it reports something else than that it is ready".to_owned(),
            Ok(None) => "it ended; what it says stands above".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(PeerError::Failed { name, why })
    }

    pub(crate) fn workers(&self) -> u32 {
        self.peers.iter().map(|peer| peer.workers).sum()
    }

    /// Gives each its share of a step, of which `own` is the coordinator's. Workers are numbered from the coordinator's
    /// on; there may be fewer workers than all peers have. A limit of requests is the coordinator's to count; where it makes no
    /// load, each peer counts its part.
    pub(crate) fn begin(&mut self, own: &StepShare) {
        let mut workers_before = own.workers_before + own.own_workers;
        self.origin = own.origin;
        for peer in &mut self.peers {
            let own_workers = peer.workers.min(own.workers.saturating_sub(workers_before));
            let requests_max = match self.coordinator_takes_part {
                true => None,
                false => {
                    own.step.requests_max.map(|most| part(most, workers_before, own_workers, own.workers))
                }
            };
            let step = StepPlan { requests_max, ..own.step.clone() };
            let share = StepShare { step, workers_before, own_workers, ..own.clone() };
            peer.at_work = own_workers > 0 && !peer.is_lost && peer.command(&Command::Begin(share));
            peer.share = peer.at_work.then(|| GeneratorShare {
                name: peer.name.clone(),
                first_worker: workers_before,
                workers: own_workers,
                clock_error_ns: None,
                lost_ns: None,
            });
            peer.heard = own.begins;
            workers_before += own_workers;
        }
    }

    /// What each makes of the step that is on, or was last, as far as that is known; empty where the coordinator takes part.
    pub(crate) fn shares(&self) -> Vec<GeneratorShare> {
        let shares = self.peers.iter().filter_map(|peer| peer.share.clone());
        if self.coordinator_takes_part { Vec::new() } else { shares.collect() }
    }

    /// True if something new of the shares is known since the last call.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Everything that was taken in is safe here.
    pub(crate) fn kept(&mut self) {
        for peer in self.peers.iter_mut().filter(|peer| !peer.is_lost) {
            peer.commands.kept(peer.taken);
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
        let peer = &mut self.peers[index];
        if matches!(received, Ok(Some(_))) {
            (peer.taken, peer.heard) = (peer.taken + 1, RealClock.now());
        }
        match received {
            Ok(Some(Message::Frame(frame))) => Some(PeerEvent::Frame(frame)),
            Ok(Some(Message::Began { late_ns, clock_error_ns })) => {
                if let Some(share) = &mut peer.share {
                    share.clock_error_ns = clock_error_ns;
                    self.has_news = true;
                }
                let late = late_ns > MAX_APART.as_nanos() as u64;
                let text = || format!("{} began {:.0} ms after the others", peer.name, late_ns as f64 / 1e6);
                late.then(|| PeerEvent::Late(text()))
            }
            Ok(Some(Message::Ended { fault })) => {
                peer.at_work = false;
                fault.map(|fault| PeerEvent::Fault(format!("{} {fault}", peer.name)))
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
        let known = peer.is_lost;
        if let Some(share) = peer.share.as_mut().filter(|_| peer.at_work) {
            share.lost_ns = Some(peer.heard.nanos_since(self.origin));
        }
        (peer.is_lost, peer.at_work) = (true, false);
        if self.on_loss != OnLoss::Continue {
            peer.workers = 0;
        }
        let text = format!("{} {how}", peer.name);
        match self.on_loss {
            _ if known => None,
            OnLoss::Stop => Some(PeerEvent::Stop(text)),
            OnLoss::Continue | OnLoss::Redistribute => Some(PeerEvent::Fault(text)),
        }
    }
}

/// Of `whole` things the part of `own` workers, of which there are `workers_before` before them and `all` together.
fn part(whole: u64, workers_before: u32, own: u32, all: u32) -> u64 {
    let up_to = |workers: u32| whole * u64::from(workers) / u64::from(all.max(1));
    up_to(workers_before + own) - up_to(workers_before)
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
