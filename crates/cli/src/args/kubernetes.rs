//! Flags of a fleet on Kubernetes.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use plimsoll_fleet::{Broker, BrokerAddress, FleetError, KubernetesAgents, KubernetesPlace};
use plimsoll_units::parse_duration;

use super::{FleetAt, values};

/// The longest credentials file: a Secret holds at most 1 MiB.
const MAX_CREDENTIALS_BYTES: u64 = 1 << 20;

/// Where a fleet on Kubernetes is.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct PlaceArgs {
    /// The context of the kubeconfig [default: its current one; in a pod its service account]
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    context: Option<String>,
    /// The namespace [default: that of the context]
    #[arg(long, value_name = "NAME", requires = "kubernetes", value_parser = values::dns_label)]
    namespace: Option<String>,
    /// The name of the Job and of what belongs to it; agents are called NAME-0, NAME-1 …
    #[arg(long, value_name = "NAME", requires = "kubernetes", default_value = "plimsoll", value_parser = values::dns_label)]
    job: String,
}

impl PlaceArgs {
    pub(crate) fn place(&self) -> KubernetesPlace {
        KubernetesPlace {
            context: self.context.clone(),
            namespace: self.namespace.clone(),
            name: self.job.clone(),
        }
    }
}

/// Whether a command is about the fleet on Kubernetes, and where that is.
#[derive(Debug, clap::Args)]
pub(crate) struct OnKubernetesArgs {
    /// The fleet that `plimsoll fleet up --kubernetes` has started
    #[arg(long)]
    pub(crate) kubernetes: bool,
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
}

/// A fleet to start on Kubernetes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct KubernetesArgs {
    /// Start so many agents as the pods of one Job on Kubernetes; the broker must run already
    #[arg(long = "kubernetes", id = "kubernetes", value_name = "N", requires_all = ["image", "address", "allow"],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) agents: Option<u16>,
    /// The image of the agents, of this version (`make image` builds it)
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    image: Option<String>,
    /// The broker, as this machine reaches it
    #[arg(long = "fleet", value_name = "nats://HOST:PORT", requires = "kubernetes")]
    address: Option<BrokerAddress>,
    /// The broker, as pods reach it [default: as --fleet]
    #[arg(long, value_name = "nats://HOST:PORT", requires = "kubernetes")]
    join: Option<BrokerAddress>,
    #[command(flatten)]
    fleet: FleetAt,
    /// Cores of each agent, as Kubernetes writes them: 2, 500m
    #[arg(long, value_name = "CORES", requires = "kubernetes", default_value = "1")]
    cpu: String,
    /// Memory of each agent
    #[arg(long, value_name = "BYTES", requires = "kubernetes", default_value = "512Mi")]
    memory: String,
    /// Fail, and delete what was created, unless all agents answer within this time
    #[arg(long, value_name = "TIME", requires = "kubernetes", default_value = "5m", value_parser = parse_duration)]
    pub(crate) within: Duration,
    /// Print what would be created, as JSON that `kubectl apply -f -` takes, and create nothing
    #[arg(long, requires = "kubernetes")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
}

impl KubernetesArgs {
    /// The broker, as this machine reaches it; `None` unless agents are to start on Kubernetes.
    ///
    /// # Errors
    /// When the record of the fleet in this folder cannot be read.
    pub(crate) fn broker(&self) -> Result<Option<Broker>, FleetError> {
        let address = self.address.as_ref().filter(|_| self.agents.is_some());
        address.map(|address| self.fleet.broker(address)).transpose()
    }

    /// The agents to start, which join this broker.
    pub(crate) fn agents(&self, broker: &Broker, allow: Vec<String>) -> anyhow::Result<KubernetesAgents> {
        Ok(KubernetesAgents {
            count: self.agents.unwrap_or_default().into(),
            image: self.image.clone().unwrap_or_default(),
            join: self.join.as_ref().unwrap_or(&broker.address).clone(),
            allow,
            cpu: self.cpu.clone(),
            memory: self.memory.clone(),
            credentials: broker.credentials.as_ref().map(read_credentials).transpose()?,
            fleet: broker.fleet.clone(),
        })
    }
}

fn read_credentials(path: &PathBuf) -> anyhow::Result<Vec<u8>> {
    let unreadable = || format!("could not read the credentials in {}", path.display());
    let mut content = Vec::new();
    let file = File::open(path).with_context(unreadable)?;
    file.take(MAX_CREDENTIALS_BYTES).read_to_end(&mut content).with_context(unreadable)?;
    Ok(content)
}
