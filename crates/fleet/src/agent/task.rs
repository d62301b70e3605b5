//! The agent's side of the broker: one task that announces the agent and carries the messages of its run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use async_nats::jetstream::{self, context::PublishAckFuture};
use async_nats::{Client, HeaderMap, Subscriber, connection::State as Connection};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use plimsoll_conductor::peers::{Command, Message};
use plimsoll_units::{Clock as _, Instant, RealClock, best_effort};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::gate::Gate;
use super::order::{AgentOptions, AgentOrder, Invited, Notice};
use super::participant::{Heard, Identity, Participant};
use crate::broker::{Broker, Connected};
use crate::clock::{Comparison, EXCHANGED_WITHIN, Exchange, Offset};
use crate::error::FleetError;
use crate::hub::BATCH_HEADER;
use crate::outbox::Parcel;
use crate::session::{Measured, channel, forget};
use crate::signature::Trust;
use crate::wall_clock::MachineClocks;
use crate::wire::{ClockAnswer, HEADERS_BYTES, Invitation, REPEAT, Subjects, pack};

/// How long an agent that ends waits for its data to arrive.
const DELIVERED_WITHIN: Duration = Duration::from_secs(5);
/// How long the last messages of an agent may take to leave. An unreachable broker never takes them.
const SENT_WITHIN: Duration = Duration::from_secs(1);

/// The inputs of the task.
pub(super) struct Setup {
    broker: Broker,
    agent: String,
    incarnation: u64,
    version: String,
    trust: Trust,
    orphan: Duration,
    received: UnboundedReceiver<AgentOrder>,
    orders: UnboundedSender<AgentOrder>,
    notices: Sender<Notice>,
    interrupted: Arc<AtomicBool>,
}

impl Setup {
    pub(super) fn new(
        options: &AgentOptions,
        interrupted: Arc<AtomicBool>,
        received: UnboundedReceiver<AgentOrder>,
        orders: UnboundedSender<AgentOrder>,
        notices: Sender<Notice>,
    ) -> Result<Self, FleetError> {
        Ok(Self {
            broker: options.broker.clone(),
            agent: options.name.clone(),
            incarnation: crate::random()?,
            version: options.version.to_owned(),
            trust: Trust::new(&options.trust),
            orphan: options.orphan,
            received,
            orders,
            notices,
            interrupted,
        })
    }
}

/// Runs the task until the agent leaves.
pub(super) fn run(setup: Setup) -> Result<(), FleetError> {
    let runtime = crate::runtime()?;
    runtime.block_on(async {
        let subjects = setup.broker.subjects();
        let (name, inbox) = (format!("plimsoll agent {}", setup.agent), subjects.inbox(&setup.agent));
        let Connected { client, violations } = setup.broker.connect(&name, Some(inbox)).await?;
        let subscribed = client.subscribe(subjects.to(&setup.agent)).await;
        let commands = subscribed.map_err(|error| FleetError::Ended { why: error.to_string() })?;
        best_effort(client.flush().await, "it is sent with the first sign of life");
        best_effort(setup.notices.send(Notice::Connected), "the agent has ended");
        let Setup { agent, incarnation, version, trust, orphan, orders, notices, interrupted, .. } = setup;
        let gate = Gate::new(trust, subjects.to(&agent), incarnation);
        let context = jetstream::new(client.clone());
        let participant = Participant::new(Identity { agent, incarnation, version }, orphan);
        let measured = Measured::default();
        let task =
            Task { client, context, subjects, gate, participant, measured, orders, notices, interrupted };
        task.serve(setup.received, commands, violations).await
    })
}

struct Task {
    client: Client,
    context: jetstream::Context,
    subjects: Subjects,
    gate: Gate,
    participant: Participant,
    /// The clock comparison of the current step, shared with the generator.
    measured: Measured,
    orders: UnboundedSender<AgentOrder>,
    notices: Sender<Notice>,
    interrupted: Arc<AtomicBool>,
}

/// Resolves to the number of a batch's first message, and whether the broker stored the batch.
type Stored = std::pin::Pin<Box<dyn Future<Output = (u64, bool)>>>;

impl Task {
    async fn serve(
        mut self,
        mut orders: UnboundedReceiver<AgentOrder>,
        mut commands: Subscriber,
        mut violations: UnboundedReceiver<FleetError>,
    ) -> Result<(), FleetError> {
        let mut stored: FuturesUnordered<Stored> = FuturesUnordered::new();
        let mut tick = tokio::time::interval(REPEAT);
        let mut leaving: Option<Instant> = None;
        loop {
            let pack_at = self.participant.pack_at();
            tokio::select! {
                biased;
                // Comes first, however many messages wait: a conductor that hears nothing takes the agent for lost.
                _ = tick.tick() => {
                    if self.interrupted.load(Ordering::Relaxed) {
                        self.participant.interrupt();
                    }
                    self.participant.look_after_run(RealClock.now());
                    self.announce().await;
                }
                order = orders.recv() => match order {
                    Some(AgentOrder::Leave) | None => {
                        leaving = Some(RealClock.now() + DELIVERED_WITHIN);
                    }
                    Some(order) => {
                        if self.carry_out(order) {
                            self.announce().await;
                        }
                    }
                },
                message = commands.next() => {
                    // The subscription ends when the broker refuses the connection for good.
                    let message = message.ok_or(FleetError::ShutOut)?;
                    if self.hear(&message) {
                        self.announce().await;
                    }
                }
                Some(error) = violations.recv() => return Err(error),
                Some((first, is_stored)) = stored.next() => {
                    self.participant.note_stored(first, is_stored, RealClock.now());
                }
                () = sleep_until(pack_at) => self.pack(),
            }
            // Without a connection, batches would fill the client's queue.
            if self.is_connected() {
                for parcel in self.participant.due(RealClock.now()) {
                    stored.push(self.publish(parcel).await);
                }
            }
            if let Some((invitation, commands)) = self.participant.begin_again() {
                let invited = self.invited(invitation, commands);
                self.notify(invited);
            }
            while let Some(run) = self.participant.end_run() {
                self.gate.close(run);
            }
            let delivered = self.participant.is_delivered();
            if leaving.is_some_and(|deadline| delivered || RealClock.now() >= deadline) {
                let sent = tokio::time::timeout(SENT_WITHIN, self.client.flush()).await;
                best_effort(sent, "the conductor notices the silence");
                return Ok(());
            }
        }
    }

    /// Carries out an order; true if the conductor should learn of it at once.
    fn carry_out(&mut self, order: AgentOrder) -> bool {
        let is_news = matches!(order, AgentOrder::Refuse { .. });
        match order {
            AgentOrder::Message(message) => {
                if self.participant.gather(*message, RealClock.now()) {
                    self.pack();
                }
            }
            AgentOrder::Measure { exchanges, answer } => self.measure(exchanges, answer),
            AgentOrder::Finished => self.participant.finish(RealClock.now()),
            AgentOrder::Refuse { run, why } => self.participant.refuse(run, why),
            AgentOrder::Leave => {}
        }
        is_news
    }

    fn pack(&mut self) {
        let messages = self.participant.take_gathered();
        let most = self.client.max_payload().saturating_sub(HEADERS_BYTES);
        for (messages, content) in packed_within(&messages, most) {
            self.participant.add(messages, content, RealClock.now());
        }
    }

    /// Hands a batch to the broker. Returns the future of its answer.
    async fn publish(&self, parcel: Parcel) -> Stored {
        let Some(run) = self.participant.run() else {
            return Box::pin(async move { (parcel.first, false) });
        };
        let Identity { agent, incarnation, .. } = self.participant.identity();
        let Parcel { first, end, content, resent } = parcel;
        let mut headers = HeaderMap::new();
        headers.insert(BATCH_HEADER, format!("{incarnation} {first} {end}"));
        let id = format!("{agent}.{incarnation}.{first}.{resent}");
        headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
        let subject = self.subjects.frames(run, agent);
        let answer = self.context.publish_with_headers(subject, headers, content).await;
        Box::pin(async move { (first, is_stored(answer).await) })
    }

    /// Takes in a message of the conductor; true if an answer should not wait.
    fn hear(&mut self, message: &async_nats::Message) -> bool {
        let admission = self.gate.examine(message.headers.as_ref(), &message.payload);
        let notice = match self.participant.hear(admission, RealClock.now()) {
            Heard::Nothing => return false,
            Heard::News => return true,
            Heard::Succeeded => {
                forget(&self.measured);
                return true;
            }
            Heard::Begun(invitation, commands) => self.invited(invitation, commands),
            Heard::Refused(refusal) => Notice::Refused(refusal),
        };
        self.notify(notice);
        true
    }

    /// Hands a run to the generator, with a clock that was not compared yet.
    fn invited(&mut self, invitation: Invitation, commands: Receiver<Command>) -> Notice {
        self.measured = Measured::default();
        let channel = channel(commands, self.orders.clone(), Measured::clone(&self.measured));
        Notice::Invited(Box::new(Invited { invitation, channel }))
    }

    fn notify(&self, notice: Notice) {
        best_effort(self.notices.send(notice), "the agent has ended");
    }

    fn is_connected(&self) -> bool {
        self.client.connection_state() == Connection::Connected
    }

    async fn announce(&self) {
        if !self.is_connected() {
            return;
        }
        let alive = self.participant.alive(RealClock.now());
        let Ok(content) = pack(&alive) else { return };
        let sent = self.client.publish(self.subjects.alive(&alive.agent), content.into()).await;
        best_effort(sent, "the agent says again that it lives");
    }

    /// Compares the clocks in the background. Drops `answer` if there is no conductor, or another one answers.
    fn measure(&self, count: usize, answer: Sender<Option<Comparison>>) {
        let Some((run, term)) = self.participant.conducted_run(RealClock.now()) else { return };
        let (client, subject) = (self.client.clone(), self.subjects.clock(run));
        tokio::spawn(async move {
            let mut exchanges = Vec::with_capacity(count);
            for _ in 0..count {
                match exchange(&client, &subject).await {
                    Some((_, other, _)) if other != term => return,
                    Some((exchange, _, clocks)) => exchanges.push((exchange, clocks)),
                    None => {}
                }
            }
            best_effort(answer.send(compared(&exchanges)), "the run is over");
        });
    }
}

/// Packs messages into batches that fit the broker's largest message. Returns each batch with its number of messages.
fn packed_within(messages: &[Message], most: usize) -> Vec<(u64, Bytes)> {
    let Ok(content) = pack(&messages) else { return Vec::new() };
    let too_large = content.len() > most;
    match messages {
        [] => Vec::new(),
        [_] if too_large => {
            let bytes = content.len();
            let why = format!(
                "one of its messages takes {bytes} bytes and the broker carries {most}: raise max_payload of nats-server"
            );
            packed_within(&[Message::Failed { why }], usize::MAX)
        }
        _ if too_large => {
            let (first, rest) = messages.split_at(messages.len() / 2);
            let mut batches = packed_within(first, most);
            batches.extend(packed_within(rest, most));
            batches
        }
        _ => vec![(messages.len() as u64, content.into())],
    }
}

/// Computes the result of these exchanges. The last one carries the current clocks of the conductor's machine.
fn compared(exchanges: &[(Exchange, MachineClocks)]) -> Option<Comparison> {
    let (_, conductor) = *exchanges.last()?;
    let own = MachineClocks::read();
    let exchanges: Vec<Exchange> = exchanges.iter().map(|(exchange, _)| *exchange).collect();
    let offset = Offset::best(&exchanges, own.drift_ppb(conductor))?;
    Some(Comparison { offset, wall: own.second_opinion(conductor, offset) })
}

/// Exchanges timestamps with the conductor. Returns them with the conductor's term and the clocks of its machine.
async fn exchange(client: &Client, subject: &str) -> Option<(Exchange, u64, MachineClocks)> {
    let asked = RealClock.now();
    let request = client.request(subject.to_owned(), Bytes::new());
    let answer = tokio::time::timeout(EXCHANGED_WITHIN, request).await.ok()?.ok()?;
    let arrived = RealClock.now();
    let ClockAnswer { term, received, answered, clocks } = serde_json::from_slice(&answer.payload).ok()?;
    Some((Exchange { asked, received, answered, arrived }, term, clocks))
}

async fn is_stored(answer: Result<PublishAckFuture, jetstream::context::PublishError>) -> bool {
    match answer {
        Ok(stored) => stored.await.is_ok(),
        Err(_) => false,
    }
}

async fn sleep_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep(instant.since(RealClock.now())).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::unpack;

    /// Messages that take so many bytes each, and do not deflate well.
    fn large(count: u64, bytes: u64) -> Vec<Message> {
        let mut random = plimsoll_testkit::Random::new(7);
        let mut text = || (0..bytes).map(|_| char::from(b'a' + random.within(0..26) as u8)).collect();
        (0..count).map(|_| Message::Failed { why: text() }).collect()
    }

    #[test]
    fn batches_fit_into_the_largest_message_of_the_broker_and_keep_their_order() {
        let messages = large(9, 3_000);
        let batches = packed_within(&messages, 8_000);
        assert!(batches.len() > 2 && batches.iter().all(|(_, content)| content.len() <= 8_000));
        let again = |(count, content): &(u64, Bytes)| {
            let unpacked: Vec<Message> = unpack(content).unwrap();
            assert_eq!(unpacked.len() as u64, *count);
            unpacked
        };
        assert_eq!(batches.iter().flat_map(again).collect::<Vec<_>>(), messages);
        assert_eq!(packed_within(&messages, 1 << 20).len(), 1);
        assert!(packed_within(&[], 8_000).is_empty());
    }

    #[test]
    fn a_message_that_the_broker_cannot_carry_is_reported_in_its_place() {
        let messages = [large(1, 100), large(1, 50_000), large(1, 100)].concat();
        let batches = packed_within(&messages, 8_000);
        assert_eq!(batches.iter().map(|(count, _)| count).sum::<u64>(), 3);
        let second: Vec<Message> = unpack(&batches[1].1).unwrap();
        assert!(
            matches!(&second[..], [Message::Failed { why }] if why.contains("max_payload")),
            "{second:?}"
        );
    }
}
