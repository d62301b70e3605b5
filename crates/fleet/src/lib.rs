//! One load from many machines: a conductor and its agents, over NATS with JetStream.
//!
//! The conductor is an ordinary run whose peers are agents ([`Fleet`] is a rendezvous of
//! [`plimsoll_conductor::peers`]); an agent ([`serve`]) is an ordinary peer. This crate carries messages between them: it numbers
//! them, resends them until the other side confirms them, translates instants between the clocks, and detects lost agents.

mod agent;
mod allow;
mod broker;
mod census;
mod claims;
mod clock;
mod commands;
mod compose;
mod credentials;
mod deadline;
mod error;
mod fleet;
mod folder;
mod hub;
mod inbox;
mod keys;
mod kubernetes;
mod local;
mod members;
mod orphans;
mod outbox;
mod placement;
mod process;
mod reader;
mod readiness;
mod reasons;
mod run_stream;
mod secret;
mod session;
mod signature;
#[cfg(test)]
mod simulation;
mod ssh;
mod status;
mod step_clock;
mod wall_clock;
mod wire;

pub use agent::{AgentOptions, AgentReport, Generator, serve};
pub use allow::{AllowedTarget, NoTarget};
pub use broker::{Broker, BrokerAddress, Certificates};
pub use compose::{ComposeAgents, ComposeFleet};
pub use deadline::Interrupts;
pub use error::FleetError;
pub use fleet::{DiscardedRun, EndingFleet, Fleet, Gathering, Resuming};
pub use keys::KeyFolder;
pub use kubernetes::{AgentPod, KubernetesAgents, KubernetesFleet, KubernetesPlace};
pub use local::{LocalFleet, LocalOptions, nats_server};
pub use orphans::FleetSession;
pub use placement::{AgentKeys, Placement};
pub use process::FleetProcess;
pub use signature::{ConductorKey, NoKey, TrustedKey};
pub use ssh::{HostStatus, HostedAgent, SshFleet, SshHost, SshOptions};
pub use status::{AgentStatus, FleetStatus, status};
pub use wire::is_name;

fn random() -> Result<u64, FleetError> {
    getrandom::u64().map_err(|error| FleetError::system("could not draw a random number")(error.into()))
}

/// Builds a single-threaded event loop for the broker, so that no load thread ever waits for the broker.
fn runtime() -> Result<tokio::runtime::Runtime, FleetError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(FleetError::system("could not start the event loop of the broker"))
}
