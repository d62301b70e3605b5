//! The objects of a fleet within a cluster.

use std::time::Duration;

use plimsoll_kubernetes::{Cluster, Event, KubernetesError, Pod, PodList, events_of};
use serde_json::Value;

/// How long the API server may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// What a fleet is made of, in the order in which it is deleted.
const KINDS: [&str; 3] = ["Job", "Secret", "ServiceAccount"];

/// Where a fleet runs.
#[derive(Debug, Clone)]
pub struct KubernetesPlace {
    /// Of the kubeconfig; its current one if `None`.
    pub context: Option<String>,
    /// That of the context if `None`.
    pub namespace: Option<String>,
    /// Of the Job: a DNS label.
    pub name: String,
}

/// The Job of a fleet and what belongs to it, whether they exist or not.
#[derive(Debug)]
pub(super) struct FleetJob {
    cluster: Cluster,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl FleetJob {
    pub(super) fn at(place: &KubernetesPlace) -> Result<Self, KubernetesError> {
        let cluster = Cluster::connect(place.context.as_deref(), ANSWER_WITHIN)?;
        let namespace = place.namespace.clone().unwrap_or_else(|| cluster.namespace().to_owned());
        Ok(Self { cluster, namespace, name: place.name.clone() })
    }

    pub(super) fn create(&self, objects: &[Value]) -> Result<(), KubernetesError> {
        let create = |object: &Value| {
            let kind = object["kind"].as_str().unwrap_or_default();
            self.cluster.create(&self.list(kind), object)
        };
        objects.iter().try_for_each(create)
    }

    /// Deletes everything that may have been created; false if there was nothing.
    pub(super) fn delete(&self) -> Result<bool, KubernetesError> {
        let mut found = false;
        for kind in KINDS {
            found |= self.cluster.delete(&format!("{}/{}", self.list(kind), self.name))?;
        }
        Ok(found)
    }

    /// The path of the list that objects of a kind are in.
    fn list(&self, kind: &str) -> String {
        let namespace = &self.namespace;
        match kind {
            "Job" => format!("/apis/batch/v1/namespaces/{namespace}/jobs"),
            "Secret" => format!("/api/v1/namespaces/{namespace}/secrets"),
            _ => format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
        }
    }

    /// Its pods, by index.
    pub(super) fn pods(&self) -> Result<Vec<Pod>, KubernetesError> {
        let (namespace, name) = (&self.namespace, &self.name);
        let path = format!(
            "/api/v1/namespaces/{namespace}/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3D{name}"
        );
        let mut pods = self.cluster.get::<PodList>(&path)?.items;
        pods.sort_by_key(Pod::index);
        Ok(pods)
    }

    /// The events of pods, or of Jobs.
    pub(super) fn events(&self, kind: &str) -> Result<Vec<Event>, KubernetesError> {
        events_of(&self.cluster, &self.namespace, kind)
    }
}
