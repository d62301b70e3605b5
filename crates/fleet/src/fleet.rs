//! The agents of one run, as the conductor sees them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Subscriber;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_conductor::peers::{Channel, Command, Message, OnLoss, ReceiveFrom, Rendezvous, SendTo};
use plimsoll_plan::Plan;
use plimsoll_units::{Clock as _, RealClock};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::broker::Broker;
use crate::census::{find, refuse_versions};
use crate::error::FleetError;
use crate::hub::{Hub, Sources};
use crate::members::{Arrival, Member, Members, Order};
use crate::orphans::{FleetSession, Orphans, SessionAgent};
use crate::reader::Reader;
use crate::run_stream::RunStream;
use crate::signature::ConductorKey;
use crate::wire::{Alive, HEADERS_BYTES, Held, Invitation, RUN_DIGITS, pack, unpack};

/// A step begins this long after its command is sent: by then every agent has the command and has measured its clock.
pub(crate) const HEAD_START: Duration = Duration::from_secs(2);

/// The inputs of [`Fleet::gather`].
#[derive(Debug)]
pub struct Gathering<'a> {
    pub broker: Broker,
    /// Signs messages to agents; they are unsigned if `None`.
    pub key: Option<ConductorKey>,
    /// Number of agents to use; all that answer if `None`.
    pub agents: Option<usize>,
    /// Upper bound on the duration of the run, if known. Credentials must be valid that long.
    pub lasts: Option<Duration>,
    pub plan: &'a Plan,
    pub csv: Option<&'a [u8]>,
    /// Version of this tool; every agent must run the same one.
    pub version: &'a str,
    pub interrupted: Arc<AtomicBool>,
}

/// The inputs of [`Fleet::resume`].
#[derive(Debug)]
pub struct Resuming<'a> {
    pub broker: Broker,
    /// Signs messages to agents; they are unsigned if `None`.
    pub key: Option<ConductorKey>,
    pub session: &'a FleetSession,
    /// Version of this tool; every agent must run the same one.
    pub version: &'a str,
    pub interrupted: Arc<AtomicBool>,
}

/// The agents of one run.
#[derive(Debug)]
pub struct Fleet {
    /// Agents that [`Rendezvous::arrived`] has not returned yet.
    waiting: VecDeque<Joined>,
    run: String,
    agents: Vec<SessionAgent>,
    discarded: Vec<DiscardedRun>,
    /// True if closing an agent's channel ends the run for it. If false, agents wait for the end of this fleet.
    ends_by_itself: bool,
    orders: UnboundedSender<Order>,
    thread: JoinHandle<Result<(), FleetError>>,
}

/// A run that could be resumed, and whose data agents discard when they begin another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscardedRun {
    pub run: String,
    /// Agents that keep data of it.
    pub agents: Vec<String>,
}

/// An agent that takes part.
#[derive(Debug)]
struct Joined {
    index: usize,
    agent: SessionAgent,
    /// A run whose conductor died; the agent keeps its data of that run until this run begins.
    discarded: Option<String>,
    arrivals: Receiver<Arrival>,
}

/// How the hub thread obtains its agents.
enum Start {
    /// Invites free agents: this many, or all that answer if `None`.
    Invite(Option<usize>),
    /// Takes over the agents of a conductor that is gone.
    TakeOver(Box<FleetSession>),
}

/// The inputs of the hub thread.
struct Setup {
    broker: Broker,
    key: Option<ConductorKey>,
    start: Start,
    invitation: Invitation,
    interrupted: Arc<AtomicBool>,
    orders: UnboundedReceiver<Order>,
    gathered: Sender<Result<Vec<Joined>, FleetError>>,
}

impl Fleet {
    /// Finds the agents of a run and invites them.
    ///
    /// # Errors
    /// When the broker cannot be used, or not for as long as the run takes, too few agents answer, or one of them is another version or
    /// has another's name.
    pub fn gather(order: Gathering<'_>) -> Result<Self, FleetError> {
        order.broker.check_credentials(order.lasts.unwrap_or_default())?;
        let invitation = Invitation {
            run: random_name()?,
            incarnation: 0,
            version: order.version.to_owned(),
            plan: order.plan.to_json(),
            csv: order.csv.map(|csv| BASE64_STANDARD.encode(csv)),
            gather: Duration::ZERO,
        };
        let start = Start::Invite(order.agents);
        let fleet = Self::start(start, (order.broker, order.key), invitation, order.interrupted)?;
        Ok(Self { ends_by_itself: true, ..fleet })
    }

    /// Takes over the agents of a run whose conductor is gone. They continue their current load, and keep their data until
    /// [`end`](Self::end).
    ///
    /// # Errors
    /// When the broker cannot be used, the run has a conductor, an agent does not obey this one, or nothing is left of the run
    /// but its file.
    pub fn resume(order: Resuming<'_>) -> Result<Self, FleetError> {
        let (plan, csv) = (String::new(), None);
        let (run, version) = (order.session.run().to_owned(), order.version.to_owned());
        let invitation = Invitation { run, incarnation: 0, version, plan, csv, gather: Duration::ZERO };
        let start = Start::TakeOver(Box::new(order.session.clone()));
        Self::start(start, (order.broker, order.key), invitation, order.interrupted)
    }

    fn start(
        start: Start,
        (broker, key): (Broker, Option<ConductorKey>),
        invitation: Invitation,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Self, FleetError> {
        let (orders, received) = unbounded_channel();
        let (gathered, answer) = mpsc::channel();
        let name = invitation.run.clone();
        let setup = Setup { broker, key, start, invitation, interrupted, orders: received, gathered };
        let start = thread::Builder::new().name("fleet".to_owned()).spawn(move || run(setup));
        let thread = start.map_err(FleetError::system("could not start the thread of the fleet"))?;
        let Ok(joined) = answer.recv() else {
            return Err(FleetError::Ended { why: ended(thread) });
        };
        let waiting = VecDeque::from(joined?);
        let agents = waiting.iter().map(|joined| joined.agent.clone()).collect();
        let discarded = discarded(&waiting);
        Ok(Self { waiting, run: name, agents, discarded, ends_by_itself: false, orders, thread })
    }

    /// The names of the agents that take part.
    pub fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// The runs whose data the agents discard for this one.
    pub fn discarded(&self) -> &[DiscardedRun] {
        &self.discarded
    }

    /// Returns what is needed to resume the run if this conductor dies.
    ///
    /// # Errors
    /// When this process has no folder any more.
    pub fn session(
        &self,
        broker: &Broker,
        key: Option<&Path>,
        on_loss: OnLoss,
    ) -> Result<FleetSession, FleetError> {
        FleetSession::new(broker, key, on_loss, (&self.run, self.agents.clone()))
    }

    /// Leaves the run unfinished: its agents keep their data.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub fn leave(self) -> Result<(), FleetError> {
        plimsoll_units::best_effort(self.orders.send(Order::Leave), "the thread has ended");
        self.end()
    }

    /// Waits until the agents know that the run is over.
    ///
    /// # Errors
    /// When the broker failed for good while the run went on.
    pub fn end(self) -> Result<(), FleetError> {
        self.begin_end().wait()
    }

    /// Notifies the agents that the run is over, without waiting for them.
    pub fn begin_end(self) -> EndingFleet {
        EndingFleet(self.thread)
    }
}

/// A fleet that is ending: its agents are being notified that the run is over.
#[derive(Debug)]
#[must_use = "agents that a process does not wait for may not hear that the run is over"]
pub struct EndingFleet(JoinHandle<Result<(), FleetError>>);

impl EndingFleet {
    /// Waits until the agents know that the run is over.
    ///
    /// # Errors
    /// As [`Fleet::end`].
    pub fn wait(self) -> Result<(), FleetError> {
        let fault = || FleetError::Ended { why: "a fault in Plimsoll itself".to_owned() };
        self.0.join().unwrap_or_else(|_| Err(fault()))
    }
}

/// Groups the agents by the run that they discard.
fn discarded(joined: &VecDeque<Joined>) -> Vec<DiscardedRun> {
    let mut runs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Joined { agent, discarded, .. } in joined {
        if let Some(run) = discarded {
            runs.entry(run).or_default().push(agent.name.clone());
        }
    }
    runs.into_iter().map(|(run, agents)| DiscardedRun { run: run.to_owned(), agents }).collect()
}

fn ended(thread: JoinHandle<Result<(), FleetError>>) -> String {
    match thread.join() {
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(())) | Err(_) => "a fault in Plimsoll itself".to_owned(),
    }
}

/// Draws a random name for a run.
fn random_name() -> Result<String, FleetError> {
    let number = crate::random()?;
    Ok(format!("{number:0RUN_DIGITS$x}"))
}

impl Rendezvous for Fleet {
    fn head_start(&self) -> Duration {
        HEAD_START
    }

    fn coordinator_takes_part(&self) -> bool {
        false
    }

    fn arrived(&mut self) -> io::Result<Option<Channel<Command, Message>>> {
        let ends_run = self.ends_by_itself;
        Ok(self.waiting.pop_front().map(|Joined { index, agent, arrivals, .. }| Channel {
            name: Some(agent.name),
            sender: Box::new(AgentCommands { agent: index, ends_run, orders: self.orders.clone() }),
            receiver: Box::new(AgentMessages { arrivals, next: VecDeque::new() }),
        }))
    }
}

/// Sends commands to one agent.
#[derive(Debug)]
pub(crate) struct AgentCommands {
    pub(crate) agent: usize,
    /// Whether closing this channel ends the run for the agent.
    pub(crate) ends_run: bool,
    pub(crate) orders: UnboundedSender<Order>,
}

impl SendTo<Command> for AgentCommands {
    fn send(&mut self, command: &Command) -> io::Result<()> {
        let order = Order::Command { agent: self.agent, command: command.clone() };
        self.orders.send(order).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn kept(&mut self, messages: u64) {
        let order = Order::Kept { agent: self.agent, messages };
        plimsoll_units::best_effort(self.orders.send(order), "the run is over");
    }

    fn close(&mut self) -> bool {
        !self.ends_run || self.orders.send(Order::Over { agent: self.agent }).is_ok()
    }
}

/// Receives the messages of one agent.
struct AgentMessages {
    arrivals: Receiver<Arrival>,
    /// The remaining messages of an unpacked batch.
    next: VecDeque<Message>,
}

impl ReceiveFrom<Message> for AgentMessages {
    fn receive(&mut self) -> io::Result<Option<Message>> {
        loop {
            if let Some(message) = self.next.pop_front() {
                return Ok(Some(message));
            }
            match self.arrivals.recv() {
                Ok(Arrival::Messages(content)) => self.next = unpack(&content)?,
                Ok(Arrival::Lost(why)) => return Err(io::Error::other(why)),
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Runs the hub thread: gathers the agents, then carries messages until the run is over.
fn run(setup: Setup) -> Result<(), FleetError> {
    let runtime = crate::runtime()?;
    runtime.block_on(async {
        let Setup { broker, key, start, invitation, interrupted, orders, gathered } = setup;
        let begun = match start {
            Start::Invite(agents) => gather(&broker, agents, (invitation, key), &interrupted).await,
            Start::TakeOver(session) => take_over(&broker, &session, (invitation, key), &interrupted).await,
        };
        match begun {
            Ok(Gathered { hub, joined, alive, clock, violations }) => {
                plimsoll_units::best_effort(gathered.send(Ok(joined)), "the run was given up");
                hub.serve(Sources { orders, alive, clock, violations }).await
            }
            Err(error) => {
                plimsoll_units::best_effort(gathered.send(Err(error)), "the run was given up");
                Ok(())
            }
        }
    })
}

/// The hub of a run, its agents, and its subscriptions.
struct Gathered {
    hub: Hub,
    joined: Vec<Joined>,
    alive: Subscriber,
    clock: Subscriber,
    violations: UnboundedReceiver<FleetError>,
}

async fn gather(
    broker: &Broker,
    agents: Option<usize>,
    (invitation, key): (Invitation, Option<ConductorKey>),
    interrupted: &AtomicBool,
) -> Result<Gathered, FleetError> {
    let mut connected = broker.connect("plimsoll conductor", None).await?;
    let client = connected.client.clone();
    let size = pack(&invitation).map_err(FleetError::system("could not pack the plan"))?.len();
    refuse_too_large(size, client.max_payload())?;
    let subjects = broker.subjects();
    let unsubscribed = |error: async_nats::SubscribeError| FleetError::Ended { why: error.to_string() };
    let mut alive = client.subscribe(subjects.alive("*")).await.map_err(unsubscribed)?;
    let found = find(broker, agents, &mut alive, interrupted).await;
    let found = found.map_err(|error| connected.explain(error))?;
    refuse_versions(&found, &invitation.version)?;
    let clock = client.subscribe(subjects.clock(&invitation.run)).await.map_err(unsubscribed)?;
    let place = RunStream::new(&client, broker, &invitation.run);
    let stream = place.make().await?;
    let (members, joined) = found.into_values().enumerate().map(introduce).unzip();
    let (members, reader) = (Members::new(invitation, members), Reader::new(place, stream));
    let hub = Hub::new(client, subjects, key, members, reader);
    Ok(Gathered { hub, joined, alive, clock, violations: connected.violations })
}

/// Fails if a plan of `bytes` bytes, with room for its signature and the fields of one agent, exceeds the broker's largest message.
fn refuse_too_large(bytes: usize, most: usize) -> Result<(), FleetError> {
    let bytes = bytes + HEADERS_BYTES;
    match bytes > most {
        true => Err(FleetError::PlanTooLarge { bytes, most }),
        false => Ok(()),
    }
}

/// Takes over the agents of a conductor that is gone. Changes nothing until it is known that data of the run is left.
async fn take_over(
    broker: &Broker,
    session: &FleetSession,
    (invitation, key): (Invitation, Option<ConductorKey>),
    interrupted: &AtomicBool,
) -> Result<Gathered, FleetError> {
    let mut connected = broker.connect("plimsoll conductor", None).await?;
    let (client, subjects) = (connected.client.clone(), broker.subjects());
    let unsubscribed = |error: async_nats::SubscribeError| FleetError::Ended { why: error.to_string() };
    let mut alive = client.subscribe(subjects.alive("*")).await.map_err(unsubscribed)?;
    let orphans = Orphans::hear(session, &mut alive, interrupted).await;
    let orphans = orphans.map_err(|error| connected.explain(error))?;
    let there = orphans.there(session);
    refuse_versions(&there, &invitation.version)?;
    let place = RunStream::new(&client, broker, session.run());
    let left = place.left().await;
    if there.is_empty() && left.as_ref().is_none_or(|(_, batches)| *batches == 0) {
        let (address, run) = (broker.address.to_string(), session.run().to_owned());
        return Err(connected.explain(FleetError::NothingLeft { address, run }));
    }
    let clock = client.subscribe(subjects.clock(session.run())).await.map_err(unsubscribed)?;
    let (stream, batches) = match left {
        Some(left) => left,
        None => (place.make().await?, 0),
    };
    let (members, joined) = orphans.of(session).enumerate().map(introduce_orphan).unzip();
    let members =
        Members::new(invitation, members).resuming(orphans.next_term(session)?, batches, RealClock.now());
    let mut hub = Hub::new(client, subjects, key, members, Reader::new(place, stream));
    hub.take_over(&mut alive).await?;
    Ok(Gathered { hub, joined, alive, clock, violations: connected.violations })
}

fn introduce<F>((index, alive): (usize, Alive)) -> (Member<F>, Joined) {
    let (sender, arrivals) = mpsc::channel();
    let agent = SessionAgent { name: alive.agent.clone(), incarnation: alive.incarnation };
    let discarded = alive.held.map(|held| held.run);
    let member = Member::new(alive.agent, alive.incarnation, sender, RealClock.now());
    (member, Joined { index, agent, discarded, arrivals })
}

fn introduce_orphan<F>(
    (index, (agent, stands)): (usize, (&SessionAgent, Result<&Held, String>)),
) -> (Member<F>, Joined) {
    let (sender, arrivals) = mpsc::channel();
    let id = (agent.name.clone(), agent.incarnation);
    let member = Member::resumed(id, stands, sender, RealClock.now());
    (member, Joined { index, agent: agent.clone(), discarded: None, arrivals })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_leaves_room_for_its_signature() {
        let most = 1 << 20;
        assert!(refuse_too_large(most - HEADERS_BYTES, most).is_ok());
        let refused = refuse_too_large(most - HEADERS_BYTES + 1, most);
        assert!(matches!(refused, Err(FleetError::PlanTooLarge { .. })));
    }
}
