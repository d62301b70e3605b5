//! A fleet over ssh: one agent on each host, which outlives the command that starts it.

mod error;
mod host;
mod hosted;
mod record;
mod session;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use crate::broker::Broker;
use crate::deadline::Deadline;
use crate::error::FleetError;
use crate::placement::{AgentFile, Placement};
use crate::readiness::{Starter, await_agents, refuse_taken};
use crate::reasons::{JOINS_ANOTHER, together};
use error::HostError;
pub use host::SshHost;
pub use hosted::HostedAgent;
use hosted::{HostedOrder, folder};
use record::{HostRecord, Record};
use session::Session;
use words::KEEP;

/// How long a host may take to end its agent, or to report its state.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A fleet to start over ssh.
#[derive(Debug)]
pub struct SshOptions {
    pub hosts: Vec<SshHost>,
    pub placement: Placement,
    /// The program to copy to hosts that lack this version; without it, such hosts are an error.
    pub copied: Option<PathBuf>,
    pub version: &'static str,
    /// How long all agents may take to answer at the broker.
    pub within: Duration,
    /// Folder for the record of what was started.
    pub folder: PathBuf,
}

/// A fleet over ssh that was started.
#[derive(Debug)]
pub struct SshFleet {
    record: Record,
    folder: PathBuf,
}

/// A host and the state of its agent, or why that is unknown.
#[derive(Debug)]
pub struct HostStatus {
    pub host: String,
    pub agent: String,
    pub state: String,
}

/// A started agent that does not outlive its session yet.
struct Placed {
    record: HostRecord,
    session: Session,
}

impl SshFleet {
    /// Starts an agent on each host, and waits until all answer at the broker, as this machine reaches it.
    ///
    /// # Errors
    /// When the broker cannot be used, a host cannot, or an agent does not answer in time: then the error says which, and why.
    /// No agent is left.
    pub fn up(options: &SshOptions, broker: &Broker, interrupted: &AtomicBool) -> Result<Self, FleetError> {
        if Record::read(&options.folder)?.is_some() {
            return Err(FleetError::SshRunning { folder: options.folder.clone() });
        }
        let agents = SshHost::agent_names(&options.hosts)?;
        refuse_taken(&agents, broker)?;
        let deadline = Deadline::within(options.within, interrupted);
        let mut placed = place_all((options, &agents), deadline)?;
        let ready = await_agents(&agents, broker, &mut Sessions(&mut placed), deadline).and_then(|()| {
            let record = Record { hosts: placed.iter().map(|placed| placed.record.clone()).collect() };
            record.write(&options.folder)?;
            Ok(record)
        });
        match ready {
            Ok(record) => {
                let fleet = Self { record, folder: options.folder.clone() };
                fleet.keep(placed).map(|()| fleet)
            }
            Err(error) => {
                end_sessions(placed);
                Err(error)
            }
        }
    }

    /// Lets the agents outlive their sessions.
    fn keep(&self, placed: Vec<Placed>) -> Result<(), FleetError> {
        placed.iter().for_each(|placed| placed.session.say(KEEP));
        let lost = end_sessions(placed);
        if lost.is_empty() {
            return Ok(());
        }
        let left = self.down();
        Err(left.err().unwrap_or_else(|| FleetError::NotPlaced {
            failed: lost.len(),
            hosts: self.record.hosts.len(),
            reasons: together(lost.into_iter()),
        }))
    }

    /// The fleet whose record is in a folder; `None` if it holds none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, FleetError> {
        let record = Record::read(folder)?;
        Ok(record.map(|record| Self { record, folder: folder.to_owned() }))
    }

    /// Returns the state of each agent, as its host reports it.
    pub fn status(&self) -> Vec<HostStatus> {
        let state =
            |host: &HostRecord, deadline: Deadline<'_>| host.host.status(&host.id, &host.program, deadline);
        let status = |(host, state): (&HostRecord, Result<String, HostError>)| HostStatus {
            host: host.host.to_string(),
            agent: host.agent.clone(),
            state: state.unwrap_or_else(|error| format!("not known: {error}")),
        };
        self.on_all(state).into_iter().map(status).collect()
    }

    /// Ends the agents that [`Self::up`] has started, and removes what it has written on their hosts. Hosts that cannot be
    /// reached stay in the record.
    ///
    /// # Errors
    /// When a host cannot be reached, or the record cannot be removed.
    pub fn down(&self) -> Result<(), FleetError> {
        let ended = self.on_all(|host, deadline| host.host.end(&host.id, &host.program, deadline));
        let left: Vec<(&HostRecord, HostError)> =
            ended.into_iter().filter_map(|(host, ended)| Some((host, ended.err()?))).collect();
        if left.is_empty() {
            return Record::remove(&self.folder);
        }
        let hosts = left.iter().map(|(host, _)| (*host).clone()).collect();
        Record { hosts }.write(&self.folder)?;
        let reasons = left.iter().map(|(host, error)| (host.host.to_string(), error.to_string()));
        Err(FleetError::HostsLeft { reasons: together(reasons) })
    }

    /// Runs `work` for all hosts at once.
    fn on_all<T: Send>(&self, work: impl Fn(&HostRecord, Deadline<'_>) -> T + Sync) -> Vec<(&HostRecord, T)> {
        let deadline = Deadline::uninterrupted(ANSWER_WITHIN);
        at_once(&self.record.hosts, |host| (host, work(host, deadline)))
    }
}

/// Runs `work` for all hosts at once, each in its own thread.
fn at_once<H: Send, T: Send>(hosts: impl IntoIterator<Item = H>, work: impl Fn(H) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = hosts.into_iter().map(|host| scope.spawn(move || work(host))).collect();
        let joined = started.into_iter();
        joined.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// The order for one host.
struct Task<'a> {
    host: &'a SshHost,
    order: HostedOrder,
    agent: String,
    /// Unique among all agents on all hosts: hosts may share the home folder of a user.
    id: String,
}

/// Starts the agents; if one cannot be started, the others are ended again.
fn place_all(
    (options, agents): (&SshOptions, &[String]),
    deadline: Deadline<'_>,
) -> Result<Vec<Placed>, FleetError> {
    let tasks = tasks(options, agents)?;
    let version = (options.version, options.copied.as_deref());
    let (mut placed, mut failed) = (Vec::new(), Vec::new());
    for (task, result) in at_once(&tasks, |task| (task, place(task, version, deadline))) {
        match result {
            Ok(one) => placed.push(one),
            Err(error) => failed.push((task, error)),
        }
    }
    if failed.is_empty() {
        return Ok(placed);
    }
    end_sessions(placed);
    if failed.iter().any(|(_, error)| matches!(error, HostError::Interrupted)) {
        return Err(FleetError::Interrupted);
    }
    let reasons = failed.iter().map(|(task, error)| (task.host.to_string(), error.to_string()));
    Err(FleetError::NotPlaced { failed: failed.len(), hosts: tasks.len(), reasons: together(reasons) })
}

fn tasks<'a>(options: &'a SshOptions, agents: &[String]) -> Result<Vec<Task<'a>>, FleetError> {
    let shared = options.placement.shared_files()?;
    let hosts = options.hosts.iter().zip(agents);
    hosts.map(|(host, agent)| task(&options.placement, (host, agent.clone()), &shared)).collect()
}

fn task<'a>(
    placement: &Placement,
    (host, agent): (&'a SshHost, String),
    shared: &[AgentFile],
) -> Result<Task<'a>, FleetError> {
    let id = format!("{:016x}", crate::random()?);
    let files: Vec<AgentFile> = placement.mint(&agent)?.into_iter().chain(shared.iter().cloned()).collect();
    let args = placement.args(&agent, &folder(&id))?;
    Ok(Task { host, order: HostedOrder::new(agent.clone(), args, &files), agent, id })
}

fn place(
    task: &Task<'_>,
    version: (&str, Option<&Path>),
    deadline: Deadline<'_>,
) -> Result<Placed, HostError> {
    let program = task.host.program(&task.id, version, deadline)?;
    let session = task.host.start(&task.id, (&program, &task.order), deadline)?;
    let record =
        HostRecord { host: task.host.clone(), agent: task.agent.clone(), id: task.id.clone(), program };
    Ok(Placed { record, session })
}

/// The sessions of agents that do not outlive them yet.
struct Sessions<'a>(&'a mut [Placed]);

impl Sessions<'_> {
    fn of(&mut self, agents: &[String]) -> impl Iterator<Item = &mut Session> {
        let is_one = move |placed: &&mut Placed| agents.contains(&placed.record.agent);
        self.0.iter_mut().filter(is_one).map(|placed| &mut placed.session)
    }
}

impl Starter for Sessions<'_> {
    fn has_failed(&mut self, missing: &[String]) -> Result<bool, FleetError> {
        Ok(self.of(missing).any(Session::has_ended))
    }

    fn reasons(&mut self, missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
        let why = |session: &mut Session| session.failure().map(|error| error.to_string());
        Ok(self.of(missing).map(why).collect())
    }

    fn advice(&self) -> String {
        JOINS_ANOTHER.to_owned()
    }
}

/// Closes all sessions. Returns the host and the reason of each that failed.
fn end_sessions(placed: Vec<Placed>) -> Vec<(String, String)> {
    let deadline = Deadline::uninterrupted(ANSWER_WITHIN);
    let close = |Placed { record, session }: Placed| {
        let ended = session.end(deadline);
        ended.err().map(|error| (record.host.to_string(), error.to_string()))
    };
    at_once(placed, close).into_iter().flatten().collect()
}
