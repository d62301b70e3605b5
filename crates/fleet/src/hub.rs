//! The conductor's side of the broker: one task that carries commands to the agents of a run and their messages back.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream;
use async_nats::{Client, HeaderMap, Subscriber, connection::State as Connection};
use futures_util::StreamExt as _;
use plimsoll_units::{Clock as _, Instant, RealClock, best_effort};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::error::FleetError;
use crate::members::{Carried, Delivered, Members, Order};
use crate::reader::Reader;
use crate::signature::ConductorKey;
use crate::wall_clock::MachineClocks;
use crate::wire::{ClockAnswer, REPEAT, Subjects, ToAgent, pack, sign_of};

/// How long agents may take to obey a conductor that takes over a run.
pub(crate) const TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// How long agents may take to confirm that the run is over.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// How long the broker may take to remove the stream. An unreachable one never answers.
const CLEARED_WITHIN: Duration = Duration::from_secs(5);
/// After this much silence of the broker no agent counts as lost: the connection itself may be dead. A live broker is heard sooner,
/// because it is pinged after half a second of silence.
const DEAF_AFTER: Duration = Duration::from_secs(1);
/// Header that identifies a batch: the agent's incarnation, the number of its first message, and the number after its last.
pub(crate) const BATCH_HEADER: &str = "Plimsoll-Batch";

/// The conductor's connection to the broker for one run.
pub(crate) struct Hub {
    client: Client,
    subjects: Subjects,
    key: Option<ConductorKey>,
    members: Members<jetstream::Message>,
    reader: Reader,
}

/// The event sources of the task.
pub(crate) struct Sources {
    pub(crate) orders: UnboundedReceiver<Order>,
    pub(crate) alive: Subscriber,
    pub(crate) clock: Subscriber,
    /// Why the broker does not serve this connection any more.
    pub(crate) violations: UnboundedReceiver<FleetError>,
}

impl Hub {
    pub(crate) fn new(
        client: Client,
        subjects: Subjects,
        key: Option<ConductorKey>,
        members: Members<jetstream::Message>,
        reader: Reader,
    ) -> Self {
        Self { client, subjects, key, members, reader }
    }

    /// Makes the agents of a former conductor obey this one.
    pub(crate) async fn take_over(&mut self, alive: &mut Subscriber) -> Result<(), FleetError> {
        let mut left = self.members.to_be_taken();
        let deadline = RealClock.now() + TAKEN_WITHIN;
        let mut tick = tokio::time::interval(REPEAT);
        while !left.is_empty() && RealClock.now() < deadline {
            tokio::select! {
                Some(message) = alive.next() => {
                    if let Some(alive) = sign_of(&message) {
                        self.members.note_obedience(alive, &mut left, RealClock.now());
                    }
                }
                _ = tick.tick() => self.repeat().await,
            }
        }
        if let Some((name, why)) = left.into_iter().next() {
            return Err(FleetError::NotTaken { name, why });
        }
        self.reader.take_over().await;
        Ok(())
    }

    /// Carries messages until the run is over for all agents.
    pub(crate) async fn serve(mut self, mut sources: Sources) -> Result<(), FleetError> {
        let mut frames = self.reader.start().await?;
        self.members.end_backlog(RealClock.now());
        let mut tick = tokio::time::interval(REPEAT);
        let mut ticked = RealClock.now();
        let mut hearing = Hearing { bytes: 0, last: ticked };
        loop {
            tokio::select! {
                biased;
                // Comes first, because a late answer widens the error of the agent's clock.
                Some(request) = sources.clock.next() => self.answer_clock(request).await,
                // Comes before frames: agents that hear nothing end their load.
                _ = tick.tick() => {
                    let now = RealClock.now();
                    let is_heard = hearing.is_heard(self.bytes_heard(), now) && self.is_connected();
                    self.members.look_for_silence(is_heard, now.since(ticked), now);
                    ticked = now;
                    self.repeat().await;
                }
                order = sources.orders.recv() => match order {
                    Some(Order::Leave) => return Ok(()),
                    Some(order) => self.carry_out(order).await,
                    None => self.members.end(),
                },
                Some(message) = sources.alive.next() => {
                    if let Some(alive) = sign_of(&message) {
                        self.members.take_sign(alive, RealClock.now());
                    }
                }
                Some(error) = sources.violations.recv() => self.members.lose_all(&error.to_string()),
                Some(frame) = frames.next() => self.take_frame(frame).await,
            }
            if self.members.are_over() {
                // The reader must stop before the stream is removed, or it would make the stream again.
                drop(frames);
                return self.end(sources).await;
            }
        }
    }

    /// Sends the conductor's time to an agent.
    async fn answer_clock(&self, request: async_nats::Message) {
        let received = RealClock.now();
        let Some(reply) = request.reply else { return };
        let clocks = MachineClocks::read();
        let answer = ClockAnswer { term: self.members.term(), received, answered: RealClock.now(), clocks };
        let Ok(answer) = serde_json::to_vec(&answer) else { return };
        best_effort(self.client.publish(reply, answer.into()).await, "the agent asks again");
    }

    async fn carry_out(&mut self, order: Order) {
        match self.members.carry_out(order) {
            Some(Carried::SendState(agent)) => {
                self.send(agent, self.members.state(agent, RealClock.now())).await;
            }
            Some(Carried::Acknowledge(frames)) => {
                // Without a connection, acknowledgements would fill the client's queue. These frames are delivered again.
                for frame in frames.into_iter().filter(|_| self.is_connected()) {
                    best_effort(frame.ack().await, "the stream delivers it again, and it is known");
                }
            }
            None => {}
        }
    }

    fn is_connected(&self) -> bool {
        self.client.connection_state() == Connection::Connected
    }

    /// Number of bytes that the broker has sent, including its answers to pings.
    fn bytes_heard(&self) -> u64 {
        self.client.statistics().in_bytes.load(Ordering::Relaxed)
    }

    /// Sends a message to an agent. If it is lost, the next repetition makes up for it.
    async fn send(&self, agent: usize, message: Option<ToAgent>) {
        if !self.is_connected() {
            return;
        }
        let Some((name, message)) = self.members.name(agent).zip(message) else { return };
        let Ok(content) = pack(&message) else { return };
        let subject = self.subjects.to(name);
        let headers = self.key.as_ref().map(|key| key.sign(&subject, &content)).transpose();
        let Ok(headers) = headers else { return };
        let headers = headers.unwrap_or_default();
        let sent = self.client.publish_with_headers(subject, headers, content.into()).await;
        best_effort(sent, "it is repeated");
    }

    /// Sends the invitation to agents that have not joined, the state to those that have, and to lost ones that the run is over.
    async fn repeat(&self) {
        for agent in 0..self.members.count() {
            let now = RealClock.now();
            let message = self.members.repetition(agent, now).or_else(|| self.members.farewell(agent, now));
            self.send(agent, message).await;
        }
    }

    async fn take_frame(&mut self, frame: jetstream::Message) {
        let (subject, content) = (frame.subject.clone(), frame.payload.clone());
        let settled = match delivered(&subject, frame.headers.as_ref()) {
            Some(delivered) => self.members.take_frame(delivered, content, frame, RealClock.now()),
            None => Some(frame),
        };
        if let Some(frame) = settled {
            best_effort(frame.ack().await, "it is known, or of no agent of this run, and is delivered again");
        }
        self.members.count_backlog(RealClock.now());
    }

    /// Notifies all agents that the run is over, waits briefly until they know, and removes the stream.
    async fn end(mut self, mut sources: Sources) -> Result<(), FleetError> {
        let mut left = self.members.taking_part();
        let deadline = RealClock.now() + GRACE;
        let mut tick = tokio::time::interval(REPEAT / 4);
        self.members.end();
        while !left.is_empty() {
            tokio::select! {
                Some(message) = sources.alive.next() => {
                    let Some(alive) = sign_of(&message) else { continue };
                    left.retain(|name| *name != alive.agent || alive.run.as_deref() == Some(self.members.run()));
                }
                _ = tick.tick() => {
                    for agent in 0..self.members.count() {
                        self.send(agent, self.members.state(agent, RealClock.now())).await;
                    }
                }
                () = tokio::time::sleep(deadline.since(RealClock.now())) => break,
            }
        }
        if self.members.are_rid_of_stream() {
            let cleared = tokio::time::timeout(CLEARED_WITHIN, self.clear()).await;
            best_effort(cleared, "the broker is away, and removes the stream by its age");
        }
        Ok(())
    }

    /// Removes the stream.
    async fn clear(&self) {
        self.reader.remove().await;
        best_effort(self.client.flush().await, "agents notice by themselves that the run is over");
    }
}

/// When the broker was last heard.
struct Hearing {
    bytes: u64,
    last: Instant,
}

impl Hearing {
    /// False if the broker has been silent for too long; `bytes` is the number of bytes it has sent in all.
    fn is_heard(&mut self, bytes: u64, now: Instant) -> bool {
        if bytes != self.bytes {
            *self = Self { bytes, last: now };
        }
        now.since(self.last) < DEAF_AFTER
    }
}

/// Parses which messages of which agent a frame of the stream holds.
fn delivered<'a>(subject: &'a str, headers: Option<&HeaderMap>) -> Option<Delivered<'a>> {
    let agent = subject.rsplit('.').next()?;
    let mut numbers = headers?.get(BATCH_HEADER)?.as_str().split(' ').map(str::parse::<u64>);
    let (incarnation, first, end) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Delivered { agent, incarnation, first, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_of_which_nothing_comes_for_a_second_is_not_heard() {
        let start = Instant::from_nanos(1_000_000_000);
        let mut hearing = Hearing { bytes: 7, last: start };
        assert!(hearing.is_heard(7, start + REPEAT));
        assert!(hearing.is_heard(8, start + DEAF_AFTER));
        assert!(hearing.is_heard(8, start + DEAF_AFTER + REPEAT));
        assert!(!hearing.is_heard(8, start + 2 * DEAF_AFTER));
        assert!(hearing.is_heard(9, start + 3 * DEAF_AFTER));
    }
}
