//! The load of one step while it is on, and the one loop that measures it.

use std::time::Duration;

use plimsoll_engine::{EngineError, FirstConnection, RunningStep, StepEvent, StepSpec};
use plimsoll_record::{Frame, GeneratorShare};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::context::{RunContext, StepPlan};
use crate::peers::{Command, PeerEvent, PeerGroup, Peers, StepShare};

/// A peer has ended at the latest this long after the time-outs of its last requests.
const PEERS_END_WITHIN: Duration = Duration::from_secs(5);
/// Peers that do not end for so long after they were asked to wait for nothing are not waited for either.
const PEERS_GIVEN_UP: Duration = Duration::from_secs(30);
/// Peers that live, and of which nothing arrives for so long after the end of a load, as through a broker that takes nothing, are not
/// waited for either.
const PEERS_SILENT: Duration = Duration::from_secs(120);

/// The workers of all processes together hand over no more frames than one in this time, unless a frame would be longer than
/// [`FRAME_MAX`]: the coordinator takes in all of them.
const FRAME_TIME: Duration = Duration::from_micros(300);
const FRAME_MAX: Duration = Duration::from_secs(1);

/// What this process makes of a load.
#[derive(Debug)]
enum Own {
    /// The share of its workers.
    Workers(Box<RunningStep>),
    /// Nothing: it only coordinates.
    Nothing(Box<Coordinated>),
}

/// The load of a step that only other processes make.
#[derive(Debug)]
struct Coordinated {
    began: Instant,
    ends: Instant,
    /// How long after its end its peers have ended at the latest.
    drain: Duration,
    /// Which this process does not make.
    first: FirstConnection,
}

impl Coordinated {
    fn end(&mut self) {
        self.ends = self.ends.min(RealClock.now());
    }
}

/// The load of a step while it is on, by this process alone or together with its peers. Dropping it ends the load here.
#[derive(Debug)]
pub(crate) struct Load {
    own: Own,
    peers: Option<PeerGroup>,
    /// Workers of all processes that take part.
    pub(crate) workers: u32,
    own_ended: bool,
    /// Faults of peers that were not reported yet.
    faults: Vec<String>,
    /// Late begins of peers that were not reported yet.
    late: Vec<String>,
    /// Since when nothing is waited for.
    abandoned_at: Option<Instant>,
    /// A peer was lost whose loss ends the run.
    stopped: bool,
}

impl Load {
    /// Starts the workers of this process and of all peers.
    pub(crate) fn start(
        context: &RunContext,
        peers: Option<PeerGroup>,
        spec: &StepPlan,
        now: Instant,
    ) -> Result<Self, EngineError> {
        let Some(mut group) = peers else {
            return Self::alone(&context.order(spec, context.workers.min(spec.connections()), None));
        };
        let available = own_workers(context, &group.peers);
        let workers = workers(context, Some(&group), spec.connections());
        let share = StepShare {
            step: StepPlan {
                interval: interval(spec.interval, workers, context.plan.requests.len()),
                ..spec.clone()
            },
            workers_before: 0,
            own_workers: available.min(workers),
            shares: group.peers.divide(available.min(workers), workers),
            begins: now + group.head_start,
            origin: context.origin,
        };
        group.peers.begin(&share);
        let load = match available {
            0 => Self::of_peers(context, &share),
            _ => Self::share(context, &share)?,
        };
        Ok(Self { peers: Some(group), ..load })
    }

    /// A load of which this process makes nothing.
    fn of_peers(context: &RunContext, share: &StepShare) -> Self {
        let times = (share.begins, share.begins + share.step.limit);
        Self::of_nothing(times, context.plan.generator.timeout, share.shares.workers())
    }

    /// A load that others make already, whose begin and end are known.
    pub(crate) fn of_others(peers: PeerGroup, times: (Instant, Instant), timeout: Duration) -> Self {
        Self { peers: Some(peers), ..Self::of_nothing(times, timeout, 0) }
    }

    fn of_nothing((began, ends): (Instant, Instant), timeout: Duration, workers: u32) -> Self {
        let drain = timeout * 2 + PEERS_END_WITHIN;
        let own = Coordinated { began, ends, drain, first: FirstConnection::default() };
        Self { own_ended: true, ..Self::new(Own::Nothing(Box::new(own)), workers) }
    }

    fn new(own: Own, workers: u32) -> Self {
        let (faults, late) = (Vec::new(), Vec::new());
        Self { own, peers: None, workers, own_ended: false, faults, late, stopped: false, abandoned_at: None }
    }

    /// Starts the workers of this process for their share of a step.
    pub(crate) fn share(context: &RunContext, share: &StepShare) -> Result<Self, EngineError> {
        let StepShare { workers_before, own_workers, begins, .. } = *share;
        let group = plimsoll_engine::PeerGroup { workers_before, shares: share.shares.clone(), begins };
        let load = Self::alone(&context.order(&share.step, own_workers, Some(group)))?;
        Ok(Self { workers: share.shares.workers(), ..load })
    }

    /// Starts the workers of this process, which has no peers.
    pub(crate) fn alone(order: &StepSpec) -> Result<Self, EngineError> {
        let running = RunningStep::start(order)?;
        Ok(Self::new(Own::Workers(Box::new(running)), order.workers))
    }

    /// The peers, for the next load.
    pub(crate) fn into_peers(self) -> Option<PeerGroup> {
        self.peers
    }

    /// How the first connection of this process went, as far as that is known.
    pub(crate) fn first_connection(&self) -> &FirstConnection {
        match &self.own {
            Own::Workers(running) => running.first_connection(),
            Own::Nothing(load) => &load.first,
        }
    }

    pub(crate) fn began(&self) -> Instant {
        match &self.own {
            Own::Workers(running) => running.began(),
            Own::Nothing(load) => load.began,
        }
    }

    /// The instant at which the load ends, or ended.
    pub(crate) fn ends(&self) -> Instant {
        match &self.own {
            Own::Workers(running) => running.load_ends(),
            Own::Nothing(load) => load.ends,
        }
    }

    /// What each of several generators makes of the load.
    pub(crate) fn shares(&self) -> Vec<GeneratorShare> {
        self.peers.as_ref().map(|group| group.peers.shares()).unwrap_or_default()
    }

    /// The shares, if something new of them is known since the last call.
    pub(crate) fn news_of_shares(&mut self) -> Option<Vec<GeneratorShare>> {
        let group = self.peers.as_mut()?;
        group.peers.take_news().then(|| group.peers.shares())
    }

    /// Everything that peers have sent so far is in the run file.
    pub(crate) fn kept(&mut self) {
        if let Some(group) = &mut self.peers {
            group.peers.kept();
        }
    }

    /// True if a peer was lost whose loss ends the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// What went wrong with peers since the last call, and which of them began late.
    pub(crate) fn troubles_of_peers(&mut self) -> Vec<String> {
        self.late.drain(..).chain(self.faults.drain(..)).collect()
    }

    /// What went wrong since the last call, and which peers began late.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        let mut troubles = self.troubles_of_peers();
        troubles.extend(self.ended_by());
        troubles
    }

    /// What went wrong since the last call. That of this process is known once its workers have ended.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        let own = self.ended_by();
        self.faults.drain(..).chain(own).collect()
    }

    /// Why a worker of this process ended early, once all have ended.
    fn ended_by(&self) -> Option<String> {
        match &self.own {
            Own::Workers(running) if self.own_ended => running.fault().map(ToString::to_string),
            Own::Workers(_) | Own::Nothing(_) => None,
        }
    }

    /// Ends the load; requests under way are still waited for.
    pub(crate) fn end(&mut self) {
        match &mut self.own {
            Own::Workers(running) => running.end_load(),
            Own::Nothing(load) => load.end(),
        }
        self.command_peers(&Command::EndLoad);
    }

    /// Ends the load and waits for nothing.
    pub(crate) fn abandon(&mut self) {
        if self.abandoned_at.is_some() {
            return;
        }
        self.abandoned_at = Some(RealClock.now());
        match &mut self.own {
            Own::Workers(running) => running.abandon(),
            Own::Nothing(load) => {
                load.end();
                load.drain = PEERS_END_WITHIN;
            }
        }
        self.command_peers(&Command::Abandon);
    }

    /// The instant at which the workers of this process end at the latest, or where it has none those of all.
    pub(crate) fn workers_end(&self) -> Instant {
        match &self.own {
            Own::Workers(running) => running.drain_ends(),
            Own::Nothing(load) => load.ends + load.drain,
        }
    }

    /// Leaves workers of this process that do not end to themselves; gives their numbers.
    pub(crate) fn leave(&mut self) -> Vec<u32> {
        self.command_peers(&Command::Abandon);
        match &mut self.own {
            Own::Workers(running) => running.leave(),
            Own::Nothing(_) => Vec::new(),
        }
    }

    fn command_peers(&mut self, command: &Command) {
        if let Some(group) = &mut self.peers {
            group.peers.command_all(command);
        }
    }

    /// The next frame of any process, waited for about this long at most.
    fn next(&mut self, longest: Duration) -> Result<StepEvent, EngineError> {
        let patience = if self.own_ended { longest } else { Duration::ZERO };
        if let Some(frame) = self.next_of_peers(patience) {
            return Ok(StepEvent::Frame(frame));
        }
        if self.own_ended {
            self.give_up_peers();
            let at_work = self.peers.as_ref().is_some_and(|group| group.peers.at_work());
            return Ok(if at_work { StepEvent::Timeout } else { StepEvent::Ended });
        }
        let Own::Workers(running) = &mut self.own else { return Ok(StepEvent::Ended) };
        let turn = running.next(longest)?;
        self.own_ended = matches!(turn, StepEvent::Ended);
        Ok(if self.own_ended && self.peers.is_some() { StepEvent::Timeout } else { turn })
    }

    /// A frame of a peer, waited for at most this long. What else peers report is noted.
    fn next_of_peers(&mut self, patience: Duration) -> Option<Box<Frame>> {
        let event = self.peers.as_mut()?.next(patience)?;
        self.note(event)
    }

    /// Loses peers of which no end comes, as when their broker is away.
    fn give_up_peers(&mut self) {
        let now = RealClock.now();
        let is_longer_ago = |at: Instant, than: Duration| now.since(at) >= than;
        let is_over = is_longer_ago(self.workers_end(), PEERS_SILENT);
        let is_abandoned = self.abandoned_at.is_some_and(|at| is_longer_ago(at, PEERS_GIVEN_UP));
        let Some(group) = self.peers.as_mut().filter(|_| is_over || is_abandoned) else { return };
        let lost = match is_abandoned {
            true => group.peers.give_up_at_work(),
            false => group.peers.give_up_silent(now - PEERS_SILENT),
        };
        for event in lost {
            self.note(event);
        }
    }

    /// Notes what a peer reports; gives its frame if it is one.
    fn note(&mut self, event: PeerEvent) -> Option<Box<Frame>> {
        match event {
            PeerEvent::Frame(frame) => return Some(frame),
            PeerEvent::Fault(text) => self.faults.push(text),
            PeerEvent::Late(text) => self.late.push(text),
            PeerEvent::Stop(text) => {
                self.stopped = true;
                self.faults.push(text);
            }
        }
        None
    }
}

/// The longest interval of one frame where so many workers make the load, each of which hands over one frame for each request of the
/// plan.
fn interval(asked: Duration, workers: u32, requests: usize) -> Duration {
    let requests = u32::try_from(requests).unwrap_or(u32::MAX).max(1);
    asked.max(FRAME_TIME.saturating_mul(workers.saturating_mul(requests)).min(FRAME_MAX))
}

/// Workers of this process that make load.
pub(crate) fn own_workers(context: &RunContext, peers: &Peers) -> u32 {
    if peers.coordinator_takes_part() { context.workers } else { 0 }
}

/// Workers of all processes that take part in a load of so many connections.
pub(crate) fn workers(context: &RunContext, peers: Option<&PeerGroup>, connections: u32) -> u32 {
    let all = peers.map_or(context.workers, |group| {
        let peers = &group.peers;
        own_workers(context, peers) + peers.workers()
    });
    all.min(connections)
}

/// What a load is made for: what its frames mean, when it ends and how it ended.
pub(crate) trait Policy {
    /// Why the measuring breaks off.
    type Error: From<EngineError>;

    /// The longest wait for a frame between two looks at signals and deadlines.
    const WAIT: Duration = Duration::from_millis(50);

    fn frame(&mut self, load: &mut Load, frame: Box<Frame>, now: Instant) -> Result<(), Self::Error>;

    /// Looks at signals and deadlines, after each frame and after each wait without one.
    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), Self::Error>;
}

/// Measures a load until all of its workers have ended.
pub(crate) fn measure<P: Policy>(load: &mut Load, policy: &mut P) -> Result<(), P::Error> {
    loop {
        let turn = load.next(P::WAIT)?;
        let now = RealClock.now();
        match turn {
            StepEvent::Frame(frame) => policy.frame(load, frame, now)?,
            StepEvent::Timeout => {}
            StepEvent::Ended => return Ok(()),
        }
        policy.turn(load, now)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_workers_hand_over_longer_frames() {
        let asked = Duration::from_millis(150);
        let of = |(workers, requests)| interval(asked, workers, requests).as_millis();
        assert_eq!([(1, 1), (500, 1), (1000, 1), (500, 3), (16_000, 1)].map(of), [150, 150, 300, 450, 1000]);
    }
}
