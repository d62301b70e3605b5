//! One agent of a run as its conductor knows it.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;

use bytes::Bytes;
use plimsoll_units::{Instant, best_effort};

use crate::commands::Commands;
use crate::inbox::Inbox;
use crate::wire::{Held, State};

/// What the run receives from one agent.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The next batch in order, packed.
    Messages(Bytes),
    /// The agent is lost, for this reason.
    Lost(String),
}

/// An agent of the run. `F` acknowledges one delivery of the stream.
pub(crate) struct Member<F> {
    pub(crate) name: String,
    pub(super) incarnation: u64,
    pub(super) commands: Commands,
    pub(super) inbox: Inbox,
    /// Deliveries whose messages are not in the run file, each with the number after its last message.
    unacknowledged: VecDeque<(u64, F)>,
    /// Number of the first message that this conductor receives.
    first: u64,
    kept: u64,
    /// Why the agent was gone when this conductor took over; `None` if it was not. Its data in the stream still counts.
    pub(super) gone: Option<String>,
    pub(super) heard: Instant,
    pub(super) joined: bool,
    pub(super) over: bool,
    /// Channel to the run; `None` once the agent is lost.
    pub(super) arrivals: Option<Sender<Arrival>>,
}

impl<F> Member<F> {
    pub(crate) fn new(name: String, incarnation: u64, arrivals: Sender<Arrival>, now: Instant) -> Self {
        Self {
            name,
            incarnation,
            commands: Commands::default(),
            inbox: Inbox::default(),
            unacknowledged: VecDeque::new(),
            first: 0,
            kept: 0,
            gone: None,
            heard: now,
            joined: false,
            over: false,
            arrivals: Some(arrivals),
        }
    }

    /// Creates the member for an agent of a former conductor, with its position in the run or the reason why it is gone.
    pub(crate) fn resumed(
        (name, incarnation): (String, u64),
        stands: Result<&Held, String>,
        arrivals: Sender<Arrival>,
        now: Instant,
    ) -> Self {
        let mut member = Self { joined: true, ..Self::new(name, incarnation, arrivals, now) };
        match stands {
            Ok(held) => member.go_on_from(held),
            Err(why) => member.gone = Some(why),
        }
        member
    }

    /// Continues from the agent's position: nothing before it is sent again.
    pub(super) fn go_on_from(&mut self, held: &Held) {
        self.commands = Commands::after(held.commands);
        self.inbox = Inbox::starting_at(held.first);
        (self.first, self.kept) = (held.first, held.first);
    }

    /// True if the agent has joined, by its own report or by messages that arrived.
    fn has_come(&self) -> bool {
        self.joined || self.inbox.received() > 0
    }

    /// True if signs of life are expected from the agent.
    pub(super) fn is_expected(&self) -> bool {
        self.has_come() && !self.over && self.gone.is_none()
    }

    pub(super) fn deliver(&self, messages: Vec<Bytes>) {
        for messages in messages {
            if let Some(arrivals) = &self.arrivals {
                best_effort(arrivals.send(Arrival::Messages(messages)), "the run is over");
            }
        }
    }

    pub(super) fn lose(&mut self, why: String) {
        if let Some(arrivals) = self.arrivals.take() {
            best_effort(arrivals.send(Arrival::Lost(why)), "the run is over");
        }
    }

    pub(super) fn state(&self, run: &str, term: u64, now: Instant) -> State {
        let (first, commands) = self.commands.unconfirmed();
        State {
            run: run.to_owned(),
            incarnation: self.incarnation,
            term,
            sent: now,
            first,
            commands,
            received: self.inbox.received(),
            kept: self.kept,
            over: self.over,
        }
    }

    /// Returns the delivery if its messages are in the run file; otherwise keeps it until they are.
    pub(super) fn settle(&mut self, end: u64, frame: F) -> Option<F> {
        if end <= self.kept {
            return Some(frame);
        }
        self.unacknowledged.push_back((end, frame));
        None
    }

    /// Settles a delivery of a lost agent. What arrives after the loss is not counted, and must not fill the stream.
    pub(super) fn settle_lost(&mut self, (first, end): (u64, u64), frame: F) -> Option<F> {
        if first >= self.inbox.received() { Some(frame) } else { self.settle(end, frame) }
    }

    /// Notes that `messages` messages of this conductor are in the run file. Returns the deliveries that this settles.
    pub(super) fn keep(&mut self, messages: u64) -> Vec<F> {
        let kept = self.first + messages;
        self.kept = kept;
        let is_kept = |(end, _): &(u64, F)| *end <= kept;
        let mut settled = Vec::new();
        while self.unacknowledged.front().is_some_and(is_kept) {
            settled.extend(self.unacknowledged.pop_front().map(|(_, frame)| frame));
        }
        settled
    }
}
