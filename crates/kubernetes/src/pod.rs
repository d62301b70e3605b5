//! Pods: the fields that are read of them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The annotation of a pod of an Indexed Job that holds its index.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Pods, as the API server lists them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct PodList {
    #[serde(default)]
    pub items: Vec<Pod>,
}

/// A pod: its name, its node and its status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Pod {
    pub metadata: PodMetadata,
    #[serde(default)]
    pub spec: PodSpec,
    #[serde(default)]
    pub status: PodStatus,
}

/// The name and the annotations of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodMetadata {
    pub name: String,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Set once it is being deleted.
    pub deletion_timestamp: Option<String>,
}

/// The specification of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// `None` until it is scheduled.
    pub node_name: Option<String>,
}

/// The status of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[serde(default)]
    pub phase: String,
    pub reason: Option<String>,
    pub message: Option<String>,
    #[serde(default)]
    pub conditions: Vec<PodCondition>,
    #[serde(default)]
    pub container_statuses: Vec<ContainerStatus>,
}

/// A stage that a pod may have reached: scheduled, initialised, ready.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct PodCondition {
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(default)]
    pub status: String,
    pub reason: Option<String>,
    pub message: Option<String>,
}

/// The status of a container of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ContainerStatus {
    #[serde(default)]
    pub state: ContainerState,
}

/// The state of a container. At most one of the fields is set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ContainerState {
    pub waiting: Option<Waiting>,
    pub terminated: Option<Terminated>,
}

/// Why a container has not started.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Waiting {
    /// `ContainerCreating`, `ErrImagePull`, `CreateContainerConfigError` …
    #[serde(default)]
    pub reason: String,
    pub message: Option<String>,
}

/// How a container ended.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminated {
    pub exit_code: i32,
    /// `Completed`, `Error`, `OOMKilled` …
    #[serde(default)]
    pub reason: String,
    /// The end of the container's output, if its Job asks for that.
    pub message: Option<String>,
}

impl Pod {
    /// The index of the pod in an Indexed Job; `None` in other Jobs.
    pub fn index(&self) -> Option<usize> {
        self.metadata.annotations.get(INDEX)?.parse().ok()
    }

    /// True if the pod has not ended and is not being deleted.
    pub fn is_live(&self) -> bool {
        self.metadata.deletion_timestamp.is_none()
            && !matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }
}
