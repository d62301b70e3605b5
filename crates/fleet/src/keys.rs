//! The keys of a fleet, in a folder: who may use its broker, and whose plans its agents obey.
//!
//! An operator's key signs the account of the fleet, with which the broker is configured once. The account's key signs the
//! conductor's credentials. A scoped key of the account signs those of agents, and gives no right beyond an agent's.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nkeys::{KeyPair, KeyPairType};

use crate::claims::{self, Token};
use crate::credentials::mint;
use crate::error::FleetError;
use crate::secret::{self, read_key};
use crate::signature::ConductorKey;

/// The files with the seeds of the account's key, of the key that mints agents, and of the key that signs plans.
const ACCOUNT: &str = "account.nk";
const AGENTS: &str = "agents.nk";
const CONDUCTOR: &str = "conductor.nk";
/// Written last: a folder that has it is complete.
const BROKER: &str = "broker.conf";

/// How long credentials of a fleet with its own broker are valid: longer than one runs.
const OWN_VALID: Duration = Duration::from_secs(365 * 24 * 3600);

/// A folder with the keys of one fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFolder(PathBuf);

impl KeyFolder {
    /// Opens the keys in a folder, or makes them if it has none.
    ///
    /// # Errors
    /// When the folder cannot be written, or has keys of another fleet.
    pub fn open(path: &Path, fleet: &str) -> Result<Self, FleetError> {
        match Self::found(path, fleet)? {
            Some(folder) => Ok(folder),
            None => Self(path.to_owned()).make(fleet),
        }
    }

    /// Opens the keys in a folder, by which the broker of a fleet is configured.
    ///
    /// # Errors
    /// When the folder has none, or those of another fleet.
    pub fn read(path: &Path, fleet: &str) -> Result<Self, FleetError> {
        let none = || {
            let folder = path.display();
            let why = format!(
                "there is none; make keys with plimsoll fleet keys {folder}, and include them in nats-server's configuration"
            );
            FleetError::Key { path: path.join(BROKER), why }
        };
        Self::found(path, fleet)?.ok_or_else(none)
    }

    fn found(path: &Path, fleet: &str) -> Result<Option<Self>, FleetError> {
        let folder = Self(path.to_owned());
        match fs::read_to_string(folder.broker_conf()) {
            Ok(text) if text.starts_with(&title(fleet)) => Ok(Some(folder)),
            Ok(_) => {
                let why = format!("they are not of fleet {fleet}; name another folder, or its --fleet-name");
                Err(FleetError::Key { path: folder.broker_conf(), why })
            }
            Err(_) => Ok(None),
        }
    }

    /// Opens the keys of a fleet that brings its own broker. Returns them and the settings by which the broker accepts them.
    pub(crate) fn open_own(path: &Path, fleet: &str) -> Result<(Self, String), FleetError> {
        let keys = Self::open(path, fleet)?;
        keys.mint_conductor(OWN_VALID)?;
        let settings = fs::read_to_string(keys.broker_conf());
        Ok((keys, settings.map_err(FleetError::system("could not read the keys of the fleet"))?))
    }

    /// Mints credentials for an agent of such a fleet. Returns their file.
    pub(crate) fn mint_own_agent(&self, agent: &str) -> Result<PathBuf, FleetError> {
        self.mint_agent(agent, OWN_VALID)?;
        Ok(self.agent_credentials(agent))
    }

    /// The keys that were made in this folder before.
    pub(crate) fn existing(path: PathBuf) -> Self {
        Self(path)
    }

    fn make(self, fleet: &str) -> Result<Self, FleetError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(self.0.join("agents"))
            .map_err(|source| FleetError::SecretFile { path: self.0.clone(), source })?;
        let operator = secret::make_key(KeyPairType::Operator, &self.0.join("operator.nk"))?;
        let account = secret::make_key(KeyPairType::Account, &self.0.join(ACCOUNT))?;
        let agents = secret::make_key(KeyPairType::Account, &self.0.join(AGENTS))?;
        ConductorKey::make(&self.conductor_key())?;
        let settings = broker_settings(fleet, &operator, &account, &agents)?;
        secret::write(&self.broker_conf(), &settings)?;
        Ok(self)
    }

    /// The file with the part of nats-server's configuration that admits this fleet.
    pub fn broker_conf(&self) -> PathBuf {
        self.0.join(BROKER)
    }

    /// The file with the key by which the conductor signs.
    pub fn conductor_key(&self) -> PathBuf {
        self.0.join(CONDUCTOR)
    }

    /// The file that [`Self::mint_conductor`] writes.
    pub fn conductor_credentials(&self) -> PathBuf {
        self.0.join("conductor.creds")
    }

    /// The file that [`Self::mint_agent`] writes.
    pub fn agent_credentials(&self, agent: &str) -> PathBuf {
        self.0.join("agents").join(format!("{agent}.creds"))
    }

    /// Returns the public key that agents trust.
    ///
    /// # Errors
    /// When the conductor's key cannot be read.
    pub fn trusted(&self) -> Result<String, FleetError> {
        Ok(ConductorKey::read(&self.conductor_key())?.public())
    }

    /// Mints credentials for the conductor, in place of older ones.
    ///
    /// # Errors
    /// When the account's key cannot be read, or the file cannot be written.
    pub fn mint_conductor(&self, valid: Duration) -> Result<(), FleetError> {
        let account = read_key(&self.0.join(ACCOUNT))?;
        mint(&self.conductor_credentials(), "conductor", (&account, claims::conductor()), valid)
    }

    /// Mints credentials for an agent, in place of older ones.
    ///
    /// # Errors
    /// When a key cannot be read, or the file cannot be written.
    pub fn mint_agent(&self, agent: &str, valid: Duration) -> Result<(), FleetError> {
        let account = read_key(&self.0.join(ACCOUNT))?.public_key();
        let agents = read_key(&self.0.join(AGENTS))?;
        mint(&self.agent_credentials(agent), agent, (&agents, claims::agent(&account)), valid)
    }
}

/// Returns the first line of the settings, which names the fleet.
fn title(fleet: &str) -> String {
    format!("# The fleet {fleet} of Plimsoll; include this in nats-server's configuration.\n")
}

fn broker_settings(
    fleet: &str,
    operator: &KeyPair,
    account: &KeyPair,
    agents: &KeyPair,
) -> Result<String, FleetError> {
    // JetStream in operator mode needs a system account. Its key is not kept.
    let system = secret::random_key(KeyPairType::Account)?.public_key();
    let (own, agents) = (account.public_key(), agents.public_key());
    let token = |subject: &str, name, nats| Token { subject, name, expires_sec: None, nats }.sign(operator);
    Ok(format!(
        "{}operator: {}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n  {system}: {}\n  {own}: {}\n}}\n",
        title(fleet),
        token(&operator.public_key(), "plimsoll", claims::operator(&system))?,
        token(&system, "SYS", claims::account(fleet, None))?,
        token(&own, fleet, claims::account(fleet, Some(&agents)))?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_once_and_of_one_fleet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let made = KeyFolder::open(&path, "a").unwrap();
        made.mint_conductor(Duration::from_secs(1)).unwrap();
        made.mint_agent("x", Duration::from_secs(1)).unwrap();
        let trusted = made.trusted().unwrap();
        assert_eq!(KeyFolder::open(&path, "a").unwrap().trusted().unwrap(), trusted);
        assert!(KeyFolder::open(&path, "b").unwrap_err().to_string().contains("not of fleet b"));
        let none = KeyFolder::read(&folder.path().join("none"), "a").unwrap_err();
        assert!(none.to_string().contains("plimsoll fleet keys"), "{none}");
    }
}
