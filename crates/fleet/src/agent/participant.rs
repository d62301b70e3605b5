//! An agent's part in a run: what it has heard of the conductor, what it still has to send, and when its part ends.
//!
//! It does no I/O and asks no clock: the task of the agent carries what it gives, and a simulation does the same.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use plimsoll_conductor::peers::{Command, Message};
use plimsoll_units::{Instant, best_effort};

use super::gate::Admission;
use crate::commands::Confirmed;
use crate::outbox::{Outbox, Parcel};
use crate::wire::{Alive, Invitation, Refusal, State, ToAgent};

/// How often the agent says that it lives.
pub(crate) const REPEAT: Duration = Duration::from_millis(500);
/// The most messages of one batch: about 150 kB of frames, packed.
const BATCH_MAX: usize = 64;
/// Messages wait for others so long, as the workers hand over their frames at about the same time.
const GATHER: Duration = Duration::from_millis(20);

/// What follows from a message of the conductor.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Nothing that could not wait for the next sign of life.
    Nothing,
    /// The conductor should know at once that it arrived.
    News,
    /// A run begins, whose commands come from here.
    Begun(Invitation, Receiver<Command>),
    /// It is not obeyed, and was not named before.
    Refused(Refusal),
}

/// The run that the agent takes part in.
struct ActiveRun {
    name: String,
    confirmed: Confirmed,
    outbox: Outbox,
    /// Messages that are not packed yet.
    gathered: Vec<Message>,
    /// When they are.
    pack_at: Option<Instant>,
    /// To the generator; `None` once the run is over for it.
    commands: Option<Sender<Command>>,
    /// When the conductor was last heard.
    heard: Instant,
    /// When the conductor sent the last state, by its clock.
    latest: Instant,
    /// The generator has nothing more to send.
    finished: bool,
    /// The conductor has ended the run.
    over: bool,
}

impl ActiveRun {
    fn new(name: String, commands: Sender<Command>, now: Instant) -> Self {
        Self {
            name,
            confirmed: Confirmed::default(),
            outbox: Outbox::default(),
            gathered: Vec::new(),
            pack_at: None,
            commands: Some(commands),
            heard: now,
            latest: Instant::from_nanos(0),
            finished: false,
            over: false,
        }
    }
}

/// What an agent is called.
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
    refusal: Option<Refusal>,
    /// The last message that was not obeyed. Unlike a refusal it does not stand in the way of a valid invitation.
    distrusted: Option<Refusal>,
}

impl Participant {
    pub(crate) fn new(identity: Identity, orphan: Duration) -> Self {
        Self { identity, orphan, run: None, refusal: None, distrusted: None }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The name of the run that the agent takes part in.
    pub(crate) fn run(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.name.as_str())
    }

    /// When gathered messages are to be packed.
    pub(crate) fn pack_at(&self) -> Option<Instant> {
        self.run.as_ref().and_then(|run| run.pack_at)
    }

    /// Takes in a message of the generator; true if they fill a batch.
    pub(crate) fn gather(&mut self, message: Message, now: Instant) -> bool {
        let Some(run) = &mut self.run else { return false };
        run.gathered.push(message);
        run.pack_at.get_or_insert(now + GATHER);
        run.gathered.len() >= BATCH_MAX
    }

    /// The messages that were gathered, to be packed.
    pub(crate) fn take_gathered(&mut self) -> Vec<Message> {
        let Some(run) = &mut self.run else { return Vec::new() };
        run.pack_at = None;
        std::mem::take(&mut run.gathered)
    }

    /// Takes in so many messages, packed together.
    pub(crate) fn add(&mut self, messages: u64, content: Bytes, now: Instant) {
        if let Some(run) = &mut self.run {
            run.outbox.add(messages, content, now);
        }
    }

    /// What is to be handed to the broker now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Parcel> {
        self.run.as_mut().map(|run| run.outbox.due(now)).unwrap_or_default()
    }

    /// Whether the broker has stored the batch that begins with this message.
    pub(crate) fn note_stored(&mut self, first: u64, is_stored: bool, now: Instant) {
        let Some(run) = &mut self.run else { return };
        match is_stored {
            true => run.outbox.stored(first, now),
            false => run.outbox.refused(first, now),
        }
    }

    /// The generator has nothing more to send.
    pub(crate) fn finish(&mut self) {
        self.run.iter_mut().for_each(|run| (run.finished, run.commands) = (true, None));
    }

    /// The agent does not take part in this run.
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

    /// Names a message that is not obeyed, once.
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
        if self.run.is_some() || is_refused {
            return if is_known || is_refused { Heard::News } else { Heard::Nothing };
        }
        self.distrusted = None;
        let (commands, received) = channel();
        self.run = Some(ActiveRun::new(invitation.run.clone(), commands, now));
        Heard::Begun(invitation, received)
    }

    fn take_state(&mut self, state: State, now: Instant) -> Heard {
        let incarnation = self.identity.incarnation;
        let is_own = |run: &&mut ActiveRun| run.name == state.run && state.incarnation == incarnation;
        let Some(run) = self.run.as_mut().filter(is_own) else { return Heard::Nothing };
        if state.sent <= run.latest {
            let why = "a command came a second time, and is a replay".to_owned();
            return self.distrust(Refusal { run: state.run, why });
        }
        run.latest = state.sent;
        run.heard = now;
        run.outbox.confirm(state.received, state.kept, now);
        let new = run.confirmed.take(state.first, state.commands);
        let any = !new.is_empty();
        for command in new {
            let sent = run.commands.as_ref().map_or(Ok(()), |commands| commands.send(command));
            best_effort(sent, "the generator has ended, and says so");
        }
        if state.over {
            (run.over, run.commands) = (true, None);
        }
        if any || state.over { Heard::News } else { Heard::Nothing }
    }

    /// A generator whose conductor is silent for too long ends its load.
    pub(crate) fn look_after_run(&mut self, now: Instant) {
        let orphan = self.orphan;
        let is_lost = |run: &&mut ActiveRun| now.since(run.heard) > orphan;
        if let Some(run) = self.run.as_mut().filter(is_lost) {
            (run.over, run.commands) = (true, None);
        }
    }

    /// The name of the run if it has ended: the generator has, and everything has arrived or is not waited for.
    pub(crate) fn end_run(&mut self) -> Option<String> {
        let is_over = |run: &mut ActiveRun| {
            run.finished && run.gathered.is_empty() && (run.over || run.outbox.unkept() == 0)
        };
        self.run.take_if(is_over).map(|run| run.name)
    }

    /// True if the conductor has everything, or the run is over.
    pub(crate) fn is_delivered(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.over || run.outbox.is_delivered())
    }

    /// Messages that are not known to be in the run file.
    #[cfg(test)]
    pub(crate) fn unkept(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.outbox.unkept())
    }

    /// The sign of life.
    pub(crate) fn alive(&self) -> Alive {
        let Identity { agent, incarnation, version } = self.identity.clone();
        // What a stranger sends during a run does not end it.
        let distrusted = self.distrusted.as_ref().filter(|_| self.run.is_none());
        Alive {
            agent,
            incarnation,
            version,
            run: self.run().map(str::to_owned),
            commands: self.run.as_ref().map_or(0, |run| run.confirmed.count()),
            refusal: self.refusal.as_ref().or(distrusted).cloned(),
        }
    }
}
