//! Whether all agents of a fleet on Kubernetes answer, and why some do not.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_kubernetes::{Event, Pod, trouble};
use plimsoll_units::{Clock as _, RealClock};

use super::job::FleetJob;
use super::manifest::KubernetesAgents;
use crate::broker::Broker;
use crate::error::FleetError;
use crate::reasons::{UNHEARD, together};
use crate::status::status;

const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What is waited for.
pub(super) struct Readiness<'a> {
    pub(super) job: &'a FleetJob,
    pub(super) agents: usize,
    pub(super) broker: &'a Broker,
    pub(super) within: Duration,
}

impl Readiness<'_> {
    /// Waits until every agent answers at the broker; ends early when one of them has ended, or the Job has failed.
    pub(super) fn wait(&self, interrupted: &AtomicBool) -> Result<(), FleetError> {
        let deadline = RealClock.now() + self.within;
        loop {
            let missing = self.missing()?;
            if missing.is_empty() {
                return Ok(());
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(FleetError::Interrupted);
            }
            let pods = self.job.pods()?;
            if RealClock.now() > deadline || pods.iter().any(|pod| !pod.is_live()) {
                return Err(self.not_ready(&missing, &pods));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// The indices of agents that do not answer.
    fn missing(&self) -> Result<Vec<usize>, FleetError> {
        let found = status(self.broker)?;
        let names: BTreeSet<String> = found.agents.into_iter().map(|agent| agent.name).collect();
        let is_missing =
            |index: &usize| !names.contains(&KubernetesAgents::agent_name(&self.job.name, index));
        Ok((0..self.agents).filter(is_missing).collect())
    }

    fn not_ready(&self, missing: &[usize], pods: &[Pod]) -> FleetError {
        let said = self.job.events("Pod").and_then(|of_pods| Ok((of_pods, self.job.events("Job")?)));
        let (of_pods, of_job) = said.unwrap_or_default();
        let why = |index: &usize| {
            let pod = pods.iter().find(|pod| pod.index() == Some(*index));
            let why = pod.map_or_else(|| self.no_pod(&of_job), |pod| reason(pod, &of_pods));
            (KubernetesAgents::agent_name(&self.job.name, index), why)
        };
        FleetError::NotReady {
            came: self.agents - missing.len(),
            expected: self.agents,
            reasons: together(missing.iter().map(why)),
        }
    }

    /// Why the Job has not made a pod, such as a quota of the namespace that is used up.
    fn no_pod(&self, of_job: &[Event]) -> String {
        let warning = of_job.iter().rev().find(|event| event.warns_of(&self.job.name));
        warning.map_or_else(
            || "the Job has not made its pod yet".to_owned(),
            |event| format!("{}: {}", event.reason, event.message),
        )
    }
}

fn reason(pod: &Pod, events: &[Event]) -> String {
    trouble(pod, events).unwrap_or_else(|| match pod.status.phase.as_str() {
        "Running" => UNHEARD.to_owned(),
        phase => format!("its pod is {phase}"),
    })
}
