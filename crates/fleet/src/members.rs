//! The conductor's view of a run's agents: the state to send to each, the messages received from each, and which are lost.
//!
//! Does no I/O and reads no clock: the [`Hub`](crate::hub::Hub) carries its output, and so does a simulation.

mod member;

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_conductor::peers::Command;
use plimsoll_units::{Instant, duration_text};

pub(crate) use member::{Arrival, Member};

use crate::wire::{Alive, Invitation, REPEAT, State, ToAgent};

/// An agent is lost after this long without a message. Silence is checked every half second, so a loss is reported within 3 s.
const SILENT_MAX: Duration = Duration::from_millis(2_500);
/// If the conductor's own check is late by more than this, it concludes nothing about the agents.
const OWN_DELAY_MAX: Duration = Duration::from_secs(1);
/// A conductor waits no longer than this for an unreachable broker. What agents have not delivered by then is not in the run.
const CUT_OFF_MAX: Duration = Duration::from_secs(60);
/// If no batch arrives for this long, the rest of what the stream held at the takeover has expired.
const BACKLOG_SILENT_MAX: Duration = Duration::from_secs(30);
/// Gather time per agent: up to 1,000 agents together send about one batch in this time. Each batch costs the replicas of a broker half a
/// millisecond of CPU, whatever its size.
const BATCH_TIME: Duration = Duration::from_millis(1);
/// The workers of an agent hand over their frames at about the same time; this gathers them into one batch.
const GATHER_MIN: Duration = Duration::from_millis(20);
/// An agent that dies loses the frames of at most this time.
const GATHER_MAX: Duration = Duration::from_secs(1);
/// The reason given for losing an agent that obeys a later conductor.
const TAKEN_AGAIN: &str = "another conductor has taken the run over";

/// A request of the run to the hub.
#[derive(Debug)]
pub(crate) enum Order {
    Command {
        agent: usize,
        command: Command,
    },
    /// This many messages of the agent are in the run file.
    Kept {
        agent: usize,
        messages: u64,
    },
    /// The run is over for this agent.
    Over {
        agent: usize,
    },
    /// The run is left unfinished: agents and the stream keep their data.
    Leave,
}

/// The action that follows an order.
#[derive(Debug)]
pub(crate) enum Carried<F> {
    /// Send this agent its state at once.
    SendState(usize),
    /// Acknowledge these deliveries to the stream.
    Acknowledge(Vec<F>),
}

/// A batch of an agent, as delivered by the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivered<'a> {
    pub(crate) agent: &'a str,
    pub(crate) incarnation: u64,
    /// Numbers of the first message and of the one after the last.
    pub(crate) first: u64,
    pub(crate) end: u64,
}

/// How long each of `agents` agents gathers frames before it sends a batch.
fn gather_time(agents: usize) -> Duration {
    (BATCH_TIME * u32::try_from(agents).unwrap_or(u32::MAX)).clamp(GATHER_MIN, GATHER_MAX)
}

/// The agents of a run.
pub(crate) struct Members<F> {
    invitation: Invitation,
    members: Vec<Member<F>>,
    by_name: HashMap<String, usize>,
    /// Term of this conductor; 0 for the one that began the run.
    term: u64,
    backlog: Option<Backlog>,
    /// Since when the conductor has had no connection to the broker.
    cut_off: Option<Instant>,
    /// Another conductor has taken over the run, and agents obey it.
    is_succeeded: bool,
}

/// Batches that the stream held at the takeover and that have not arrived yet.
struct Backlog {
    left: u64,
    /// When the last batch arrived.
    heard: Instant,
}

impl<F> Members<F> {
    pub(crate) fn new(invitation: Invitation, members: Vec<Member<F>>) -> Self {
        let by_name =
            members.iter().enumerate().map(|(index, member)| (member.name.clone(), index)).collect();
        Self { invitation, members, by_name, term: 0, backlog: None, cut_off: None, is_succeeded: false }
    }

    /// Makes this the view of a conductor that resumes a run, with `backlog` batches in the stream.
    pub(crate) fn resuming(self, term: u64, backlog: u64, now: Instant) -> Self {
        Self { term, backlog: Some(Backlog { left: backlog, heard: now }), ..self }
    }

    pub(crate) fn run(&self) -> &str {
        &self.invitation.run
    }

    pub(crate) fn term(&self) -> u64 {
        self.term
    }

    pub(crate) fn name(&self, agent: usize) -> Option<&str> {
        self.members.get(agent).map(|member| member.name.as_str())
    }

    /// Carries out an order; `None` if no immediate action follows.
    pub(crate) fn carry_out(&mut self, order: Order) -> Option<Carried<F>> {
        match order {
            Order::Command { agent, command } => {
                self.members.get_mut(agent)?.commands.add(command);
                Some(Carried::SendState(agent))
            }
            Order::Over { agent } => {
                self.members.get_mut(agent)?.over = true;
                Some(Carried::SendState(agent))
            }
            // The agent learns of it with the next repetition, which is soon enough.
            Order::Kept { agent, messages } => {
                Some(Carried::Acknowledge(self.members.get_mut(agent)?.keep(messages)))
            }
            // No agent is notified: the hub ends.
            Order::Leave => None,
        }
    }

    /// Returns the state message for one agent.
    pub(crate) fn state(&self, agent: usize, now: Instant) -> Option<ToAgent> {
        self.members.get(agent).map(|member| ToAgent::State(member.state(self.run(), self.term, now)))
    }

    /// Returns the message to repeat to an agent: the invitation until it joins, then its state. `None` if it is lost.
    pub(crate) fn repetition(&self, agent: usize, now: Instant) -> Option<ToAgent> {
        let is_there = |member: &&Member<F>| member.arrivals.is_some() && member.gone.is_none();
        let member = self.members.get(agent).filter(is_there)?;
        if member.joined {
            return self.state(agent, now);
        }
        let (incarnation, gather) = (member.incarnation, gather_time(self.count()));
        Some(ToAgent::Join(Invitation { incarnation, gather, ..self.invitation.clone() }))
    }

    /// Returns the message that the run is over, for a lost agent that may be back; `None` for other agents.
    pub(crate) fn farewell(&self, agent: usize, now: Instant) -> Option<ToAgent> {
        let is_lost =
            |member: &&Member<F>| member.arrivals.is_none() && member.gone.is_none() && !self.is_succeeded;
        let member = self.members.get(agent).filter(is_lost)?;
        let state = member.state(self.run(), self.term, now);
        Some(ToAgent::State(State { over: true, ..state }))
    }

    /// True if, as far as is known, no other conductor can need the stream.
    pub(crate) fn are_rid_of_stream(&self) -> bool {
        !self.is_succeeded && self.cut_off.is_none()
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
        if alive.incarnation != member.incarnation || member.gone.is_some() {
            // Another process of this name: if it is a duplicate, the expected one is still heard; if it is a restart, it is not.
            return;
        }
        member.heard = now;
        let run = &self.invitation.run;
        let held = alive.held.as_ref().filter(|held| held.run == *run);
        // An agent that joined and left before its first sign of life shows that only by the run it holds.
        let has_left = member.joined || held.is_some_and(|held| held.term == self.term);
        if held.is_some_and(|held| held.term > self.term) {
            member.lose(TAKEN_AGAIN.to_owned());
            self.is_succeeded = true;
        } else if let Some(refusal) = alive.refusal.filter(|refusal| refusal.run == *run) {
            member.lose(refusal.why);
        } else if alive.run.as_ref() == Some(run) {
            member.joined = true;
            member.commands.confirm(alive.commands);
        } else if has_left && !member.over {
            member.lose("it has left the run".to_owned());
        }
    }

    /// Takes in a delivery of the stream. Returns it if it can be acknowledged at once.
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
        // A redelivery is no sign of life.
        if member.inbox.is_new(first) {
            member.heard = now;
        }
        if member.arrivals.is_none() {
            return member.settle_lost((first, end), frame);
        }
        let next = member.inbox.add(first, end, content);
        member.deliver(next);
        member.settle(end, frame)
    }

    /// Counts a batch that arrived from the stream.
    pub(crate) fn count_backlog(&mut self, now: Instant) {
        if let Some(backlog) = &mut self.backlog {
            *backlog = Backlog { left: backlog.left.saturating_sub(1), heard: now };
        }
        self.end_backlog(now);
    }

    /// Ends the backlog once it has arrived or expired. Agents that were gone at the takeover are lost then: no more of them can arrive.
    pub(crate) fn end_backlog(&mut self, now: Instant) {
        let is_over =
            |backlog: &mut Backlog| backlog.left == 0 || now.since(backlog.heard) > BACKLOG_SILENT_MAX;
        if self.backlog.take_if(is_over).is_none() {
            return;
        }
        for member in &mut self.members {
            if let Some(why) = member.gone.clone() {
                let rest = member.inbox.skip_missing();
                member.deliver(rest);
                member.lose(why);
            }
        }
    }

    /// Returns the agents that do not obey this conductor yet, by name, each with the reason. Leaves out those that are gone.
    pub(crate) fn to_be_taken(&self) -> HashMap<String, String> {
        let there = self.members.iter().filter(|member| member.gone.is_none());
        there.map(|member| (member.name.clone(), "it did not answer".to_owned())).collect()
    }

    /// Takes in a sign of life during a takeover: removes the agent from `left` if it obeys this conductor, else updates its reason.
    pub(crate) fn note_obedience(&mut self, alive: Alive, left: &mut HashMap<String, String>, now: Instant) {
        let own =
            |member: &&mut Member<F>| member.name == alive.agent && member.incarnation == alive.incarnation;
        // The agent is not silent while the conductor waits for others to obey.
        self.members.iter_mut().filter(own).for_each(|member| member.heard = now);
        let Some(why) = left.get_mut(&alive.agent) else { return };
        let run = &self.invitation.run;
        match alive.held.as_ref().filter(|held| held.run == *run) {
            Some(held) if held.term == self.term => {
                left.remove(&alive.agent);
                // Since its first sign of life, a late state of the former conductor may have changed its position.
                let index = self.by_name.get(&alive.agent);
                let member = index.and_then(|index| self.members.get_mut(*index));
                member.into_iter().for_each(|member| member.go_on_from(held));
            }
            Some(held) if held.term > self.term => *why = TAKEN_AGAIN.to_owned(),
            Some(_) | None => {
                let distrusted = alive.distrusted.filter(|refusal| refusal.run == *run);
                distrusted.into_iter().for_each(|refusal| *why = refusal.why);
            }
        }
    }

    /// Loses all agents: the broker is of no more use.
    pub(crate) fn lose_all(&mut self, why: &str) {
        self.backlog = None;
        self.members.iter_mut().for_each(|member| member.lose(why.to_owned()));
    }

    /// Loses agents that have been silent for too long. Concludes nothing while the conductor is disconnected or was late itself;
    /// loses all agents once it has been disconnected for longer than [`CUT_OFF_MAX`].
    pub(crate) fn look_for_silence(&mut self, connected: bool, since_last: Duration, now: Instant) {
        self.cut_off = if connected { None } else { self.cut_off.or(Some(now)) };
        if self.cut_off.is_some_and(|since| now.since(since) > CUT_OFF_MAX) {
            let away = duration_text(CUT_OFF_MAX.as_nanos() as f64);
            return self.lose_all(&format!("the broker could not be reached for {away}"));
        }
        let deaf = !connected || since_last > REPEAT + OWN_DELAY_MAX;
        if let Some(backlog) = self.backlog.as_mut().filter(|_| deaf) {
            backlog.heard = now;
        }
        self.end_backlog(now);
        for member in self.members.iter_mut().filter(|member| member.is_expected()) {
            let silent = now.since(member.heard);
            if deaf {
                member.heard = now;
            } else if silent > SILENT_MAX {
                member
                    .lose(format!("nothing was heard of it for {}", duration_text(silent.as_nanos() as f64)));
            }
        }
    }

    /// Ends the run for all agents.
    pub(crate) fn end(&mut self) {
        self.members.iter_mut().for_each(|member| member.over = true);
    }

    pub(crate) fn are_over(&self) -> bool {
        self.members.iter().all(|member| member.over)
    }

    /// The names of the agents that take part and are not lost.
    pub(crate) fn taking_part(&self) -> Vec<String> {
        let takes_part =
            |member: &&Member<F>| member.arrivals.is_some() && member.joined && member.gone.is_none();
        let taking_part = self.members.iter().filter(takes_part);
        taking_part.map(|member| member.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::wire::Held;

    const START: Instant = Instant::from_nanos(1_000_000_000);

    /// A run that was taken over with two batches in the stream, of an agent that was gone.
    fn taken_over() -> (Members<u64>, Receiver<Arrival>) {
        let (sender, arrivals) = channel();
        let gone = Member::resumed(("a".to_owned(), 7), Err("it is gone".to_owned()), sender, START);
        (Members::new(invitation(), vec![gone]).resuming(1, 2, START), arrivals)
    }

    /// A run with one agent that has not come yet.
    fn of_one() -> (Members<u64>, Receiver<Arrival>) {
        let (sender, arrivals) = channel();
        (Members::new(invitation(), vec![Member::new("a".to_owned(), 7, sender, START)]), arrivals)
    }

    fn invitation() -> Invitation {
        Invitation {
            run: "r".to_owned(),
            incarnation: 0,
            version: "1".to_owned(),
            plan: String::new(),
            csv: None,
            gather: Duration::ZERO,
        }
    }

    /// The sign of life of an agent that stands so in its run.
    fn alive(held: Held) -> Alive {
        Alive {
            agent: "a".to_owned(),
            incarnation: 7,
            version: "1".to_owned(),
            run: Some(held.run.clone()),
            commands: held.commands,
            refusal: None,
            distrusted: None,
            held: Some(held),
        }
    }

    #[test]
    fn the_agents_of_a_large_fleet_hand_over_fewer_and_larger_batches() {
        let times = [1, 20, 100, 1000, 5000].map(|agents| gather_time(agents).as_millis());
        assert_eq!(times, [20, 20, 100, 1000, 1000]);
    }

    fn take_batch(members: &mut Members<u64>, first: u64, now: Instant) {
        let delivered = Delivered { agent: "a", incarnation: 7, first, end: first + 1 };
        members.take_frame(delivered, Bytes::from_static(b"batch"), first, now);
        members.count_backlog(now);
    }

    #[test]
    fn an_agent_whose_first_sign_says_that_it_has_left_the_run_is_lost() {
        let (mut members, arrivals) = of_one();
        let held = Held { run: "r".to_owned(), term: 0, silent: Duration::ZERO, first: 0, commands: 0 };
        let strange = Held { run: "q".to_owned(), ..held.clone() };
        members.take_sign(Alive { run: None, ..alive(strange) }, START);
        assert!(arrivals.try_recv().is_err(), "it has not come yet");
        members.take_sign(Alive { run: None, ..alive(held) }, START);
        assert!(
            matches!(arrivals.try_recv(), Ok(Arrival::Lost(_))),
            "it was cut off until its load had ended"
        );
    }

    #[test]
    fn a_broker_that_stays_away_ends_the_run_and_one_that_comes_back_does_not() {
        let (mut members, arrivals) = of_one();
        let later = |parts: u32| START + CUT_OFF_MAX * parts / 2;
        members.look_for_silence(false, REPEAT, later(0));
        members.look_for_silence(true, REPEAT, later(1));
        for parts in 2..=4 {
            members.look_for_silence(false, REPEAT, later(parts));
        }
        assert!(arrivals.try_recv().is_err(), "it was back once");
        members.look_for_silence(false, REPEAT, later(5));
        assert!(matches!(arrivals.try_recv(), Ok(Arrival::Lost(_))));
        assert!(!members.are_rid_of_stream(), "another conductor may have taken the run over meanwhile");
    }

    #[test]
    fn an_agent_that_was_lost_and_is_there_again_is_sent_that_the_run_is_over() {
        let (mut members, _arrivals) = of_one();
        assert!(members.farewell(0, START).is_none());
        members.lose_all("nothing was heard of it");
        assert!(members.repetition(0, START).is_none());
        assert!(matches!(members.farewell(0, START), Some(ToAgent::State(State { over: true, .. }))));
    }

    #[test]
    fn agents_that_obey_are_not_silent_while_others_are_waited_for() {
        let (sender, arrivals) = channel();
        let held = Held { run: "r".to_owned(), term: 0, silent: Duration::ZERO, first: 0, commands: 0 };
        let there = Member::<u64>::resumed(("a".to_owned(), 7), Ok(&held), sender, START);
        let mut members = Members::new(invitation(), vec![there]).resuming(1, 0, START);
        let mut left = members.to_be_taken();
        let late = START + Duration::from_secs(4);
        members.note_obedience(alive(Held { term: 1, ..held }), &mut left, late);
        assert!(left.is_empty());
        members.look_for_silence(true, Duration::ZERO, late + REPEAT);
        assert!(arrivals.try_recv().is_err(), "it was heard");
    }

    #[test]
    fn an_agent_stands_as_it_says_when_it_obeys() {
        let (sender, arrivals) = channel();
        let held = Held { run: "r".to_owned(), term: 0, silent: Duration::ZERO, first: 3, commands: 1 };
        let there = Member::<u64>::resumed(("a".to_owned(), 7), Ok(&held), sender, START);
        let mut members = Members::new(invitation(), vec![there]).resuming(1, 0, START);
        let mut left = members.to_be_taken();
        // A state of the former conductor came after the first sign, with one more command.
        let later = Held { term: 1, first: 5, commands: 2, ..held };
        members.note_obedience(alive(later), &mut left, START);
        members.carry_out(Order::Command { agent: 0, command: Command::StandBy { asked: 9 } });
        let Some(ToAgent::State(state)) = members.state(0, START) else { panic!("no state") };
        assert_eq!((state.first, state.received, state.kept), (2, 5, 5));
        take_batch(&mut members, 5, START);
        assert!(matches!(arrivals.try_recv(), Ok(Arrival::Messages(_))), "nothing before it is waited for");
    }

    #[test]
    fn an_agent_that_was_gone_is_lost_once_the_stream_has_given_what_it_held() {
        let (mut members, arrivals) = taken_over();
        take_batch(&mut members, 4, START);
        assert!(arrivals.try_recv().is_err(), "an earlier one may come");
        take_batch(&mut members, 5, START);
        let came: Vec<Arrival> = arrivals.try_iter().collect();
        assert!(
            matches!(&came[..], [Arrival::Messages(_), Arrival::Messages(_), Arrival::Lost(_)]),
            "{came:?}"
        );
    }

    #[test]
    fn a_batch_that_expired_in_the_stream_is_not_waited_for_without_end() {
        let (mut members, arrivals) = taken_over();
        take_batch(&mut members, 4, START);
        let late = START + BACKLOG_SILENT_MAX + Duration::from_nanos(1);
        members.look_for_silence(false, REPEAT, late);
        assert!(arrivals.try_recv().is_err(), "the broker was not reachable");
        members.look_for_silence(true, REPEAT, late + BACKLOG_SILENT_MAX);
        assert!(arrivals.try_recv().is_err());
        members.look_for_silence(true, REPEAT, late + 2 * BACKLOG_SILENT_MAX);
        let came: Vec<Arrival> = arrivals.try_iter().collect();
        assert!(matches!(&came[..], [Arrival::Messages(_), Arrival::Lost(_)]), "{came:?}");
    }
}
