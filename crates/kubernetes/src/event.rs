//! Events: what the components of a cluster report about an object.

use serde::Deserialize;

use crate::cluster::Cluster;
use crate::error::KubernetesError;

/// A report of a component of the cluster about an object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// `Normal` or `Warning`.
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub involved_object: Involved,
}

/// The object that an event is about.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Involved {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
}

#[derive(Deserialize)]
struct EventList {
    #[serde(default)]
    items: Vec<Event>,
}

impl Event {
    /// True if it warns about the object of this name.
    pub fn warns_of(&self, name: &str) -> bool {
        self.kind == "Warning" && self.involved_object.name == name
    }
}

/// Returns the events of objects of one kind, which the cluster keeps for an hour. Those of one object are oldest first: the API server
/// lists by name, which begins with that of the object and ends in the time.
///
/// # Errors
/// When the API server does not answer, or refuses.
pub fn events_of(cluster: &Cluster, namespace: &str, kind: &str) -> Result<Vec<Event>, KubernetesError> {
    let path = format!("/api/v1/namespaces/{namespace}/events?fieldSelector=involvedObject.kind%3D{kind}");
    Ok(cluster.get::<EventList>(&path)?.items)
}
