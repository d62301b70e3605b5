//! The running load of one step, and the loop that measures it.

use std::time::Duration;

use plimsoll_engine::{EngineError, FirstConnection, RunningStep, StepEvent, StepSpec};
use plimsoll_record::{Frame, GeneratorShare};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::context::{RunContext, StepPlan};
use crate::peers::{Command, PeerEvent, PeerGroup, Peers, StepShare};

/// A peer ends at the latest this long after the time-outs of its last requests.
const PEERS_END_WITHIN: Duration = Duration::from_secs(5);
/// Peers that do not end within this time after an abandon command are given up.
const PEERS_GIVEN_UP: Duration = Duration::from_secs(30);
/// Connected peers that send nothing for this long after the end of a load, for example because a broker accepts nothing, are
/// given up.
const PEERS_SILENT: Duration = Duration::from_secs(120);

/// Workers of all processes together deliver at most one frame per this time, because the coordinator handles all frames; the
/// interval of a frame is lengthened for that, up to [`FRAME_MAX`].
const FRAME_TIME: Duration = Duration::from_micros(300);
const FRAME_MAX: Duration = Duration::from_secs(1);

/// This process's part of a load.
#[derive(Debug)]
enum Own {
    /// The share of this process's workers.
    Workers(Box<RunningStep>),
    /// No load: this process only coordinates.
    Nothing(Box<Coordinated>),
}

/// A load that only other processes make.
#[derive(Debug)]
struct Coordinated {
    began: Instant,
    ends: Instant,
    /// How long after the load's end all peers must have ended.
    drain: Duration,
    /// Always the default, because this process opens no connection.
    first: FirstConnection,
}

impl Coordinated {
    fn end(&mut self) {
        self.ends = self.ends.min(RealClock.now());
    }
}

/// The running load of a step, made by this process, its peers, or both. Dropping it ends the load here.
#[derive(Debug)]
pub(crate) struct Load {
    own: Own,
    peers: Option<PeerGroup>,
    /// The number of workers of all processes that take part.
    pub(crate) workers: u32,
    own_ended: bool,
    /// Faults of peers that are not yet reported.
    faults: Vec<String>,
    /// Late starts of peers that are not yet reported.
    late: Vec<String>,
    /// When the wait for requests under way was abandoned.
    abandoned_at: Option<Instant>,
    /// True if a peer was lost and its loss ends the run.
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

    /// A load that only peers make.
    fn of_peers(context: &RunContext, share: &StepShare) -> Self {
        let times = (share.begins, share.begins + share.step.limit);
        Self::of_nothing(times, context.plan.generator.timeout, share.shares.workers())
    }

    /// A load that peers are already making, with known start and end.
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

    /// Starts the workers of this process, without peers.
    pub(crate) fn alone(order: &StepSpec) -> Result<Self, EngineError> {
        let running = RunningStep::start(order)?;
        Ok(Self::new(Own::Workers(Box::new(running)), order.workers))
    }

    /// The peers, for the next load.
    pub(crate) fn into_peers(self) -> Option<PeerGroup> {
        self.peers
    }

    /// The outcome of this process's first connection, as far as it is known.
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

    /// The shares of several generators.
    pub(crate) fn shares(&self) -> Vec<GeneratorShare> {
        self.peers.as_ref().map(|group| group.peers.shares()).unwrap_or_default()
    }

    /// The shares, if they changed since the last call.
    pub(crate) fn news_of_shares(&mut self) -> Option<Vec<GeneratorShare>> {
        let group = self.peers.as_mut()?;
        group.peers.take_news().then(|| group.peers.shares())
    }

    /// Confirms to peers that everything received so far is in the run file.
    pub(crate) fn kept(&mut self) {
        if let Some(group) = &mut self.peers {
            group.peers.kept();
        }
    }

    /// True if a peer was lost and its loss ends the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Faults and late starts of peers since the last call.
    pub(crate) fn troubles_of_peers(&mut self) -> Vec<String> {
        self.late.drain(..).chain(self.faults.drain(..)).collect()
    }

    /// Faults since the last call, and late starts of peers.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        let mut troubles = self.troubles_of_peers();
        troubles.extend(self.ended_by());
        troubles
    }

    /// Faults since the last call. Faults of this process are known once its workers have ended.
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

    /// Ends the load without waiting for requests under way.
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

    /// The latest end of this process's workers or, if it has none, of all workers.
    pub(crate) fn workers_end(&self) -> Instant {
        match &self.own {
            Own::Workers(running) => running.drain_ends(),
            Own::Nothing(load) => load.ends + load.drain,
        }
    }

    /// Stops waiting for this process's workers that do not end; returns their indices.
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

    /// The next event of any process, waiting for about this long at most.
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

    /// A frame of a peer, waiting at most this long. Other events of peers are noted.
    fn next_of_peers(&mut self, patience: Duration) -> Option<Box<Frame>> {
        let event = self.peers.as_mut()?.next(patience)?;
        self.note(event)
    }

    /// Marks peers as lost whose end does not arrive, for example because their broker is unavailable.
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

    /// Notes an event of a peer; returns its frame if it is one.
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

/// The longest interval of one frame with this many workers, each of which delivers one frame for each request of the plan.
fn interval(asked: Duration, workers: u32, requests: usize) -> Duration {
    let requests = u32::try_from(requests).unwrap_or(u32::MAX).max(1);
    asked.max(FRAME_TIME.saturating_mul(workers.saturating_mul(requests)).min(FRAME_MAX))
}

/// The number of this process's workers that make load.
pub(crate) fn own_workers(context: &RunContext, peers: &Peers) -> u32 {
    if peers.coordinator_takes_part() { context.workers } else { 0 }
}

/// The number of workers of all processes that take part in a load of this many connections.
pub(crate) fn workers(context: &RunContext, peers: Option<&PeerGroup>, connections: u32) -> u32 {
    let all = peers.map_or(context.workers, |group| {
        let peers = &group.peers;
        own_workers(context, peers) + peers.workers()
    });
    all.min(connections)
}

/// Handles the frames of a load, and decides when it ends.
pub(crate) trait Policy {
    /// An error that stops the measurement.
    type Error: From<EngineError>;

    /// The longest wait for a frame between two checks of signals and deadlines.
    const WAIT: Duration = Duration::from_millis(50);

    fn frame(&mut self, load: &mut Load, frame: Box<Frame>, now: Instant) -> Result<(), Self::Error>;

    /// Checks signals and deadlines, after each frame and after each wait without one.
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
