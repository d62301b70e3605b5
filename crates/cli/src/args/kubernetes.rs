//! Flags of a fleet on Kubernetes.

use plimsoll_fleet::{KubernetesAgents, KubernetesPlace, Placement};

use super::values;

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
    /// Start N agents as the pods of one Job on Kubernetes; the broker must run already
    #[arg(long = "kubernetes", id = "kubernetes", value_name = "N", requires_all = ["image", "address", "allow"],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) agents: Option<u16>,
    /// Cores of each agent, as Kubernetes writes them: 2, 500m
    #[arg(long, value_name = "CORES", requires = "kubernetes", default_value = "1")]
    cpu: String,
    /// Memory of each agent
    #[arg(long, value_name = "BYTES", requires = "kubernetes", default_value = "512Mi")]
    memory: String,
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
}

impl KubernetesArgs {
    /// The agents to start, which are given this.
    pub(crate) fn agents(&self, image: &str, placement: Placement) -> KubernetesAgents {
        KubernetesAgents {
            count: self.agents.unwrap_or_default().into(),
            image: image.to_owned(),
            placement,
            cpu: self.cpu.clone(),
            memory: self.memory.clone(),
        }
    }
}
