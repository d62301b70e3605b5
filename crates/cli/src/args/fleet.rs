//! Flags of a load that many machines make.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::ValueEnum;
use plimsoll_conductor::peers::OnLoss;
use plimsoll_fleet::{
    Broker, BrokerAddress, Certificates, ConductorKey, Fleet, FleetError, Gathering, KeyFolder, LocalFleet,
};
use plimsoll_plan::{FleetSpec, Plan};

use super::values;
use crate::exit::UsageError;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetArgs {
    /// Let the agents at this broker (NATS with JetStream) make the load; this process only conducts them
    ///
    /// Start agents with `plimsoll agent`, or a broker and agents on this machine with `plimsoll fleet up --local 3`.
    #[arg(long = "fleet", value_name = "nats://HOST:PORT")]
    address: Option<BrokerAddress>,
    #[command(flatten)]
    at: FleetAt,
    /// How many agents take part [default: the first that answers within 30 s, and all that follow within 2 s]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    agents: Option<u32>,
    /// The key with which this conductor signs, for agents with --trust; only its owner may read the file
    ///
    /// `plimsoll fleet keys` makes one. For the fleet of `plimsoll fleet up`, in this folder, its own is the default.
    #[arg(long, value_name = "FILE")]
    fleet_key: Option<PathBuf>,
    /// What to do if the run loses an agent
    ///
    /// [default: redistribute]
    #[arg(long, value_name = "WHAT")]
    on_loss: Option<Loss>,
}

/// Which fleet at a broker, and the credentials for it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FleetAt {
    /// The credentials file for the broker, as `plimsoll fleet keys` makes it
    ///
    /// For the fleet of `plimsoll fleet up`, in this folder, its own is the default.
    #[arg(long, value_name = "FILE")]
    fleet_credentials: Option<PathBuf>,
    /// The certificates of the authorities that prove the broker, in PEM
    ///
    /// [default: those of this machine; for `fleet resume`, those of the run]
    #[arg(long, value_name = "FILE")]
    fleet_cacert: Option<PathBuf>,
    /// The certificate of this client, for a broker that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "fleet_cert_key")]
    fleet_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "fleet_cert")]
    fleet_cert_key: Option<PathBuf>,
    /// The name of the fleet, where several share a broker
    ///
    /// [default: default; for `fleet resume`, that of the run]
    #[arg(long, value_name = "NAME", value_parser = values::agent_name)]
    fleet_name: Option<String>,
}

impl FleetAt {
    /// Returns the broker at an address.
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
            fleet: self.name().to_owned(),
        })
    }

    /// Returns true if a file of credentials was named.
    pub(crate) fn has_credentials(&self) -> bool {
        self.fleet_credentials.is_some()
    }

    pub(crate) fn name(&self) -> &str {
        self.fleet_name.as_deref().unwrap_or(FLEET)
    }

    /// Returns these flags, with the values of the plan file for those that were not given.
    pub(crate) fn over(&self, spec: &FleetSpec) -> Result<Self, UsageError> {
        let own = self.fleet_cert.clone().zip(self.fleet_cert_key.clone());
        let (fleet_cert, fleet_cert_key) = own.or(spec.cert.clone()).unzip();
        let named = spec.name.as_deref().map(values::agent_name).transpose();
        let named = named.map_err(|error| UsageError(format!("`fleet.name` of the plan file: {error}")))?;
        Ok(Self {
            fleet_credentials: self.fleet_credentials.clone().or(spec.credentials.clone()),
            fleet_cacert: self.fleet_cacert.clone().or(spec.cacert.clone()),
            fleet_cert,
            fleet_cert_key,
            fleet_name: self.fleet_name.clone().or(named),
        })
    }

    /// Fails if one of these flags was given, as there is no fleet.
    pub(crate) fn refuse_without_fleet(&self) -> Result<(), UsageError> {
        self.refuse(NEEDS_FLEET)
    }

    /// Fails if one of these flags was given, as the broker is started with the agents.
    pub(crate) fn refuse_with_own_broker(&self) -> Result<(), UsageError> {
        self.refuse("is for a broker that is there already; --local and --compose start one of their own")
    }

    fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let flags = [
            ("--fleet-credentials", self.fleet_credentials.is_some()),
            ("--fleet-cacert", self.fleet_cacert.is_some()),
            ("--fleet-cert", self.fleet_cert.is_some()),
            ("--fleet-name", self.fleet_name.is_some()),
        ];
        refuse_any(&flags, why)
    }
}

/// Why a flag of a fleet has no meaning without one.
const NEEDS_FLEET: &str = "needs a fleet; name its broker with --fleet nats://HOST:PORT";

fn refuse_any(flags: &[(&str, bool)], why: &str) -> Result<(), UsageError> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(UsageError(format!("{flag} {why}"))),
        None => Ok(()),
    }
}

/// Returns the file that was named, or else that of the fleet on this machine, if it uses this broker.
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

/// Returns the fleet on this machine, if it uses this broker.
pub(super) fn local_at(address: &BrokerAddress) -> Result<Option<LocalFleet>, FleetError> {
    LocalFleet::at(Path::new(FLEET_FOLDER), address)
}

/// The default name of a fleet.
pub(crate) const FLEET: &str = "default";
/// The folder in which a fleet on this machine keeps its record, its keys and its logs.
pub(crate) const FLEET_FOLDER: &str = "plimsoll-fleet";

/// What happens to a run that loses an agent.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Loss {
    /// The run ends, and keeps what was measured
    Stop,
    /// Later steps go on without its share: the target gets that much less
    Continue,
    /// The other agents take over its share of later steps
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
    /// Returns the fleet of the flags, completed by that of a plan file; `None` if this process makes the load.
    ///
    /// # Errors
    /// When a flag lacks its fleet, or a value of the file is wrong.
    pub(crate) fn over(&self, file: Option<&FleetSpec>) -> Result<Option<FleetSetting>, UsageError> {
        let Some(address) = self.address_over(file)? else {
            let own = [
                ("--agents", self.agents.is_some()),
                ("--fleet-key", self.fleet_key.is_some()),
                ("--on-loss", self.on_loss.is_some()),
            ];
            refuse_any(&own, NEEDS_FLEET)?;
            return self.at.refuse_without_fleet().map(|()| None);
        };
        let at = file.map_or_else(|| Ok(self.at.clone()), |spec| self.at.over(spec))?;
        let of_file = |spec: &FleetSpec| Loss::from_str(spec.on_loss.as_deref()?, false).ok();
        let on_loss = self.on_loss.or_else(|| file.and_then(of_file)).unwrap_or(Loss::Redistribute);
        Ok(Some(FleetSetting {
            address,
            at,
            agents: self.agents.or(file.and_then(|spec| spec.agents)),
            key: self.fleet_key.clone().or_else(|| file?.key.clone()),
            on_loss: on_loss.into(),
        }))
    }

    fn address_over(&self, file: Option<&FleetSpec>) -> Result<Option<BrokerAddress>, UsageError> {
        let (None, Some(spec)) = (&self.address, file) else { return Ok(self.address.clone()) };
        let wrong = |error: FleetError| UsageError(format!("`fleet.at` of the plan file: {error}"));
        spec.at.parse().map(Some).map_err(wrong)
    }
}

/// The fleet that makes a load.
#[derive(Debug, Clone)]
pub(crate) struct FleetSetting {
    address: BrokerAddress,
    at: FleetAt,
    agents: Option<u32>,
    /// The key file that was named.
    key: Option<PathBuf>,
    pub(crate) on_loss: OnLoss,
}

impl FleetSetting {
    /// Gathers the agents that make this load.
    pub(crate) fn gather(
        &self,
        (plan, csv, lasts): (&Plan, Option<&[u8]>, Option<Duration>),
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Fleet, FleetError> {
        Fleet::gather(Gathering {
            broker: self.at.broker(&self.address)?,
            key: self.key()?.map(|path| ConductorKey::read(&path)).transpose()?,
            agents: self.agents.map(|agents| agents as usize),
            lasts,
            plan,
            csv,
            version: env!("CARGO_PKG_VERSION"),
            interrupted: Arc::clone(interrupted),
        })
    }

    /// Returns the record, as JSON, with which a run of these agents can be resumed if this process dies.
    pub(crate) fn session(&self, fleet: &Fleet) -> Result<String, FleetError> {
        let (broker, key) = (self.at.broker(&self.address)?, self.key()?);
        fleet.session(&broker, key.as_deref(), self.on_loss)?.to_json()
    }

    /// Returns the key that was named, or that of the fleet on this machine.
    fn key(&self) -> Result<Option<PathBuf>, FleetError> {
        given_or_local(&self.key, &self.address, KeyFolder::conductor_key)
    }
}
