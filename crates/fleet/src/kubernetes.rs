//! A fleet on Kubernetes: one Job, whose pods are the agents.

mod job;
mod manifest;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_kubernetes::{Event, KubernetesError, Pod, trouble};
use plimsoll_units::{Clock as _, RealClock, best_effort};
use serde_json::Value;

use crate::broker::Broker;
use crate::deadline::Deadline;
use crate::error::FleetError;
use crate::readiness::{Starter, await_agents, refuse_taken};
use crate::reasons::JOINS_ANOTHER;
use job::FleetJob;
pub use job::KubernetesPlace;
pub use manifest::KubernetesAgents;

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
        let names = agents.names(&self.0.name);
        refuse_taken(&names, broker)?;
        let deadline = Deadline::within(within, interrupted);
        let objects = self.objects(agents)?;
        let created = self.0.create(&objects).map_err(FleetError::from);
        let made = created.and_then(|()| await_agents(&names, broker, &mut Pods(&self.0), deadline));
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

/// The pods of a Job.
struct Pods<'a>(&'a FleetJob);

impl Starter for Pods<'_> {
    fn has_failed(&mut self, _missing: &[String]) -> Result<bool, FleetError> {
        Ok(self.0.pods()?.iter().any(|pod| !pod.is_live()))
    }

    fn reasons(&mut self, missing: &[String]) -> Result<Vec<Option<String>>, FleetError> {
        let pods = self.0.pods()?;
        let said = self.0.events("Pod").and_then(|of_pods| Ok((of_pods, self.0.events("Job")?)));
        let (of_pods, of_job) = said.unwrap_or_default();
        let name = |pod: &Pod| Some(KubernetesAgents::agent_name(&self.0.name, &pod.index()?));
        let by_name: HashMap<String, &Pod> = pods.iter().filter_map(|pod| Some((name(pod)?, pod))).collect();
        let why = |agent: &String| match by_name.get(agent) {
            Some(pod) => reason(pod, &of_pods),
            None => Some(no_pod(&self.0.name, &of_job)),
        };
        Ok(missing.iter().map(why).collect())
    }

    fn advice(&self) -> String {
        JOINS_ANOTHER.to_owned()
    }
}

/// Why a Job has not made a pod, such as a quota of the namespace that is used up.
fn no_pod(job: &str, of_job: &[Event]) -> String {
    let warning = of_job.iter().rev().find(|event| event.warns_of(job));
    warning.map_or_else(
        || "the Job has not made its pod yet".to_owned(),
        |event| format!("{}: {}", event.reason, event.message),
    )
}

/// Why a pod does not run; `None` if it does.
fn reason(pod: &Pod, events: &[Event]) -> Option<String> {
    let phase = &pod.status.phase;
    trouble(pod, events).or_else(|| (phase != "Running").then(|| format!("its pod is {phase}")))
}

/// Whether another fleet has the name: nothing of it may be deleted.
fn is_taken(error: &FleetError) -> bool {
    matches!(error, FleetError::Kubernetes(KubernetesError::Exists { .. }))
}
