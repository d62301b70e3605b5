//! What happens to the conductor of a world, and what must be true whenever it does.

use std::io;

use plimsoll_conductor::StepPlan;
use plimsoll_conductor::peers::{Command, Message, PeerEvent, StepShare};
use plimsoll_plan::Level;
use plimsoll_units::Instant;

use super::clock::conductor_clock;
use super::conductor::{Phase, Recorded};
use super::weather::{MS, SEC};
use super::world::{AgentEvent, ConductorEvent, Event, World};
use crate::fleet::HEAD_START;
use crate::hub::GRACE;
use crate::members::{Arrival, Carried, Delivered};
use crate::wire::{Alive, REPEAT, ToAgent};

/// The agents have so long to become ready, as `PeerGroup::meet` gives them.
const READY_WITHIN: u64 = 30 * SEC;
/// A load is abandoned so long after its end.
const DRAINED_WITHIN: u64 = 10 * SEC;
/// An agent that is gone is named within this time.
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
            ConductorEvent::Dies => self.conductor.died = true,
        }
    }

    fn is_ending(&self) -> bool {
        matches!(self.conductor.phase, Phase::Ending { .. })
    }

    fn plan_conductor(&mut self, after: u64, event: ConductorEvent) {
        self.plan(self.now + after, Event::Conductor(event));
    }

    /// Plans that what came is taken in.
    fn wake(&mut self) {
        if !self.conductor.turn_planned {
            self.conductor.turn_planned = true;
            self.plan_conductor(self.weather.turn, ConductorEvent::Turn);
        }
    }

    fn tick_conductor(&mut self) {
        if self.is_ending() {
            return;
        }
        let now = conductor_clock(self.now);
        let since_last = now.since(conductor_clock(self.conductor.ticked));
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
                None => self.note_lost(agent),
            }
        }
        self.wake();
        self.plan_conductor(REPEAT.as_nanos() as u64, ConductorEvent::Tick);
    }

    fn note_lost(&mut self, agent: usize) {
        if self.conductor.lost[agent].is_none() {
            self.conductor.lost[agent] = Some(self.now);
            self.conductor.changed.push(agent);
        }
    }

    /// An instant that no earlier state was sent with.
    fn sending(&mut self) -> Instant {
        self.conductor.sent = self.now.max(self.conductor.sent + 1);
        conductor_clock(self.conductor.sent)
    }

    fn repetition(&mut self, agent: usize) -> Option<ToAgent> {
        let now = self.sending();
        self.conductor.members.repetition(agent, now)
    }

    fn send_state(&mut self, agent: usize) {
        let now = self.sending();
        if let Some(state) = self.conductor.members.state(agent, now) {
            self.send_back(agent, AgentEvent::Heard(Box::new(state)));
        }
    }

    fn take_sign(&mut self, agent: usize, alive: Alive) {
        if let Phase::Ending { left, .. } = &mut self.conductor.phase {
            let run = self.conductor.members.run();
            left.retain(|name| *name != alive.agent || alive.run.as_deref() == Some(run));
            return;
        }
        self.conductor.heard[agent] = self.now;
        self.conductor.members.take_sign(alive, conductor_clock(self.now));
        self.conductor.changed.push(agent);
        self.wake();
    }

    fn answer_clock(&mut self, agent: usize, token: u64, asked: Instant) {
        if self.is_ending() {
            return;
        }
        let received = conductor_clock(self.now);
        let sent = self.now + self.random.within(0..50_000);
        let event = AgentEvent::ClockAnswer { token, asked, received, answered: conductor_clock(sent) };
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
        let now = conductor_clock(self.now);
        let settled = self.conductor.members.take_frame(delivered, parcel.content, sequence, now);
        if let Some(sequence) = settled {
            self.acknowledge(sequence);
        }
        self.conductor.changed.push(agent);
        self.wake();
    }

    /// Takes in what came, and sees what is due.
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
        let one = &mut self.conductor;
        if let (Phase::Step { .. }, Some(peers)) = (&one.phase, &mut one.peers)
            && one.commits.commit_if_due(&mut one.disk, conductor_clock(self.now))
        {
            peers.kept();
        }
    }

    fn take(&mut self, agent: usize, received: io::Result<Option<Message>>) {
        let now = conductor_clock(self.now);
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
                let are_safe = one.commits.write(&frame, &mut one.disk, now);
                are_safe.then(|| peers.kept());
            }
            Some(PeerEvent::Fault(text) | PeerEvent::Late(text)) => one.reports.push(text),
            Some(PeerEvent::Stop(text)) => {
                one.reports.push(text);
                peers.command_all(&Command::EndLoad);
                one.is_stopped = true;
            }
            None => {}
        }
    }

    fn end_run(&mut self, why: String) {
        self.conductor.reports.push(why);
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
            _ => {}
        }
    }

    fn begin_step(&mut self) {
        let index = self.conductor.steps.len();
        let limit = self.scale.steps[index];
        let Some(peers) = &mut self.conductor.peers else { return };
        let workers = peers.workers();
        if workers == 0 {
            return self.end_run("no agent is left".to_owned());
        }
        let step = StepPlan {
            index: index as u32,
            level: Level::Closed { connections: u32::MAX, depth: 1 },
            limit,
            interval: self.scale.interval,
            requests_max: None,
        };
        let (begins, origin) = (conductor_clock(self.now) + HEAD_START, conductor_clock(0));
        let shares = peers.divide(0, workers);
        let share = StepShare { step, workers_before: 0, own_workers: 0, shares, begins, origin };
        peers.begin(&share);
        for generator in peers.shares() {
            let agent = super::number_of(&generator.name);
            self.conductor.disk.owners.insert((index as u32, generator.first_worker), agent);
        }
        let ends = self.now + HEAD_START.as_nanos() as u64 + limit.as_nanos() as u64;
        let ends_early = self.weather.ends_early.map(|after| self.now + after);
        let abandons = ends + DRAINED_WITHIN;
        self.conductor.phase = Phase::Step { share: Box::new(share), ends_early, abandons };
    }

    fn record_step(&mut self) {
        let one = &mut self.conductor;
        let until = self.now + self.random.within(MS..SEC);
        let phase = std::mem::replace(&mut one.phase, Phase::Pausing { until });
        let (Phase::Step { share, .. }, Some(peers)) = (phase, &one.peers) else { return };
        one.steps.push(Recorded { share: *share, generators: peers.shares() });
        if one.steps.len() == self.scale.steps.len() || one.is_stopped {
            one.peers = None;
        }
    }

    /// Carries out what the run asks of its agents.
    fn carry_out(&mut self) {
        while let Ok(order) = self.conductor.orders.try_recv() {
            match self.conductor.members.carry_out(order) {
                Some(Carried::SendState(agent)) => self.send_state(agent),
                Some(Carried::Acknowledge(sequences)) => {
                    sequences.into_iter().for_each(|sequence| self.acknowledge(sequence));
                }
                None => {}
            }
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
