//! The events of the agents of a world, and the invariants that hold at each.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use plimsoll_conductor::peers::{Command, Message};

use super::agent::{Generator, MadeFrame, Measured, Share};
use super::stream::Stored;
use super::weather::MS;
use super::world::{AgentEvent, Begun, ConductorEvent, World};
use crate::agent::participant::Heard;
use crate::clock::{Comparison, EXCHANGED_WITHIN, Exchange, Offset};
use crate::step_clock::StepClock;
use crate::wire::{REPEAT, ToAgent};

const PACK_AFTER: u64 = 20 * MS;
/// The most that the worst clock gains within two exchanges.
const DRIFT_WITHIN_EXCHANGES: u64 = 4 * MS;

impl World {
    pub(super) fn agent_event(&mut self, agent: usize, event: AgentEvent) {
        let now = self.agents[agent].clock.now(self.now);
        match event {
            AgentEvent::Tick => self.tick_agent(agent),
            AgentEvent::Pack => {
                self.agents[agent].pack_planned = false;
                self.agents[agent].pack(self.codec, now);
            }
            AgentEvent::Heard(message) => self.hear(agent, *message),
            AgentEvent::Answered { first, stored } => {
                self.agents[agent].participant.note_stored(first, stored, now);
            }
            AgentEvent::Ready => {
                self.agents[agent].generator = Generator::Waiting;
                let (workers, ceiling_per_sec) = self.ready(agent);
                let version = super::VERSION.to_owned();
                self.send(agent, Message::Ready { version, workers, ceiling_per_sec });
            }
            AgentEvent::Begin { load } => self.begin(agent, load),
            AgentEvent::Interval { load } => self.interval(agent, load),
            AgentEvent::ClockAnswer { token, term, .. } if term != self.agents[agent].term => {
                self.end_measurement(agent, token);
            }
            AgentEvent::ClockAnswer { token, asked, received, answered, .. } => {
                self.exchanged(agent, token, Some(Exchange { asked, received, answered, arrived: now }));
            }
            AgentEvent::ClockTimeout { token } => self.exchanged(agent, token, None),
            AgentEvent::Dies => self.agents[agent].died = true,
        }
        self.settle(agent);
    }

    fn tick_agent(&mut self, agent: usize) {
        let one = &mut self.agents[agent];
        one.participant.look_after_run(one.clock.now(self.now));
        one.unkept_max = one.unkept_max.max(one.participant.unkept());
        let alive = Box::new(one.participant.alive(one.clock.now(self.now)));
        self.send_there(agent, ConductorEvent::Sign(agent, alive));
        self.plan_agent(REPEAT.as_nanos() as u64, agent, AgentEvent::Tick);
    }

    fn hear(&mut self, agent: usize, message: ToAgent) {
        self.check_kept(agent, &message);
        let one = &mut self.agents[agent];
        let term = match &message {
            ToAgent::State(state) => Some(state.term),
            ToAgent::Join(_) => None,
        };
        let now = one.clock.now(self.now);
        let admission = one.gate.admit(message);
        let heard = one.participant.hear(admission, now);
        // A replay that arrived before is not reported again.
        let is_obeyed = one.participant.alive(now).held.is_some_and(|held| held.silent.is_zero());
        if let Some(term) = term {
            self.resumed.refused += u64::from(term < one.term);
            assert!(!is_obeyed || term >= one.term || one.heard == now, "a former conductor is obeyed");
            if is_obeyed {
                (one.heard, one.term) = (now, term.max(one.term));
            }
        }
        let alive = Box::new(one.participant.alive(one.clock.now(self.now)));
        match heard {
            Heard::Nothing => return,
            Heard::News | Heard::Refused(_) => {}
            // The offset is relative to the clock of the former conductor.
            Heard::Succeeded => {
                one.step_clock.forget();
                one.measured = None;
            }
            Heard::Begun(_, commands) => {
                one.heard = now;
                self.prepare(agent, commands);
            }
        }
        self.send_there(agent, ConductorEvent::Sign(agent, alive));
    }

    /// Starts a generator, which connects to the target.
    fn prepare(&mut self, agent: usize, commands: Receiver<Command>) {
        let one = &mut self.agents[agent];
        (one.commands, one.generator) = (Some(commands), Generator::Absent);
        (one.step_clock, one.measured, one.asked) = (StepClock::default(), None, None);
        let prepared = self.random.within(10 * MS..300 * MS);
        self.plan_agent(prepared, agent, AgentEvent::Ready);
    }

    /// Returns the number of its workers, and the ceiling of one of them.
    fn ready(&self, agent: usize) -> (u32, Option<u64>) {
        (self.scale.workers, self.weather.fates[agent].ceiling_per_sec())
    }

    /// Checks that what the conductor reports to be in the run file is there. Skips agents that a resuming conductor gave up: they
    /// sent frames of steps that were over by then.
    fn check_kept(&mut self, agent: usize, message: &ToAgent) {
        let ToAgent::State(state) = message else { return };
        if self.conductor.session > 0 && self.lost.iter().any(|(lost, _)| *lost == agent) {
            return;
        }
        let disk = &self.conductor.disk;
        let one = &mut self.agents[agent];
        let kept = one.frames_among(state.kept);
        let is_void = |frame: &&MadeFrame| frame.number < state.kept && !disk.has(frame.share);
        let void = if self.conductor.session > 0 { one.made.iter().filter(is_void).count() } else { 0 };
        let (kept, committed) = (kept - void as u64, disk.committed[agent]);
        assert!(kept <= committed, "{kept} frames are said to be in the run file, which has {committed}");
    }

    fn send(&mut self, agent: usize, message: Message) {
        let one = &mut self.agents[agent];
        let now = one.clock.now(self.now);
        if one.send(message, now) {
            one.pack(self.codec, now);
        }
    }

    /// Does what follows any event of an agent.
    fn settle(&mut self, agent: usize) {
        while let Some(command) = self.agents[agent].next_command() {
            self.obey(agent, command);
        }
        let one = &mut self.agents[agent];
        if one.participant.pack_at().is_some() && !one.pack_planned {
            one.pack_planned = true;
            self.plan_agent(PACK_AFTER, agent, AgentEvent::Pack);
        }
        let one = &mut self.agents[agent];
        let parcels = one.participant.due(one.clock.now(self.now));
        let again = one.participant.begin_again();
        while let Some(run) = one.participant.end_run() {
            one.gate.close(run);
        }
        for parcel in parcels {
            self.publish(Stored { agent, parcel });
        }
        if let Some((_, commands)) = again {
            self.resumed.begun_again += 1;
            self.prepare(agent, commands);
        }
    }

    fn obey(&mut self, agent: usize, command: Result<Command, TryRecvError>) {
        let one = &mut self.agents[agent];
        match (&one.generator, command) {
            (Generator::Waiting, Ok(Command::Begin(share))) => {
                self.note_begin(agent, Share { step: share.step.index, begins: share.begins });
                self.agents[agent].generator = Generator::Measuring(Box::new(share));
                self.measure(agent);
            }
            (Generator::Waiting, Ok(Command::StandBy { asked })) => self.stand_by(agent, asked),
            (Generator::Waiting, Err(_)) => self.finish(agent),
            (Generator::Working(_), Ok(Command::EndLoad | Command::Abandon) | Err(_)) => self.end_load(agent),
            (Generator::Working(_), Ok(Command::StandBy { asked })) => one.asked = Some(asked),
            _ => {}
        }
    }

    /// Checks that no share begins twice, and that agents stand by before they begin a step of a resuming conductor.
    fn note_begin(&mut self, agent: usize, share: Share) {
        let one = &mut self.agents[agent];
        assert!(!one.shares.contains(&share), "agent {agent} begins {share:?} a second time");
        assert_eq!(one.stood_by, one.term, "agent {agent} begins a step before it stands by");
        one.shares.push(share);
        one.share_clock = self.clocks[&one.term];
    }

    fn stand_by(&mut self, agent: usize, asked: u64) {
        let (workers, ceiling_per_sec) = self.ready(agent);
        self.agents[agent].stood_by = self.agents[agent].term;
        self.resumed.standing_by += 1;
        self.send(agent, Message::StandsBy { asked, workers, ceiling_per_sec });
    }

    fn finish(&mut self, agent: usize) {
        let one = &mut self.agents[agent];
        (one.generator, one.commands) = (Generator::Gone, None);
        one.participant.finish(one.clock.now(self.now));
    }

    fn measure(&mut self, agent: usize) {
        let one = &mut self.agents[agent];
        one.clock_before = one.step_clock;
        if one.participant.conducted_run(one.clock.now(self.now)).is_none() {
            return self.measured(agent, Err(io::ErrorKind::BrokenPipe.into()));
        }
        one.begin_measurement(self.now);
        self.ask(agent);
    }

    fn ask(&mut self, agent: usize) {
        let (asked, token) = (self.agents[agent].clock.now(self.now), self.agents[agent].token);
        self.send_there(agent, ConductorEvent::ClockAsked { agent, token, asked });
        self.plan_agent(EXCHANGED_WITHIN.as_nanos() as u64, agent, AgentEvent::ClockTimeout { token });
    }

    fn exchanged(&mut self, agent: usize, token: u64, exchange: Option<Exchange>) {
        let one = &mut self.agents[agent];
        if one.token != token || one.measurement.is_none() {
            return;
        }
        match one.exchanged(exchange, self.now) {
            None => self.ask(agent),
            Some(result) => self.measured(agent, result),
        }
    }

    /// Ends a measurement without a result: another conductor answered.
    fn end_measurement(&mut self, agent: usize, token: u64) {
        let one = &mut self.agents[agent];
        if one.token != token || one.measurement.take().is_none() {
            return;
        }
        one.token += 1;
        self.measured(agent, Err(io::ErrorKind::BrokenPipe.into()));
    }

    fn measured(&mut self, agent: usize, result: io::Result<Offset>) {
        let one = &mut self.agents[agent];
        match (std::mem::replace(&mut one.generator, Generator::Waiting), result) {
            (Generator::Measuring(share), _) if !one.step_clock.is_of_same_conductor(one.clock_before) => {
                self.send(agent, StepClock::succeeded(&share));
            }
            // The channel of its commands is broken.
            (Generator::Measuring(_), Err(error)) => {
                self.send(agent, StepClock::failed(&error));
                self.finish(agent);
            }
            (Generator::Measuring(share), Ok(offset)) => {
                let (clock, from, until) = (one.share_clock, one.measuring_since, self.now);
                let measured = Measured { offset, clock, from, until };
                one.measured = Some(measured);
                let share = one.step_clock.begin(Comparison { offset, wall: None }, *share);
                let waits = one.clock.until(share.begins, self.now);
                one.generator = Generator::Working(Box::new(share));
                (one.load, one.has_begun) = (one.load + 1, false);
                let load = one.load;
                self.check_bound(agent);
                let longest = if self.random.permille(50) { 50 * MS } else { 2 * MS };
                let late = self.random.time(Duration::from_nanos(longest)).as_nanos() as u64;
                self.plan_agent(waits + late, agent, AgentEvent::Begin { load });
            }
            (Generator::Comparing, result) => self.compared(agent, result),
            (other, _) => self.agents[agent].generator = other,
        }
    }

    fn begin(&mut self, agent: usize, load: u64) {
        let one = &mut self.agents[agent];
        let (Generator::Working(share), true) = (&one.generator, one.load == load) else { return };
        let (origin, begins, step) = (share.origin, share.begins, share.step.index);
        one.begin_load(origin, self.now);
        let now = one.clock.now(self.now);
        let began = one.step_clock.began(now.nanos_since(begins), now);
        let from = one.measured.map(|measured| measured.from);
        let is_sound = from.is_some_and(|from| self.weather.fates[agent].clock_is_sound(from, self.now));
        self.begun.insert((step, agent), Begun { at: self.now, is_sound });
        self.check_bound(agent);
        self.send(agent, began);
        self.plan_agent(self.scale.interval.as_nanos() as u64, agent, AgentEvent::Interval { load });
    }

    fn interval(&mut self, agent: usize, load: u64) {
        let one = &mut self.agents[agent];
        let now = one.clock.now(self.now);
        let (Generator::Working(share), true) = (&one.generator, one.load == load) else { return };
        let ends = share.begins + share.step.limit;
        if now >= ends {
            return self.end_load(agent);
        }
        self.check_orphan(agent);
        self.check_bound(agent);
        self.hand_over(agent);
        let wait = (self.scale.interval).min(ends.since(now)).as_nanos() as u64;
        self.plan_agent(wait, agent, AgentEvent::Interval { load });
    }

    fn hand_over(&mut self, agent: usize) {
        let one = &mut self.agents[agent];
        let Generator::Working(share) = &one.generator else { return };
        let share = share.clone();
        for frame in one.frames_now(&share, self.codec.with_latency, self.now) {
            self.send(agent, frame);
        }
    }

    fn end_load(&mut self, agent: usize) {
        if self.agents[agent].has_begun {
            self.hand_over(agent);
        }
        let one = &mut self.agents[agent];
        one.generator = Generator::Comparing;
        one.load += 1;
        match one.step_clock.is_measured() {
            true => self.measure(agent),
            // Another conductor, with another clock, has come.
            false => self.ended(agent, None),
        }
    }

    fn ended(&mut self, agent: usize, fault: Option<String>) {
        self.agents[agent].generator = Generator::Waiting;
        let step = self.agents[agent].shares.last().map(|share| share.step);
        self.send(agent, Message::Ended { step, fault });
        if let Some(asked) = self.agents[agent].asked.take() {
            self.stand_by(agent, asked);
        }
    }

    fn compared(&mut self, agent: usize, after: io::Result<Offset>) {
        let one = &self.agents[agent];
        let known = after.as_ref().ok().copied();
        let fault = one.step_clock.fault(after);
        if let Some(after) = known.filter(|_| one.measured.is_some()) {
            self.check_reported(agent, after, fault.is_some());
        }
        self.ended(agent, fault);
    }

    /// Checks that at this instant the truth is within the bound of the measured clock.
    fn check_bound(&mut self, agent: usize) {
        let Some(measured) = self.agents[agent].measured else { return };
        // The conductor has given this agent up: the agent may ask for its clock, and does not obey it.
        if self.conductor.disk.gone.contains(&agent) {
            return;
        }
        if !self.weather.fates[agent].clock_is_sound(measured.from, self.now) {
            return;
        }
        let clock = &self.agents[agent].clock;
        let (shown, truth) = (clock.now(self.now), measured.clock.now(self.now));
        let error = measured.offset.to_agent(truth).as_nanos().abs_diff(shown.as_nanos());
        let bound = measured.offset.error_at(shown);
        assert!(error <= bound, "a clock is {error} ns off, and the bound is {bound} ns");
        self.checked_bounds += 1;
    }

    /// Checks that a sound clock is not reported, and that one that moved by clearly more than the bounds explain is.
    fn check_reported(&mut self, agent: usize, after: Offset, is_reported: bool) {
        let one = &self.agents[agent];
        let before = one.measured.unwrap();
        let shown = one.clock.now(self.now);
        let explained = after.error_at(shown).saturating_add(before.offset.error_at(shown));
        let moved = (one.clock.offset(one.measuring_since) - one.clock.offset(before.until)).unsigned_abs();
        let is_sound = self.weather.fates[agent].clock_is_sound(before.from, self.now);
        assert!(!(is_reported && is_sound), "a sound clock is reported to have moved by {moved} ns");
        let is_settled = self.weather.fates[agent].clock_is_steady(before.from, before.until)
            && self.weather.fates[agent].clock_is_steady(one.measuring_since, self.now);
        let must_be = is_settled && moved > 2 * u128::from(explained) + u128::from(DRIFT_WITHIN_EXCHANGES);
        assert!(
            is_reported || !must_be,
            "a clock moved by {moved} ns, {explained} explained, and nothing is reported"
        );
        self.reported_clocks += u64::from(is_reported);
    }

    /// Checks that a load without a conductor goes on no longer than the orphan time.
    fn check_orphan(&self, agent: usize) {
        let one = &self.agents[agent];
        let silent = one.clock.now(self.now).since(one.heard);
        let was_set = self.weather.fates[agent].set.is_some();
        let most = self.weather.orphan + REPEAT + Duration::from_millis(1);
        assert!(was_set || silent <= most, "the load goes on {silent:?} after the conductor was last heard");
    }
}
