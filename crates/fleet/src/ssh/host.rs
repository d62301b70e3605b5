//! A host that ssh reaches, and the commands run there.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::str::FromStr;

use plimsoll_host::Ssh;
use plimsoll_plan::Probe;
use serde::{Deserialize, Serialize};

use super::error::HostError;
use super::hosted::{HostedOrder, folder};
use super::session::Session;
use super::words::{STARTED, STATUS};
use crate::deadline::Deadline;
use crate::error::FleetError;

/// The program where it is installed.
const INSTALLED: &str = "plimsoll";

/// A host as it is typed: `user@host:port`, or a name of ssh's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SshHost {
    ssh: Ssh,
    /// Its name or address alone.
    name: String,
    port: Option<u16>,
}

impl FromStr for SshHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match format!("ssh://{text}").parse() {
            Ok(Probe::Ssh { user, host, port }) => {
                Ok(Self { ssh: Ssh::new(user.as_deref(), &host, port), name: host, port })
            }
            _ => Err(format!("`{text}` is no host for ssh; write HOST, USER@HOST or USER@HOST:PORT")),
        }
    }
}

impl TryFrom<String> for SshHost {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SshHost> for String {
    fn from(host: SshHost) -> Self {
        host.to_string()
    }
}

impl fmt::Display for SshHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ssh.fmt(f)
    }
}

impl SshHost {
    /// Returns the names of the agents: those of their hosts, with the port where several hosts share a name.
    pub(super) fn agent_names(hosts: &[Self]) -> Result<Vec<String>, FleetError> {
        let mut names: Vec<String> = Vec::new();
        for host in hosts {
            let is_shared = hosts.iter().filter(|other| other.name == host.name).count() > 1;
            let port = host.port.filter(|_| is_shared).map(|port| format!("-{port}")).unwrap_or_default();
            let name = format!("{}{port}", host.name.replace(['.', ':'], "-")).trim_matches('-').to_owned();
            if names.contains(&name) || !crate::wire::is_name(&name) {
                return Err(FleetError::HostName { host: host.to_string(), name });
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Returns the program to use there: the installed one if its version is `ours`, else a copy of `copied`.
    pub(super) fn program(
        &self,
        id: &str,
        (ours, copied): (&str, Option<&Path>),
        deadline: Deadline<'_>,
    ) -> Result<String, HostError> {
        let found = Session::start(&self.ssh, &[INSTALLED, "--version"])?.answer(INSTALLED, deadline);
        let error = match found {
            Ok(theirs) if theirs == ours => return Ok(INSTALLED.to_owned()),
            Ok(theirs) => HostError::Version { theirs, ours: ours.to_owned() },
            Err(error) => error,
        };
        match (copied, &error) {
            (Some(file), HostError::Version { .. } | HostError::NotInstalled(_) | HostError::Ended(_)) => {
                self.copy(id, (ours, file), deadline)
            }
            _ => Err(error),
        }
    }

    fn copy(
        &self,
        id: &str,
        (ours, file): (&str, &Path),
        deadline: Deadline<'_>,
    ) -> Result<String, HostError> {
        let content = File::open(file);
        let content = content
            .map_err(|error| HostError::Ended(format!("could not read {}: {error}", file.display())))?;
        let script = copy_script(&folder(id), ours);
        let answer =
            Session::with_file(&self.ssh, &["sh", "-c", &script], content)?.answer(INSTALLED, deadline);
        let theirs = answer.map_err(|error| match error {
            HostError::NotInstalled(_) => HostError::CopyDoesNotRun,
            other => other,
        })?;
        match theirs == ours {
            true => Ok(copied_program(&folder(id))),
            false => Err(HostError::Version { theirs, ours: ours.to_owned() }),
        }
    }

    /// Starts an agent there. It ends with the session, unless the session asks it to stay.
    pub(super) fn start(
        &self,
        id: &str,
        (program, order): (&str, &HostedOrder),
        deadline: Deadline<'_>,
    ) -> Result<Session, HostError> {
        let order = serde_json::to_string(order).map_err(|error| HostError::Ended(error.to_string()))?;
        let mut session = Session::start(&self.ssh, &[program, "fleet", "hosted", "start", id])?;
        session.say(&order);
        session.answer(STARTED, deadline)?;
        Ok(session)
    }

    /// Asks the host for the state of its agent.
    pub(super) fn status(
        &self,
        id: &str,
        program: &str,
        deadline: Deadline<'_>,
    ) -> Result<String, HostError> {
        Session::start(&self.ssh, &[program, "fleet", "hosted", "status", id])?.answer(STATUS, deadline)
    }

    /// Ends its agent.
    pub(super) fn end(&self, id: &str, program: &str, deadline: Deadline<'_>) -> Result<(), HostError> {
        let ended = Session::start(&self.ssh, &[program, "fleet", "hosted", "end", id])?.end(deadline);
        match ended {
            // The copy is in the folder of the agent and is removed with it: the agent has ended before.
            Err(HostError::NotInstalled(_)) if program != INSTALLED => Ok(()),
            ended => ended,
        }
    }
}

fn copied_program(folder: &str) -> String {
    format!("{folder}/{INSTALLED}")
}

/// Returns a script that writes its input to a program in this folder and prints the program's version. If the version differs or
/// the program does not run, the script removes the folder.
fn copy_script(folder: &str, version: &str) -> String {
    let program = copied_program(folder);
    format!(
        "umask 077 && mkdir -p {folder} && cat >{program} && chmod 700 {program} && found=$({program} --version) \
         && [ \"$found\" = '{INSTALLED} {version}' ] \
         || {{ code=$?; rm -rf {folder}; echo \"$found\"; exit $code; }}; echo \"$found\""
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What is printed of the copy of a program that says this of itself, and whether its folder is there afterwards.
    fn copied(says: &str) -> (String, bool) {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("original");
        std::fs::write(&program, format!("#!/bin/sh\n{says}\n")).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &copy_script(".fleet/7", "1.2")]).current_dir(home.path());
        let output = shell.stdin(File::open(program).unwrap()).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), home.path().join(".fleet/7").exists())
    }

    #[test]
    fn a_copy_of_another_version_does_not_stay() {
        assert_eq!(copied("echo plimsoll 1.2"), ("plimsoll 1.2\n".to_owned(), true));
        assert_eq!(copied("echo plimsoll 1.3"), ("plimsoll 1.3\n".to_owned(), false));
        assert!(!copied("exit 3").1);
    }

    fn names(hosts: &[&str]) -> Result<Vec<String>, FleetError> {
        let hosts: Vec<SshHost> = hosts.iter().map(|host| host.parse().unwrap()).collect();
        SshHost::agent_names(&hosts)
    }

    #[test]
    fn an_agent_is_called_as_its_host() {
        assert_eq!(names(&["ann@web:22", "10.0.0.7"]).unwrap(), ["web", "10-0-0-7"]);
        assert_eq!(names(&["web:2201", "web:2202"]).unwrap(), ["web-2201", "web-2202"]);
        assert!(names(&["ann@web", "bob@web"]).is_err());
    }

    #[test]
    fn a_host_is_written_as_it_is_read() {
        for text in ["web", "ann@web:22", "[fe80::1]:22"] {
            let host: SshHost = text.parse().unwrap();
            assert_eq!(host.to_string(), text);
            let json = serde_json::to_string(&host).unwrap();
            assert_eq!(serde_json::from_str::<SshHost>(&json).unwrap(), host);
        }
        for text in ["", "-oProxyCommand=x", "ann:word@web", "web:x"] {
            assert!(text.parse::<SshHost>().is_err(), "{text}");
        }
    }
}
