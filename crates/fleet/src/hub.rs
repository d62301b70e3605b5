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
use crate::wire::{Alive, ClockAnswer, Invitation, State, Subjects, ToAgent, pack, unpack};

/// How often each agent gets the state of its run.
pub(crate) const REPEAT: Duration = Duration::from_millis(500);
/// An agent of which nothing is heard for so long is lost. It is named within 3 s, as silence is looked for each half second.
const SILENT_MAX: Duration = Duration::from_millis(2_500);
/// If this task itself was late by so much, it says nothing about the agents.
const OWN_DELAY_MAX: Duration = Duration::from_secs(1);
/// How long agents may take to confirm that the run is over.
const GRACE: Duration = Duration::from_secs(2);
/// A frame that is not in the file after this time is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// The most frames that are delivered and not in the file.
const ACK_PENDING_MAX: i64 = 20_000;
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
    kept: u64,
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
            kept: 0,
            heard: RealClock.now(),
            joined: false,
            over: false,
            arrivals: Some(arrivals),
        }
    }

    fn lose(&mut self, why: String) {
        if let Some(arrivals) = self.arrivals.take() {
            best_effort(arrivals.send(Arrival::Lost(why)), "the run is over");
        }
    }

    fn state(&self, run: &str) -> State {
        let (first, commands) = self.commands.unconfirmed();
        State {
            run: run.to_owned(),
            incarnation: self.incarnation,
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
        Self { client, subjects, invitation, key, members, by_name, stream }
    }

    /// Carries everything until the run is over for all agents.
    pub(crate) async fn serve(mut self, mut sources: Sources) -> Result<(), FleetError> {
        let mut frames = self.read_stream().await?;
        let mut tick = tokio::time::interval(REPEAT);
        let mut ticked = RealClock.now();
        loop {
            tokio::select! {
                biased;
                // A late answer is a wide error of the agent's clock.
                Some(request) = sources.clock.next() => self.answer_clock(request).await,
                order = sources.orders.recv() => match order {
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
            durable_name: Some("conductor".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: ACK_PENDING_MAX,
            ..pull::Config::default()
        };
        let why = |error: &dyn std::fmt::Display| FleetError::Stream { why: error.to_string() };
        let consumer =
            self.stream.get_or_create_consumer("conductor", config).await.map_err(|error| why(&error))?;
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
        let (Order::Command { agent, .. } | Order::Kept { agent, .. } | Order::Over { agent }) = order;
        let Some(member) = self.members.get_mut(agent) else { return };
        match order {
            Order::Command { command, .. } => member.commands.add(command),
            Order::Over { .. } => member.over = true,
            Order::Kept { messages, .. } => {
                member.kept = messages;
                while member.unacknowledged.front().is_some_and(|(end, _)| *end <= messages)
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
        self.send(member, &ToAgent::State(member.state(&self.invitation.run))).await;
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
        for member in self.members.iter().filter(|member| member.arrivals.is_some()) {
            let message = if member.joined {
                ToAgent::State(member.state(&self.invitation.run))
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
        member.heard = RealClock.now();
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

    async fn take_frame(&mut self, frame: jetstream::Message) {
        let known = self.member_of(&frame);
        let Some((index, first, end)) = known else {
            best_effort(frame.ack().await, "it is of no agent of this run, and is delivered again");
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
        for messages in member.inbox.add(first, end, content) {
            if let Some(arrivals) = &member.arrivals {
                best_effort(arrivals.send(Arrival::Messages(messages)), "the run is over");
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
        for member in self.members.iter_mut().filter(|member| member.joined && !member.over) {
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
            .filter(|member| member.arrivals.is_some() && member.joined)
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
