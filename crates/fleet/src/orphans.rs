//! The agents of a run whose conductor is gone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Subscriber;
use futures_util::StreamExt as _;
use plimsoll_conductor::peers::OnLoss;
use plimsoll_units::{Clock as _, RealClock};
use serde::{Deserialize, Serialize};

use crate::broker::{Broker, Certificates};
use crate::deadline::POLL_INTERVAL;
use crate::error::FleetError;
use crate::wire::{Alive, Held, sign_of};

/// How long to listen to agents: each reports its position every half second.
pub(crate) const LISTEN: Duration = Duration::from_millis(3_500);
/// A conductor sends something every half second. After this much silence it is gone.
const SILENT_MIN: Duration = Duration::from_secs(2);
/// Number of random low bits in a term, by which the terms of conductors that take over a run at the same time differ.
const RANDOM_BITS: u32 = 32;

/// The record from which a run of a fleet is resumed after its conductor has died. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSession {
    /// The broker, as `--fleet` takes it, without user and password.
    pub broker: String,
    pub fleet: String,
    /// The files by which the conductor authenticates itself.
    pub credentials: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub cacert: Option<PathBuf>,
    pub cert: Option<(PathBuf, PathBuf)>,
    /// What happens to the run if it loses an agent.
    #[serde(default)]
    pub on_loss: OnLoss,
    /// The name of the run at the broker.
    run: String,
    agents: Vec<SessionAgent>,
}

/// An agent that took part when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionAgent {
    pub(crate) name: String,
    pub(crate) incarnation: u64,
}

impl FleetSession {
    pub(crate) fn new(
        broker: &Broker,
        key: Option<&Path>,
        on_loss: OnLoss,
        (run, agents): (&str, Vec<SessionAgent>),
    ) -> Result<Self, FleetError> {
        let whole = |path: &PathBuf| std::path::absolute(path);
        let unknown = FleetError::system("could not find the folder of this process");
        let Certificates { authorities, own } = &broker.certificates;
        let files = || -> std::io::Result<_> {
            let own = own.as_ref().map(|(cert, key)| Ok::<_, std::io::Error>((whole(cert)?, whole(key)?)));
            Ok((
                broker.credentials.as_ref().map(whole).transpose()?,
                key.map(std::path::absolute).transpose()?,
                authorities.as_ref().map(whole).transpose()?,
                own.transpose()?,
            ))
        };
        let (credentials, key, cacert, cert) = files().map_err(unknown)?;
        let (broker, fleet) = (broker.address.to_string(), broker.fleet.clone());
        Ok(Self { broker, fleet, credentials, key, cacert, cert, on_loss, run: run.to_owned(), agents })
    }

    /// Encodes the session as it is written next to a run file.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, FleetError> {
        serde_json::to_string(self).map_err(|error| FleetError::Session { why: error.to_string() })
    }

    /// Decodes a session that was written.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn from_json(text: &str) -> Result<Self, FleetError> {
        serde_json::from_str(text).map_err(|error| FleetError::Session { why: error.to_string() })
    }

    pub(crate) fn run(&self) -> &str {
        &self.run
    }
}

/// The positions of a run's agents after its conductor is gone.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    /// Signs of life, by agent name.
    signs: BTreeMap<String, Alive>,
}

impl Orphans {
    /// Listens until every agent of the run has shown that its conductor is gone, or [`LISTEN`] has passed.
    ///
    /// # Errors
    /// When one of them still hears its conductor.
    pub(crate) async fn hear(
        session: &FleetSession,
        alive: &mut Subscriber,
        interrupted: &AtomicBool,
    ) -> Result<Self, FleetError> {
        let mut heard = Self::default();
        let deadline = RealClock.now() + LISTEN;
        while RealClock.now() < deadline && !heard.are_silent(session) {
            if interrupted.load(Ordering::Relaxed) {
                return Err(FleetError::Interrupted);
            }
            let Ok(Some(message)) = tokio::time::timeout(POLL_INTERVAL, alive.next()).await else { continue };
            if let Some(sign) = sign_of(&message) {
                heard.take_sign(session, sign);
            }
        }
        match heard.conducted(session) {
            Some(agent) => Err(FleetError::Conducted { name: agent.name.clone() }),
            None => Ok(heard),
        }
    }

    /// Takes in a sign of life. If two processes share a name, the sign of the session's process counts.
    pub(crate) fn take_sign(&mut self, session: &FleetSession, sign: Alive) {
        let is_own = |agent: &SessionAgent| agent.name == sign.agent && agent.incarnation == sign.incarnation;
        if session.agents.iter().any(is_own) || !self.signs.contains_key(&sign.agent) {
            self.signs.insert(sign.agent.clone(), sign);
        }
    }

    /// Returns an agent that still hears its conductor.
    pub(crate) fn conducted<'a>(&self, session: &'a FleetSession) -> Option<&'a SessionAgent> {
        let hears =
            |agent: &&SessionAgent| self.held(session, agent).is_ok_and(|held| held.silent < SILENT_MIN);
        session.agents.iter().find(hears)
    }

    /// True if every agent has shown that its conductor is gone.
    pub(crate) fn are_silent(&self, session: &FleetSession) -> bool {
        let is_silent = |agent| self.held(session, agent).is_ok_and(|held| held.silent >= SILENT_MIN);
        session.agents.iter().all(is_silent)
    }

    /// Returns the position of an agent in the run, or why it holds nothing of the run any more.
    fn held(&self, session: &FleetSession, agent: &SessionAgent) -> Result<&Held, String> {
        let sign = self.signs.get(&agent.name).ok_or("nothing is heard of it")?;
        if sign.incarnation != agent.incarnation {
            return Err("it was started again".to_owned());
        }
        let held = sign.held.as_ref().filter(|held| held.run == session.run);
        held.ok_or_else(|| "it keeps nothing of the run any more".to_owned())
    }

    /// Returns every agent of the run, with its position or the reason why it is gone.
    pub(crate) fn of<'a>(
        &'a self,
        session: &'a FleetSession,
    ) -> impl Iterator<Item = (&'a SessionAgent, Result<&'a Held, String>)> {
        session.agents.iter().map(|agent| (agent, self.held(session, agent)))
    }

    /// Returns the agents that hold something of the run.
    pub(crate) fn there(&self, session: &FleetSession) -> BTreeMap<String, Alive> {
        let there = self.of(session).filter(|(_, stands)| stands.is_ok());
        there
            .filter_map(|(agent, _)| Some((agent.name.clone(), self.signs.get(&agent.name)?.clone())))
            .collect()
    }

    /// Returns a term that is higher than all terms these agents have seen.
    pub(crate) fn next_term(&self, session: &FleetSession) -> Result<u64, FleetError> {
        let terms = self.of(session).filter_map(|(_, stands)| stands.ok()).map(|held| held.term);
        let latest = terms.max().unwrap_or(0) >> RANDOM_BITS;
        Ok(((latest + 1) << RANDOM_BITS) | (crate::random()? >> RANDOM_BITS))
    }
}
