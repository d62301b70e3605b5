//! The load of one step while it is on, and the one loop that measures it.

use std::time::Duration;

use plimsoll_engine::{EngineError, FirstConnection, RunningStep, StepEvent, StepSpec};
use plimsoll_record::Frame;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::context::{RunContext, StepPlan};
use crate::peers::{Command, PeerEvent, PeerGroup, StepShare};

/// With peers the load begins this long after their command: they start their workers meanwhile.
const HEAD_START: Duration = Duration::from_millis(40);

/// The load of a step while it is on, by this process alone or together with its peers. Dropping it ends the load here.
#[derive(Debug)]
pub(crate) struct Load {
    running: RunningStep,
    peers: Option<PeerGroup>,
    /// Workers of all processes that take part.
    pub(crate) workers: u32,
    own_ended: bool,
    /// Faults of peers that were not reported yet.
    faults: Vec<String>,
    /// Late begins of peers that were not reported yet.
    late: Vec<String>,
}

impl Load {
    /// Starts the workers of this process and of all peers.
    pub(crate) fn start(
        context: &RunContext,
        peers: Option<PeerGroup>,
        spec: &StepPlan,
        now: Instant,
    ) -> Result<Self, EngineError> {
        let all = context.workers + peers.as_ref().map_or(0, PeerGroup::workers);
        let workers = all.min(spec.connections());
        let own = context.workers.min(workers);
        let Some(mut peers) = peers else { return Self::alone(&context.order(spec, own, None)) };
        let share = StepShare {
            step: spec.clone(),
            workers_before: 0,
            own_workers: own,
            workers,
            begins: now + HEAD_START,
            origin: context.origin,
        };
        peers.begin(&share);
        let load = Self::share(context, &share)?;
        Ok(Self { peers: Some(peers), ..load })
    }

    /// Starts the workers of this process for their share of a step.
    pub(crate) fn share(context: &RunContext, share: &StepShare) -> Result<Self, EngineError> {
        let StepShare { workers_before, own_workers, workers, begins, .. } = *share;
        let group = plimsoll_engine::PeerGroup { workers_before, workers, begins };
        let load = Self::alone(&context.order(&share.step, own_workers, Some(group)))?;
        Ok(Self { workers, ..load })
    }

    /// Starts the workers of this process, which has no peers.
    pub(crate) fn alone(order: &StepSpec) -> Result<Self, EngineError> {
        let (faults, late) = (Vec::new(), Vec::new());
        let running = RunningStep::start(order)?;
        Ok(Self { running, peers: None, workers: order.workers, own_ended: false, faults, late })
    }

    /// The peers, for the next load.
    pub(crate) fn into_peers(self) -> Option<PeerGroup> {
        self.peers
    }

    /// How the first connection of this process went, as far as that is known.
    pub(crate) fn first_connection(&self) -> &FirstConnection {
        self.running.first_connection()
    }

    pub(crate) fn began(&self) -> Instant {
        self.running.began()
    }

    /// The instant at which the load ends, or ended.
    pub(crate) fn ends(&self) -> Instant {
        self.running.load_ends()
    }

    /// What went wrong since the last call, and which peers began late.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        let late: Vec<String> = self.late.drain(..).collect();
        late.into_iter().chain(self.faults()).collect()
    }

    /// What went wrong since the last call. That of this process is known once its workers have ended.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        let own = self.own_ended.then(|| self.running.fault().map(ToString::to_string)).flatten();
        self.faults.drain(..).chain(own).collect()
    }

    /// Ends the load; requests under way are still waited for.
    pub(crate) fn end(&mut self) {
        self.running.end_load();
        self.command_peers(&Command::EndLoad);
    }

    /// Ends the load and waits for nothing.
    pub(crate) fn abandon(&mut self) {
        self.running.abandon();
        self.command_peers(&Command::Abandon);
    }

    /// The instant at which the workers of this process end at the latest.
    pub(crate) fn workers_end(&self) -> Instant {
        self.running.drain_ends()
    }

    /// Leaves workers of this process that do not end to themselves; gives their numbers.
    pub(crate) fn leave(&mut self) -> Vec<u32> {
        self.command_peers(&Command::Abandon);
        self.running.leave()
    }

    fn command_peers(&mut self, command: &Command) {
        if let Some(peers) = &mut self.peers {
            peers.command_all(command);
        }
    }

    /// The next frame of any process, waited for about this long at most.
    fn next(&mut self, longest: Duration) -> Result<StepEvent, EngineError> {
        let patience = if self.own_ended { longest } else { Duration::ZERO };
        if let Some(frame) = self.next_of_peers(patience) {
            return Ok(StepEvent::Frame(frame));
        }
        if self.own_ended {
            let at_work = self.peers.as_ref().is_some_and(|peers| peers.at_work());
            return Ok(if at_work { StepEvent::Timeout } else { StepEvent::Ended });
        }
        let turn = self.running.next(longest)?;
        self.own_ended = matches!(turn, StepEvent::Ended);
        Ok(if self.own_ended && self.peers.is_some() { StepEvent::Timeout } else { turn })
    }

    /// A frame of a peer, waited for at most this long. What else peers report is noted.
    fn next_of_peers(&mut self, patience: Duration) -> Option<Box<Frame>> {
        match self.peers.as_mut()?.next(patience)? {
            PeerEvent::Frame(frame) => return Some(frame),
            PeerEvent::Fault(text) => self.faults.push(text),
            PeerEvent::Late(text) => self.late.push(text),
        }
        None
    }
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
