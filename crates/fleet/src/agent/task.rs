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
use crate::session::{Measured, channel, forget};
use crate::signature::Trust;
use crate::wire::{Alive, ClockAnswer, Held, Invitation, Refusal, State, Subjects, ToAgent, pack};

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
/// What was measured in a run that its conductor left is kept so long, and so much of it.
const LEFT_MAX: Duration = Duration::from_secs(3600);
const LEFT_BYTES_MAX: usize = 1 << 30;
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
    /// The clock as it was compared with the conductor's.
    measured: Measured,
    /// When the conductor was last heard.
    heard: Instant,
    /// Of the conductor that is obeyed.
    term: u64,
    /// When that one sent the last state, by its clock.
    latest: Instant,
    /// A step is made whose end is not reported yet.
    at_work: bool,
    /// The generator has nothing more to send.
    finished: bool,
    /// The conductor has ended the run.
    over: bool,
    /// Nothing was heard of the conductor for too long.
    orphaned: bool,
}

impl ActiveRun {
    fn begin(name: String, commands: Sender<Command>) -> Self {
        Self {
            name,
            confirmed: Confirmed::default(),
            outbox: Outbox::default(),
            gathered: Vec::new(),
            pack_at: None,
            commands: Some(commands),
            measured: Measured::default(),
            heard: RealClock.now(),
            term: 0,
            latest: Instant::from_nanos(0),
            at_work: false,
            finished: false,
            over: false,
            orphaned: false,
        }
    }

    /// True if the load has ended without its conductor: what was measured is kept for the one that resumes the run.
    fn is_left(&self) -> bool {
        self.orphaned && self.finished
    }

    fn gather(&mut self, message: Message) {
        if matches!(message, Message::Ended { .. } | Message::Failed { .. }) {
            self.at_work = false;
        }
        self.gathered.push(message);
        self.pack_at.get_or_insert_with(|| RealClock.now() + GATHER);
    }

    /// Passes a command on to the generator, if there is one any more.
    fn command(&mut self, command: Command) {
        let begins = matches!(command, Command::Begin(_));
        let sent = self.commands.as_ref().map(|commands| commands.send(command));
        self.at_work |= begins && matches!(sent, Some(Ok(())));
    }

    /// The generator has ended.
    fn finish(&mut self) {
        if self.at_work {
            self.gather(Message::Ended { fault: None });
        }
        (self.finished, self.commands) = (true, None);
    }

    /// Another conductor goes on with the run. If no step is made this says so once more: the former conductor may have got that
    /// and have written nothing of it.
    fn obey(&mut self, term: u64) {
        (self.term, self.orphaned) = (term, false);
        forget(&self.measured);
        if !self.at_work {
            self.gather(Message::Ended { fault: None });
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
                self.run.iter_mut().for_each(ActiveRun::finish);
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
        run.gather(message);
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
        let is_busy = self.run.as_ref().is_some_and(|run| !run.is_left());
        if is_busy || is_known || is_refused {
            return is_known || is_refused;
        }
        self.give_up_left();
        self.distrusted = None;
        let (commands, received) = std::sync::mpsc::channel();
        let run = ActiveRun::begin(invitation.run.clone(), commands);
        let channel = channel(received, self.orders.clone(), Measured::clone(&run.measured));
        self.run = Some(run);
        let invited = Notice::Invited(Box::new(Invited { invitation, channel }));
        best_effort(self.notices.send(invited), "the agent has ended");
        true
    }

    fn take_state(&mut self, state: State) -> bool {
        let is_own = |run: &&mut ActiveRun| run.name == state.run && state.incarnation == self.incarnation;
        let Some(run) = self.run.as_mut().filter(is_own) else { return false };
        if (state.term, state.sent) <= (run.term, run.latest) {
            let why = "a command came a second time, and is a replay".to_owned();
            return self.distrust(Refusal { run: state.run, why });
        }
        let is_new = state.term > run.term;
        if is_new {
            run.obey(state.term);
            self.distrusted = None;
        }
        run.latest = state.sent;
        let now = RealClock.now();
        run.heard = now;
        run.outbox.confirm(state.received, state.kept, now);
        let new = run.confirmed.take(state.first, state.commands);
        let any = !new.is_empty();
        new.into_iter().for_each(|command| run.command(command));
        if state.over {
            (run.over, run.commands) = (true, None);
        }
        any || is_new || state.over
    }

    /// A generator whose conductor is silent for too long ends its load. What it measured is kept for a while.
    fn look_after_run(&mut self) {
        let Some(run) = &mut self.run else { return };
        let silent = RealClock.now().since(run.heard);
        if silent > self.orphan {
            (run.orphaned, run.commands) = (true, None);
        }
        if run.is_left() && (silent > LEFT_MAX || run.outbox.bytes() > LEFT_BYTES_MAX) {
            self.give_up_left();
        }
    }

    /// Keeps nothing more of a run that its conductor left.
    fn give_up_left(&mut self) {
        if let Some(run) = self.run.take_if(|run| run.is_left()) {
            self.gate.close(run.name);
        }
    }

    /// A run has ended once the generator has, and everything has arrived or is not waited for.
    fn end_run(&mut self) {
        let is_over = |run: &mut ActiveRun| {
            let has_all = run.outbox.unkept() == 0 && !run.orphaned;
            run.finished && run.gathered.is_empty() && (run.over || has_all)
        };
        if let Some(run) = self.run.take_if(is_over) {
            self.gate.close(run.name);
        }
    }

    async fn announce(&self) {
        let run = self.run.as_ref().filter(|run| !run.is_left());
        // What a stranger sends during a run does not end it.
        let distrusted = self.distrusted.as_ref().filter(|_| run.is_none());
        let alive = Alive {
            agent: self.agent.clone(),
            incarnation: self.incarnation,
            version: self.version.clone(),
            run: run.map(|run| run.name.clone()),
            commands: run.map_or(0, |run| run.confirmed.count()),
            refusal: self.refusal.as_ref().or(distrusted).cloned(),
            distrusted: self.distrusted.clone(),
            held: self.run.as_ref().map(|run| run.held(RealClock.now())),
        };
        let Ok(content) = pack(&alive) else { return };
        let sent = self.client.publish(self.subjects.alive(&self.agent), content.into()).await;
        best_effort(sent, "the agent says again that it lives");
    }

    /// Compares the clocks, meanwhile everything else goes on. Without a conductor nothing is answered.
    fn measure(&self, answer: Sender<Option<Offset>>) {
        let has_conductor = |run: &&ActiveRun| RealClock.now().since(run.heard) <= 2 * REPEAT;
        let Some(run) = self.run.as_ref().filter(has_conductor) else { return };
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
