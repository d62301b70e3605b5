//! What a coordinator knows of the other generators of its run: their shares, what it has of each, and which are gone.
//!
//! It does no I/O and asks no clock.

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

/// Generators that begin further apart than this do not make one load.
const MAX_APART: Duration = Duration::from_millis(10);

/// What becomes of a run that loses one of its generators. The step that is on goes on without it in any case but the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The most requests per second that one of them can make, as far as that is known.
    ceiling_per_sec: Option<u64>,
    /// It was ready, and is gone.
    is_lost: bool,
    /// The most workers, with their ceiling, that it had in a step of a former coordinator.
    former: Option<(u32, Option<u64>)>,
    /// It makes a share of the step that is on.
    at_work: bool,
    /// What it makes of the step that is on, or was last.
    share: Option<GeneratorShare>,
    /// How many of its messages were taken in.
    taken: u64,
    /// When the last of them was.
    heard: Instant,
}

/// Something that the coordinator has to know of a peer's share.
#[derive(Debug)]
pub enum PeerEvent {
    Frame(Box<Frame>),
    Fault(String),
    Late(String),
    /// The run is to end: a generator was lost under [`OnLoss::Stop`], or none is left.
    Stop(String),
}

/// The other generators of a run. They end when it is dropped.
#[derive(Debug)]
pub struct Peers {
    peers: Vec<Peer>,
    /// The coordinator makes a share of the load itself.
    coordinator_takes_part: bool,
    on_loss: OnLoss,
    /// The instant from which all times of the run count, as of the last step.
    origin: Instant,
    /// The index of the step that is on, or was last.
    step: Option<u32>,
    /// Something new of the shares is known.
    has_news: bool,
    /// The number by which peers of a former coordinator say that they stand by; `None` if there was none.
    asked: Option<u64>,
}

impl Peers {
    /// No peers yet, of a coordinator that makes a share of the load itself or none. All times of the run count from `origin`
    /// until a step has another one.
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

    /// Goes on for a coordinator that is gone: `under_way` are the shares that these make already, of the step of this index, `former`
    /// those of all its steps.
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

    /// Asks the peers of a former coordinator to make further steps once the one that is on is over. Of a step that is not
    /// recorded nothing can be kept: it ends.
    pub fn stand_by(&mut self, asked: u64) {
        self.asked = Some(asked);
        for peer in &mut self.peers {
            if !peer.at_work {
                peer.command(&Command::Abandon);
            }
            peer.command(&Command::StandBy { asked });
        }
    }

    /// True if it is known of all peers of a former coordinator whether they make further steps.
    pub fn are_decided(&self) -> bool {
        !self.peers.iter().any(Peer::is_undecided)
    }

    /// Takes in one that has arrived and gets its commands so. Without a name it is called by its number.
    pub fn add(&mut self, name: Option<String>, commands: Box<dyn SendTo<Command>>, now: Instant) {
        self.peers.push(Peer {
            // The coordinator is the first.
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

    /// How many have arrived.
    pub(crate) fn count(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn coordinator_takes_part(&self) -> bool {
        self.coordinator_takes_part
    }

    /// Decides what becomes of the run if a peer is lost.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        self.on_loss = on_loss;
    }

    /// The names of those that have not said anything yet.
    pub(crate) fn silent(&self) -> Vec<String> {
        self.peers.iter().filter(|peer| peer.taken == 0).map(|peer| peer.name.clone()).collect()
    }

    /// Takes in the first that came of a peer: that it is ready.
    ///
    /// # Errors
    /// When it cannot begin, or is another version.
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

    /// True if one of them can make a share of further steps.
    pub fn are_left(&self) -> bool {
        self.peers.iter().any(|peer| peer.workers > 0 && !peer.is_lost)
    }

    /// The workers of all of them.
    pub fn workers(&self) -> u32 {
        self.peers.iter().map(|peer| peer.workers).sum()
    }

    /// Each with the workers before it and its own, of a load of so many workers, of which the first `own` are the
    /// coordinator's.
    fn divided(&self, own: u32, workers: u32) -> impl Iterator<Item = (&Peer, u32, u32)> {
        self.peers.iter().scan(own, move |before, peer| {
            let (first, count) = (*before, peer.workers.min(workers.saturating_sub(*before)));
            *before += count;
            Some((peer, first, count))
        })
    }

    /// How so many workers share a load, of which the first `own` are the coordinator's: those of each peer by its ceiling.
    pub fn divide(&self, own: u32, workers: u32) -> Shares {
        let of_peers = self.divided(own, workers).map(|(peer, _, workers)| (workers, peer.ceiling_per_sec));
        Shares::by_ceiling(&std::iter::once((own, None)).chain(of_peers).collect::<Vec<_>>())
    }

    /// The most requests per second that so many workers can make together, none of which is the coordinator's; `None` unless that is
    /// known of all of them.
    pub(crate) fn ceiling_per_sec(&self, workers: u32) -> Option<u64> {
        let at_work = self.divided(0, workers).filter(|(.., workers)| *workers > 0);
        at_work.map(|(peer, _, workers)| Some(peer.ceiling_per_sec? * u64::from(workers))).sum()
    }

    /// The names of those that make nothing of a load of so many workers, of which the first `own` are the coordinator's.
    pub(crate) fn idle(&self, own: u32, workers: u32) -> Vec<&str> {
        let idle = self.divided(own, workers).filter(|(.., workers)| *workers == 0);
        idle.map(|(peer, ..)| peer.name.as_str()).collect()
    }

    /// Gives each its share of a step, of which `own` is the coordinator's. Workers are numbered from the coordinator's
    /// on; there may be fewer workers than all peers have. A limit of requests is the coordinator's to count; where it makes no
    /// load, each peer counts its part.
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

    /// Those that did not say that they stand by are not waited for any more, and are lost.
    pub fn give_up_undecided(&mut self) -> Vec<PeerEvent> {
        self.lose_all(Peer::is_undecided, "did not get ready for further steps")
    }

    /// Those that have not ended their share are not waited for any more, and are lost.
    pub fn give_up_at_work(&mut self) -> Vec<PeerEvent> {
        let how = "did not end its load when it was asked to; what it measured last is not counted";
        self.lose_all(|peer| peer.at_work, how)
    }

    /// Those of which nothing has come since this instant, and that have not ended their share, are lost.
    pub fn give_up_silent(&mut self, since: Instant) -> Vec<PeerEvent> {
        let how = "lives, but what it measured last did not arrive and is not counted";
        self.lose_all(|peer| peer.at_work && peer.heard < since, how)
    }

    /// What each makes of the step that is on, or was last, as far as that is known, also those without a worker in it; empty where
    /// the coordinator takes part.
    pub fn shares(&self) -> Vec<GeneratorShare> {
        let shares = self.peers.iter().filter_map(|peer| peer.share.clone());
        if self.coordinator_takes_part { Vec::new() } else { shares.collect() }
    }

    /// True if something new of the shares is known since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Everything that was taken in is safe here, also of those that are lost.
    pub fn kept(&mut self) {
        for peer in &mut self.peers {
            peer.commands.kept(peer.taken);
        }
    }

    /// Sends a command to all that are at work.
    pub fn command_all(&mut self, command: &Command) {
        for peer in self.peers.iter_mut().filter(|peer| peer.at_work) {
            peer.command(command);
        }
    }

    /// True if one of them still makes its share.
    pub fn at_work(&self) -> bool {
        self.peers.iter().any(|peer| peer.at_work)
    }

    /// Takes in what came from the peer of this index; `None` once it has closed its channel. Nothing comes after that or an
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
                // One that answers too late is lost, and what it had is decided.
                if self.asked == Some(asked) && !peer.is_lost {
                    (peer.workers, peer.ceiling_per_sec) = (workers, ceiling_per_sec);
                }
                None
            }
            // It failed for a former coordinator. What it answers to this one says whether it takes part in further steps.
            Ok(Some(Message::Failed { why })) if self.asked.is_some() && peer.is_undecided() => {
                peer.at_work = false;
                Some(PeerEvent::Fault(format!("{} failed: {why}", peer.name)))
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

    fn lose_all(&mut self, is_lost: impl Fn(&Peer) -> bool, how: &str) -> Vec<PeerEvent> {
        let lost: Vec<usize> = (0..self.peers.len()).filter(|index| is_lost(&self.peers[*index])).collect();
        lost.into_iter().filter_map(|index| self.lose(index, how)).collect()
    }

    /// A peer that is gone takes part in no further step.
    fn lose(&mut self, index: usize, how: &str) -> Option<PeerEvent> {
        let peer = &mut self.peers[index];
        let known = peer.is_lost;
        if let Some(share) = peer.share.as_mut().filter(|_| peer.at_work) {
            share.lost_ns = Some(peer.heard.nanos_since(self.origin));
        }
        (peer.is_lost, peer.at_work) = (true, false);
        match peer.former {
            _ if self.on_loss != OnLoss::Continue => peer.workers = 0,
            // It was gone before it said what it has.
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
    /// A former coordinator had it, and it has not said yet that it stands by.
    fn is_undecided(&self) -> bool {
        self.workers == 0 && !self.is_lost
    }

    /// False if the peer is gone.
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
