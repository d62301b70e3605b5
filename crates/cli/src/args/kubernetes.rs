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
    #[arg(long, value_name = "NAME", requires = "kubernetes", value_parser = values::namespace)]
    namespace: Option<String>,
    /// The name of the Job and of what belongs to it; agents are called NAME-0, NAME-1 …
    #[arg(long, value_name = "NAME", requires = "kubernetes", default_value = "plimsoll", value_parser = values::job_name)]
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

/// The cores that a calibration needs: one for the worker, and one for the server that it loads.
const CALIBRATION_CORES: f64 = 2.0;

impl KubernetesArgs {
    /// Returns true if an agent has too few cores to find its ceiling.
    pub(crate) fn is_too_small_to_calibrate(&self) -> bool {
        cores(&self.cpu).is_some_and(|cores| cores < CALIBRATION_CORES)
    }

    /// Returns the agents to start, with this image and placement.
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

/// Parses cores as Kubernetes writes them, whole or in thousandths; `None` if the text is neither.
fn cores(text: &str) -> Option<f64> {
    match text.strip_suffix('m') {
        Some(thousandths) => thousandths.parse::<f64>().ok().map(|thousandths| thousandths / 1e3),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_read_as_kubernetes_writes_them() {
        let read = ["2", "0.5", "1500m", "many"].map(cores);
        assert_eq!(read, [Some(2.0), Some(0.5), Some(1.5), None]);
    }
}
