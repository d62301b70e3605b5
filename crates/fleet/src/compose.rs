//! A fleet of containers on one machine, by Docker Compose: a broker and its agents.

mod child;
mod manifest;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_sys::ReservedPort;
use plimsoll_units::best_effort;
use serde::{Deserialize, Serialize};

use crate::broker::{Broker, Certificates};
use crate::deadline::{Deadline, Interrupts, Overdue};
use crate::error::FleetError;
use crate::folder::{make_own, read_record, write_record};
use crate::keys::KeyFolder;
use crate::readiness::{Starter, await_agents};
use crate::reasons::last_words;
use child::{ChildError, run_within};
pub use manifest::ComposeAgents;

/// The compose file, which is JSON as Compose takes it.
const FILE: &str = "compose.json";
const RECORD: &str = "fleet.json";
const KEYS: &str = "keys";
/// How long Compose may take to report on the containers, and to remove them.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
const DOWN_WITHIN: Duration = Duration::from_secs(300);
/// Environment variable that names another program than `docker compose`, with options: `docker-compose`, `podman-compose`.
const PROGRAM: &str = "PLIMSOLL_COMPOSE";
const USUAL_PROGRAM: &str = "docker compose";

/// A fleet of containers whose compose file is in a folder.
#[derive(Debug)]
pub struct ComposeFleet {
    folder: PathBuf,
    record: Record,
    /// True if this process has created the folder.
    is_new: bool,
    /// The interrupts of the current command.
    interrupts: Interrupts,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// The name of the project in Compose, unique to this fleet.
    project: String,
    /// The port of the broker on 127.0.0.1.
    port: u16,
    fleet: String,
    agents: Vec<String>,
    /// True if the containers may have been started. If false, the file was only written for the user.
    started: bool,
}

impl ComposeFleet {
    /// Writes the compose file of a fleet and the files that it names into a new or empty folder. Replaces a fleet that was written
    /// and not started, but keeps its name and port: the user may have started it.
    ///
    /// # Errors
    /// When the folder has a fleet that was started or anything else, or cannot be written.
    pub fn write(folder: &Path, agents: &ComposeAgents) -> Result<Self, FleetError> {
        let left = Self::read(folder)?;
        let is_new = left.is_none();
        let (project, port) = match left {
            Some(fleet) if fleet.record.started => {
                return Err(FleetError::ComposeRunning { folder: folder.to_owned() });
            }
            Some(fleet) => (fleet.record.project, fleet.record.port),
            None => {
                make_own(folder)?;
                let port = ReservedPort::take().map_err(FleetError::system("could not find a free port"))?;
                (format!("plimsoll-{:016x}", crate::random()?), port.number())
            }
        };
        let (name, agent_names) = (agents.fleet.clone(), agents.names());
        let record = Record { project, port, fleet: name, agents: agent_names, started: false };
        let interrupts = Interrupts::default();
        let fleet = Self { folder: folder.to_owned(), record, is_new, interrupts };
        fleet.write_files(agents).inspect_err(|_| fleet.forget())?;
        Ok(fleet)
    }

    fn write_record(&self) -> Result<(), FleetError> {
        write_record(&self.folder.join(RECORD), &self.record, "could not write the record of the fleet")
    }

    fn write_files(&self, agents: &ComposeAgents) -> Result<(), FleetError> {
        self.write_record()?;
        let (keys, access) = KeyFolder::open_own(&self.folder.join(KEYS), &agents.fleet)?;
        self.write_file("broker.conf", &(manifest::broker_settings() + &access))?;
        for agent in &self.record.agents {
            let credentials = fs::read_to_string(keys.mint_own_agent(agent)?)
                .map_err(FleetError::system("could not read the credentials of an agent"))?;
            self.write_file(&format!("{agent}.creds"), &credentials)?;
        }
        let compose = agents.compose_file(self.record.port, &keys.trusted()?)?;
        self.write_file(FILE, &format!("{compose:#}\n"))
    }

    /// Writes a file that all users may read, because containers run as another user. Only the owner has access to the folder.
    fn write_file(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.folder.join(name);
        let written = fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o644)));
        written.map_err(FleetError::system("could not write the files of the fleet"))
    }

    /// Reads the fleet of a folder; `None` if the folder has none.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, FleetError> {
        let record = read_record(&folder.join(RECORD), "could not read the record of the fleet")?;
        let interrupts = Interrupts::default();
        Ok(record.map(|record| Self { folder: folder.to_owned(), record, is_new: false, interrupts }))
    }

    /// The text of the compose file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self) -> Result<String, FleetError> {
        fs::read_to_string(self.path()).map_err(FleetError::system("could not read the compose file"))
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The options by which Compose uses this file.
    pub fn options(&self) -> [String; 4] {
        ["-f".to_owned(), self.path().display().to_string(), "-p".to_owned(), self.record.project.clone()]
    }

    /// The keys of the fleet. Its agents obey no other conductor.
    pub fn keys(&self) -> KeyFolder {
        KeyFolder::existing(self.folder.join(KEYS))
    }

    /// The broker of the fleet.
    ///
    /// # Errors
    /// When the address in its record is none.
    pub fn broker(&self) -> Result<Broker, FleetError> {
        Ok(Broker {
            address: format!("nats://127.0.0.1:{}", self.record.port).parse()?,
            credentials: Some(self.keys().conductor_credentials()),
            certificates: Certificates::default(),
            fleet: self.record.fleet.clone(),
        })
    }

    /// Starts the containers, and waits until all agents answer at the broker.
    ///
    /// # Errors
    /// When Compose fails or does not end in time, or an agent does not answer in time: then the error says which, and why.
    /// Nothing is left, unless the user ends the removal, too.
    pub fn up(&mut self, within: Duration, interrupts: &Interrupts) -> Result<(), FleetError> {
        self.interrupts = interrupts.clone();
        let deadline = Deadline::within(within, &interrupts.first);
        self.compose(&["version"], deadline).inspect_err(|_| self.forget())?;
        let Err(error) = self.start(deadline) else { return Ok(()) };
        match self.remove(&interrupts.second) {
            Err(left @ FleetError::ComposeLeft { .. }) => Err(left),
            removed => {
                best_effort(removed, "the first error says more");
                Err(error)
            }
        }
    }

    /// Removes a new folder if nothing of its fleet can have been started, so that nothing is left for `down`.
    fn forget(&self) {
        if self.is_new {
            self.remove_quietly();
        }
    }

    fn start(&mut self, deadline: Deadline<'_>) -> Result<(), FleetError> {
        self.record.started = true;
        self.write_record()?;
        self.compose(&["up", "-d", "--remove-orphans"], deadline)?;
        await_agents(&self.record.agents, &self.broker()?, &mut Containers(self), deadline)
    }

    /// Returns the last lines of the log of an agent's container.
    fn last_words(&self, agent: &str, deadline: Deadline<'_>) -> Option<String> {
        let args = ["logs", "--no-color", "--no-log-prefix", "--tail", "3", agent];
        let said = self.compose(&args, deadline).ok()?;
        last_words(&String::from_utf8_lossy(&said.stdout))
    }

    /// Returns Compose's list of the containers.
    ///
    /// # Errors
    /// When Compose fails.
    pub fn containers(&self) -> Result<String, FleetError> {
        let listed = self.compose(&["ps"], Deadline::uninterrupted(ANSWER_WITHIN))?;
        Ok(String::from_utf8_lossy(&listed.stdout).into_owned())
    }

    /// Ends the containers, and removes them, their network, the broker's store, and the folder.
    ///
    /// # Errors
    /// When Compose fails, the user ends it, or the folder cannot be removed. The fleet is then left for another `down`.
    pub fn down(&mut self, interrupts: &Interrupts) -> Result<(), FleetError> {
        self.interrupts = interrupts.clone();
        self.remove(&interrupts.first)
    }

    fn remove(&self, interrupted: &AtomicBool) -> Result<(), FleetError> {
        let removed = self.compose(&["down", "--volumes"], Deadline::within(DOWN_WITHIN, interrupted));
        removed.map_err(|error| match error {
            FleetError::Interrupted => FleetError::ComposeLeft { folder: self.folder.clone() },
            error => error,
        })?;
        fs::remove_dir_all(&self.folder)
            .map_err(FleetError::system("could not remove the folder of the fleet"))
    }

    fn remove_quietly(&self) {
        best_effort(fs::remove_dir_all(&self.folder), "it was not made");
    }

    /// Runs Compose on the file.
    fn compose(&self, args: &[&str], deadline: Deadline<'_>) -> Result<Output, FleetError> {
        let program = std::env::var(PROGRAM).unwrap_or_default();
        let program = if program.trim().is_empty() { USUAL_PROGRAM } else { program.as_str() };
        let mut words = program.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(self.options()).args(args);
        let doing = args.join(" ");
        let failed = |why: String| FleetError::Compose { doing: doing.clone(), why };
        let output = run_within(command, deadline, &self.interrupts.second).map_err(|error| match error {
            ChildError::System(error) => failed(error.to_string()),
            ChildError::Overdue(Overdue::Interrupted) => FleetError::Interrupted,
            ChildError::Overdue(Overdue::Late) => FleetError::ComposeLate { doing: doing.clone() },
        })?;
        match output.status.success() {
            true => Ok(output),
            false => {
                let said = last_words(&String::from_utf8_lossy(&output.stderr));
                Err(failed(said.unwrap_or_else(|| output.status.to_string())))
            }
        }
    }
}

/// The containers of a fleet that starts.
struct Containers<'a>(&'a ComposeFleet);

impl Starter for Containers<'_> {
    fn has_failed(&mut self, _missing: &[String]) -> Result<bool, FleetError> {
        // Compose restarts an agent that has ended: the broker may not listen yet.
        Ok(false)
    }

    fn reasons(&mut self, missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
        let deadline = Deadline::uninterrupted(ANSWER_WITHIN);
        Ok(missing.iter().map(|agent| self.0.last_words(agent, deadline)).collect())
    }

    fn advice(&self) -> String {
        "its container does not answer at the broker and wrote nothing; see that --image is an image of plimsoll".to_owned()
    }
}
