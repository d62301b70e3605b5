//! What agents need wherever they are placed: a command line, and the files that it names.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::broker::{Broker, BrokerAddress, Certificates};
use crate::error::FleetError;
use crate::keys::KeyFolder;

/// The names of an agent's files where it runs.
pub(crate) const CREDENTIALS: &str = "agent.creds";
const AUTHORITIES: &str = "ca.pem";
const CERTIFICATE: &str = "agent.pem";
const CERTIFICATE_KEY: &str = "agent.key";

/// The configuration of the agents of a fleet.
#[derive(Debug, Clone)]
pub struct Placement {
    /// The broker, as agents reach it.
    pub join: BrokerAddress,
    /// What agents may load, as `plimsoll agent --allow` takes it.
    pub allow: Vec<String>,
    /// The name of the fleet, where several share a broker.
    pub fleet: String,
    /// Mints the credentials of each agent. Without it agents have none, and obey any conductor.
    pub keys: Option<AgentKeys>,
    /// The files of TLS, which all agents share.
    pub certificates: Certificates,
    /// About how long agents calibrate before they join; they do not if `None`.
    pub calibrate: Option<Duration>,
}

/// Mints the credentials of agents.
#[derive(Debug, Clone)]
pub struct AgentKeys {
    pub folder: KeyFolder,
    /// How long the credentials are valid.
    pub valid: Duration,
}

/// A file of an agent: its name where the agent runs, and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentFile {
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

impl Placement {
    /// Checks that agents can log in at the broker that `conductor` describes.
    ///
    /// # Errors
    /// When the address for agents has a password, which command lines would show, or only the conductor has credentials.
    pub fn check(&self, conductor: &Broker) -> Result<(), FleetError> {
        if self.join.has_login() {
            return Err(FleetError::LoginInAddress { address: self.join.to_string() });
        }
        if conductor.credentials.is_some() && self.keys.is_none() {
            return Err(FleetError::NoKeys);
        }
        Ok(())
    }

    /// Returns the command line of an agent that finds its files in this folder.
    pub(crate) fn args(&self, name: &str, folder: &str) -> Result<Vec<String>, FleetError> {
        let file = |name: &str| PathBuf::from(format!("{folder}/{name}"));
        let broker = Broker {
            address: self.join.clone(),
            credentials: self.keys.is_some().then(|| file(CREDENTIALS)),
            certificates: Certificates {
                authorities: self.certificates.authorities.as_ref().map(|_| file(AUTHORITIES)),
                own: self.certificates.own.as_ref().map(|_| (file(CERTIFICATE), file(CERTIFICATE_KEY))),
            },
            fleet: self.fleet.clone(),
        };
        let trusted = self.keys.as_ref().map(|keys| keys.folder.trusted()).transpose()?;
        let args = agent_args(name, &broker, &self.allow, trusted.as_deref());
        Ok(args.into_iter().chain(calibrate_args(self.calibrate)).collect())
    }

    /// Reads the files that all agents share.
    pub(crate) fn shared_files(&self) -> Result<Vec<AgentFile>, FleetError> {
        let paths = [AUTHORITIES, CERTIFICATE, CERTIFICATE_KEY].into_iter().zip(self.certificates.files());
        let given = paths.filter_map(|(name, path)| Some((name, path?)));
        given.map(|(name, path)| Ok(AgentFile { name: name.to_owned(), content: content(path)? })).collect()
    }

    /// Mints new credentials for an agent; `None` without keys.
    pub(crate) fn mint(&self, agent: &str) -> Result<Option<AgentFile>, FleetError> {
        let Some(AgentKeys { folder, valid }) = &self.keys else { return Ok(None) };
        folder.mint_agent(agent, *valid)?;
        let content = content(&folder.agent_credentials(agent))?;
        Ok(Some(AgentFile { name: CREDENTIALS.to_owned(), content }))
    }
}

fn content(path: &Path) -> Result<Vec<u8>, FleetError> {
    fs::read(path).map_err(|source| FleetError::AgentFile { path: path.to_owned(), source })
}

/// Returns the arguments of `plimsoll` for an agent that joins this broker.
pub(crate) fn agent_args(
    name: &str,
    broker: &Broker,
    allow: &[String],
    trusted: Option<&str>,
) -> Vec<String> {
    let address = broker.address.to_string();
    let mut args: Vec<String> = ["agent", "--join", &address, "--name", name, "--fleet-name", &broker.fleet]
        .map(ToOwned::to_owned)
        .into();
    let path = |path: &PathBuf| path.display().to_string();
    let certificates = ["--cacert", "--cert", "--cert-key"].into_iter().zip(broker.certificates.files());
    let files = [("--credentials", broker.credentials.as_ref())].into_iter().chain(certificates);
    let files = files.filter_map(|(flag, file)| Some((flag, path(file?))));
    let allowed = allow.iter().map(|target| ("--allow", target.clone()));
    let trust = trusted.map(|key| ("--trust", key.to_owned()));
    for (flag, value) in allowed.chain(trust).chain(files) {
        args.extend([flag.to_owned(), value]);
    }
    args
}

/// Returns the arguments that make an agent calibrate before it joins.
pub(crate) fn calibrate_args(time: Option<Duration>) -> impl Iterator<Item = String> {
    let text = |time: Duration| match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    };
    time.into_iter().flat_map(move |time| ["--calibrate".to_owned(), text(time)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(join: &str) -> Placement {
        Placement {
            join: join.parse().unwrap(),
            allow: vec!["api:80".to_owned()],
            fleet: "default".to_owned(),
            keys: None,
            certificates: Certificates::default(),
            calibrate: None,
        }
    }

    #[test]
    fn what_agents_could_not_get_in_with_is_refused() {
        let open = Broker {
            address: "nats://a:1".parse().unwrap(),
            credentials: None,
            certificates: Certificates::default(),
            fleet: "default".to_owned(),
        };
        placement("nats://a:1").check(&open).unwrap();
        let with_login = placement("nats://a:1,nats://me:hush@b:1").check(&open).unwrap_err();
        assert!(matches!(with_login, FleetError::LoginInAddress { .. }), "{with_login}");
        assert!(!with_login.to_string().contains("hush"));
        let closed = Broker { credentials: Some("conductor.creds".into()), ..open };
        assert!(matches!(placement("nats://a:1").check(&closed), Err(FleetError::NoKeys)));
    }

    #[test]
    fn an_agent_gets_its_own_credentials_and_the_key_that_it_trusts() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::open(&folder.path().join("keys"), "default").unwrap();
        let trusted = keys.trusted().unwrap();
        let authority = folder.path().join("authority");
        fs::write(&authority, "PEM").unwrap();
        let given = Placement {
            keys: Some(AgentKeys { folder: keys, valid: Duration::from_secs(60) }),
            certificates: Certificates { authorities: Some(authority), own: None },
            calibrate: Some(Duration::from_millis(2500)),
            ..placement("nats://a:1")
        };
        let args = given.args("a", "/files").unwrap().join(" ");
        let expected = format!(
            "agent --join nats://a:1 --name a --fleet-name default --allow api:80 --trust {trusted} \
             --credentials /files/agent.creds --cacert /files/ca.pem --calibrate 2500ms"
        );
        assert_eq!(args, expected);
        let shared = AgentFile { name: "ca.pem".to_owned(), content: b"PEM".to_vec() };
        assert_eq!(given.shared_files().unwrap(), [shared]);
        assert_ne!(given.mint("a").unwrap(), given.mint("b").unwrap());
        assert_eq!(placement("nats://a:1").mint("a").unwrap(), None);
    }
}
