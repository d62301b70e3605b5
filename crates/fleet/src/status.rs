//! The broker and the agents of a fleet, as they answer.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream;
use futures_util::StreamExt as _;
use plimsoll_units::{Clock as _, RealClock};

use crate::broker::Broker;
use crate::error::FleetError;
use crate::wire::{Alive, sign_of};

/// How long to listen. Every agent sends its sign of life within this time.
const LISTEN: Duration = Duration::from_millis(1_200);

/// The broker and the agents of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetStatus {
    /// The version of the server that answered.
    pub server: String,
    /// Sorted by name; one for each process if several have one name.
    pub agents: Vec<AgentStatus>,
}

/// An agent that was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatus {
    pub name: String,
    pub version: String,
    /// The run it takes part in.
    pub run: Option<String>,
    /// The run whose conductor is gone, and whose data the agent keeps.
    pub left: Option<String>,
}

/// Listens for about a second, and returns the agents of a fleet that were heard.
///
/// # Errors
/// When the broker cannot be used.
pub fn status(broker: &Broker) -> Result<FleetStatus, FleetError> {
    crate::runtime()?.block_on(async {
        let mut connected = broker.connect("plimsoll fleet status", None).await?;
        let client = connected.client.clone();
        let account = jetstream::new(client.clone()).query_account().await;
        account.map_err(|error| {
            let (address, why) = (broker.address.to_string(), error.to_string());
            connected.explain(FleetError::NoJetStream { address, why })
        })?;
        let subscribed = client.subscribe(broker.subjects().alive("*")).await;
        let mut signs = subscribed.map_err(|error| FleetError::Ended { why: error.to_string() })?;
        let mut agents = BTreeMap::new();
        let until = RealClock.now() + LISTEN;
        while let Ok(Some(message)) = tokio::time::timeout(until.since(RealClock.now()), signs.next()).await {
            let Some(Alive { agent, incarnation, version, run, held, .. }) = sign_of(&message) else {
                continue;
            };
            let left = held.filter(|_| run.is_none()).map(|held| held.run);
            agents.insert((agent.clone(), incarnation), AgentStatus { name: agent, version, run, left });
        }
        Ok(FleetStatus { server: client.server_info().version, agents: agents.into_values().collect() })
    })
}
