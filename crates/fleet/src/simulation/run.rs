//! The events of the conductor of a world, and the invariants that hold at each.

use std::io;

use plimsoll_conductor::peers::{Command, Message, PeerEvent, StepShare};
use plimsoll_conductor::{Made, StepPlan};
use plimsoll_plan::Level;
use plimsoll_record::{Step, StepEnd};
use plimsoll_units::Instant;

use super::conductor::Phase;
use super::weather::{MS, SEC};
use super::world::{AgentEvent, ConductorEvent, World};
use crate::fleet::HEAD_START;
use crate::hub::GRACE;
use crate::members::{Arrival, Carried, Delivered};
use crate::wire::{Alive, REPEAT, ToAgent};

/// How long agents may take to become ready, as in `PeerGroup::meet`.
pub(super) const READY_WITHIN: u64 = 30 * SEC;
/// A load is abandoned this long after its end.
pub(super) const DRAINED_WITHIN: u64 = 10 * SEC;
/// The loss of an agent is reported within this time.
const NAMED_WITHIN: u64 = 3 * SEC;

impl World {
    pub(super) fn conductor_event(&mut self, event: ConductorEvent) {
        match event {
            ConductorEvent::Tick => self.tick_conductor(),
            ConductorEvent::Turn => self.turn(),
            ConductorEvent::EndTick => self.tick_of_end(),
            ConductorEvent::Sign(agent, alive) => self.take_sign(agent, *alive),
            ConductorEvent::ClockAsked { agent, token, asked } => self.answer_clock(agent, token, asked),
            ConductorEvent::Delivered(sequence, stored) => self.take_frame(sequence, stored),
            ConductorEvent::Dies => self.die(),
        }
    }

    /// The time by the conductor's clock.
    pub(super) fn conductor_now(&self) -> Instant {
        self.conductor.clock.now(self.now)
    }

    fn is_ending(&self) -> bool {
        matches!(self.conductor.phase, Phase::Ending { .. })
    }

    /// Plans a turn, which takes in what has arrived.
    pub(super) fn wake(&mut self) {
        if !self.conductor.turn_planned {
            self.conductor.turn_planned = true;
            self.plan_conductor(self.weather.turn, ConductorEvent::Turn);
        }
    }

    fn tick_conductor(&mut self) {
        match self.conductor.phase {
            Phase::Ending { .. } => return,
            Phase::Listening { .. } => self.listen(),
            Phase::Taking { .. } => {
                self.have_taken();
                self.ask_to_obey();
            }
            _ => self.repeat(),
        }
        self.plan_conductor(REPEAT.as_nanos() as u64, ConductorEvent::Tick);
    }

    /// Checks for silent agents, and repeats the messages to the others.
    pub(super) fn repeat(&mut self) {
        let now = self.conductor_now();
        let since_last = std::time::Duration::from_nanos(self.now - self.conductor.ticked);
        self.conductor.ticked = self.now;
        let connected = self.weather.is_connected(self.now);
        self.conductor.members.look_for_silence(connected, since_last, now);
        let is_deaf = !connected || since_last > REPEAT + std::time::Duration::from_secs(1);
        for agent in 0..self.agents.len() {
            self.conductor.heard[agent] = if is_deaf { self.now } else { self.conductor.heard[agent] };
            match self.repetition(agent) {
                Some(message) => {
                    let silent = self.now - self.conductor.heard[agent];
                    let joined = matches!(message, ToAgent::State(_));
                    assert!(!joined || silent <= NAMED_WITHIN, "agent {agent} is silent for {silent} ns");
                    self.send_back(agent, AgentEvent::Heard(Box::new(message)));
                }
                None => {
                    self.note_lost(agent);
                    let now = self.sending();
                    let farewell = self.conductor.members.farewell(agent, now);
                    if let Some(message) = farewell {
                        self.send_back(agent, AgentEvent::Heard(Box::new(message)));
                    }
                }
            }
        }
        self.conductor.changed = (0..self.agents.len()).collect();
        self.wake();
    }

    fn note_lost(&mut self, agent: usize) {
        if !self.conductor.lost[agent] {
            self.conductor.lost[agent] = true;
            self.lost.push((agent, self.now));
        }
    }

    /// Returns an instant later than that of every state sent before.
    fn sending(&mut self) -> Instant {
        self.conductor.sent = self.now.max(self.conductor.sent + 1);
        self.conductor.clock.now(self.conductor.sent)
    }

    pub(super) fn repetition(&mut self, agent: usize) -> Option<ToAgent> {
        let now = self.sending();
        self.conductor.members.repetition(agent, now)
    }

    fn send_state(&mut self, agent: usize) {
        if let Some(state) = self.unsent_state(agent) {
            self.send_back(agent, AgentEvent::Heard(Box::new(state)));
        }
    }

    /// Returns the state of an agent as it would be sent now.
    pub(super) fn unsent_state(&mut self, agent: usize) -> Option<ToAgent> {
        let now = self.sending();
        self.conductor.members.state(agent, now)
    }

    fn take_sign(&mut self, agent: usize, alive: Alive) {
        let now = self.conductor_now();
        match &mut self.conductor.phase {
            Phase::Ending { left, .. } => {
                let run = self.conductor.members.run();
                return left.retain(|name| *name != alive.agent || alive.run.as_deref() == Some(run));
            }
            Phase::Listening { session, orphans, .. } => {
                orphans.take_sign(session, alive);
                return self.listen();
            }
            Phase::Taking { left, .. } => {
                self.conductor.members.note_obedience(alive, left, now);
                return self.have_taken();
            }
            _ => {}
        }
        self.conductor.heard[agent] = self.now;
        self.conductor.members.take_sign(alive, now);
        self.conductor.changed.push(agent);
        self.wake();
    }

    fn answer_clock(&mut self, agent: usize, token: u64, asked: Instant) {
        if self.is_ending() || !self.conductor.is_reading() {
            return;
        }
        let received = self.conductor_now();
        let sent = self.now + self.random.within(0..50_000);
        let answered = self.conductor.clock.now(sent);
        let term = self.conductor.members.term();
        let event = AgentEvent::ClockAnswer { token, term, asked, received, answered };
        self.send_back_at(sent, agent, event);
    }

    fn take_frame(&mut self, sequence: u64, stored: super::stream::Stored) {
        if self.is_ending() {
            return;
        }
        let super::stream::Stored { agent, parcel } = stored;
        let identity = self.agents[agent].participant.identity();
        let delivered = Delivered {
            agent: &identity.agent,
            incarnation: identity.incarnation,
            first: parcel.first,
            end: parcel.end,
        };
        self.conductor.heard[agent] = self.now;
        let now = self.conductor.clock.now(self.now);
        let settled = self.conductor.members.take_frame(delivered, parcel.content, sequence, now);
        if let Some(sequence) = settled {
            self.acknowledge(sequence);
        }
        self.conductor.members.count_backlog(now);
        self.conductor.changed.push(agent);
        self.wake();
    }

    /// Takes in what has arrived, and does what is due.
    fn turn(&mut self) {
        self.conductor.turn_planned = false;
        for agent in std::mem::take(&mut self.conductor.changed) {
            while let Ok(arrival) = self.conductor.arrivals[agent].try_recv() {
                match arrival {
                    Arrival::Messages(content) => {
                        for message in self.codec.decode(&content) {
                            self.take(agent, Ok(Some(message)));
                        }
                    }
                    Arrival::Lost(why) => self.take(agent, Err(io::Error::other(why))),
                }
            }
        }
        self.commit();
        self.go_on();
        self.carry_out();
    }

    fn commit(&mut self) {
        let now = self.conductor_now();
        let one = &mut self.conductor;
        let Some(peers) = &mut one.peers else { return };
        if let Phase::Step { .. } | Phase::Completing(_) | Phase::StandingBy { .. } = &one.phase
            && one.commits.commit_if_due(&mut one.disk, now)
        {
            peers.kept();
        }
        if one.disk.open.is_some() && peers.take_news() {
            one.disk.note_generators(peers.shares());
        }
    }

    fn take(&mut self, agent: usize, received: io::Result<Option<Message>>) {
        let now = self.conductor_now();
        let one = &mut self.conductor;
        let Some(peers) = &mut one.peers else { return };
        if matches!(one.phase, Phase::Meeting) {
            return match peers.introduce(agent, received, super::VERSION) {
                Ok(()) => one.ready += 1,
                Err(error) => self.end_run(error.to_string()),
            };
        }
        match peers.take_in(agent, received, now) {
            Some(PeerEvent::Frame(frame)) => {
                let is_kept = match &mut one.phase {
                    Phase::Completing(open) => open.known.is_new(&frame.head),
                    // These frames are of steps that are over.
                    Phase::StandingBy { .. } => false,
                    _ => true,
                };
                if !is_kept {
                    one.commits.skip();
                }
                let are_safe = is_kept && one.commits.write(&frame, &mut one.disk, now);
                are_safe.then(|| peers.kept());
            }
            Some(PeerEvent::Fault(text) | PeerEvent::Late(text)) => one.reports.push(text),
            Some(PeerEvent::Stop(text)) => {
                one.reports.push(text);
                one.is_stopped = true;
                if matches!(one.phase, Phase::Step { .. }) {
                    peers.command_all(&Command::EndLoad);
                }
            }
            None => {}
        }
    }

    pub(super) fn end_run(&mut self, why: String) {
        self.conductor.reports.push(why.clone());
        self.conductor.ends_as = Some(why);
        self.conductor.peers = None;
    }

    /// Begins and ends steps.
    fn go_on(&mut self) {
        let (now, agents) = (self.now, self.agents.len());
        let one = &mut self.conductor;
        let Some(peers) = &mut one.peers else { return };
        match &mut one.phase {
            Phase::Meeting if one.ready == agents => self.begin_step(),
            Phase::Meeting if now > READY_WITHIN => self.end_run("agents were not ready".to_owned()),
            Phase::Pausing { until } if now >= *until => self.begin_step(),
            Phase::Step { ends_early, abandons, .. } => {
                if ends_early.take_if(|at| *at <= now).is_some() {
                    peers.command_all(&Command::EndLoad);
                }
                if *abandons <= now {
                    *abandons = u64::MAX;
                    peers.command_all(&Command::Abandon);
                }
                if !peers.at_work() {
                    self.record_step();
                }
            }
            Phase::Completing(open) => {
                if open.abandons <= now {
                    open.abandons = u64::MAX;
                    peers.command_all(&Command::Abandon);
                }
                if !peers.at_work() {
                    self.complete_step();
                }
            }
            Phase::StandingBy { until } if peers.are_decided() || now >= *until => self.have_stood_by(),
            _ => {}
        }
    }

    /// Returns the connections of the next step; `None` if the plan has no more.
    fn next_connections(&self) -> Option<u32> {
        let made = Made::new(&self.conductor.disk.run, &self.run_plan);
        match self.scale.steps.len() {
            1 => (!made.has_steps()).then(|| self.scale.connections().next()).flatten(),
            _ => made.next_connections(),
        }
    }

    fn begin_step(&mut self) {
        let connections = self.next_connections().unwrap();
        let nth = self.scale.connections().position(|of_step| of_step == connections);
        let limit = self.scale.steps[nth.unwrap()];
        let begins = self.conductor_now() + HEAD_START;
        let one = &mut self.conductor;
        let Some(peers) = &mut one.peers else { return };
        let workers = peers.workers();
        if workers == 0 {
            return self.end_run("no agent is left".to_owned());
        }
        let step = StepPlan {
            index: one.disk.run.steps.len() as u32,
            level: Level::Closed { connections, depth: 1 },
            limit,
            interval: self.scale.interval,
            requests_max: None,
        };
        let shares = peers.divide(0, workers);
        let share = StepShare { step, workers_before: 0, own_workers: 0, shares, begins, origin: one.origin };
        peers.begin(&share);
        if one.dies_at_begin {
            self.carry_out();
            return self.end_process();
        }
        one.disk.begin_step(&share, peers.shares());
        let ends = self.now + HEAD_START.as_nanos() as u64 + limit.as_nanos() as u64;
        let ends_early = self.weather.ends_early.map(|after| self.now + after);
        let abandons = ends + DRAINED_WITHIN;
        self.note_later_step(&share);
        self.conductor.phase = Phase::Step { ends_early, abandons };
    }

    fn record_step(&mut self) {
        let one = &mut self.conductor;
        let until = self.now + self.random.within(MS..SEC);
        let Some(peers) = &mut one.peers else { return };
        let (generators, step) = (peers.shares(), one.disk.run.steps.last().unwrap().clone());
        let end = if one.is_stopped { StepEnd::Cut } else { StepEnd::TimeLimit };
        let ended_ns = one.clock.now(self.now).nanos_since(one.origin).min(step.ended_ns);
        one.disk.end_step(Step { ended_ns, drained_ns: ended_ns, end, generators, ..step });
        peers.kept();
        one.phase = Phase::Pausing { until };
        if one.is_stopped {
            self.end_run("a generator was lost".to_owned());
        } else if self.next_connections().is_none() {
            self.conductor.peers = None;
        }
    }

    /// Carries out the orders of the run.
    pub(super) fn carry_out(&mut self) {
        while let Ok(order) = self.conductor.orders.try_recv() {
            match self.conductor.members.carry_out(order) {
                Some(Carried::SendState(agent)) => self.send_state(agent),
                Some(Carried::Acknowledge(sequences)) => {
                    sequences.into_iter().for_each(|sequence| self.acknowledge(sequence));
                }
                None => {}
            }
        }
        let is_over = self.conductor.peers.is_none() && self.conductor.is_reading();
        if self.conductor.session > 0 && is_over {
            // Closing the channels of the agents does not end the run; the process that started it does.
            self.conductor.members.end();
        }
        if self.conductor.members.are_over() && !self.is_ending() {
            let left = self.conductor.members.taking_part();
            self.conductor.members.end();
            self.conductor.phase = Phase::Ending { until: self.now + GRACE.as_nanos() as u64, left };
            self.plan_conductor(0, ConductorEvent::EndTick);
        }
    }

    fn tick_of_end(&mut self) {
        let Phase::Ending { until, left } = &self.conductor.phase else { return };
        if left.is_empty() || self.now >= *until {
            self.conductor.phase = Phase::Ended;
            return;
        }
        (0..self.agents.len()).for_each(|agent| self.send_state(agent));
        self.plan_conductor((REPEAT / 4).as_nanos() as u64, ConductorEvent::EndTick);
    }
}
