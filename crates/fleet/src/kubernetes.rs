//! A fleet on Kubernetes: one Job, whose pods are the agents.

mod job;
mod manifest;
mod readiness;

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_kubernetes::{KubernetesError, Pod, trouble};
use plimsoll_units::{Clock as _, RealClock, best_effort};
use serde_json::Value;

use crate::broker::Broker;
use crate::error::FleetError;
use job::FleetJob;
pub use job::KubernetesPlace;
pub use manifest::KubernetesAgents;
use readiness::Readiness;

/// Pods have so long to end after they were deleted.
const DOWN_WITHIN: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A fleet on Kubernetes.
#[derive(Debug)]
pub struct KubernetesFleet(FleetJob);

/// The pod of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPod {
    pub name: String,
    /// `None` until it is scheduled.
    pub node: Option<String>,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// Why it does not run.
    pub why: Option<String>,
}

impl KubernetesFleet {
    /// The fleet at a place, whether it exists or not.
    ///
    /// # Errors
    /// When no cluster is known, or its kubeconfig cannot be read.
    pub fn at(place: &KubernetesPlace) -> Result<Self, FleetError> {
        Ok(Self(FleetJob::at(place)?))
    }

    /// The objects that [`Self::up`] creates, with new credentials.
    ///
    /// # Errors
    /// When credentials cannot be minted, a file cannot be read, or all are too much for a Secret.
    pub fn objects(&self, agents: &KubernetesAgents) -> Result<Vec<Value>, FleetError> {
        agents.objects(&self.0.namespace, &self.0.name)
    }

    /// Creates the Job, and waits until all agents answer at the broker, as this machine reaches it.
    ///
    /// # Errors
    /// When the broker or the API server cannot be used, or an agent does not answer in time: then the error says which, and
    /// why. What was created is deleted again.
    pub fn up(
        &self,
        agents: &KubernetesAgents,
        (broker, within): (&Broker, Duration),
        interrupted: &AtomicBool,
    ) -> Result<(), FleetError> {
        crate::status::status(broker)?;
        let readiness = Readiness { job: &self.0, agents: agents.count, broker, within };
        let objects = self.objects(agents)?;
        let created = self.0.create(&objects).map_err(FleetError::from);
        let made = created.and_then(|()| readiness.wait(interrupted));
        if made.as_ref().is_err_and(|error| !is_taken(error)) {
            best_effort(self.down(), "the first error says more");
        }
        made
    }

    /// The pods of its agents, by index.
    ///
    /// # Errors
    /// When the API server does not answer, or refuses.
    pub fn status(&self) -> Result<Vec<AgentPod>, FleetError> {
        let (pods, events) = (self.0.pods()?, self.0.events("Pod")?);
        let agent = |pod: &Pod| AgentPod {
            name: pod.metadata.name.clone(),
            node: pod.spec.node_name.clone(),
            phase: pod.status.phase.clone(),
            why: trouble(pod, &events).filter(|_| pod.status.phase != "Running"),
        };
        Ok(pods.iter().map(agent).collect())
    }

    /// Deletes everything that [`Self::up`] creates, and waits until no pod is left. False if there was nothing.
    ///
    /// # Errors
    /// When the API server does not answer, refuses, or pods are left after a minute.
    pub fn down(&self) -> Result<bool, FleetError> {
        let found = self.0.delete()?;
        let deadline = RealClock.now() + DOWN_WITHIN;
        while let Some(pod) = self.0.pods()?.first() {
            if RealClock.now() > deadline {
                return Err(FleetError::PodLeft { name: pod.metadata.name.clone() });
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(found)
    }
}

/// Whether another fleet has the name: nothing of it may be deleted.
fn is_taken(error: &FleetError) -> bool {
    matches!(error, FleetError::Kubernetes(KubernetesError::Exists { .. }))
}
