//! A fleet on Kubernetes: one Job, whose pods are the agents.

mod job;
mod manifest;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_kubernetes::{Event, Pod, trouble};
use plimsoll_units::{Clock as _, RealClock};
use serde_json::Value;

use crate::broker::Broker;
use crate::deadline::Deadline;
use crate::error::FleetError;
use crate::readiness::{Starter, await_agents, refuse_taken};
use crate::reasons::JOINS_ANOTHER;
pub use job::KubernetesPlace;
use job::{Created, FleetJob};
pub use manifest::KubernetesAgents;

/// How long pods may take to end after they were deleted.
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
    /// Why it does not run; `None` if nothing is known to be wrong.
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
    /// why. What this call has created is deleted again, and nothing else.
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
        let mut created = Created::default();
        let made = self.0.create(&objects, &mut created);
        let made = made.and_then(|()| await_agents(&names, broker, &mut Pods(&self.0), deadline));
        made.map_err(|error| self.undo(error, &created))
    }

    /// Deletes what was created before an error. The returned error says if something may be left.
    fn undo(&self, error: FleetError, created: &Created) -> FleetError {
        if created.is_empty() {
            return error;
        }
        let undone = self.0.undo(created).and_then(|()| match created.has("Job") {
            true => self.await_end().map_err(|error| self.left_pods(&error)),
            false => Ok(()),
        });
        match undone {
            Ok(()) => error,
            Err(left) => {
                FleetError::KubernetesLeft { first: Box::new(error), left, down: self.0.down_command() }
            }
        }
    }

    /// Returns the pods of its agents, by index.
    ///
    /// # Errors
    /// When the API server does not answer, or refuses.
    pub fn status(&self) -> Result<Vec<AgentPod>, FleetError> {
        let (pods, events) = (self.0.pods()?, self.0.events("Pod")?);
        let agent = |pod: &Pod| AgentPod {
            name: pod.metadata.name.clone(),
            node: pod.spec.node_name.clone(),
            phase: pod.status.phase.clone(),
            why: trouble(pod, &events),
        };
        Ok(pods.iter().map(agent).collect())
    }

    /// Deletes everything that [`Self::up`] creates, and waits until no pod is left. False if there was nothing. Leaves objects of
    /// these names that lack the labels of a fleet.
    ///
    /// # Errors
    /// When the API server does not answer, refuses, or pods are left after a minute.
    pub fn down(&self) -> Result<bool, FleetError> {
        let found = self.0.delete()?;
        self.await_end()?;
        Ok(found)
    }

    fn left_pods(&self, error: &FleetError) -> String {
        format!("pods of Job {} ({error})", self.0.name)
    }

    /// Waits until no pod is left. Retries an API server that is busy at times.
    fn await_end(&self) -> Result<(), FleetError> {
        let deadline = RealClock.now() + DOWN_WITHIN;
        loop {
            let left = match self.0.pods() {
                Ok(pods) => match pods.first() {
                    Some(pod) => FleetError::PodLeft { name: pod.metadata.name.clone() },
                    None => return Ok(()),
                },
                Err(error) if error.is_lasting() => return Err(error.into()),
                Err(error) => error.into(),
            };
            if RealClock.now() > deadline {
                return Err(left);
            }
            thread::sleep(POLL_INTERVAL);
        }
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

/// Returns why a Job has not made a pod, such as a quota of the namespace that is used up.
fn no_pod(job: &str, of_job: &[Event]) -> String {
    let warning = of_job.iter().rev().find(|event| event.warns_of(job));
    warning.map_or_else(
        || "the Job has not made its pod yet".to_owned(),
        |event| format!("{}: {}", event.reason, event.message),
    )
}

/// Returns why a pod does not run; `None` if it does.
fn reason(pod: &Pod, events: &[Event]) -> Option<String> {
    let phase = &pod.status.phase;
    trouble(pod, events).or_else(|| (phase != "Running").then(|| format!("its pod is {phase}")))
}
