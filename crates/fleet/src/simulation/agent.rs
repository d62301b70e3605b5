//! An agent of a world: production code decides what it sends and obeys; a generator without requests hands over frames.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use plimsoll_conductor::peers::{Command, Message, StepShare};
use plimsoll_units::Instant;

use super::clock::{AgentClock, ConductorClock};
use super::content::{Codec, Keys};
use super::weather::Fate;
use crate::agent::gate::Gate;
use crate::agent::participant::{Identity, Participant};
use crate::clock::{DRIFT_PPB, EXCHANGES, EXCHANGES_AFTER, Exchange, MEASURED_WITHIN, Offset};
use crate::signature::Trust;
use crate::step_clock::StepClock;

/// The state of the generator.
#[derive(Debug)]
pub(super) enum Generator {
    /// It is preparing, or does not exist.
    Absent,
    Waiting,
    /// It measures the clock before this step.
    Measuring(Box<StepShare>),
    /// The workers run the step, or wait for its start.
    Working(Box<StepShare>),
    /// It measures the clock after the step.
    Comparing,
    /// It has ended.
    Gone,
}

/// The exchanges of a measurement.
#[derive(Debug)]
pub(super) struct Measurement {
    exchanges: Vec<Exchange>,
    left: usize,
    began: Instant,
}

/// The measurement before a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) offset: Offset,
    /// The clock it is compared with, by which the conductor gave the instants of the step.
    pub(super) clock: ConductorClock,
    /// Start and end of the measurement, in the world's time.
    pub(super) from: u64,
    pub(super) until: u64,
}

/// A share that was begun. No other share has the same step and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) step: u32,
    /// By the conductor's clock.
    pub(super) begins: Instant,
}

/// A frame that was handed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct MadeFrame {
    pub(super) keys: Keys,
    pub(super) share: Share,
    /// The number of its message.
    pub(super) number: u64,
}

pub(super) struct SimAgent {
    pub(super) gate: Gate,
    pub(super) participant: Participant,
    pub(super) clock: AgentClock,
    pub(super) step_clock: StepClock,
    /// The step clock when the measurement began.
    pub(super) clock_before: StepClock,
    pub(super) commands: Option<Receiver<Command>>,
    pub(super) generator: Generator,
    pub(super) measurement: Option<Measurement>,
    pub(super) measured: Option<Measured>,
    pub(super) measuring_since: u64,
    /// The exchange whose answer is awaited.
    pub(super) token: u64,
    /// Counts loads, so that events planned for an earlier one are ignored.
    pub(super) load: u64,
    pub(super) has_begun: bool,
    pub(super) shares: Vec<Share>,
    /// The clock by which the conductor gave the instants of the last share.
    pub(super) share_clock: ConductorClock,
    /// The number of a [`Command::StandBy`] that is answered after the share.
    pub(super) asked: Option<u64>,
    /// Terms of the conductor that is obeyed, and of the last one to which the agent said that it stands by.
    pub(super) term: u64,
    pub(super) stood_by: u64,
    interval: u32,
    last_ns: u64,
    /// When a state of the conductor was last obeyed, by the agent's clock.
    pub(super) heard: Instant,
    pub(super) pack_planned: bool,
    /// Frames that the workers handed over, and all messages.
    pub(super) frames: u64,
    messages: u64,
    /// The numbers of messages that are not frames.
    others: VecDeque<u64>,
    others_before: u64,
    /// The frames that were handed over, if they are kept.
    pub(super) made: Vec<MadeFrame>,
    pub(super) remembers: bool,
    /// The most messages that waited for the run file.
    pub(super) unkept_max: u64,
    pub(super) died: bool,
}

impl SimAgent {
    pub(super) fn new(number: usize, orphan: Duration, fate: &Fate, remembers: bool) -> Self {
        let (agent, incarnation) = (super::name(number), number as u64);
        let identity = Identity { agent, incarnation, version: super::VERSION.to_owned() };
        Self {
            gate: Gate::new(Trust::new(&[]), String::new(), incarnation),
            participant: Participant::new(identity, orphan),
            clock: AgentClock::new(fate),
            step_clock: StepClock::default(),
            clock_before: StepClock::default(),
            commands: None,
            generator: Generator::Absent,
            measurement: None,
            measured: None,
            measuring_since: 0,
            token: 0,
            load: 0,
            has_begun: false,
            shares: Vec::new(),
            share_clock: ConductorClock::default(),
            asked: None,
            term: 0,
            stood_by: 0,
            interval: 0,
            last_ns: 0,
            heard: Instant::from_nanos(0),
            pack_planned: false,
            frames: 0,
            messages: 0,
            others: VecDeque::new(),
            others_before: 0,
            made: Vec::new(),
            remembers,
            unkept_max: 0,
            died: false,
        }
    }

    /// Takes in a message of the generator; true if a batch is full.
    pub(super) fn send(&mut self, message: Message, now: Instant) -> bool {
        self.participant.gather(message, now)
    }

    pub(super) fn pack(&mut self, codec: Codec, now: Instant) {
        let messages = self.participant.take_gathered();
        messages.iter().for_each(|message| self.count(message));
        self.participant.add(messages.len() as u64, codec.encode(&messages), now);
    }

    /// Counts a message, which gets the next number. All messages of a share are packed before the next share begins.
    fn count(&mut self, message: &Message) {
        match message {
            Message::Frame(frame) => {
                self.frames += 1;
                let share = self.shares.last().copied().filter(|_| self.remembers);
                let (keys, number) = (Keys::of(&frame.head), self.messages);
                self.made.extend(share.map(|share| MadeFrame { keys, share, number }));
            }
            _ => self.others.push_back(self.messages),
        }
        self.messages += 1;
    }

    /// Returns how many of the agent's first messages are frames.
    pub(super) fn frames_among(&mut self, messages: u64) -> u64 {
        while self.others.front().is_some_and(|number| *number < messages) {
            self.others.pop_front();
            self.others_before += 1;
        }
        messages - self.others_before.min(messages)
    }

    /// Returns the next command if the generator accepts one now; an error once there will be none.
    pub(super) fn next_command(&self) -> Option<Result<Command, TryRecvError>> {
        if !matches!(self.generator, Generator::Waiting | Generator::Working(_)) {
            return None;
        }
        match self.commands.as_ref()?.try_recv() {
            Err(TryRecvError::Empty) => None,
            received => Some(received),
        }
    }

    pub(super) fn begin_measurement(&mut self, now: u64) {
        let began = self.clock.now(now);
        self.measuring_since = now;
        let left = if matches!(self.generator, Generator::Comparing) { EXCHANGES_AFTER } else { EXCHANGES };
        self.measurement = Some(Measurement { exchanges: Vec::new(), left, began });
    }

    /// Takes in the end of an exchange, with its timestamps if it was answered. Returns the result after the last exchange.
    pub(super) fn exchanged(&mut self, exchange: Option<Exchange>, now: u64) -> Option<io::Result<Offset>> {
        let agent_now = self.clock.now(now);
        let measurement = self.measurement.as_mut()?;
        measurement.exchanges.extend(exchange);
        measurement.left -= 1;
        self.token += 1;
        let is_late = agent_now.since(measurement.began) > MEASURED_WITHIN;
        if measurement.left > 0 && !is_late {
            return None;
        }
        let measurement = self.measurement.take()?;
        let best = Offset::best(&measurement.exchanges, DRIFT_PPB).filter(|_| !is_late);
        Some(best.ok_or_else(|| io::ErrorKind::TimedOut.into()))
    }

    /// The workers begin.
    pub(super) fn begin_load(&mut self, origin: Instant, now: u64) {
        self.has_begun = true;
        self.interval = 0;
        self.last_ns = self.clock.now(now).nanos_since(origin);
    }

    /// Returns the frames of all workers since the previous ones.
    pub(super) fn frames_now(&mut self, share: &StepShare, with_latency: bool, now: u64) -> Vec<Message> {
        let ended_ns = self.clock.now(now).nanos_since(share.origin);
        let workers = share.workers_before..share.workers_before + share.own_workers;
        let (step, interval, began_ns) = (share.step.index, self.interval, self.last_ns);
        let frame = |worker| {
            let keys = Keys { step, worker, interval, began_ns, ended_ns };
            Message::Frame(Box::new(keys.frame(with_latency)))
        };
        let frames = workers.map(frame).collect();
        self.interval += 1;
        self.last_ns = ended_ns;
        frames
    }

    /// Describes what the agent is doing.
    pub(super) fn standing(&self) -> String {
        let (name, unkept) = (&self.participant.identity().agent, self.participant.unkept());
        let doing = match self.generator {
            Generator::Absent => "prepares",
            Generator::Waiting => "waits",
            Generator::Measuring(_) => "measures",
            Generator::Working(_) => "works",
            Generator::Comparing => "compares",
            Generator::Gone => "is gone",
        };
        format!("{name} {doing} with {unkept} of {} messages; ", self.messages)
    }
}
