//! The conductor's side of the broker: one task that carries commands to the agents of a run and their messages back.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Sender;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{self, stream::Stream};
use async_nats::{Client, Subscriber, connection::State as Connection};
use bytes::Bytes;
use futures_util::StreamExt as _;
use plimsoll_conductor::peers::Command;
use plimsoll_units::{Clock as _, Instant, RealClock, best_effort, duration_text};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::commands::Commands;
use crate::error::FleetError;
use crate::inbox::Inbox;
use crate::signature::ConductorKey;
use crate::wire::{Alive, ClockAnswer, Held, Invitation, State, Subjects, ToAgent, pack, unpack};

/// How often each agent gets the state of its run.
pub(crate) const REPEAT: Duration = Duration::from_millis(500);
/// An agent of which nothing is heard for so long is lost. It is named within 3 s, as silence is looked for each half second.
const SILENT_MAX: Duration = Duration::from_millis(2_500);
/// If this task itself was late by so much, it says nothing about the agents.
const OWN_DELAY_MAX: Duration = Duration::from_secs(1);
/// Agents obey a conductor that takes a run over within this time.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// Why a conductor has lost an agent that obeys a later one.
const TAKEN_AGAIN: &str = "another conductor has taken the run over";
/// How long agents may take to confirm that the run is over.
const GRACE: Duration = Duration::from_secs(2);
/// A frame that is not in the file after this time is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// The most frames that are delivered and not in the file.
const ACK_PENDING_MAX: i64 = 20_000;
/// The consumer by which a conductor reads the stream of its run.
const READER: &str = "conductor";
/// The wait before the next try to read the stream.
const READ_AGAIN: Duration = Duration::from_millis(250);
/// Says which messages a batch holds: the agent's incarnation, the number of the first, and that after the last.
pub(crate) const BATCH_HEADER: &str = "Plimsoll-Batch";

/// What the conductor asks of this task.
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
    /// The run is left as it is: agents and the stream keep what they have.
    Leave,
}

/// What comes of one agent.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// Packed messages, the next in order.
    Messages(Bytes),
    /// The agent is gone, and why.
    Lost(String),
}

/// An agent of the run.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) incarnation: u64,
    commands: Commands,
    inbox: Inbox,
    /// Delivered and not in the run file: each with the number after its last message.
    unacknowledged: VecDeque<(u64, jetstream::Message)>,
    /// The number of the first message that this conductor gets.
    first: u64,
    kept: u64,
    /// Why it takes no part any more, if it was gone when this conductor came. What the stream holds of it is still taken in.
    gone: Option<String>,
    heard: Instant,
    joined: bool,
    over: bool,
    /// Where its messages go; `None` once it is lost.
    arrivals: Option<Sender<Arrival>>,
}

impl Member {
    pub(crate) fn new(name: String, incarnation: u64, arrivals: Sender<Arrival>) -> Self {
        Self {
            name,
            incarnation,
            commands: Commands::default(),
            inbox: Inbox::default(),
            unacknowledged: VecDeque::new(),
            first: 0,
            kept: 0,
            gone: None,
            heard: RealClock.now(),
            joined: false,
            over: false,
            arrivals: Some(arrivals),
        }
    }

    /// An agent that a former conductor had, as it stands, or why it is gone.
    pub(crate) fn resumed(
        (name, incarnation): (String, u64),
        stands: Result<&Held, String>,
        arrivals: Sender<Arrival>,
    ) -> Self {
        let member = Self { joined: true, ..Self::new(name, incarnation, arrivals) };
        match stands {
            Ok(held) => Self {
                commands: Commands::after(held.commands),
                inbox: Inbox::starting_at(held.first),
                first: held.first,
                kept: held.first,
                ..member
            },
            Err(why) => Self { gone: Some(why), ..member },
        }
    }

    fn deliver(&self, messages: Vec<Bytes>) {
        for messages in messages {
            if let Some(arrivals) = &self.arrivals {
                best_effort(arrivals.send(Arrival::Messages(messages)), "the run is over");
            }
        }
    }

    fn lose(&mut self, why: String) {
        if let Some(arrivals) = self.arrivals.take() {
            best_effort(arrivals.send(Arrival::Lost(why)), "the run is over");
        }
    }

    fn state(&self, run: &str, term: u64) -> State {
        let (first, commands) = self.commands.unconfirmed();
        State {
            run: run.to_owned(),
            incarnation: self.incarnation,
            term,
            sent: RealClock.now(),
            first,
            commands,
            received: self.inbox.received(),
            kept: self.kept,
            over: self.over,
        }
    }
}

/// Everything that one run needs of the broker.
pub(crate) struct Hub {
    client: Client,
    subjects: Subjects,
    invitation: Invitation,
    key: Option<ConductorKey>,
    members: Vec<Member>,
    by_name: HashMap<String, usize>,
    stream: Stream,
    /// 0 for the conductor that began the run.
    term: u64,
    /// How many batches the stream held when the run was taken over, and that have not been taken in.
    backlog: Option<u64>,
}

/// What the task waits for.
pub(crate) struct Sources {
    pub(crate) orders: UnboundedReceiver<Order>,
    pub(crate) alive: Subscriber,
    pub(crate) clock: Subscriber,
}

impl Hub {
    pub(crate) fn new(
        client: Client,
        subjects: Subjects,
        (invitation, key): (Invitation, Option<ConductorKey>),
        members: Vec<Member>,
        stream: Stream,
    ) -> Self {
        let by_name =
            members.iter().enumerate().map(|(index, member)| (member.name.clone(), index)).collect();
        Self { client, subjects, invitation, key, members, by_name, stream, term: 0, backlog: None }
    }

    /// A hub that goes on with the run of a former one, of which the stream holds so many batches.
    pub(crate) fn resuming(self, term: u64, backlog: u64) -> Self {
        Self { term, backlog: Some(backlog), ..self }
    }

    /// Has the agents that are there obey this conductor.
    pub(crate) async fn take_over(&self, alive: &mut Subscriber) -> Result<(), FleetError> {
        let there = self.members.iter().filter(|member| member.gone.is_none());
        let mut left: HashMap<&str, String> =
            there.map(|member| (member.name.as_str(), "it did not answer".to_owned())).collect();
        let deadline = RealClock.now() + TAKEN_WITHIN;
        let mut tick = tokio::time::interval(REPEAT);
        while !left.is_empty() && RealClock.now() < deadline {
            tokio::select! {
                Some(message) = alive.next() => self.note_obedience(&message.payload, &mut left),
                _ = tick.tick() => self.repeat().await,
            }
        }
        if let Some((name, why)) = left.into_iter().next() {
            return Err(FleetError::NotTaken { name: name.to_owned(), why });
        }
        // What was delivered to the former conductor and not acknowledged is then delivered at once.
        best_effort(self.stream.delete_consumer(READER).await, "nothing was read of this stream");
        Ok(())
    }

    fn note_obedience(&self, payload: &[u8], left: &mut HashMap<&str, String>) {
        let Ok(alive) = unpack::<Alive>(payload) else { return };
        let Some(why) = left.get_mut(alive.agent.as_str()) else { return };
        let own = |held: &&Held| held.run == self.invitation.run;
        match alive.held.as_ref().filter(own).map(|held| held.term) {
            Some(term) if term == self.term => {
                left.remove(alive.agent.as_str());
            }
            Some(term) if term > self.term => *why = TAKEN_AGAIN.to_owned(),
            Some(_) | None => {
                let distrusted = alive.distrusted.filter(|refusal| refusal.run == self.invitation.run);
                distrusted.into_iter().for_each(|refusal| *why = refusal.why);
            }
        }
    }

    /// Carries everything until the run is over for all agents.
    pub(crate) async fn serve(mut self, mut sources: Sources) -> Result<(), FleetError> {
        let mut frames = self.read_stream().await?;
        self.end_backlog();
        let mut tick = tokio::time::interval(REPEAT);
        let mut ticked = RealClock.now();
        loop {
            tokio::select! {
                biased;
                // A late answer is a wide error of the agent's clock.
                Some(request) = sources.clock.next() => self.answer_clock(request).await,
                order = sources.orders.recv() => match order {
                    Some(Order::Leave) => return Ok(()),
                    Some(order) => self.carry_out(order).await,
                    None => self.members.iter_mut().for_each(|member| member.over = true),
                },
                Some(message) = sources.alive.next() => self.take_sign(&message.payload),
                frame = frames.next() => match frame {
                    Some(Ok(frame)) => self.take_frame(frame).await,
                    // A new leader is elected, or the connection is broken.
                    Some(Err(_)) => {}
                    None => {
                        tokio::time::sleep(READ_AGAIN).await;
                        frames = self.read_stream().await?;
                    }
                },
                _ = tick.tick() => {
                    let now = RealClock.now();
                    self.look_for_silence(now, now.since(ticked));
                    ticked = now;
                    self.repeat().await;
                }
            }
            if self.members.iter().all(|member| member.over) {
                return self.end(sources).await;
            }
        }
    }

    async fn read_stream(&self) -> Result<pull::Stream, FleetError> {
        let config = pull::Config {
            durable_name: Some(READER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: ACK_PENDING_MAX,
            ..pull::Config::default()
        };
        let why = |error: &dyn std::fmt::Display| FleetError::Stream { why: error.to_string() };
        let consumer =
            self.stream.get_or_create_consumer(READER, config).await.map_err(|error| why(&error))?;
        consumer.messages().await.map_err(|error| why(&error))
    }

    /// Tells an agent the conductor's time.
    async fn answer_clock(&self, request: async_nats::Message) {
        let received = RealClock.now();
        let Some(reply) = request.reply else { return };
        let Ok(answer) = serde_json::to_vec(&ClockAnswer { received, answered: RealClock.now() }) else {
            return;
        };
        best_effort(self.client.publish(reply, answer.into()).await, "the agent asks again");
    }

    async fn carry_out(&mut self, order: Order) {
        let (Order::Command { agent, .. } | Order::Kept { agent, .. } | Order::Over { agent }) = order else {
            return;
        };
        let Some(member) = self.members.get_mut(agent) else { return };
        match order {
            Order::Command { command, .. } => member.commands.add(command),
            Order::Over { .. } | Order::Leave => member.over = true,
            Order::Kept { messages, .. } => {
                let kept = member.first + messages;
                member.kept = kept;
                while member.unacknowledged.front().is_some_and(|(end, _)| *end <= kept)
                    && let Some((_, frame)) = member.unacknowledged.pop_front()
                {
                    best_effort(frame.ack().await, "the stream delivers it again, and it is known");
                }
                // The next repetition is soon enough.
                return;
            }
        }
        self.send_state(agent).await;
    }

    async fn send_state(&self, agent: usize) {
        let Some(member) = self.members.get(agent) else { return };
        self.send(member, &ToAgent::State(member.state(&self.invitation.run, self.term))).await;
    }

    /// Sends what is sent again at the next repetition if it does not arrive.
    async fn send(&self, member: &Member, message: &ToAgent) {
        let Ok(content) = pack(message) else { return };
        let subject = self.subjects.to(&member.name);
        let headers = self.key.as_ref().map(|key| key.sign(&subject, &content)).transpose();
        let Ok(headers) = headers else { return };
        let headers = headers.unwrap_or_default();
        let sent = self.client.publish_with_headers(subject, headers, content.into()).await;
        best_effort(sent, "it is repeated");
    }

    /// Invites who has not come yet, and tells all others how the run stands.
    async fn repeat(&self) {
        let there = |member: &&Member| member.arrivals.is_some() && member.gone.is_none();
        for member in self.members.iter().filter(there) {
            let message = if member.joined {
                ToAgent::State(member.state(&self.invitation.run, self.term))
            } else {
                ToAgent::Join(Invitation { incarnation: member.incarnation, ..self.invitation.clone() })
            };
            self.send(member, &message).await;
        }
    }

    /// A sign of life.
    fn take_sign(&mut self, payload: &[u8]) {
        let Ok(alive) = unpack::<Alive>(payload) else { return };
        let Some(member) = self.by_name.get(&alive.agent).and_then(|index| self.members.get_mut(*index))
        else {
            return;
        };
        if alive.incarnation != member.incarnation {
            // Of two processes with one name the other goes on to be heard; one that was started again is alone.
            return;
        }
        if member.gone.is_some() {
            return;
        }
        member.heard = RealClock.now();
        let run = &self.invitation.run;
        if alive.held.as_ref().is_some_and(|held| held.run == *run && held.term > self.term) {
            member.lose(TAKEN_AGAIN.to_owned());
        } else if let Some(refusal) = alive.refusal.filter(|refusal| refusal.run == *run) {
            member.lose(refusal.why);
        } else if alive.run.as_ref() == Some(run) {
            member.joined = true;
            member.commands.confirm(alive.commands);
        } else if member.joined && !member.over {
            member.lose("it has left the run".to_owned());
        }
    }

    async fn take_frame(&mut self, frame: jetstream::Message) {
        let known = self.member_of(&frame);
        let Some((index, first, end)) = known else {
            best_effort(frame.ack().await, "it is of no agent of this run, and is delivered again");
            self.count_backlog();
            return;
        };
        let member = &mut self.members[index];
        member.heard = RealClock.now();
        let content = frame.payload.clone();
        if end <= member.kept {
            best_effort(frame.ack().await, "the stream delivers it again, and it is known");
        } else {
            member.unacknowledged.push_back((end, frame));
        }
        let next = member.inbox.add(first, end, content);
        member.deliver(next);
        self.count_backlog();
    }

    fn count_backlog(&mut self) {
        self.backlog = self.backlog.map(|left| left.saturating_sub(1));
        self.end_backlog();
    }

    /// Once everything was taken in that the stream held when the run was taken over, nothing more comes of agents that were gone.
    fn end_backlog(&mut self) {
        if self.backlog.take_if(|left| *left == 0).is_none() {
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

    /// The agent of a frame, and which messages it holds.
    fn member_of(&self, frame: &jetstream::Message) -> Option<(usize, u64, u64)> {
        let index = *self.by_name.get(frame.subject.rsplit('.').next()?)?;
        let header = frame.headers.as_ref()?.get(BATCH_HEADER)?.as_str();
        let mut numbers = header.split(' ').map(str::parse::<u64>);
        let (incarnation, first, end) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
        (self.members.get(index)?.incarnation == incarnation).then_some((index, first, end))
    }

    /// Names agents of which nothing is heard. Nothing is known of them while this side is cut off or was late itself.
    fn look_for_silence(&mut self, now: Instant, since_last: Duration) {
        let deaf =
            self.client.connection_state() != Connection::Connected || since_last > REPEAT + OWN_DELAY_MAX;
        let expected = |member: &&mut Member| member.joined && !member.over && member.gone.is_none();
        for member in self.members.iter_mut().filter(expected) {
            let silent = now.since(member.heard);
            if deaf {
                member.heard = now;
            } else if silent > SILENT_MAX {
                member
                    .lose(format!("nothing was heard of it for {}", duration_text(silent.as_nanos() as f64)));
            }
        }
    }

    /// Tells all agents that the run is over, waits a little until they know, and removes the stream.
    async fn end(mut self, mut sources: Sources) -> Result<(), FleetError> {
        let mut left: Vec<String> = self
            .members
            .iter()
            .filter(|member| member.arrivals.is_some() && member.joined && member.gone.is_none())
            .map(|member| member.name.clone())
            .collect();
        let deadline = RealClock.now() + GRACE;
        let mut tick = tokio::time::interval(REPEAT / 4);
        self.members.iter_mut().for_each(|member| member.over = true);
        while !left.is_empty() {
            tokio::select! {
                Some(message) = sources.alive.next() => {
                    let Ok(alive) = unpack::<Alive>(&message.payload) else { continue };
                    left.retain(|name| *name != alive.agent || alive.run.as_ref() == Some(&self.invitation.run));
                }
                _ = tick.tick() => {
                    for index in 0..self.members.len() {
                        self.send_state(index).await;
                    }
                }
                () = tokio::time::sleep(deadline.since(RealClock.now())) => break,
            }
        }
        let name = self.subjects.stream(&self.invitation.run);
        let context = jetstream::new(self.client.clone());
        best_effort(context.delete_stream(name).await, "an empty stream is left at the broker");
        best_effort(self.client.flush().await, "agents notice by themselves that the run is over");
        Ok(())
    }
}
