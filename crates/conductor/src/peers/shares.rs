//! The coordinator's state about the other generators of its run: their shares, the messages received, and lost peers.
//!
//! It does no I/O and reads no clock.

use std::io;
use std::time::Duration;

use plimsoll_plan::Shares;
use plimsoll_record::{Frame, GeneratorShare};
use plimsoll_units::Instant;
use serde::{Deserialize, Serialize};

use super::channel::SendTo;
use super::error::PeerError;
use super::protocol::{Command, Message, StepShare};
use crate::context::StepPlan;

/// Generators whose starts differ by more than this do not make one load.
const MAX_APART: Duration = Duration::from_millis(10);

/// The action when a run loses one of its generators. Except with `Stop`, the current step goes on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// The run ends.
    Stop,
    /// Later steps run without the lost share, so the target gets less load.
    Continue,
    /// Later steps are divided among the remaining generators.
    #[default]
    Redistribute,
}

#[derive(Debug)]
struct Peer {
    /// The name in messages.
    name: String,
    commands: Box<dyn SendTo<Command>>,
    /// False once a command could not be sent; the peer's reader then reports the end of the channel.
    reachable: bool,
    workers: u32,
    /// The most requests per second that one of the workers can make; `None` if unknown.
    ceiling_per_sec: Option<u64>,
    /// True if the peer was ready, and is gone.
    is_lost: bool,
    /// The most workers, with their ceiling, that the peer had in a step of a former coordinator.
    former: Option<(u32, Option<u64>)>,
    /// True while the peer makes a share of the current step.
    at_work: bool,
    /// The peer's share of the current or last step.
    share: Option<GeneratorShare>,
    /// The number of messages received from the peer.
    taken: u64,
    /// When the last message was received.
    heard: Instant,
}

/// An event of a peer that the coordinator must handle.
#[derive(Debug)]
pub enum PeerEvent {
    Frame(Box<Frame>),
    Fault(String),
    Late(String),
    /// The run must end: a generator was lost under [`OnLoss::Stop`], or none is left.
    Stop(String),
}

/// The other generators of a run. Dropping this closes their channels, which ends them.
#[derive(Debug)]
pub struct Peers {
    peers: Vec<Peer>,
    /// True if the coordinator makes a share of the load itself.
    coordinator_takes_part: bool,
    on_loss: OnLoss,
    /// The origin of all times of the run, as of the last step.
    origin: Instant,
    /// The index of the current or last step.
    step: Option<u32>,
    /// True if the shares changed since the last [`Self::take_news`].
    has_news: bool,
    /// The number with which peers of a former coordinator confirm that they stand by; `None` if there was none.
    asked: Option<u64>,
}

impl Peers {
    /// Creates an empty set of peers. All times of the run count from `origin` until a step sets another origin.
    pub fn new(coordinator_takes_part: bool, origin: Instant) -> Self {
        Self {
            peers: Vec::new(),
            coordinator_takes_part,
            on_loss: OnLoss::default(),
            origin,
            step: None,
            has_news: false,
            asked: None,
        }
    }

    /// Takes over from a dead coordinator: `under_way` are the shares that peers are making of the step with the given index,
    /// `former` the shares of all its steps.
    pub fn resume(&mut self, (step, under_way): (Option<u32>, &[GeneratorShare]), former: &[GeneratorShare]) {
        self.step = step;
        for peer in &mut self.peers {
            let most =
                former.iter().filter(|share| share.name == peer.name).max_by_key(|share| share.workers);
            peer.former = most.map(|share| (share.workers, share.ceiling_per_sec));
            peer.share = under_way.iter().find(|share| share.name == peer.name).cloned();
            peer.at_work = peer.share.as_ref().is_some_and(|share| share.workers > 0);
        }
    }

    /// Asks the peers of a former coordinator to make further steps after the current one. A step that is not recorded ends,
    /// because nothing of it can be kept.
    pub fn stand_by(&mut self, asked: u64) {
        self.asked = Some(asked);
        for peer in &mut self.peers {
            if !peer.at_work {
                peer.command(&Command::Abandon);
            }
            peer.command(&Command::StandBy { asked });
        }
    }

    /// True if each peer of a former coordinator has either confirmed that it makes further steps or is lost.
    pub fn are_decided(&self) -> bool {
        !self.peers.iter().any(Peer::is_undecided)
    }

    /// Adds a peer that has arrived; `commands` sends to it. Without a name, the peer is named by its number.
    pub fn add(&mut self, name: Option<String>, commands: Box<dyn SendTo<Command>>, now: Instant) {
        self.peers.push(Peer {
            // Peers are numbered from 2, because the coordinator is generator 1.
            name: name.unwrap_or_else(|| format!("generator {}", self.peers.len() + 2)),
            commands,
            reachable: true,
            workers: 0,
            ceiling_per_sec: None,
            is_lost: false,
            former: None,
            at_work: false,
            share: None,
            taken: 0,
            heard: now,
        });
    }

    /// The number of peers that have arrived.
    pub(crate) fn count(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn coordinator_takes_part(&self) -> bool {
        self.coordinator_takes_part
    }

    /// Sets the action when a peer is lost.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        self.on_loss = on_loss;
    }

    /// The names of peers that have not sent any message yet.
    pub(crate) fn silent(&self) -> Vec<String> {
        self.peers.iter().filter(|peer| peer.taken == 0).map(|peer| peer.name.clone()).collect()
    }

    /// Processes the first message of a peer, which must be [`Message::Ready`].
    ///
    /// # Errors
    /// When the peer cannot begin, or has another version.
    pub fn introduce(
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
            Ok(Some(Message::Ready { workers, ceiling_per_sec, .. })) => {
                (peer.workers, peer.ceiling_per_sec, peer.taken) = (workers, ceiling_per_sec, 1);
                return Ok(());
            }
            Ok(Some(Message::Failed { why })) => why,
            Ok(Some(_)) => "it reports something else than that it is ready".to_owned(),
            Ok(None) => "it ended; what it says stands above".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(PeerError::Failed { name, why })
    }

    /// True if at least one peer can make a share of further steps.
    pub fn are_left(&self) -> bool {
        self.peers.iter().any(|peer| peer.workers > 0 && !peer.is_lost)
    }

    /// The number of workers of all peers.
    pub fn workers(&self) -> u32 {
        self.peers.iter().map(|peer| peer.workers).sum()
    }

    /// For each peer, the number of workers before it and its own, in a load of `workers` workers of which the first `own` are the
    /// coordinator's.
    fn divided(&self, own: u32, workers: u32) -> impl Iterator<Item = (&Peer, u32, u32)> {
        self.peers.iter().scan(own, move |before, peer| {
            let (first, count) = (*before, peer.workers.min(workers.saturating_sub(*before)));
            *before += count;
            Some((peer, first, count))
        })
    }

    /// The shares of `workers` workers, of which the first `own` are the coordinator's; peers are weighted by their ceilings.
    pub fn divide(&self, own: u32, workers: u32) -> Shares {
        let of_peers = self.divided(own, workers).map(|(peer, _, workers)| (workers, peer.ceiling_per_sec));
        Shares::by_ceiling(&std::iter::once((own, None)).chain(of_peers).collect::<Vec<_>>())
    }

    /// The most requests per second that `workers` workers of peers can make together; `None` unless the ceilings of all of them
    /// are known.
    pub(crate) fn ceiling_per_sec(&self, workers: u32) -> Option<u64> {
        let at_work = self.divided(0, workers).filter(|(.., workers)| *workers > 0);
        at_work.map(|(peer, _, workers)| Some(peer.ceiling_per_sec? * u64::from(workers))).sum()
    }

    /// The names of peers that get no load from `workers` workers, of which the first `own` are the coordinator's.
    pub(crate) fn idle(&self, own: u32, workers: u32) -> Vec<&str> {
        let idle = self.divided(own, workers).filter(|(.., workers)| *workers == 0);
        idle.map(|(peer, ..)| peer.name.as_str()).collect()
    }

    /// Sends each peer its share of a step, after the coordinator's share `own`. Workers are numbered from the coordinator's on;
    /// a step may have fewer workers than all peers have. The coordinator counts a limit of requests; if it makes no load, each
    /// peer counts its part.
    pub fn begin(&mut self, own: &StepShare) {
        (self.origin, self.step) = (own.origin, Some(own.step.index));
        let before = own.workers_before + own.own_workers;
        let divided: Vec<(u32, u32)> = self
            .divided(before, own.shares.workers())
            .map(|(_, workers_before, own_workers)| (workers_before, own_workers))
            .collect();
        for (peer, (workers_before, own_workers)) in self.peers.iter_mut().zip(divided) {
            let requests_max = match self.coordinator_takes_part {
                true => None,
                false => {
                    let part = |most| own.shares.requests(workers_before, own_workers, most);
                    own.step.requests_max.map(part)
                }
            };
            let step = StepPlan { requests_max, ..own.step.clone() };
            let share = StepShare { step, workers_before, own_workers, ..own.clone() };
            peer.at_work = own_workers > 0 && !peer.is_lost && peer.command(&Command::Begin(share));
            let is_idle = own_workers == 0 && !peer.is_lost;
            peer.share = (peer.at_work || is_idle).then(|| GeneratorShare {
                name: peer.name.clone(),
                first_worker: workers_before,
                workers: own_workers,
                ceiling_per_sec: peer.ceiling_per_sec,
                part_ppm: Some((own.shares.ratio(workers_before, own_workers) * 1e6).round() as u32),
                clock_error_ns: None,
                wall: None,
                lost_ns: None,
            });
            peer.heard = own.begins;
        }
    }

    /// Marks peers as lost that have not confirmed that they stand by.
    pub fn give_up_undecided(&mut self) -> Vec<PeerEvent> {
        self.lose_all(Peer::is_undecided, "did not get ready for further steps")
    }

    /// Marks peers as lost that have not ended their share.
    pub fn give_up_at_work(&mut self) -> Vec<PeerEvent> {
        let how = "did not end its load when it was asked to; what it measured last is not counted";
        self.lose_all(|peer| peer.at_work, how)
    }

    /// Marks peers as lost that have not ended their share and have sent nothing since this instant.
    pub fn give_up_silent(&mut self, since: Instant) -> Vec<PeerEvent> {
        let how = "lives, but what it measured last did not arrive and is not counted";
        self.lose_all(|peer| peer.at_work && peer.heard < since, how)
    }

    /// The known share of each peer in the current or last step, including peers without a worker in it; empty if the coordinator
    /// takes part.
    pub fn shares(&self) -> Vec<GeneratorShare> {
        let shares = self.peers.iter().filter_map(|peer| peer.share.clone());
        if self.coordinator_takes_part { Vec::new() } else { shares.collect() }
    }

    /// True if the shares changed since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Confirms that everything received so far is stored safely, including the data of lost peers.
    pub fn kept(&mut self) {
        for peer in &mut self.peers {
            peer.commands.kept(peer.taken);
        }
    }

    /// Sends a command to all peers that are making a share.
    pub fn command_all(&mut self, command: &Command) {
        for peer in self.peers.iter_mut().filter(|peer| peer.at_work) {
            peer.command(command);
        }
    }

    /// True if at least one peer is still making its share.
    pub fn at_work(&self) -> bool {
        self.peers.iter().any(|peer| peer.at_work)
    }

    /// Processes a message from the peer with this index; `None` once it has closed its channel. No message follows `None` or an
    /// error.
    pub fn take_in(
        &mut self,
        index: usize,
        received: io::Result<Option<Message>>,
        now: Instant,
    ) -> Option<PeerEvent> {
        let peer = &mut self.peers[index];
        if matches!(received, Ok(Some(_))) {
            (peer.taken, peer.heard) = (peer.taken + 1, now);
        }
        match received {
            Ok(Some(Message::Frame(frame))) => Some(PeerEvent::Frame(frame)),
            Ok(Some(Message::Began { late_ns, clock_error_ns, wall })) => {
                if let Some(share) = &mut peer.share {
                    (share.clock_error_ns, share.wall) = (clock_error_ns, wall);
                    self.has_news = true;
                }
                let late = late_ns > MAX_APART.as_nanos() as u64;
                let text = || format!("{} began {:.0} ms after the others", peer.name, late_ns as f64 / 1e6);
                late.then(|| PeerEvent::Late(text()))
            }
            Ok(Some(Message::Ended { step, fault })) => {
                let is_earlier = step.is_some() && step != self.step;
                peer.at_work &= is_earlier;
                fault.map(|fault| PeerEvent::Fault(format!("{} {fault}", peer.name)))
            }
            Ok(Some(Message::StandsBy { asked, workers, ceiling_per_sec })) => {
                // A peer that answers too late is already lost, and its share is settled.
                if self.asked == Some(asked) && !peer.is_lost {
                    (peer.workers, peer.ceiling_per_sec) = (workers, ceiling_per_sec);
                }
                None
            }
            // The peer failed for a former coordinator. Its answer to this one decides whether it takes part in further steps.
            Ok(Some(Message::Failed { why })) if self.asked.is_some() && peer.is_undecided() => {
                peer.at_work = false;
                Some(PeerEvent::Fault(format!("{} failed: {why}", peer.name)))
            }
            Ok(Some(Message::Failed { why })) => self.lose(index, &format!("failed: {why}")),
            // Another message that does not concern the step.
            Ok(Some(_)) => None,
            Ok(None) => self.lose(index, "is gone; what it measured last is not counted"),
            Err(error) => {
                self.lose(index, &format!("is gone ({error}); what it measured last is not counted"))
            }
        }
    }

    fn lose_all(&mut self, is_lost: impl Fn(&Peer) -> bool, how: &str) -> Vec<PeerEvent> {
        let lost: Vec<usize> = (0..self.peers.len()).filter(|index| is_lost(&self.peers[*index])).collect();
        lost.into_iter().filter_map(|index| self.lose(index, how)).collect()
    }

    /// Marks a peer as lost: it takes part in no further step.
    fn lose(&mut self, index: usize, how: &str) -> Option<PeerEvent> {
        let peer = &mut self.peers[index];
        let known = peer.is_lost;
        if let Some(share) = peer.share.as_mut().filter(|_| peer.at_work) {
            share.lost_ns = Some(peer.heard.nanos_since(self.origin));
        }
        (peer.is_lost, peer.at_work) = (true, false);
        match peer.former {
            _ if self.on_loss != OnLoss::Continue => peer.workers = 0,
            // The peer was lost before it reported its workers.
            Some(former) if peer.workers == 0 => (peer.workers, peer.ceiling_per_sec) = former,
            _ => {}
        }
        let text = format!("{} {how}", peer.name);
        let is_alone = !self.coordinator_takes_part && self.peers.iter().all(|peer| peer.is_lost);
        match self.on_loss {
            _ if known => None,
            _ if is_alone => Some(PeerEvent::Stop(format!("{text}; none is left"))),
            OnLoss::Stop => Some(PeerEvent::Stop(text)),
            OnLoss::Continue | OnLoss::Redistribute => Some(PeerEvent::Fault(text)),
        }
    }
}

impl Peer {
    /// True if a former coordinator had this peer, and it has not confirmed yet that it stands by.
    fn is_undecided(&self) -> bool {
        self.workers == 0 && !self.is_lost
    }

    /// Sends a command; false if the peer is gone.
    fn command(&mut self, command: &Command) -> bool {
        self.reachable = self.reachable && self.commands.send(command).is_ok();
        self.reachable
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            peer.commands.close();
        }
    }
}
