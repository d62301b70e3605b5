//! The agents of one run, as the conductor sees them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::{Subscriber, jetstream};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::StreamExt as _;
use plimsoll_conductor::peers::{Channel, Command, Message, ReceiveFrom, Rendezvous, SendTo};
use plimsoll_plan::Plan;
use plimsoll_units::{Clock as _, RealClock};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::broker::Broker;
use crate::error::FleetError;
use crate::hub::{Hub, Sources};
use crate::members::{Arrival, Member, Members, Order};
use crate::signature::ConductorKey;
use crate::wire::{Alive, Invitation, pack, unpack};

/// How long agents are waited for that were asked for, or for the first of any number.
const GATHER_WITHIN: Duration = Duration::from_secs(30);
/// After the first agent others are waited for this long, if no number was asked for.
const OTHERS_WITHIN: Duration = Duration::from_secs(2);
/// How often the interrupt flag is read meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A step begins so long after its command: every agent has it by then, and has measured its clock.
pub(crate) const HEAD_START: Duration = Duration::from_secs(2);

/// What a run needs of its agents.
#[derive(Debug)]
pub struct Gathering<'a> {
    pub broker: Broker,
    /// Signs what agents are asked to do.
    pub key: Option<ConductorKey>,
    /// How many agents take part; as many as answer if `None`.
    pub agents: Option<usize>,
    pub plan: &'a Plan,
    pub csv: Option<&'a [u8]>,
    /// Of this tool; all agents must have the same.
    pub version: &'a str,
    pub interrupted: Arc<AtomicBool>,
}

/// The agents of one run.
#[derive(Debug)]
pub struct Fleet {
    /// Those that have not been handed out yet.
    waiting: VecDeque<Joined>,
    names: Vec<String>,
    orders: UnboundedSender<Order>,
    thread: JoinHandle<Result<(), FleetError>>,
}

/// An agent that takes part.
#[derive(Debug)]
struct Joined {
    index: usize,
    name: String,
    arrivals: Receiver<Arrival>,
}

/// What the thread of the hub begins with.
struct Setup {
    broker: Broker,
    key: Option<ConductorKey>,
    agents: Option<usize>,
    invitation: Invitation,
    interrupted: Arc<AtomicBool>,
    orders: UnboundedReceiver<Order>,
    gathered: Sender<Result<Vec<Joined>, FleetError>>,
}

impl Fleet {
    /// Finds the agents of a run and invites them.
    ///
    /// # Errors
    /// When the broker cannot be used, too few agents answer, or one of them is another version or has another's name.
    pub fn gather(order: Gathering<'_>) -> Result<Self, FleetError> {
        let (orders, received) = unbounded_channel();
        let (gathered, answer) = mpsc::channel();
        let setup = Setup {
            invitation: Invitation {
                run: random_name()?,
                incarnation: 0,
                version: order.version.to_owned(),
                plan: order.plan.to_json(),
                csv: order.csv.map(|csv| BASE64_STANDARD.encode(csv)),
            },
            broker: order.broker,
            key: order.key,
            agents: order.agents,
            interrupted: order.interrupted,
            orders: received,
            gathered,
        };
        let start = thread::Builder::new().name("fleet".to_owned()).spawn(move || run(setup));
        let thread = start.map_err(FleetError::system("could not start the thread of the fleet"))?;
        let Ok(joined) = answer.recv() else {
            return Err(FleetError::Ended { why: ended(thread) });
        };
        let waiting = VecDeque::from(joined?);
        let names = waiting.iter().map(|joined| joined.name.clone()).collect();
        Ok(Self { waiting, names, orders, thread })
    }

    /// The names of the agents that take part.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Waits until the agents know that the run is over.
    ///
    /// # Errors
    /// When the broker failed for good while the run went on.
    pub fn end(self) -> Result<(), FleetError> {
        let Self { waiting, orders, thread, .. } = self;
        drop((waiting, orders));
        thread
            .join()
            .unwrap_or_else(|_| Err(FleetError::Ended { why: "a fault in Plimsoll itself".to_owned() }))
    }
}

fn ended(thread: JoinHandle<Result<(), FleetError>>) -> String {
    match thread.join() {
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(())) | Err(_) => "a fault in Plimsoll itself".to_owned(),
    }
}

/// A name that no other run has.
fn random_name() -> Result<String, FleetError> {
    let number = crate::random()?;
    Ok(format!("{number:016x}"))
}

impl Rendezvous for Fleet {
    fn head_start(&self) -> Duration {
        HEAD_START
    }

    fn coordinator_takes_part(&self) -> bool {
        false
    }

    fn arrived(&mut self) -> io::Result<Option<Channel<Command, Message>>> {
        Ok(self.waiting.pop_front().map(|Joined { index, name, arrivals }| Channel {
            name: Some(name),
            sender: Box::new(AgentCommands { agent: index, orders: self.orders.clone() }),
            receiver: Box::new(AgentMessages { arrivals, next: VecDeque::new() }),
        }))
    }
}

/// Sends commands to one agent.
#[derive(Debug)]
pub(crate) struct AgentCommands {
    pub(crate) agent: usize,
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
        self.orders.send(Order::Over { agent: self.agent }).is_ok()
    }
}

/// Receives the messages of one agent.
struct AgentMessages {
    arrivals: Receiver<Arrival>,
    /// Of a batch that was unpacked.
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

/// The thread of the hub: gathers the agents, and carries everything until the run is over.
fn run(setup: Setup) -> Result<(), FleetError> {
    let runtime = crate::runtime()?;
    runtime.block_on(async {
        let Setup { broker, key, agents, invitation, interrupted, orders, gathered } = setup;
        match gather(&broker, agents, (invitation, key), &interrupted).await {
            Ok((hub, joined, alive, clock)) => {
                plimsoll_units::best_effort(gathered.send(Ok(joined)), "the run was given up");
                hub.serve(Sources { orders, alive, clock }).await
            }
            Err(error) => {
                plimsoll_units::best_effort(gathered.send(Err(error)), "the run was given up");
                Ok(())
            }
        }
    })
}

type Gathered = (Hub, Vec<Joined>, Subscriber, Subscriber);

async fn gather(
    broker: &Broker,
    agents: Option<usize>,
    (invitation, key): (Invitation, Option<ConductorKey>),
    interrupted: &AtomicBool,
) -> Result<Gathered, FleetError> {
    let mut connected = broker.connect("plimsoll conductor", None).await?;
    let client = connected.client.clone();
    let size = pack(&invitation).map_err(FleetError::system("could not pack the plan"))?.len();
    if size > client.max_payload() {
        return Err(FleetError::PlanTooLarge { bytes: size, most: client.max_payload() });
    }
    let subjects = broker.subjects();
    let unsubscribed = |error: async_nats::SubscribeError| FleetError::Ended { why: error.to_string() };
    let mut alive = client.subscribe(subjects.alive("*")).await.map_err(unsubscribed)?;
    let found = find(broker, agents, &mut alive, interrupted).await;
    let found = found.map_err(|error| connected.explain(error))?;
    refuse_versions(&found, &invitation.version)?;
    let clock = client.subscribe(subjects.clock(&invitation.run)).await.map_err(unsubscribed)?;
    let stream = broker.make_stream(&jetstream::new(client.clone()), &invitation.run).await?;
    let (members, joined) = found.into_values().enumerate().map(introduce).unzip();
    let members = Members::new(invitation, members);
    Ok((Hub::new(client, subjects, key, members, stream), joined, alive, clock))
}

fn introduce<F>((index, alive): (usize, Alive)) -> (Member<F>, Joined) {
    let (sender, arrivals) = mpsc::channel();
    let joined = Joined { index, name: alive.agent.clone(), arrivals };
    (Member::new(alive.agent, alive.incarnation, sender, RealClock.now()), joined)
}

fn refuse_versions(found: &BTreeMap<String, Alive>, ours: &str) -> Result<(), FleetError> {
    match found.values().find(|alive| alive.version != ours) {
        None => Ok(()),
        Some(other) => Err(FleetError::Version {
            name: other.agent.clone(),
            theirs: other.version.clone(),
            ours: ours.to_owned(),
        }),
    }
}

/// The agents that are free, by name: so many, or all that answer within a while.
async fn find(
    broker: &Broker,
    asked_for: Option<usize>,
    alive: &mut Subscriber,
    interrupted: &AtomicBool,
) -> Result<BTreeMap<String, Alive>, FleetError> {
    let mut found: BTreeMap<String, Alive> = BTreeMap::new();
    let mut former = Vec::new();
    let began = RealClock.now();
    let mut deadline = began + GATHER_WITHIN;
    while RealClock.now() < deadline {
        if interrupted.load(Ordering::Relaxed) {
            return Err(FleetError::Interrupted);
        }
        let Ok(Some(message)) = tokio::time::timeout(POLL_INTERVAL, alive.next()).await else { continue };
        let Ok(sign) = unpack::<Alive>(&message.payload) else { continue };
        if sign.run.is_some() {
            continue;
        }
        if found.is_empty() && asked_for.is_none() {
            deadline = RealClock.now() + OTHERS_WITHIN;
        }
        // One that was started again is heard no more; of two with one name both are.
        if former.contains(&sign.incarnation) {
            return Err(FleetError::SameName { name: sign.agent });
        }
        let incarnation = sign.incarnation;
        let before = found.insert(sign.agent.clone(), sign);
        former.extend(before.map(|before| before.incarnation).filter(|before| *before != incarnation));
        if asked_for.is_some_and(|agents| found.len() >= agents) {
            return Ok(found);
        }
    }
    let within_sec = RealClock.now().since(began).as_secs();
    match asked_for {
        _ if found.is_empty() => {
            Err(FleetError::NoAgents { address: broker.address.to_string(), within_sec })
        }
        Some(expected) => {
            let names: Vec<&str> = found.keys().map(String::as_str).collect();
            Err(FleetError::TooFew { came: found.len(), expected, within_sec, names: names.join(", ") })
        }
        None => Ok(found),
    }
}
