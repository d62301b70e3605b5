//! Flags of a load that many machines make.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::ValueEnum;
use plimsoll_conductor::peers::OnLoss;
use plimsoll_fleet::{
    Broker, BrokerAddress, Certificates, ConductorKey, Fleet, FleetError, Gathering, KeyFolder, LocalFleet,
};
use plimsoll_plan::Plan;

use super::values;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetArgs {
    /// Have the load made by the agents at this broker (NATS with JetStream); this process only conducts them
    ///
    /// Start agents with `plimsoll agent`, or a broker and agents on this machine with `plimsoll fleet up --local 3`.
    #[arg(long = "fleet", value_name = "nats://HOST:PORT")]
    address: Option<BrokerAddress>,
    #[command(flatten)]
    at: FleetAt,
    /// How many agents take part; by default all that answer within 2 s
    #[arg(long, value_name = "N", requires = "address", value_parser = clap::value_parser!(u32).range(1..))]
    agents: Option<u32>,
    /// The key with which this conductor signs, for agents with --trust; only its owner may read the file
    ///
    /// `plimsoll fleet keys` makes one. For the fleet of `plimsoll fleet up`, in this folder, its own is the default.
    #[arg(long, value_name = "FILE", requires = "address")]
    fleet_key: Option<PathBuf>,
    /// What becomes of the run if it loses an agent
    #[arg(long, value_name = "WHAT", requires = "address", default_value = "redistribute")]
    on_loss: Loss,
}

/// Which fleet at a broker, and how to get in.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FleetAt {
    /// The credentials file for the broker, as `plimsoll fleet keys` makes it
    ///
    /// For the fleet of `plimsoll fleet up`, in this folder, its own is the default.
    #[arg(long, value_name = "FILE", requires = "address")]
    fleet_credentials: Option<PathBuf>,
    /// The certificates of the authorities that prove the broker, in PEM [default: those of this machine]
    #[arg(long, value_name = "FILE", requires = "address")]
    fleet_cacert: Option<PathBuf>,
    /// The certificate of this client, for a broker that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "address", requires = "fleet_cert_key")]
    fleet_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "address", requires = "fleet_cert")]
    fleet_cert_key: Option<PathBuf>,
    /// The name of the fleet, where several share a broker
    #[arg(long, value_name = "NAME", requires = "address", default_value = FLEET, value_parser = values::agent_name)]
    fleet_name: String,
}

impl FleetAt {
    /// The broker at an address.
    ///
    /// # Errors
    /// When the record of the fleet in this folder cannot be read.
    pub(crate) fn broker(&self, address: &BrokerAddress) -> Result<Broker, FleetError> {
        Ok(Broker {
            address: address.clone(),
            credentials: given_or_local(&self.fleet_credentials, address, KeyFolder::conductor_credentials)?,
            certificates: Certificates {
                authorities: self.fleet_cacert.clone(),
                own: self.fleet_cert.clone().zip(self.fleet_cert_key.clone()),
            },
            fleet: self.fleet_name.clone(),
        })
    }

    /// True if a file of credentials was named.
    pub(crate) fn has_credentials(&self) -> bool {
        self.fleet_credentials.is_some()
    }

    pub(crate) fn name(&self) -> &str {
        &self.fleet_name
    }
}

/// The file that was named, or else that of the fleet on this machine, if it is at this broker.
fn given_or_local(
    given: &Option<PathBuf>,
    address: &BrokerAddress,
    own: fn(&KeyFolder) -> PathBuf,
) -> Result<Option<PathBuf>, FleetError> {
    if given.is_some() {
        return Ok(given.clone());
    }
    Ok(local_at(address)?.map(|fleet| own(&fleet.keys())))
}

/// The fleet on this machine, if it is at this broker.
pub(super) fn local_at(address: &BrokerAddress) -> Result<Option<LocalFleet>, FleetError> {
    LocalFleet::at(Path::new(FLEET_FOLDER), address)
}

/// The usual fleet of a broker.
pub(crate) const FLEET: &str = "default";
/// Where a fleet on this machine keeps its record, its keys and its logs.
pub(crate) const FLEET_FOLDER: &str = "plimsoll-fleet";

/// What becomes of a run that loses an agent.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Loss {
    /// The run ends, and keeps what was measured
    Stop,
    /// Later steps go on without its share: the target gets that much less
    Continue,
    /// Later steps are dealt out to the other agents
    Redistribute,
}

impl From<Loss> for OnLoss {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Stop => Self::Stop,
            Loss::Continue => Self::Continue,
            Loss::Redistribute => Self::Redistribute,
        }
    }
}

impl FleetArgs {
    /// The agents that make this load; `None` if this process makes it.
    pub(crate) fn gather(
        &self,
        (plan, csv): (&Plan, Option<&[u8]>),
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Option<Fleet>, FleetError> {
        let Some(address) = &self.address else { return Ok(None) };
        Fleet::gather(Gathering {
            broker: self.at.broker(address)?,
            key: self.key(address)?,
            agents: self.agents.map(|agents| agents as usize),
            plan,
            csv,
            version: env!("CARGO_PKG_VERSION"),
            interrupted: Arc::clone(interrupted),
        })
        .map(Some)
    }

    /// The key that was named, or that of the fleet on this machine.
    fn key(&self, address: &BrokerAddress) -> Result<Option<ConductorKey>, FleetError> {
        let path = given_or_local(&self.fleet_key, address, KeyFolder::conductor_key)?;
        path.map(|path| ConductorKey::read(&path)).transpose()
    }

    pub(crate) fn on_loss(&self) -> OnLoss {
        self.on_loss.into()
    }
}
