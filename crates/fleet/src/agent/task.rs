//! The agent's side of the broker: one task that announces the agent, and carries the messages of its run.

use std::sync::mpsc::Sender;
use std::time::Duration;

use async_nats::jetstream::{self, context::PublishAckFuture};
use async_nats::{Client, HeaderMap, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use plimsoll_conductor::peers::{Command, Message};
use plimsoll_units::{Clock as _, Instant, RealClock, best_effort};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::gate::{Admission, Gate};
use super::order::{AgentOptions, AgentOrder, Invited, Notice};
use crate::broker::{Broker, Connected};
use crate::clock::{Exchange, Offset};
use crate::commands::Confirmed;
use crate::error::FleetError;
use crate::hub::BATCH_HEADER;
use crate::outbox::{Outbox, Parcel};
use crate::session::channel;
use crate::signature::Trust;
use crate::wire::{Alive, ClockAnswer, Invitation, Refusal, State, Subjects, ToAgent, pack};

/// How often the agent says that it lives.
const REPEAT: Duration = Duration::from_millis(500);
/// The most messages of one batch: about 150 kB of frames, packed.
const BATCH_MAX: usize = 64;
/// Messages wait for others so long, as the workers hand over their frames at about the same time.
const GATHER: Duration = Duration::from_millis(20);
/// Exchanges of one measurement of the clock.
const EXCHANGES: usize = 16;
/// One exchange may take so long.
const EXCHANGED_WITHIN: Duration = Duration::from_secs(1);
/// An agent that ends waits so long for what it has measured to arrive.
const DELIVERED_WITHIN: Duration = Duration::from_secs(5);

/// What the task begins with.
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
}

impl Setup {
    pub(super) fn new(
        options: &AgentOptions,
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
        })
    }
}

/// The thread of the task, until the agent leaves.
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
        let Setup { agent, incarnation, version, trust, orphan, received, orders, notices, .. } = setup;
        let gate = Gate::new(trust, subjects.to(&agent), incarnation);
        let context = jetstream::new(client.clone());
        let task = Task {
            client,
            context,
            subjects,
            agent,
            incarnation,
            version,
            gate,
            orphan,
            orders,
            notices,
            run: None,
            refusal: None,
            distrusted: None,
        };
        task.serve(received, commands, violations).await
    })
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

struct Task {
    client: Client,
    context: jetstream::Context,
    subjects: Subjects,
    agent: String,
    incarnation: u64,
    version: String,
    gate: Gate,
    orphan: Duration,
    orders: UnboundedSender<AgentOrder>,
    notices: Sender<Notice>,
    run: Option<ActiveRun>,
    refusal: Option<Refusal>,
    /// The last message that was not obeyed. Unlike a refusal it does not stand in the way of a valid invitation.
    distrusted: Option<Refusal>,
}

/// The broker's answer to a batch, or that there was none.
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
            let pack_at = self.run.as_ref().and_then(|run| run.pack_at);
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(AgentOrder::Leave) | None => {
                        leaving = Some(RealClock.now() + DELIVERED_WITHIN);
                    }
                    Some(order) => self.carry_out(order),
                },
                message = commands.next() => {
                    // The subscription of a connection that is refused has ended.
                    let message = message.ok_or(FleetError::ShutOut)?;
                    if self.hear(&message) {
                        self.announce().await;
                    }
                }
                Some(error) = violations.recv() => return Err(error),
                Some((first, is_stored)) = stored.next() => self.note_stored(first, is_stored),
                () = sleep_until(pack_at) => self.pack(),
                _ = tick.tick() => {
                    self.look_after_run();
                    self.announce().await;
                }
            }
            for parcel in self.due() {
                stored.push(self.publish(parcel).await);
            }
            self.end_run();
            let delivered = self.run.as_ref().is_none_or(|run| run.over || run.outbox.is_delivered());
            if leaving.is_some_and(|deadline| delivered || RealClock.now() >= deadline) {
                best_effort(self.client.flush().await, "the conductor notices the silence");
                return Ok(());
            }
        }
    }

    fn carry_out(&mut self, order: AgentOrder) {
        match order {
            AgentOrder::Message(message) => self.gather(*message),
            AgentOrder::Measure(answer) => self.measure(answer),
            AgentOrder::Finished => {
                self.run.iter_mut().for_each(|run| (run.finished, run.commands) = (true, None))
            }
            AgentOrder::Refuse { run, why } => {
                self.run = None;
                self.refusal = Some(Refusal { run, why });
            }
            AgentOrder::Leave => {}
        }
    }

    /// Takes in a message of the generator.
    fn gather(&mut self, message: Message) {
        let Some(run) = &mut self.run else { return };
        run.gathered.push(message);
        run.pack_at.get_or_insert_with(|| RealClock.now() + GATHER);
        if run.gathered.len() >= BATCH_MAX {
            self.pack();
        }
    }

    fn pack(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.pack_at = None;
        let messages = std::mem::take(&mut run.gathered);
        if let Ok(content) = pack(&messages) {
            run.outbox.add(messages.len() as u64, content.into(), RealClock.now());
        }
    }

    fn due(&mut self) -> Vec<Parcel> {
        self.run.as_mut().map(|run| run.outbox.due(RealClock.now())).unwrap_or_default()
    }

    /// Hands a batch to the broker; gives what waits for its answer.
    async fn publish(&self, parcel: Parcel) -> Stored {
        let Some(run) = &self.run else { return Box::pin(async move { (parcel.first, false) }) };
        let Parcel { first, end, content, resent } = parcel;
        let mut headers = HeaderMap::new();
        headers.insert(BATCH_HEADER, format!("{} {first} {end}", self.incarnation));
        let id = format!("{}.{}.{first}.{resent}", self.agent, self.incarnation);
        headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
        let subject = self.subjects.frames(&run.name, &self.agent);
        let answer = self.context.publish_with_headers(subject, headers, content).await;
        Box::pin(async move { (first, is_stored(answer).await) })
    }

    fn note_stored(&mut self, first: u64, is_stored: bool) {
        let Some(run) = &mut self.run else { return };
        match is_stored {
            true => run.outbox.stored(first, RealClock.now()),
            false => run.outbox.refused(first, RealClock.now()),
        }
    }

    /// Takes in a word of the conductor; true if an answer should not wait.
    fn hear(&mut self, message: &async_nats::Message) -> bool {
        match self.gate.examine(message.headers.as_ref(), &message.payload) {
            Admission::Obey(ToAgent::Join(invitation)) => self.join(invitation),
            Admission::Obey(ToAgent::State(state)) => self.take_state(state),
            Admission::Refuse(refusal) => self.distrust(refusal),
            Admission::Drop => false,
        }
    }

    /// Names a message that is not obeyed, once; true if it is new.
    fn distrust(&mut self, refusal: Refusal) -> bool {
        if self.distrusted.as_ref() == Some(&refusal) {
            return false;
        }
        best_effort(self.notices.send(Notice::Refused(refusal.clone())), "the agent has ended");
        self.distrusted = Some(refusal);
        true
    }

    fn join(&mut self, invitation: Invitation) -> bool {
        let is_refused = self.refusal.as_ref().is_some_and(|refusal| refusal.run == invitation.run);
        let is_known = self.run.as_ref().is_some_and(|run| run.name == invitation.run);
        if self.run.is_some() || is_refused {
            return is_known || is_refused;
        }
        self.distrusted = None;
        let (commands, received) = std::sync::mpsc::channel();
        self.run = Some(ActiveRun {
            name: invitation.run.clone(),
            confirmed: Confirmed::default(),
            outbox: Outbox::default(),
            gathered: Vec::new(),
            pack_at: None,
            commands: Some(commands),
            heard: RealClock.now(),
            latest: Instant::from_nanos(0),
            finished: false,
            over: false,
        });
        let channel = channel(received, self.orders.clone());
        let invited = Notice::Invited(Box::new(Invited { invitation, channel }));
        best_effort(self.notices.send(invited), "the agent has ended");
        true
    }

    fn take_state(&mut self, state: State) -> bool {
        let is_own = |run: &&mut ActiveRun| run.name == state.run && state.incarnation == self.incarnation;
        let Some(run) = self.run.as_mut().filter(is_own) else { return false };
        if state.sent <= run.latest {
            let why = "a command came a second time, and is a replay".to_owned();
            return self.distrust(Refusal { run: state.run, why });
        }
        run.latest = state.sent;
        let now = RealClock.now();
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
        any || state.over
    }

    /// A generator whose conductor is silent for too long ends its load.
    fn look_after_run(&mut self) {
        let orphan = self.orphan;
        let is_lost = |run: &&mut ActiveRun| RealClock.now().since(run.heard) > orphan;
        if let Some(run) = self.run.as_mut().filter(is_lost) {
            (run.over, run.commands) = (true, None);
        }
    }

    /// A run has ended once the generator has, and everything has arrived or is not waited for.
    fn end_run(&mut self) {
        let is_over = |run: &mut ActiveRun| {
            run.finished && run.gathered.is_empty() && (run.over || run.outbox.unkept() == 0)
        };
        if let Some(run) = self.run.take_if(is_over) {
            self.gate.close(run.name);
        }
    }

    async fn announce(&self) {
        // What a stranger sends during a run does not end it.
        let distrusted = self.distrusted.as_ref().filter(|_| self.run.is_none());
        let alive = Alive {
            agent: self.agent.clone(),
            incarnation: self.incarnation,
            version: self.version.clone(),
            run: self.run.as_ref().map(|run| run.name.clone()),
            commands: self.run.as_ref().map_or(0, |run| run.confirmed.count()),
            refusal: self.refusal.as_ref().or(distrusted).cloned(),
        };
        let Ok(content) = pack(&alive) else { return };
        let sent = self.client.publish(self.subjects.alive(&self.agent), content.into()).await;
        best_effort(sent, "the agent says again that it lives");
    }

    /// Compares the clocks, meanwhile everything else goes on.
    fn measure(&self, answer: Sender<Option<Offset>>) {
        let Some(run) = &self.run else { return };
        let (client, subject) = (self.client.clone(), self.subjects.clock(&run.name));
        tokio::spawn(async move {
            let mut exchanges = Vec::with_capacity(EXCHANGES);
            for _ in 0..EXCHANGES {
                exchanges.extend(exchange(&client, &subject).await);
            }
            best_effort(answer.send(Offset::best(&exchanges)), "the run is over");
        });
    }
}

async fn exchange(client: &Client, subject: &str) -> Option<Exchange> {
    let asked = RealClock.now();
    let request = client.request(subject.to_owned(), Bytes::new());
    let answer = tokio::time::timeout(EXCHANGED_WITHIN, request).await.ok()?.ok()?;
    let arrived = RealClock.now();
    let ClockAnswer { received, answered } = serde_json::from_slice(&answer.payload).ok()?;
    Some(Exchange { asked, received, answered, arrived })
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
