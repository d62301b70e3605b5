//! The objects of a fleet in a cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_kubernetes::{Cluster, Event, KubernetesError, Pod, PodList, events_of};
use serde::Deserialize;
use serde_json::Value;

use super::manifest::{INSTANCE, OF_APP};
use crate::error::FleetError;

/// How long the API server may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// The kinds of a fleet's objects, in the order in which they are deleted.
const KINDS: [&str; 3] = ["Job", "Secret", "ServiceAccount"];

/// Where a fleet runs.
#[derive(Debug, Clone)]
pub struct KubernetesPlace {
    /// A context of the kubeconfig; the current one if `None`.
    pub context: Option<String>,
    /// A namespace; that of the context if `None`.
    pub namespace: Option<String>,
    /// The name of the Job: a DNS label.
    pub name: String,
}

/// The Job of a fleet and what belongs to it, whether they exist or not.
#[derive(Debug)]
pub(super) struct FleetJob {
    cluster: Cluster,
    context: Option<String>,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The kinds of objects that one call has created. If the call fails, nothing else may be deleted.
#[derive(Debug, Default)]
pub(super) struct Created {
    sure: Vec<String>,
    /// A kind whose object may exist: the server did not say whether it created it.
    unsure: Option<String>,
}

/// The part of an object that says whose it is.
#[derive(Deserialize)]
struct Labelled {
    metadata: Labels,
}

#[derive(Deserialize)]
struct Labels {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

impl Created {
    /// True if there is nothing to delete.
    pub(super) fn is_empty(&self) -> bool {
        self.sure.is_empty() && self.unsure.is_none()
    }

    /// True if there is, or may be, an object of this kind.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.sure.iter().chain(&self.unsure).any(|one| one == kind)
    }
}

impl FleetJob {
    pub(super) fn at(place: &KubernetesPlace) -> Result<Self, KubernetesError> {
        let cluster = Cluster::connect(place.context.as_deref(), ANSWER_WITHIN)?;
        Ok(Self::on(cluster, place))
    }

    fn on(cluster: Cluster, place: &KubernetesPlace) -> Self {
        let namespace = place.namespace.clone().unwrap_or_else(|| cluster.namespace().to_owned());
        Self { cluster, context: place.context.clone(), namespace, name: place.name.clone() }
    }

    /// Creates the objects, and notes in `created` each one that exists as a result.
    pub(super) fn create(&self, objects: &[Value], created: &mut Created) -> Result<(), FleetError> {
        for object in objects {
            let kind = object["kind"].as_str().unwrap_or_default();
            if let Err(error) = self.cluster.create(&self.list(kind), object) {
                created.unsure = is_unsure(&error).then(|| kind.to_owned());
                return Err(self.not_created(error));
            }
            created.sure.push(kind.to_owned());
        }
        Ok(())
    }

    fn not_created(&self, error: KubernetesError) -> FleetError {
        match error {
            KubernetesError::Exists { message } => {
                FleetError::KubernetesTaken { said: message, down: self.down_command() }
            }
            error => error.into(),
        }
    }

    /// The command that deletes this fleet.
    pub(super) fn down_command(&self) -> String {
        let Self { context, namespace, name, .. } = self;
        let context = context.as_ref().map(|context| format!(" --context {context}")).unwrap_or_default();
        format!("plimsoll fleet down --kubernetes{context} --namespace {namespace} --job {name}")
    }

    /// Deletes what was created. The error names what may be left.
    pub(super) fn undo(&self, created: &Created) -> Result<(), String> {
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| created.has(kind)).collect();
        for (number, kind) in kinds.iter().enumerate() {
            let deleted = match created.unsure.as_deref() == Some(*kind) {
                true => self.delete_own(kind),
                false => self.cluster.delete(&self.object(kind)),
            };
            if let Err(error) = deleted {
                let left = kinds[number..].iter().map(|kind| format!("{kind} {}", self.name));
                return Err(format!("{} ({error})", left.collect::<Vec<_>>().join(", ")));
            }
        }
        Ok(())
    }

    /// Deletes everything of a fleet of this name; false if there was nothing.
    pub(super) fn delete(&self) -> Result<bool, KubernetesError> {
        let mut found = false;
        for kind in KINDS {
            found |= self.delete_own(kind)?;
        }
        Ok(found)
    }

    /// Deletes the object of this kind if it has the labels of the fleet: an unrelated object may have its name.
    fn delete_own(&self, kind: &str) -> Result<bool, KubernetesError> {
        let path = self.object(kind);
        let labels = match self.cluster.get::<Labelled>(&path) {
            Ok(found) => found.metadata.labels,
            Err(KubernetesError::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let has = |(label, value): (&str, &str)| labels.get(label).is_some_and(|found| found == value);
        Ok(has(OF_APP) && has((INSTANCE, &self.name)) && self.cluster.delete(&path)?)
    }

    /// The path of the object of a kind.
    fn object(&self, kind: &str) -> String {
        format!("{}/{}", self.list(kind), self.name)
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

    /// Returns its pods, by index. Leaves out those of an unrelated Job of the same name.
    pub(super) fn pods(&self) -> Result<Vec<Pod>, KubernetesError> {
        let (namespace, name) = (&self.namespace, &self.name);
        let selector =
            format!("batch.kubernetes.io%2Fjob-name%3D{name}%2Capp.kubernetes.io%2Fname%3Dplimsoll");
        let path = format!("/api/v1/namespaces/{namespace}/pods?labelSelector={selector}");
        let mut pods = self.cluster.get::<PodList>(&path)?.items;
        pods.sort_by_key(Pod::index);
        Ok(pods)
    }

    /// Returns the events of pods or of Jobs.
    pub(super) fn events(&self, kind: &str) -> Result<Vec<Event>, KubernetesError> {
        events_of(&self.cluster, &self.namespace, kind)
    }
}

/// True if a failed request may have taken effect: its answer did not arrive, or reports an error of the server itself.
fn is_unsure(error: &KubernetesError) -> bool {
    use KubernetesError::{Refused, Unreachable};
    matches!(error, Unreachable { may_be_sent: true, .. } | Refused { status: 500.., .. })
}

#[cfg(test)]
mod tests;
