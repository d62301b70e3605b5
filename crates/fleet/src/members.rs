//! The agents of a run as its conductor knows them: what each is to know, what came of it, and which of them are lost.
//!
//! It does no I/O and asks no clock: the [`Hub`](crate::hub::Hub) carries what it gives, and a simulation does the same.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Sender;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_conductor::peers::Command;
use plimsoll_units::{Instant, best_effort, duration_text};

use crate::commands::Commands;
use crate::inbox::Inbox;
use crate::wire::{Alive, Invitation, State, ToAgent};

/// How often each agent gets the state of its run.
pub(crate) const REPEAT: Duration = Duration::from_millis(500);
/// An agent of which nothing is heard for so long is lost. It is named within 3 s, as silence is looked for each half second.
const SILENT_MAX: Duration = Duration::from_millis(2_500);
/// If the conductor itself was late by so much, it says nothing about the agents.
const OWN_DELAY_MAX: Duration = Duration::from_secs(1);

/// What the run asks of its agents.
#[derive(Debug)]
pub(crate) enum Order {
    Command {
        agent: usize,
        command: Command,
    },
    /// So many messages of the agent are in the run file.
    Kept {
        agent: usize,
        messages: u64,
    },
    /// The run is over for this agent.
    Over {
        agent: usize,
    },
}

/// What comes of one agent.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// Packed messages, the next in order.
    Messages(Bytes),
    /// The agent is gone, and why.
    Lost(String),
}

/// What is to be done after an order.
#[derive(Debug)]
pub(crate) enum Carried<F> {
    /// This agent should know its state at once.
    Tell(usize),
    /// The stream need not keep these any more.
    Acknowledge(Vec<F>),
}

/// Messages of an agent as they came from the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivered<'a> {
    pub(crate) agent: &'a str,
    pub(crate) incarnation: u64,
    /// The number of the first message, and that after the last.
    pub(crate) first: u64,
    pub(crate) end: u64,
}

/// An agent of the run. `F` acknowledges one delivery of the stream.
pub(crate) struct Member<F> {
    pub(crate) name: String,
    incarnation: u64,
    commands: Commands,
    inbox: Inbox,
    /// Delivered and not in the run file: each with the number after its last message.
    unacknowledged: VecDeque<(u64, F)>,
    kept: u64,
    heard: Instant,
    joined: bool,
    over: bool,
    /// Where its messages go; `None` once it is lost.
    arrivals: Option<Sender<Arrival>>,
}

impl<F> Member<F> {
    pub(crate) fn new(name: String, incarnation: u64, arrivals: Sender<Arrival>, now: Instant) -> Self {
        Self {
            name,
            incarnation,
            commands: Commands::default(),
            inbox: Inbox::default(),
            unacknowledged: VecDeque::new(),
            kept: 0,
            heard: now,
            joined: false,
            over: false,
            arrivals: Some(arrivals),
        }
    }

    /// It takes part, as it says itself or as its messages show.
    fn has_come(&self) -> bool {
        self.joined || self.inbox.received() > 0
    }

    fn lose(&mut self, why: String) {
        if let Some(arrivals) = self.arrivals.take() {
            best_effort(arrivals.send(Arrival::Lost(why)), "the run is over");
        }
    }

    fn state(&self, run: &str, now: Instant) -> State {
        let (first, commands) = self.commands.unconfirmed();
        State {
            run: run.to_owned(),
            incarnation: self.incarnation,
            sent: now,
            first,
            commands,
            received: self.inbox.received(),
            kept: self.kept,
            over: self.over,
        }
    }

    /// Gives back a delivery of messages that are in the run file; others wait until they are.
    fn settle(&mut self, end: u64, frame: F) -> Option<F> {
        if end <= self.kept {
            return Some(frame);
        }
        self.unacknowledged.push_back((end, frame));
        None
    }

    /// What comes of an agent after it was lost is not counted, and must not fill the stream.
    fn settle_lost(&mut self, (first, end): (u64, u64), frame: F) -> Option<F> {
        if first >= self.inbox.received() { Some(frame) } else { self.settle(end, frame) }
    }

    /// So many messages are in the run file; gives what that settles.
    fn keep(&mut self, messages: u64) -> Vec<F> {
        self.kept = messages;
        let is_kept = |(end, _): &(u64, F)| *end <= messages;
        let mut settled = Vec::new();
        while self.unacknowledged.front().is_some_and(is_kept) {
            settled.extend(self.unacknowledged.pop_front().map(|(_, frame)| frame));
        }
        settled
    }
}

/// The agents of a run.
pub(crate) struct Members<F> {
    invitation: Invitation,
    members: Vec<Member<F>>,
    by_name: HashMap<String, usize>,
}

impl<F> Members<F> {
    pub(crate) fn new(invitation: Invitation, members: Vec<Member<F>>) -> Self {
        let by_name =
            members.iter().enumerate().map(|(index, member)| (member.name.clone(), index)).collect();
        Self { invitation, members, by_name }
    }

    pub(crate) fn run(&self) -> &str {
        &self.invitation.run
    }

    pub(crate) fn name(&self, agent: usize) -> Option<&str> {
        self.members.get(agent).map(|member| member.name.as_str())
    }

    /// Takes in an order; `None` if nothing follows from it at once.
    pub(crate) fn carry_out(&mut self, order: Order) -> Option<Carried<F>> {
        let (Order::Command { agent, .. } | Order::Kept { agent, .. } | Order::Over { agent }) = order;
        let member = self.members.get_mut(agent)?;
        match order {
            Order::Command { command, .. } => member.commands.add(command),
            Order::Over { .. } => member.over = true,
            // The agent knows it with the next repetition, which is soon enough.
            Order::Kept { messages, .. } => return Some(Carried::Acknowledge(member.keep(messages))),
        }
        Some(Carried::Tell(agent))
    }

    /// The state of the run for one agent.
    pub(crate) fn state(&self, agent: usize, now: Instant) -> Option<ToAgent> {
        self.members.get(agent).map(|member| ToAgent::State(member.state(self.run(), now)))
    }

    /// What is repeated to an agent: an invitation until it takes part, then its state. Nothing if it is lost.
    pub(crate) fn repetition(&self, agent: usize, now: Instant) -> Option<ToAgent> {
        let member = self.members.get(agent).filter(|member| member.arrivals.is_some())?;
        if member.joined {
            return self.state(agent, now);
        }
        Some(ToAgent::Join(Invitation { incarnation: member.incarnation, ..self.invitation.clone() }))
    }

    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// Takes in a sign of life.
    pub(crate) fn take_sign(&mut self, alive: Alive, now: Instant) {
        let Some(member) = self.by_name.get(&alive.agent).and_then(|index| self.members.get_mut(*index))
        else {
            return;
        };
        if alive.incarnation != member.incarnation {
            // Of two processes with one name the other goes on to be heard; one that was started again is alone.
            return;
        }
        member.heard = now;
        let run = &self.invitation.run;
        if let Some(refusal) = alive.refusal.filter(|refusal| refusal.run == *run) {
            member.lose(refusal.why);
        } else if alive.run.as_ref() == Some(run) {
            member.joined = true;
            member.commands.confirm(alive.commands);
        } else if member.joined && !member.over {
            member.lose("it has left the run".to_owned());
        }
    }

    /// Takes in a delivery of the stream; gives it back if it can be acknowledged at once.
    pub(crate) fn take_frame(
        &mut self,
        delivered: Delivered<'_>,
        content: Bytes,
        frame: F,
        now: Instant,
    ) -> Option<F> {
        let Delivered { agent, incarnation, first, end } = delivered;
        let of_run = |index: &usize| self.members.get(*index).is_some_and(|m| m.incarnation == incarnation);
        let Some(index) = self.by_name.get(agent).copied().filter(of_run) else { return Some(frame) };
        let member = &mut self.members[index];
        // What the stream delivers again is no sign of life.
        if member.inbox.is_new(first) {
            member.heard = now;
        }
        let Some(arrivals) = &member.arrivals else { return member.settle_lost((first, end), frame) };
        for messages in member.inbox.add(first, end, content) {
            best_effort(arrivals.send(Arrival::Messages(messages)), "the run is over");
        }
        member.settle(end, frame)
    }

    /// Names agents of which nothing is heard. Nothing is known of them while this side is cut off or was late itself.
    pub(crate) fn look_for_silence(&mut self, connected: bool, since_last: Duration, now: Instant) {
        let deaf = !connected || since_last > REPEAT + OWN_DELAY_MAX;
        for member in self.members.iter_mut().filter(|member| member.has_come() && !member.over) {
            let silent = now.since(member.heard);
            if deaf {
                member.heard = now;
            } else if silent > SILENT_MAX {
                member
                    .lose(format!("nothing was heard of it for {}", duration_text(silent.as_nanos() as f64)));
            }
        }
    }

    /// The run is over for all agents.
    pub(crate) fn end(&mut self) {
        self.members.iter_mut().for_each(|member| member.over = true);
    }

    pub(crate) fn are_over(&self) -> bool {
        self.members.iter().all(|member| member.over)
    }

    /// The names of those that take part and are not lost.
    pub(crate) fn taking_part(&self) -> Vec<String> {
        let taking_part = self.members.iter().filter(|member| member.arrivals.is_some() && member.joined);
        taking_part.map(|member| member.name.clone()).collect()
    }
}
