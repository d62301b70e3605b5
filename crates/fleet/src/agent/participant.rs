//! An agent's part in a run: what it has received from the conductor, what it still has to send, and when its part ends.
//!
//! Does no I/O and reads no clock: the task of the agent carries its output, and so does a simulation.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use plimsoll_conductor::peers::{Command, Message};
use plimsoll_units::{Instant, best_effort};

use super::gate::Admission;
use crate::commands::Confirmed;
use crate::outbox::{Outbox, Parcel};
use crate::wire::{Alive, Held, Invitation, REPEAT, Refusal, State, ToAgent};

/// The most messages of one batch: about 150 kB of frames, packed.
const BATCH_MAX: usize = 64;
/// How long the data of a run whose conductor is gone is kept, and at most how many bytes of it.
const LEFT_MAX: Duration = Duration::from_secs(3600);
const LEFT_BYTES_MAX: usize = 1 << 30;

/// The reason that a conductor reports for an agent that was ended on its own machine.
const INTERRUPTED: &str = "it was ended on its machine";

/// What follows from a message of the conductor.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Nothing urgent: the next sign of life is soon enough.
    Nothing,
    /// The conductor should learn at once that the message arrived.
    News,
    /// Another conductor, with another clock, resumes the run. It should learn at once that it is obeyed.
    Succeeded,
    /// A run begins; its commands arrive on this channel.
    Begun(Invitation, Receiver<Command>),
    /// The message is not obeyed, for a reason that was not reported before.
    Refused(Refusal),
}

/// The run that the agent takes part in.
struct ActiveRun {
    name: String,
    invitation: Invitation,
    confirmed: Confirmed,
    outbox: Outbox,
    /// Messages that are not packed yet.
    gathered: Vec<Message>,
    /// When to pack them.
    pack_at: Option<Instant>,
    /// Channel to the generator; `None` once the run is over for it.
    commands: Option<Sender<Command>>,
    /// A later conductor's request for further steps. The generator has ended because its conductor was silent.
    asked: Option<Command>,
    /// When the conductor was last heard.
    heard: Instant,
    /// Term of the conductor that is obeyed.
    term: u64,
    /// When that conductor sent the last state, by its clock.
    latest: Instant,
    /// Index of the step under way, whose end is not reported yet.
    at_work: Option<u32>,
    /// The generator has nothing more to send.
    finished: bool,
    /// The conductor has ended the run.
    over: bool,
    /// Nothing was heard of the conductor for too long.
    orphaned: bool,
    /// The agent ends before the run does.
    interrupted: bool,
}

impl ActiveRun {
    fn new(invitation: Invitation, commands: Sender<Command>, now: Instant) -> Self {
        Self {
            name: invitation.run.clone(),
            invitation,
            confirmed: Confirmed::default(),
            outbox: Outbox::default(),
            gathered: Vec::new(),
            pack_at: None,
            commands: Some(commands),
            asked: None,
            heard: now,
            term: 0,
            latest: Instant::from_nanos(0),
            at_work: None,
            finished: false,
            over: false,
            orphaned: false,
            interrupted: false,
        }
    }

    /// True if the load has ended because the conductor was silent. The data is kept for a conductor that resumes the run.
    fn is_left(&self) -> bool {
        self.orphaned && self.finished
    }

    fn gather(&mut self, message: Message, now: Instant) {
        let message = match message {
            // A share that was interrupted has failed.
            Message::Ended { .. } if self.interrupted => Message::Failed { why: INTERRUPTED.to_owned() },
            message => message,
        };
        if matches!(message, Message::Ended { .. } | Message::Failed { .. }) {
            self.at_work = None;
        }
        // Only frames may wait for others: the conductor waits for all other messages.
        let waits =
            if matches!(message, Message::Frame(_)) { self.invitation.gather } else { Duration::ZERO };
        self.gathered.push(message);
        let due = now + waits;
        self.pack_at = Some(self.pack_at.map_or(due, |earlier| earlier.min(due)));
    }

    /// Passes a command on to the generator, if it still runs.
    fn command(&mut self, command: Command) {
        let begun = match &command {
            Command::Begin(share) => Some(share.step.index),
            _ => None,
        };
        let unsent = match &self.commands {
            // This fails if the generator has ended and the agent's task does not know it yet.
            Some(commands) => commands.send(command).err().map(|unsent| unsent.0),
            None => Some(command),
        };
        self.at_work = begun.filter(|_| unsent.is_none()).or(self.at_work);
        if let Some(command @ Command::StandBy { .. }) = unsent {
            self.asked = Some(command);
        }
    }

    /// Restarts a generator that ended without its conductor, if another conductor asks for further steps. Returns the source of
    /// its commands.
    fn begin_again(&mut self) -> Option<Receiver<Command>> {
        let asked = self.asked.take_if(|_| self.finished && !self.over)?;
        let (commands, received) = channel();
        best_effort(commands.send(asked), "its other end is held here");
        (self.commands, self.finished) = (Some(commands), false);
        Some(received)
    }

    /// Notes that the generator has ended.
    fn finish(&mut self, now: Instant) {
        let end = match self.at_work {
            _ if self.interrupted => Some(Message::Failed { why: INTERRUPTED.to_owned() }),
            step @ Some(_) => Some(Message::Ended { step, fault: None }),
            None => None,
        };
        end.into_iter().for_each(|message| self.gather(message, now));
        (self.finished, self.commands) = (true, None);
    }

    /// Obeys another conductor that resumes the run. If no step is under way, reports that once more: the former conductor may
    /// have received the report without recording it.
    fn obey(&mut self, term: u64, now: Instant) {
        (self.term, self.orphaned) = (term, false);
        if self.at_work.is_none() {
            self.gather(Message::Ended { step: None, fault: None }, now);
        }
    }

    fn held(&self, now: Instant) -> Held {
        Held {
            run: self.name.clone(),
            term: self.term,
            silent: now.since(self.heard),
            first: self.outbox.first_unkept(),
            commands: self.confirmed.count(),
        }
    }
}

/// The name, incarnation and version of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) agent: String,
    pub(crate) incarnation: u64,
    pub(crate) version: String,
}

/// An agent, and its part in a run while there is one.
pub(crate) struct Participant {
    identity: Identity,
    orphan: Duration,
    run: Option<ActiveRun>,
    /// A run whose data was discarded, although its conductor did not end it.
    given_up: Option<String>,
    refusal: Option<Refusal>,
    /// The last message that was not obeyed. Unlike a refusal, it does not prevent a valid invitation.
    distrusted: Option<Refusal>,
}

impl Participant {
    pub(crate) fn new(identity: Identity, orphan: Duration) -> Self {
        Self { identity, orphan, run: None, given_up: None, refusal: None, distrusted: None }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The name of the run that the agent takes part in.
    pub(crate) fn run(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.name.as_str())
    }

    /// True if the agent takes part in no run, or has ended the load of a run whose conductor is gone.
    pub(crate) fn is_free(&self) -> bool {
        self.run.as_ref().is_none_or(ActiveRun::is_left)
    }

    /// Returns that run and the term of its conductor, if the conductor was heard recently.
    pub(crate) fn conducted_run(&self, now: Instant) -> Option<(&str, u64)> {
        let has_conductor = |run: &&ActiveRun| now.since(run.heard) <= 2 * REPEAT;
        self.run.as_ref().filter(has_conductor).map(|run| (run.name.as_str(), run.term))
    }

    /// When to pack the gathered messages.
    pub(crate) fn pack_at(&self) -> Option<Instant> {
        self.run.as_ref().and_then(|run| run.pack_at)
    }

    /// Takes in a message of the generator; true if a batch is full.
    pub(crate) fn gather(&mut self, message: Message, now: Instant) -> bool {
        let Some(run) = &mut self.run else { return false };
        run.gather(message, now);
        run.gathered.len() >= BATCH_MAX
    }

    /// Takes out the gathered messages, to be packed.
    pub(crate) fn take_gathered(&mut self) -> Vec<Message> {
        let Some(run) = &mut self.run else { return Vec::new() };
        run.pack_at = None;
        std::mem::take(&mut run.gathered)
    }

    /// Adds a packed batch of `messages` messages.
    pub(crate) fn add(&mut self, messages: u64, content: Bytes, now: Instant) {
        if let Some(run) = &mut self.run {
            run.outbox.add(messages, content, now);
        }
    }

    /// Returns the batches to hand to the broker now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Parcel> {
        self.run.as_mut().map(|run| run.outbox.due(now)).unwrap_or_default()
    }

    /// Notes whether the broker has stored the batch that begins with message `first`.
    pub(crate) fn note_stored(&mut self, first: u64, is_stored: bool, now: Instant) {
        let Some(run) = &mut self.run else { return };
        match is_stored {
            true => run.outbox.stored(first, now),
            false => run.outbox.refused(first, now),
        }
    }

    /// Interrupts the agent's part: the generator ends its load, and the conductor is notified after the remaining data.
    pub(crate) fn interrupt(&mut self) {
        if let Some(run) = &mut self.run {
            (run.interrupted, run.commands) = (true, None);
        }
    }

    /// Notes that the generator has nothing more to send.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.run.iter_mut().for_each(|run| run.finish(now));
    }

    /// Declines to take part in this run.
    pub(crate) fn refuse(&mut self, run: String, why: String) {
        self.run = None;
        self.refusal = Some(Refusal { run, why });
    }

    /// Takes in a message of the conductor.
    pub(crate) fn hear(&mut self, admission: Admission, now: Instant) -> Heard {
        match admission {
            Admission::Obey(ToAgent::Join(invitation)) => self.join(invitation, now),
            Admission::Obey(ToAgent::State(state)) => self.take_state(state, now),
            Admission::Refuse(refusal) => self.distrust(refusal),
            Admission::Drop => Heard::Nothing,
        }
    }

    /// Reports a message that is not obeyed, once.
    fn distrust(&mut self, refusal: Refusal) -> Heard {
        if self.distrusted.as_ref() == Some(&refusal) {
            return Heard::Nothing;
        }
        self.distrusted = Some(refusal.clone());
        Heard::Refused(refusal)
    }

    fn join(&mut self, invitation: Invitation, now: Instant) -> Heard {
        let is_refused = self.refusal.as_ref().is_some_and(|refusal| refusal.run == invitation.run);
        let is_known = self.run() == Some(invitation.run.as_str());
        if !self.is_free() || is_known || is_refused {
            return if is_known || is_refused { Heard::News } else { Heard::Nothing };
        }
        self.give_up_left();
        self.distrusted = None;
        let (commands, received) = channel();
        self.run = Some(ActiveRun::new(invitation.clone(), commands, now));
        Heard::Begun(invitation, received)
    }

    fn take_state(&mut self, state: State, now: Instant) -> Heard {
        let incarnation = self.identity.incarnation;
        let is_own = |run: &&mut ActiveRun| run.name == state.run && state.incarnation == incarnation;
        let Some(run) = self.run.as_mut().filter(is_own) else { return Heard::Nothing };
        if (state.term, state.sent) <= (run.term, run.latest) {
            let why = "a command came a second time, and is a replay".to_owned();
            return self.distrust(Refusal { run: state.run, why });
        }
        let is_new = state.term > run.term;
        if is_new {
            run.obey(state.term, now);
            self.distrusted = None;
        }
        run.latest = state.sent;
        run.heard = now;
        run.outbox.confirm(state.received, state.kept, now);
        let new = run.confirmed.take(state.first, state.commands);
        let any = !new.is_empty();
        new.into_iter().for_each(|command| run.command(command));
        if state.over {
            (run.over, run.commands) = (true, None);
        }
        if is_new {
            Heard::Succeeded
        } else if any || state.over {
            Heard::News
        } else {
            Heard::Nothing
        }
    }

    /// Ends the load of a generator whose conductor has been silent for too long. Its data is kept for a while.
    pub(crate) fn look_after_run(&mut self, now: Instant) {
        let Some(run) = &mut self.run else { return };
        let silent = now.since(run.heard);
        if silent > self.orphan {
            (run.orphaned, run.commands) = (true, None);
        }
        if run.is_left() && (silent > LEFT_MAX || run.outbox.bytes() > LEFT_BYTES_MAX) {
            self.give_up_left();
        }
    }

    /// Discards the data of a run whose conductor is gone.
    fn give_up_left(&mut self) {
        if let Some(run) = self.run.take_if(|run| run.is_left()) {
            self.given_up = Some(run.name);
        }
    }

    /// Returns the invitation to a run in which the generator restarts for another conductor, and the source of its commands.
    pub(crate) fn begin_again(&mut self) -> Option<(Invitation, Receiver<Command>)> {
        let run = self.run.as_mut()?;
        let commands = run.begin_again()?;
        Some((run.invitation.clone(), commands))
    }

    /// Returns the name of a run that has ended: it was given up, or its generator has ended and all messages are in the run file
    /// or no longer needed.
    pub(crate) fn end_run(&mut self) -> Option<String> {
        let is_over = |run: &mut ActiveRun| {
            let has_all = run.outbox.unkept() == 0 && !run.orphaned;
            run.finished && run.gathered.is_empty() && (run.over || has_all)
        };
        self.given_up.take().or_else(|| self.run.take_if(is_over).map(|run| run.name))
    }

    /// True if the conductor has received everything, or the run is over.
    pub(crate) fn is_delivered(&self) -> bool {
        let has_sent = |run: &ActiveRun| run.gathered.is_empty() && run.outbox.is_delivered();
        self.run.as_ref().is_none_or(|run| run.over || has_sent(run))
    }

    /// Messages that are not known to be in the run file.
    #[cfg(test)]
    pub(crate) fn unkept(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.outbox.unkept())
    }

    /// Returns the sign of life.
    pub(crate) fn alive(&self, now: Instant) -> Alive {
        let Identity { agent, incarnation, version } = self.identity.clone();
        let run = self.run.as_ref().filter(|run| !run.is_left());
        // A message from a stranger must not end a run.
        let distrusted = self.distrusted.as_ref().filter(|_| run.is_none());
        Alive {
            agent,
            incarnation,
            version,
            run: run.map(|run| run.name.clone()),
            commands: run.map_or(0, |run| run.confirmed.count()),
            refusal: self.refusal.as_ref().or(distrusted).cloned(),
            distrusted: self.distrusted.clone(),
            held: self.run.as_ref().map(|run| run.held(now)),
        }
    }
}

#[cfg(test)]
mod tests;
