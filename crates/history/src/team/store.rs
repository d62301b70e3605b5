//! A connection to a team's store.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_record::TagChanges;
use tokio_postgres::Client;

use super::address::StoreAddress;
use super::content::{SharedRun, expanded};
use super::error::TeamStoreError;
use super::event_loop::EventLoop;
use super::runs::{Put, StoredFile, StoredRuns};
use super::tls::Tls;
use super::{runs, schema};

/// The time limit for connecting, until the tables are ready.
const PATIENCE_TO_CONNECT: Duration = Duration::from_secs(3);
/// The time limit for one run or one list, and the extra time per MiB.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MIB: Duration = Duration::from_secs(1);

/// A connection to a team's store.
pub struct TeamStore {
    name: String,
    events: EventLoop,
    client: Client,
}

impl TeamStore {
    /// Connects, and creates the tables on the first use of the database.
    ///
    /// # Errors
    /// When the store is unreachable or refuses, within 3 s.
    pub fn connect(address: &StoreAddress) -> Result<Self, TeamStoreError> {
        let name = address.name().to_owned();
        let unreachable = |reason: std::io::Error| TeamStoreError::Unreachable {
            store: address.name().to_owned(),
            reason: reason.to_string(),
        };
        let events = EventLoop::new(&name).map_err(unreachable)?;
        let tls = Tls::new(address)
            .map_err(|reason| TeamStoreError::Tls { store: name.clone(), reason: reason.to_string() })?;
        let mut config = address.config();
        config.application_name("plimsoll");
        let opened = async {
            let (mut client, connection) = config.connect(tls).await?;
            // This task ends with the client; calls of the client report its errors.
            tokio::spawn(async move {
                plimsoll_units::best_effort(connection.await, "each call has its own error")
            });
            let version = schema::ready(&mut client).await?;
            Ok((client, version))
        };
        let (client, version) = events.within(PATIENCE_TO_CONNECT, opened)?;
        if version != schema::VERSION {
            return Err(TeamStoreError::Newer { store: name, found: version, known: schema::VERSION });
        }
        Ok(Self { name, events, client })
    }

    /// Delivers a run, which must have an id. Delivering it again does not duplicate it.
    pub(crate) fn put(&mut self, run: &SharedRun) -> Result<Put, TeamStoreError> {
        let mib = run.content.as_ref().map_or(0, |content| content.len() >> 20);
        let patience = PATIENCE + PATIENCE_PER_MIB * u32::try_from(mib).unwrap_or(u32::MAX);
        self.events.within(patience, runs::put(&mut self.client, run))
    }

    /// Returns which of these run ids the store has.
    pub(crate) fn known(&self, ids: &[String]) -> Result<BTreeSet<String>, TeamStoreError> {
        self.events.within(PATIENCE, runs::known(&self.client, ids))
    }

    /// Changes the tags of the run with this id.
    pub(crate) fn retag(&self, id: &str, changes: &TagChanges) -> Result<(), TeamStoreError> {
        if *changes == TagChanges::default() {
            return Ok(());
        }
        self.events.within(PATIENCE, runs::change_tags(&self.client, id, changes))
    }

    /// Returns the newest 10,000 runs, newest first, and whether there are more.
    ///
    /// # Errors
    /// When the store does not answer in time, or refuses.
    pub fn runs(&self) -> Result<StoredRuns, TeamStoreError> {
        self.events.within(PATIENCE, runs::list(&self.client))
    }

    /// Returns the file of a run, given its file name or at least the first eight characters of its id.
    ///
    /// # Errors
    /// When there is no such run, or several, or the store does not have its file.
    pub fn file(&self, run: &str) -> Result<StoredFile, TeamStoreError> {
        let id = self.find(run)?;
        let patience = PATIENCE + PATIENCE_PER_MIB * 256;
        let mut file = self.events.within(patience, runs::file(&self.client, &id))?;
        let (store, run) = (self.name.clone(), run.to_owned());
        if file.content.is_empty() {
            return Err(TeamStoreError::NoFile { store, run });
        }
        file.content = expanded(&file.content).map_err(|reason| TeamStoreError::Damaged {
            store,
            run,
            reason: reason.to_string(),
        })?;
        Ok(file)
    }

    /// Changes the tags of a run in the store, named as for [`Self::file`].
    ///
    /// # Errors
    /// When there is no such run, or several, or the store refuses.
    pub fn change_tags(&self, run: &str, changes: &TagChanges) -> Result<(), TeamStoreError> {
        self.retag(&self.find(run)?, changes)
    }

    fn find(&self, run: &str) -> Result<String, TeamStoreError> {
        let mut ids = self.events.within(PATIENCE, runs::find(&self.client, run))?;
        let (store, run) = (self.name.clone(), run.to_owned());
        match ids.len() {
            0 => Err(TeamStoreError::NoRun { store, run }),
            1 => Ok(ids.swap_remove(0)),
            count => Err(TeamStoreError::SeveralRuns { store, run, count }),
        }
    }
}
