//! The load of one step, by this process alone or together with others.

use std::cell::RefCell;
use std::time::Duration;

use plimsoll_engine::{EngineError, PeerGroup, RunningStep, StepEvent, StepSpec, TlsConfig};
use plimsoll_plan::{DriverKind, Plan};
use plimsoll_sys::Peer;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::mates::{Mates, News, StepWish};
use crate::prepare::Prepared;
use crate::step::StepTask;
use crate::traffic::Requests;

/// With others the load begins this long after they were told to: they start their workers meanwhile.
const HEAD_START: Duration = Duration::from_millis(40);

/// With what a process makes the load of every step of a run.
#[derive(Debug, Clone)]
pub(crate) struct Means<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) peers: &'a [Peer],
    pub(crate) requests: &'a Requests,
    /// How connections are encrypted, if they are.
    pub(crate) tls: Option<&'a TlsConfig>,
    /// The longest interval of one frame.
    pub(crate) interval: Duration,
    /// Worker threads of this process.
    pub(crate) workers: u32,
    pub(crate) driver: DriverKind,
    /// When the run began.
    pub(crate) origin: Instant,
}

impl<'a> Means<'a> {
    pub(crate) fn of(
        prepared: &'a Prepared,
        requests: &'a Requests,
        driver: DriverKind,
        origin: Instant,
    ) -> Self {
        Self {
            plan: &prepared.plan,
            peers: &prepared.peers,
            requests,
            tls: prepared.security.as_ref().map(|security| &security.order),
            interval: prepared.plan.interval(),
            workers: prepared.workers,
            driver,
            origin,
        }
    }

    /// The order of a step, for so many workers of this process.
    pub(crate) fn order(&self, task: &StepTask, workers: u32, group: Option<PeerGroup>) -> StepSpec {
        StepSpec {
            step: task.index,
            duration: task.limit,
            destinations: self.peers.to_vec(),
            sources: self.plan.network.source_ips.clone(),
            traffic: self.requests.of_step(task.index),
            depth: task.level.depth(),
            level: task.level.clone(),
            requests_max: task.requests_max,
            streams: self.plan.http2,
            tls: self.tls.cloned(),
            requests: u16::try_from(self.plan.requests.len()).unwrap_or(u16::MAX),
            workers,
            group,
            timeout: self.plan.generator.timeout,
            connections_max: self.plan.generator.connections_max,
            interval: self.interval,
            seed: self.plan.generator.seed,
            driver: Some(self.driver),
            origin: self.origin,
        }
    }
}

/// The load of a step while it is on. Dropping it ends the load here.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    running: RunningStep,
    mates: Option<&'a RefCell<Mates>>,
    /// Workers of all processes.
    workers: u32,
    /// Our own workers have ended.
    own_ended: bool,
    /// What went wrong elsewhere and has not been told.
    troubles: Vec<String>,
    /// Who began later than the others and has not been told of.
    late: Vec<String>,
}

impl<'a> Load<'a> {
    /// Starts the workers, here and elsewhere.
    pub(crate) fn start(
        means: &Means<'_>,
        mates: Option<&'a RefCell<Mates>>,
        task: &StepTask,
    ) -> Result<Self, EngineError> {
        let connections = task.level.connections();
        let all = means.workers + mates.map_or(0, |mates| mates.borrow().workers());
        let workers = all.min(connections);
        let own = means.workers.min(workers);
        let group = mates.map(|mates| together(means, &mut mates.borrow_mut(), (own, workers), task));
        let running = RunningStep::start(&means.order(task, own, group))?;
        Ok(Self { running, mates, workers, own_ended: false, troubles: Vec::new(), late: Vec::new() })
    }

    /// Workers of all processes that take part.
    pub(crate) fn workers(&self) -> u32 {
        self.workers
    }

    pub(crate) fn began(&self) -> Instant {
        self.running.began()
    }

    pub(crate) fn load_ends(&self) -> Instant {
        self.running.load_ends()
    }

    /// What went wrong since it was last asked for, in words.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        let late: Vec<String> = self.late.drain(..).collect();
        late.into_iter().chain(self.faults()).collect()
    }

    /// The same without who began late, which is nothing to a load that no figure comes from.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        let own = self.own_ended.then(|| self.running.fault().map(ToString::to_string)).flatten();
        self.troubles.drain(..).chain(own).collect()
    }

    pub(crate) fn end_load(&self) {
        self.running.end_load();
        self.with_mates(Mates::end_load);
    }

    pub(crate) fn abandon(&self) {
        self.running.abandon();
        self.with_mates(Mates::abandon);
    }

    /// Waits no more for workers of this process that do not end; gives their number.
    pub(crate) fn leave(&mut self) -> usize {
        self.with_mates(Mates::abandon);
        self.running.leave()
    }

    fn with_mates(&self, tell: impl FnOnce(&mut Mates)) {
        if let Some(mates) = self.mates {
            tell(&mut mates.borrow_mut());
        }
    }

    /// The next frame of any process, waited for about this long at most.
    pub(crate) fn next(&mut self, longest: Duration) -> Result<StepEvent, EngineError> {
        let patience = if self.own_ended { longest } else { Duration::ZERO };
        if let Some(frame) = self.of_mates(patience) {
            return Ok(frame);
        }
        if self.own_ended {
            let at_work = self.mates.is_some_and(|mates| mates.borrow().at_work());
            return Ok(if at_work { StepEvent::Timeout } else { StepEvent::Ended });
        }
        let turn = self.running.next(longest)?;
        if matches!(turn, StepEvent::Ended) {
            self.own_ended = true;
            return Ok(if self.mates.is_some() { StepEvent::Timeout } else { StepEvent::Ended });
        }
        Ok(turn)
    }

    /// A frame of the others; what else they say is noted.
    fn of_mates(&mut self, patience: Duration) -> Option<StepEvent> {
        match self.mates?.borrow_mut().next(patience) {
            News::Frame(frame) => return Some(StepEvent::Frame(frame)),
            News::Trouble(text) => self.troubles.push(text),
            News::Late(text) => self.late.push(text),
            News::Quiet => {}
        }
        None
    }
}

/// Tells the others to begin with us.
fn together(means: &Means<'_>, mates: &mut Mates, (own, workers): (u32, u32), task: &StepTask) -> PeerGroup {
    let begins = RealClock.now() + HEAD_START;
    let (step, level, limit) = (task.index, task.level.clone(), task.limit);
    let (interval, origin) = (means.interval, means.origin);
    mates.begin(own, &StepWish { step, level, limit, workers, begins, interval, origin });
    PeerGroup { workers_before: 0, workers, begins }
}
