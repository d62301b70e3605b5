//! A host that ssh reaches, and what is done there.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::str::FromStr;

use plimsoll_host::Ssh;
use plimsoll_plan::Probe;
use serde::{Deserialize, Serialize};

use super::hosted::{HostedOrder, folder};
use super::session::{Patience, Session};
use super::trouble::HostTrouble;
use super::words::{STARTED, STATUS};
use crate::error::FleetError;

/// The program where it is installed.
const INSTALLED: &str = "plimsoll";

/// A host as it is typed: `user@host:port`, a name of ssh's configuration.
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
    /// The names of the agents of these hosts: those of the hosts, with the port where several have one name.
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

    /// The program to use there: the one that is installed if it is of this version, or else a copy of `copied`.
    pub(super) fn program(
        &self,
        id: &str,
        (ours, copied): (&str, Option<&Path>),
        patience: Patience<'_>,
    ) -> Result<String, HostTrouble> {
        let found = Session::start(&self.ssh, &[INSTALLED, "--version"])?.answer(INSTALLED, patience);
        let trouble = match found {
            Ok(theirs) if theirs == ours => return Ok(INSTALLED.to_owned()),
            Ok(theirs) => HostTrouble::Version { theirs, ours: ours.to_owned() },
            Err(trouble) => trouble,
        };
        match (copied, &trouble) {
            (
                Some(file),
                HostTrouble::Version { .. } | HostTrouble::NotInstalled(_) | HostTrouble::Ended(_),
            ) => self.copy(id, (ours, file), patience),
            _ => Err(trouble),
        }
    }

    fn copy(
        &self,
        id: &str,
        (ours, file): (&str, &Path),
        patience: Patience<'_>,
    ) -> Result<String, HostTrouble> {
        let content = File::open(file);
        let content = content
            .map_err(|error| HostTrouble::Ended(format!("could not read {}: {error}", file.display())))?;
        let program = format!("{}/{INSTALLED}", folder(id));
        let script = format!(
            "umask 077 && mkdir -p {folder} && cat >{program} && chmod 700 {program} && {program} --version \
             || {{ code=$?; rm -rf {folder}; exit $code; }}",
            folder = folder(id)
        );
        let answer =
            Session::with_file(&self.ssh, &["sh", "-c", &script], content)?.answer(INSTALLED, patience);
        let theirs = answer.map_err(|trouble| match trouble {
            HostTrouble::NotInstalled(_) => HostTrouble::CopyDoesNotRun,
            other => other,
        })?;
        match theirs == ours {
            true => Ok(program),
            false => Err(HostTrouble::Version { theirs, ours: ours.to_owned() }),
        }
    }

    /// Starts an agent there, which ends with the session unless that says that it is to stay.
    pub(super) fn start(
        &self,
        id: &str,
        (program, order): (&str, &HostedOrder),
        patience: Patience<'_>,
    ) -> Result<Session, HostTrouble> {
        let order = serde_json::to_string(order).map_err(|error| HostTrouble::Ended(error.to_string()))?;
        let mut session = Session::start(&self.ssh, &[program, "fleet", "hosted", "start", id])?;
        session.say(&order);
        session.answer(STARTED, patience)?;
        Ok(session)
    }

    /// How its agent is.
    pub(super) fn status(
        &self,
        id: &str,
        program: &str,
        patience: Patience<'_>,
    ) -> Result<String, HostTrouble> {
        Session::start(&self.ssh, &[program, "fleet", "hosted", "status", id])?.answer(STATUS, patience)
    }

    /// Ends its agent.
    pub(super) fn end(&self, id: &str, program: &str, patience: Patience<'_>) -> Result<(), HostTrouble> {
        let ended = Session::start(&self.ssh, &[program, "fleet", "hosted", "end", id])?.end(patience);
        match ended {
            // The copy is in the folder that ends with the agent: it has ended before.
            Err(HostTrouble::NotInstalled(_)) if program != INSTALLED => Ok(()),
            ended => ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
