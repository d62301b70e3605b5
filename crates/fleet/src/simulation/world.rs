//! The world's time: which event happens next, and to whom.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use plimsoll_conductor::peers::OnLoss;
use plimsoll_plan::Plan;
use plimsoll_testkit::Random;
use plimsoll_units::Instant;

use super::Resumed;
use super::agent::SimAgent;
use super::clock::ConductorClock;
use super::conductor::SimConductor;
use super::content::Codec;
use super::stream::{Answer, Stored, Stream};
use super::weather::{Death, MS, SEC, Scale, Weather};
use crate::wire::{Alive, ToAgent};

/// How long a publisher waits for the broker's answer.
const ANSWERED_WITHIN: u64 = 5 * SEC;
/// How often the broker checks for messages to redeliver.
const BROKER_TICK: u64 = 100 * MS;

/// An event of the world.
#[derive(Debug)]
pub(super) enum Event {
    Agent(usize, AgentEvent),
    /// For the conductor of this session.
    Conductor(u32, ConductorEvent),
    /// For the conductor that exists by then.
    AnyConductor(ConductorEvent),
    Broker(BrokerEvent),
    /// Another conductor resumes the run.
    Resume,
}

#[derive(Debug)]
pub(super) enum AgentEvent {
    Tick,
    Pack,
    Heard(Box<ToAgent>),
    /// The broker's answer to the batch that begins with this message, or that there was none.
    Answered {
        first: u64,
        stored: bool,
    },
    /// The generator has prepared.
    Ready,
    /// The workers of this load begin, or hand over frames.
    Begin {
        load: u64,
    },
    Interval {
        load: u64,
    },
    ClockAnswer {
        token: u64,
        term: u64,
        asked: Instant,
        received: Instant,
        answered: Instant,
    },
    ClockTimeout {
        token: u64,
    },
    Dies,
}

#[derive(Debug)]
pub(super) enum ConductorEvent {
    Tick,
    /// Take in what has arrived.
    Turn,
    /// A tick while the agents learn that the run is over.
    EndTick,
    Sign(usize, Box<Alive>),
    ClockAsked {
        agent: usize,
        token: u64,
        asked: Instant,
    },
    Delivered(u64, Stored),
    Dies,
}

#[derive(Debug)]
pub(super) enum BrokerEvent {
    Tick,
    Published {
        stored: Stored,
        sent: u64,
    },
    Acknowledged(u64),
    /// A new leader is elected.
    Elected,
}

struct Planned {
    at: u64,
    number: u64,
    event: Event,
}

impl Ord for Planned {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Planned {}

/// When an agent began a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) at: u64,
    /// Whether its clock has satisfied the assumptions of the bounds since it was measured.
    pub(super) is_sound: bool,
}

pub(super) struct World {
    pub(super) scale: Scale,
    pub(super) weather: Weather,
    pub(super) on_loss: OnLoss,
    pub(super) run_plan: Plan,
    pub(super) codec: Codec,
    pub(super) random: Random,
    pub(super) now: u64,
    planned: BinaryHeap<Reverse<Planned>>,
    number: u64,
    pub(super) agents: Vec<SimAgent>,
    pub(super) conductor: SimConductor,
    pub(super) stream: Stream,
    /// When the last message to the conductor arrives from each agent, and the last one to each agent.
    last_there: Vec<u64>,
    last_back: Vec<u64>,
    pub(super) begun: BTreeMap<(u32, usize), Begun>,
    pub(super) events: u64,
    /// The most messages that the stream held.
    pub(super) stream_max: usize,
    /// Clocks whose bound was compared with the truth.
    pub(super) checked_bounds: u64,
    /// Clocks that moved beyond the assumptions of the bounds and were reported.
    pub(super) reported_clocks: u64,
    /// Agents that a conductor found to be lost, and when.
    pub(super) lost: Vec<(usize, u64)>,
    pub(super) resumed: Resumed,
    /// The steps that resuming conductors began.
    pub(super) later_steps: BTreeSet<u32>,
    /// The clocks of the conductors, by term.
    pub(super) clocks: BTreeMap<u64, ConductorClock>,
    /// A conductor has died, and another one will resume its run.
    pub(super) is_resumption_due: bool,
    /// Number of failed tries to resume.
    pub(super) failed_tries: u32,
}

impl World {
    pub(super) fn new(
        (scale, weather, random): (Scale, Weather, Random),
        on_loss: OnLoss,
        agents: Vec<SimAgent>,
        conductor: SimConductor,
    ) -> Self {
        let count = agents.len();
        let codec = Codec { packs: scale.packs, with_latency: scale.keeps_frames };
        let mut world = Self {
            run_plan: scale.plan(),
            scale,
            weather,
            on_loss,
            codec,
            random,
            now: 0,
            planned: BinaryHeap::new(),
            number: 0,
            agents,
            conductor,
            stream: Stream::default(),
            last_there: vec![0; count],
            last_back: vec![0; count],
            begun: BTreeMap::new(),
            events: 0,
            stream_max: 0,
            checked_bounds: 0,
            reported_clocks: 0,
            lost: Vec::new(),
            resumed: Resumed::default(),
            later_steps: BTreeSet::new(),
            clocks: BTreeMap::from([(0, ConductorClock::default())]),
            is_resumption_due: false,
            failed_tries: 0,
        };
        world.plan_first();
        world
    }

    fn plan_first(&mut self) {
        for agent in 0..self.agents.len() {
            let first = self.random.within(0..500 * MS);
            self.plan(first, Event::Agent(agent, AgentEvent::Tick));
            if let Some(at) = self.weather.fates[agent].dies {
                self.plan(at, Event::Agent(agent, AgentEvent::Dies));
            }
        }
        self.plan_conductor(0, ConductorEvent::Tick);
        self.plan(BROKER_TICK, Event::Broker(BrokerEvent::Tick));
        for (_, until) in self.weather.stream.elections.clone() {
            self.plan(until, Event::Broker(BrokerEvent::Elected));
        }
        self.plan_death();
    }

    pub(super) fn plan_death(&mut self) {
        if let Some(death) = self.death() {
            self.plan_conductor(death.after, ConductorEvent::Dies);
        }
    }

    /// Returns how the current conductor dies, if it does.
    pub(super) fn death(&self) -> Option<Death> {
        self.weather.deaths.get(self.conductor.session as usize).copied()
    }

    /// Plans an event for the current conductor, after `after` nanoseconds.
    pub(super) fn plan_conductor(&mut self, after: u64, event: ConductorEvent) {
        self.plan(self.now + after, Event::Conductor(self.conductor.session, event));
    }

    pub(super) fn plan(&mut self, at: u64, event: Event) {
        self.number += 1;
        self.planned.push(Reverse(Planned { at: at.max(self.now + 1), number: self.number, event }));
    }

    /// Plans an event for an agent, after `after` nanoseconds.
    pub(super) fn plan_agent(&mut self, after: u64, agent: usize, event: AgentEvent) {
        self.plan(self.now + after, Event::Agent(agent, event));
    }

    /// Runs the world until the run is over for every process.
    pub(super) fn play(&mut self) {
        let longest = self.longest();
        while !self.is_over() {
            let Reverse(Planned { at, event, .. }) = self.planned.pop().unwrap();
            assert!(at < longest, "the run does not end: {}", self.standing());
            self.now = at;
            self.events += 1;
            match event {
                Event::Agent(agent, event) => self.of_agent(agent, event),
                Event::Conductor(session, _) if session != self.conductor.session => {}
                Event::Conductor(_, event) | Event::AnyConductor(event) => self.of_conductor(event),
                Event::Broker(event) => self.of_broker(event),
                Event::Resume => self.resume(),
            }
        }
    }

    /// Returns when everything must have ended. A resuming conductor repeats at most one step, and waits for agents.
    fn longest(&self) -> u64 {
        let load: Duration = self.scale.steps.iter().sum();
        let load = load.as_nanos() as u64;
        let pauses = self.weather.deaths.iter().map(|death| death.after + death.resumed_after.unwrap_or(0));
        let again = pauses.map(|pause| pause + load + 100 * SEC).sum::<u64>();
        load + self.weather.ends() + again + 100 * SEC
    }

    fn is_over(&self) -> bool {
        let takes_part = |agent: &SimAgent| !agent.died && !agent.participant.is_free();
        let is_left = self.conductor.has_ended() && !self.is_resumption_due;
        is_left && !self.agents.iter().any(takes_part)
    }

    /// Describes every process, for a run that does not end.
    fn standing(&self) -> String {
        let left = self.agents.iter().filter(|agent| !agent.died && agent.participant.run().is_some());
        let agents: String = left.map(|agent| agent.standing()).collect();
        let (held, reports) = (self.stream.standing(), &self.conductor.reports);
        let phase = &self.conductor.phase;
        format!("{phase:?}; {agents}; {held}; {reports:?}; {:?}; {:?}", self.lost, self.weather)
    }

    /// Delivers an event to an agent; if its machine is stopped, once it continues.
    fn of_agent(&mut self, agent: usize, event: AgentEvent) {
        if self.agents[agent].died {
            return;
        }
        match self.agents[agent].clock.stopped_until(self.now) {
            Some(until) => self.plan(until, Event::Agent(agent, event)),
            None => self.agent_event(agent, event),
        }
    }

    fn of_conductor(&mut self, event: ConductorEvent) {
        if self.conductor.has_ended() {
            return;
        }
        match self.weather.paused_until(self.now) {
            Some(until) => self.plan_conductor(until - self.now, event),
            None => self.conductor_event(event),
        }
    }

    fn of_broker(&mut self, event: BrokerEvent) {
        match event {
            BrokerEvent::Tick => self.plan(self.now + BROKER_TICK, Event::Broker(BrokerEvent::Tick)),
            BrokerEvent::Elected => self.stream.elect(&self.weather.stream),
            BrokerEvent::Acknowledged(sequence) => self.stream.acknowledge(sequence),
            BrokerEvent::Published { stored, sent } => self.publish_arrived(stored, sent),
        }
        self.stream_max = self.stream_max.max(self.stream.len());
        if !self.conductor.is_reading() {
            return;
        }
        for (sequence, stored) in self.stream.deliver(&self.weather.stream, self.now) {
            let link = &self.weather.links[stored.agent];
            if let Some(at) = link.arrival(&mut self.random, self.now, true) {
                self.plan_conductor(at - self.now, ConductorEvent::Delivered(sequence, stored));
            }
        }
    }

    fn publish_arrived(&mut self, stored: Stored, sent: u64) {
        let (agent, first) = (stored.agent, stored.parcel.first);
        let answer = self.stream.publish(stored, &self.weather.stream, &mut self.random, self.now);
        let arrival = self.weather.links[agent].arrival(&mut self.random, self.now, false);
        let in_time = arrival.filter(|at| *at <= sent + ANSWERED_WITHIN && answer != Answer::None);
        let at = in_time.unwrap_or(sent + ANSWERED_WITHIN);
        let stored = in_time.is_some() && answer == Answer::Stored;
        self.plan(at, Event::Agent(agent, AgentEvent::Answered { first, stored }));
    }

    /// Hands a copy to the broker.
    pub(super) fn publish(&mut self, stored: Stored) {
        let (agent, first, sent) = (stored.agent, stored.parcel.first, self.now);
        match self.weather.links[agent].arrival(&mut self.random, sent, true) {
            Some(at) => self.plan(at, Event::Broker(BrokerEvent::Published { stored, sent })),
            None => self.plan_agent(ANSWERED_WITHIN, agent, AgentEvent::Answered { first, stored: false }),
        }
    }

    /// Sends an event of an agent to the conductor by plain messages, which keep their order.
    pub(super) fn send_there(&mut self, agent: usize, event: ConductorEvent) {
        if let Some(at) = self.weather.links[agent].arrival(&mut self.random, self.now, true) {
            let at = at.max(self.last_there[agent] + 1);
            self.last_there[agent] = at;
            self.plan(at, Event::AnyConductor(event));
        }
    }

    /// Lets the next conductor's messages overtake those of the former one.
    pub(super) fn forget_order(&mut self) {
        self.last_back.fill(0);
    }

    /// Sends an event of the conductor to an agent by plain messages, which keep their order.
    pub(super) fn send_back(&mut self, agent: usize, event: AgentEvent) {
        self.send_back_at(self.now, agent, event);
    }

    pub(super) fn send_back_at(&mut self, sent: u64, agent: usize, event: AgentEvent) {
        if let Some(at) = self.weather.links[agent].arrival(&mut self.random, sent, false) {
            let at = at.max(self.last_back[agent] + 1);
            self.last_back[agent] = at;
            self.plan(at, Event::Agent(agent, event));
        }
    }

    /// Acknowledges a message of the stream.
    pub(super) fn acknowledge(&mut self, sequence: u64) {
        // Any link of the conductor serves.
        if let Some(at) = self.weather.links[0].arrival(&mut self.random, self.now, false) {
            self.plan(at, Event::Broker(BrokerEvent::Acknowledged(sequence)));
        }
    }
}
