//! Flags of agents that run on other machines.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_fleet::{AgentKeys, Broker, BrokerAddress, Certificates, FleetError, KeyFolder, Placement};
use plimsoll_units::parse_duration;

use super::fleet::{FLEET, local_at};
use super::{FleetAt, values};
use crate::exit::UsageError;

/// What agents on other machines receive, and how long they may take to start.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Agents elsewhere")]
pub(crate) struct PlacedArgs {
    /// The broker, as this machine reaches it
    #[arg(long = "fleet", value_name = "nats://HOST:PORT", requires = "joining")]
    address: Option<BrokerAddress>,
    /// The broker, as agents reach it [default: as --fleet]
    #[arg(long, value_name = "nats://HOST:PORT", requires = "joining")]
    join: Option<BrokerAddress>,
    #[command(flatten)]
    fleet: FleetAt,
    /// The folder of `plimsoll fleet keys`: each agent gets credentials of its own, and obeys only the conductor with these keys
    ///
    /// The broker must be configured with them. Credentials of the conductor are made too, unless --fleet-credentials names some.
    #[arg(long, value_name = "DIR", requires = "joining")]
    keys: Option<PathBuf>,
    /// How long the credentials are good
    #[arg(long, value_name = "TIME", requires = "keys", default_value = "24h", value_parser = parse_duration)]
    valid: Duration,
    /// For agents: the certificates of the authorities that prove the broker, in PEM [default: as --fleet-cacert]
    #[arg(long, value_name = "FILE", requires = "joining")]
    cacert: Option<PathBuf>,
    /// For agents: their certificate, for a broker that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "joining", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// For agents: the key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "joining", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Fail, and end what was started, unless all agents answer within this time plus that of --calibrate
    #[arg(long, value_name = "TIME", requires = "elsewhere", default_value = "5m", value_parser = parse_duration)]
    within: Duration,
    /// Have agents measure what they can make before they join, unless a stored calibration says so: for about 5 s, or TIME
    ///
    /// The shares of a load depend on it. Agents of one machine disturb each other: with --local it is measured once, before they start.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "5s", value_parser = values::calibration_time)]
    #[arg(help_heading = None::<&str>)]
    pub(crate) calibrate: Option<Duration>,
}

/// Agents in containers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Agents elsewhere")]
pub(crate) struct ContainerArgs {
    /// The image of the agents, of this version (`make image` builds it)
    #[arg(long, value_name = "IMAGE", requires = "containers")]
    pub(crate) image: Option<String>,
    /// Print what would be created, as JSON that `kubectl apply -f -` or `docker compose` takes, and start nothing
    #[arg(long, requires = "containers")]
    pub(crate) print: bool,
}

impl PlacedArgs {
    /// Returns how long agents may take to answer, their calibration included.
    pub(crate) fn within(&self) -> Duration {
        self.within.saturating_add(self.calibrate.unwrap_or_default())
    }

    /// Fails if a flag says how to log in to a broker: a broker that is started with the agents needs none.
    pub(crate) fn refuse_with_own_broker(&self) -> Result<(), UsageError> {
        self.fleet.refuse_with_own_broker()
    }

    /// Returns the broker, as this machine reaches it, and what its agents receive.
    ///
    /// # Errors
    /// When keys cannot be used, or agents could not get in with what they are given.
    pub(crate) fn resolve(&self, allow: Vec<String>) -> Result<(Broker, Placement), FleetError> {
        let address = self.address.as_ref().ok_or_else(|| FleetError::Address { text: String::new() })?;
        let keys = self.keys(address)?;
        let mut broker = self.fleet.broker(address)?;
        if let (Some(keys), false) = (&keys, self.fleet.has_credentials()) {
            if self.keys.is_some() {
                keys.mint_conductor(self.valid)?;
            }
            broker.credentials = Some(keys.conductor_credentials());
        }
        let placement = Placement {
            join: self.join.as_ref().unwrap_or(address).clone(),
            allow,
            fleet: broker.fleet.clone(),
            keys: keys.map(|folder| AgentKeys { folder, valid: self.valid }),
            certificates: Certificates {
                authorities: self.cacert.clone().or_else(|| broker.certificates.authorities.clone()),
                own: self.cert.clone().zip(self.cert_key.clone()),
            },
            calibrate: self.calibrate,
        };
        placement.check(&broker)?;
        Ok((broker, placement))
    }

    /// Returns the keys that were named, or those of the fleet on this machine.
    fn keys(&self, address: &BrokerAddress) -> Result<Option<KeyFolder>, FleetError> {
        match &self.keys {
            Some(folder) => KeyFolder::read(folder, self.fleet.name()).map(Some),
            None => Ok(local_at(address)?.map(|fleet| fleet.keys())),
        }
    }

    /// Returns the flags with which a command on this machine uses the fleet.
    pub(crate) fn conductor_flags(&self, (broker, placement): (&Broker, &Placement)) -> String {
        let mut flags = format!("--fleet {}", broker.address);
        let keys = placement.keys.as_ref().filter(|_| self.keys.is_some());
        if let (Some(keys), Some(credentials)) = (keys, &broker.credentials) {
            let key = keys.folder.conductor_key();
            let given =
                format!(" --fleet-credentials {} --fleet-key {}", credentials.display(), key.display());
            flags.push_str(&given);
        }
        let names = ["--fleet-cacert", "--fleet-cert", "--fleet-cert-key"];
        for (flag, file) in names.into_iter().zip(broker.certificates.files()) {
            file.into_iter().for_each(|file| flags.push_str(&format!(" {flag} {}", file.display())));
        }
        if broker.fleet != FLEET {
            flags.push_str(&format!(" --fleet-name {}", broker.fleet));
        }
        flags
    }
}
