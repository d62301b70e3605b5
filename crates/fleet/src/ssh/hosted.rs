//! An agent on this machine that a conductor elsewhere has placed over ssh.

use std::fs::{self, DirBuilder};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_units::best_effort;
use serde::{Deserialize, Serialize};

use super::words::{KEEP, STARTED, STATUS};
use crate::error::FleetError;
use crate::folder::{read_record, write_record};
use crate::placement::AgentFile;
use crate::process::{FleetProcess, end_all, spawn};
use crate::reasons::last_words_in;
use crate::secret;

/// The folder of all agents, in the home folder of the user who logs in.
const HOME: &str = ".plimsoll-fleet";
const RECORD: &str = "agent.json";
const LOG: &str = "agent.log";
/// How often an agent is checked while its conductor waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The order of a conductor: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HostedOrder {
    name: String,
    /// Arguments of `plimsoll`.
    args: Vec<String>,
    /// Names and contents, in base64.
    files: Vec<(String, String)>,
}

impl HostedOrder {
    pub(super) fn new(name: String, args: Vec<String>, files: &[AgentFile]) -> Self {
        let encoded = |file: &AgentFile| (file.name.clone(), BASE64_STANDARD.encode(&file.content));
        Self { name, args, files: files.iter().map(encoded).collect() }
    }
}

/// An agent on this host by its id, whether it exists or not. Its folder holds its files, its log and its record.
#[derive(Debug)]
pub struct HostedAgent(PathBuf);

impl HostedAgent {
    /// The agent of this id; the current folder must be the user's home, as it is in a command over ssh.
    pub fn of(id: &str) -> Self {
        Self(PathBuf::from(folder(id)))
    }

    /// Starts an agent as the first line of `conversation` says, and waits until its conductor asks it to stay. If the conductor
    /// goes away or the agent ends before that, everything of the agent is removed.
    ///
    /// # Errors
    /// When it could not be started, or has ended: with its last words.
    pub fn start(
        &self,
        mut conversation: impl BufRead + Send + 'static,
        answer: &mut impl Write,
    ) -> Result<(), FleetError> {
        let mut line = String::new();
        conversation.read_line(&mut line).map_err(FleetError::system("could not read what to start"))?;
        let order = serde_json::from_str(&line).map_err(io::Error::from);
        let order = order.map_err(FleetError::system("could not read what to start"))?;
        let (sender, words) = mpsc::channel();
        let read = move || {
            let lines = conversation.lines().map_while(Result::ok);
            best_effort(lines.into_iter().try_for_each(|word| sender.send(word)), "the agent has ended");
        };
        let reader = thread::Builder::new().name("conversation".to_owned()).spawn(read);
        reader.map_err(FleetError::system("could not start a thread"))?;
        let kept = self.launch(&order).and_then(|agent| {
            best_effort(writeln!(answer, "{STARTED} {}", agent.pid), "without a conductor nothing follows");
            best_effort(answer.flush(), "without a conductor nothing follows");
            self.watch(&agent, &words)
        });
        if kept.is_err() {
            best_effort(self.end(), "the first error says more");
        }
        kept
    }

    fn launch(&self, order: &HostedOrder) -> Result<FleetProcess, FleetError> {
        let folder = &self.0;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| FleetError::SecretFile { path: folder.clone(), source })?;
        for (name, content) in &order.files {
            let content = BASE64_STANDARD.decode(content).map_err(io::Error::other);
            let content = content.map_err(FleetError::system("could not read what to start"))?;
            secret::write(&folder.join(name), &content)?;
        }
        let program = std::env::current_exe().map_err(FleetError::system("could not find this program"))?;
        let mut command = Command::new(program);
        command.args(&order.args);
        let agent = spawn(command, &folder.join(LOG), order.name.clone())?;
        // Without a record, no later command would find the agent.
        write_record(&folder.join(RECORD), &agent, "could not write the record of the agent")
            .inspect_err(|_| end_all(slice::from_ref(&agent)))?;
        Ok(agent)
    }

    fn watch(&self, agent: &FleetProcess, words: &Receiver<String>) -> Result<(), FleetError> {
        loop {
            match words.recv_timeout(POLL_INTERVAL) {
                Ok(word) if word == KEEP => return Ok(()),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FleetError::Local { why: "its conductor has gone".to_owned() });
                }
                Err(RecvTimeoutError::Timeout) if !agent.is_running() => {
                    return Err(FleetError::Local { why: self.last_words() });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns the state of the agent, in the form that its conductor reads.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn status(&self) -> Result<String, FleetError> {
        let state = match self.agent()? {
            Some(agent) if agent.is_running() => format!("runs (pid {})", agent.pid),
            Some(_) => format!("has ended: {}", self.last_words()),
            None => "is not there any more".to_owned(),
        };
        Ok(format!("{STATUS} {state}"))
    }

    /// Ends the agent, and removes its folder, if there is one.
    ///
    /// # Errors
    /// When its record cannot be read, or its folder cannot be removed.
    pub fn end(&self) -> Result<(), FleetError> {
        let agent = self.agent()?;
        end_all(agent.as_slice());
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FleetError::system("could not remove the folder of the agent")(error));
            }
            _ => best_effort(fs::remove_dir(HOME), "another conductor has agents here"),
        }
        Ok(())
    }

    fn agent(&self) -> Result<Option<FleetProcess>, FleetError> {
        read_record(&self.0.join(RECORD), "could not read the record of the agent")
    }

    fn last_words(&self) -> String {
        last_words_in(&self.0.join(LOG))
    }
}

/// The folder of an agent on its host.
pub(super) fn folder(id: &str) -> String {
    Path::new(HOME).join(id).display().to_string()
}
