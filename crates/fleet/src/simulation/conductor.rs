//! The conductor of a world: production code decides what it sends, keeps and reports; its disk is a list.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use plimsoll_conductor::peers::{OnLoss, Peers};
use plimsoll_conductor::{Commits, KnownFrames, UnderWay};
use plimsoll_record::Step;
use plimsoll_units::Instant;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::clock::ConductorClock;
use super::disk::Disk;
use super::weather::Scale;
use crate::fleet::AgentCommands;
use crate::members::{Arrival, Member, Members, Order};
use crate::orphans::{FleetSession, Orphans};
use crate::wire::Invitation;

/// The number of a delivery of the stream.
pub(super) type Sequence = u64;

/// The phase of the conductor in its run.
#[derive(Debug)]
pub(super) enum Phase {
    /// It waits until agents are ready.
    Meeting,
    /// It does nothing before this instant.
    Pausing {
        until: u64,
    },
    /// A step is under way. It is ended early, or abandoned, at these instants.
    Step {
        ends_early: Option<u64>,
        abandons: u64,
    },
    /// It resumes the run of a conductor that died, and listens for the positions of the agents.
    Listening {
        session: Box<FleetSession>,
        orphans: Orphans,
        until: u64,
    },
    /// It waits until the agents obey it.
    Taking {
        left: HashMap<String, String>,
        until: u64,
    },
    /// It completes the step that was under way.
    Completing(Box<OpenStep>),
    /// It waits until agents confirm that nothing old can arrive.
    StandingBy {
        until: u64,
    },
    /// The agents learn that the run is over.
    Ending {
        until: u64,
        left: Vec<String>,
    },
    Ended,
}

/// The step that was under way when the former conductor died.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) step: Step,
    pub(super) open: UnderWay,
    pub(super) known: KnownFrames,
    pub(super) abandons: u64,
}

pub(super) struct SimConductor {
    /// How many conductors the run had before.
    pub(super) session: u32,
    pub(super) clock: ConductorClock,
    /// The instant from which all times of the run count.
    pub(super) origin: Instant,
    pub(super) members: Members<Sequence>,
    pub(super) orders: UnboundedReceiver<Order>,
    pub(super) arrivals: Vec<Receiver<Arrival>>,
    /// Agents with messages that were not taken in yet.
    pub(super) changed: Vec<usize>,
    pub(super) peers: Option<Peers>,
    pub(super) commits: Commits,
    pub(super) disk: Disk,
    pub(super) ready: usize,
    pub(super) phase: Phase,
    /// What it and its predecessors report about their agents.
    pub(super) reports: Vec<String>,
    /// Why the run ends before its plan, if it does.
    pub(super) ends_as: Option<String>,
    pub(super) ticked: u64,
    pub(super) turn_planned: bool,
    /// When something last arrived from each agent.
    pub(super) heard: Vec<u64>,
    /// Agents that it found to be lost.
    pub(super) lost: Vec<bool>,
    pub(super) died: bool,
    /// It dies as it begins the next step.
    pub(super) dies_at_begin: bool,
    /// An agent was lost whose loss ends the run.
    pub(super) is_stopped: bool,
    /// The instant of the last state that it sent.
    pub(super) sent: u64,
}

impl SimConductor {
    /// Creates a conductor that begins a run.
    pub(super) fn new(scale: &Scale, on_loss: OnLoss) -> Self {
        let clock = ConductorClock::default();
        let (mut members, mut arrivals) = (Vec::new(), Vec::new());
        for agent in 0..scale.agents {
            let (sender, receiver) = channel();
            arrivals.push(receiver);
            members.push(Member::new(super::name(agent), agent as u64, sender, clock.now(0)));
        }
        let disk = Disk::new(scale.agents, scale.keeps_frames, scale.keeps_frames);
        let mut one = Self::at_work(scale.agents, (0, clock), disk, Phase::Meeting);
        (one.members, one.arrivals) = (Members::new(invitation(), members), arrivals);
        one.meet(on_loss, true);
        one
    }

    /// Creates a conductor that resumes the run that the former one left on the disk, with the reports stored there.
    pub(super) fn succeeding(former: &mut Self, clock: ConductorClock, until: u64) -> Self {
        let empty = Disk::new(0, false, false);
        let disk = std::mem::replace(&mut former.disk, empty);
        let phase = listening(former.heard.len(), until);
        let next = Self::at_work(former.heard.len(), (former.session + 1, clock), disk, phase);
        Self { reports: std::mem::take(&mut former.reports), ..next }
    }

    fn at_work(agents: usize, (session, clock): (u32, ConductorClock), disk: Disk, phase: Phase) -> Self {
        Self {
            session,
            clock,
            origin: clock.now(0),
            members: Members::new(invitation(), Vec::new()),
            orders: unbounded_channel().1,
            arrivals: Vec::new(),
            changed: Vec::new(),
            peers: None,
            commits: Commits::default(),
            disk,
            ready: 0,
            phase,
            reports: Vec::new(),
            ends_as: None,
            ticked: 0,
            turn_planned: false,
            heard: vec![0; agents],
            lost: vec![false; agents],
            died: false,
            dies_at_begin: false,
            is_stopped: false,
            sent: 0,
        }
    }

    /// Makes its agents peers of the run.
    pub(super) fn meet(&mut self, on_loss: OnLoss, ends_run: bool) {
        let (orders, received) = unbounded_channel();
        let mut peers = Peers::new(false, self.origin);
        for agent in 0..self.heard.len() {
            let commands = AgentCommands { agent, ends_run, orders: orders.clone() };
            peers.add(Some(super::name(agent)), Box::new(commands), self.origin);
        }
        peers.set_on_loss(on_loss);
        (self.orders, self.peers) = (received, Some(peers));
    }

    pub(super) fn has_ended(&self) -> bool {
        self.died || matches!(self.phase, Phase::Ended)
    }

    /// True if its run file is not sealed, so that another conductor can resume the run.
    pub(super) fn can_be_resumed(&self) -> bool {
        let is_made = self.peers.is_some() || !matches!(self.phase, Phase::Pausing { .. });
        self.died && is_made && !matches!(self.phase, Phase::Meeting | Phase::Ending { .. })
    }

    /// True if it reads the stream.
    pub(super) fn is_reading(&self) -> bool {
        !self.died && !matches!(self.phase, Phase::Listening { .. } | Phase::Taking { .. })
    }
}

/// The phase in which a conductor listens for the positions of `agents` agents.
pub(super) fn listening(agents: usize, until: u64) -> Phase {
    let agents = (0..agents).map(|agent| json!({ "name": super::name(agent), "incarnation": agent }));
    let text = json!({
        "broker": "",
        "fleet": "",
        "credentials": null,
        "key": null,
        "cacert": null,
        "cert": null,
        "run": super::RUN,
        "agents": agents.collect::<Vec<_>>(),
    });
    let session = Box::new(FleetSession::from_json(&text.to_string()).unwrap());
    Phase::Listening { session, orphans: Orphans::default(), until }
}

pub(super) fn invitation() -> Invitation {
    Invitation {
        run: super::RUN.to_owned(),
        incarnation: 0,
        version: super::VERSION.to_owned(),
        plan: String::new(),
        csv: None,
        gather: Duration::ZERO,
    }
}
