//! A fleet on this machine, for trials and tests: a real broker, and agents as processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_sys::ReservedPort;
use plimsoll_units::best_effort;
use serde::{Deserialize, Serialize};

use crate::broker::{Broker, BrokerAddress, Certificates};
use crate::deadline::{Deadline, Overdue, POLL_INTERVAL};
use crate::error::FleetError;
use crate::folder::{make_own, read_record, write_record};
use crate::keys::KeyFolder;
use crate::placement::agent_args;
use crate::process::{FleetProcess, end_all, spawn};
use crate::readiness::{Starter, await_agents};
use crate::reasons::last_words_in;
use crate::status::status;

/// The program of the broker.
const SERVER: &str = "nats-server";
/// How long the whole fleet may take to start.
const UP_WITHIN: Duration = Duration::from_secs(30);
/// The record of the fleet, in its folder.
const RECORD: &str = "fleet.json";
/// The folder of its keys, next to it.
const KEYS: &str = "keys";

/// The options of a local fleet.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// For its record, its logs and the broker's store.
    pub folder: PathBuf,
    pub agents: usize,
    /// Nodes of the broker: 1, or 3 for one that survives the loss of a node.
    pub nodes: usize,
    /// What agents may load, as `plimsoll agent --allow` takes it.
    pub allow: Vec<String>,
    /// The program of agents.
    pub program: PathBuf,
    pub fleet: String,
}

/// A fleet that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalFleet {
    /// The broker's addresses, as `--fleet` takes them.
    pub address: String,
    pub fleet: String,
    /// The folder of its keys.
    keys: PathBuf,
    pub nodes: Vec<FleetProcess>,
    pub agents: Vec<FleetProcess>,
}

impl LocalFleet {
    /// Starts a broker and agents, and waits until they have found each other.
    ///
    /// # Errors
    /// When the folder holds a fleet that runs, nats-server is not installed, or something does not start in time. What was
    /// started is ended again then.
    pub fn up(options: &LocalOptions, interrupted: &AtomicBool) -> Result<Self, FleetError> {
        if let Some(other) = Self::read(&options.folder)?.filter(Self::is_running) {
            return Err(FleetError::Local {
                why: format!("a fleet runs already at {}; end it with plimsoll fleet down", other.address),
            });
        }
        let server = nats_server()?;
        if !options.folder.join(RECORD).exists() {
            make_own(&options.folder)?;
        }
        let reserved = reserve_ports(options.nodes * 2)?;
        let ports: Vec<u16> = reserved.iter().map(ReservedPort::number).collect();
        let (clients, routes) = ports.split_at(options.nodes);
        let addresses: Vec<String> = clients.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut fleet = Self {
            address: addresses.join(","),
            fleet: options.fleet.clone(),
            keys: options.folder.join(KEYS),
            nodes: Vec::new(),
            agents: Vec::new(),
        };
        // The record shows that the folder is a fleet's own. A fleet that was killed has left its keys there.
        fleet.write(&options.folder)?;
        best_effort(fs::remove_dir_all(&fleet.keys), "there are none");
        let deadline = Deadline::within(UP_WITHIN, interrupted);
        match fleet.start(options, &server, (clients, routes), deadline) {
            Ok(()) => Ok(fleet),
            Err(error) => {
                fleet.end();
                Err(error)
            }
        }
    }

    fn start(
        &mut self,
        options: &LocalOptions,
        server: &Path,
        (clients, routes): (&[u16], &[u16]),
        deadline: Deadline<'_>,
    ) -> Result<(), FleetError> {
        let (keys, access) = KeyFolder::open_own(&self.keys, &options.fleet)?;
        for (number, port) in (1..).zip(clients) {
            let name = format!("node-{number}");
            let config = options.folder.join(format!("{name}.conf"));
            let text = node_config(&name, *port, (number - 1, routes), &options.folder);
            fs::write(&config, text + &access)
                .map_err(FleetError::system("could not write the settings of the broker"))?;
            let mut command = Command::new(server);
            command.arg("--config").arg(config);
            self.nodes.push(spawn(command, &log(&options.folder, &name), name)?);
            self.write(&options.folder)?;
        }
        self.await_broker(deadline)?;
        let trusted = keys.trusted()?;
        for number in 1..=options.agents {
            let name = format!("agent-{number}");
            let broker = Broker { credentials: Some(keys.mint_own_agent(&name)?), ..self.broker()? };
            let mut command = Command::new(&options.program);
            command.args(agent_args(&name, &broker, &options.allow, Some(&trusted)));
            self.agents.push(spawn(command, &log(&options.folder, &name), name)?);
            self.write(&options.folder)?;
        }
        let names: Vec<String> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let mut processes = Processes { fleet: self, folder: &options.folder };
        await_agents(&names, &self.broker()?, &mut processes, deadline)
    }

    fn await_broker(&self, deadline: Deadline<'_>) -> Result<(), FleetError> {
        loop {
            let Err(error) = status(&self.broker()?) else { return Ok(()) };
            let ended = self.nodes.iter().find(|node| !node.is_running());
            let why = match (deadline.overdue(), ended) {
                (Some(Overdue::Interrupted), _) => return Err(FleetError::Interrupted),
                (_, Some(node)) => format!("{} has ended", node.name),
                (Some(Overdue::Late), None) => error.to_string(),
                (None, None) => {
                    thread::sleep(POLL_INTERVAL);
                    continue;
                }
            };
            return Err(FleetError::Local {
                why: format!("the broker did not start ({why}); its log is in the folder"),
            });
        }
    }

    /// Reads the fleet of a folder; `None` if it holds none.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, FleetError> {
        read_record(&folder.join(RECORD), "could not read the record of the fleet")
    }

    /// Reads the fleet of a folder; `None` unless it uses this broker.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn at(folder: &Path, address: &BrokerAddress) -> Result<Option<Self>, FleetError> {
        let meets = |fleet: &Self| fleet.address.parse().is_ok_and(|own: BrokerAddress| own.meets(address));
        Ok(Self::read(folder)?.filter(meets))
    }

    fn write(&self, folder: &Path) -> Result<(), FleetError> {
        write_record(&folder.join(RECORD), self, "could not write the record of the fleet")
    }

    /// The broker of the fleet.
    ///
    /// # Errors
    /// When the address in its record is none.
    pub fn broker(&self) -> Result<Broker, FleetError> {
        Ok(Broker {
            address: self.address.parse()?,
            credentials: Some(self.keys().conductor_credentials()),
            certificates: Certificates::default(),
            fleet: self.fleet.clone(),
        })
    }

    /// The keys of the fleet. Its agents obey no other conductor.
    pub fn keys(&self) -> KeyFolder {
        KeyFolder::existing(self.keys.clone())
    }

    fn processes(&self) -> impl Iterator<Item = &FleetProcess> {
        self.agents.iter().chain(&self.nodes)
    }

    /// True if any of its processes is still there.
    pub fn is_running(&self) -> bool {
        self.processes().any(FleetProcess::is_running)
    }

    /// Ends all of its processes, the agents first.
    pub fn end(&self) {
        end_all(&self.agents);
        end_all(&self.nodes);
    }

    /// Ends the fleet of a folder, and removes what it wrote there. False if there is none.
    ///
    /// # Errors
    /// When its record cannot be read, or its folder cannot be removed.
    pub fn down(folder: &Path) -> Result<bool, FleetError> {
        let Some(fleet) = Self::read(folder)? else { return Ok(false) };
        fleet.end();
        fs::remove_dir_all(folder).map_err(FleetError::system("could not remove the folder of the fleet"))?;
        Ok(true)
    }
}

/// The processes of a fleet that starts, with their logs in a folder.
struct Processes<'a> {
    fleet: &'a LocalFleet,
    folder: &'a Path,
}

impl Processes<'_> {
    /// The last words of an agent; `None` while it runs.
    fn last_words(&self, agent: &str) -> Option<String> {
        let process = self.fleet.agents.iter().find(|process| process.name == agent)?;
        let has_ended = !process.is_running();
        has_ended.then(|| last_words_in(&log(self.folder, agent)))
    }
}

impl Starter for Processes<'_> {
    fn has_failed(&mut self, _missing: &[String]) -> Result<bool, FleetError> {
        Ok(self.fleet.processes().any(|process| !process.is_running()))
    }

    fn reasons(&mut self, missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
        Ok(missing.iter().map(|agent| self.last_words(agent)).collect())
    }

    fn advice(&self) -> String {
        format!("it runs, but does not answer at the broker; its log is in {}", self.folder.display())
    }
}

fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

/// Returns the configuration of one node. `number` is the index of its port in `routes`.
fn node_config(name: &str, port: u16, (number, routes): (usize, &[u16]), folder: &Path) -> String {
    let store = folder.join(name);
    let others: Vec<String> = routes.iter().map(|port| format!("nats-route://127.0.0.1:{port}")).collect();
    let cluster = match (routes.len(), routes.get(number)) {
        (2.., Some(own)) => format!(
            "cluster {{\n  name: plimsoll\n  listen: \"127.0.0.1:{own}\"\n  routes: [{}]\n}}\n",
            others.join(", ")
        ),
        _ => String::new(),
    };
    // No sync_interval: what a killed process has written survives it, and this fleet does not outlive the machine.
    format!(
        "server_name: {name}\nlisten: \"127.0.0.1:{port}\"\njetstream {{\n  store_dir: {store:?}\n}}\n{cluster}"
    )
}

/// Reserves ports for servers that are about to start.
fn reserve_ports(count: usize) -> Result<Vec<ReservedPort>, FleetError> {
    let reserved: io::Result<Vec<ReservedPort>> = (0..count).map(|_| ReservedPort::take()).collect();
    reserved.map_err(FleetError::system("could not find free ports"))
}

/// Finds the program of the broker: on the PATH, or where Go installs programs.
///
/// # Errors
/// When it is in neither.
pub fn nats_server() -> Result<PathBuf, FleetError> {
    let go = std::env::var_os("HOME").map(|home| Path::new(&home).join("go/bin"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&paths).chain(go).map(|folder| folder.join(SERVER)).find(|file| file.is_file());
    found.ok_or_else(|| FleetError::Local {
        why: format!(
            "{SERVER} is not on the PATH; install it: go install github.com/nats-io/nats-server/v2@v2.14.9"
        ),
    })
}
