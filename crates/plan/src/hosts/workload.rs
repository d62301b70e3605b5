//! A workload on Kubernetes, as named in a probe.

use std::fmt;
use std::str::FromStr;

use crate::name::is_host_name;

/// The kind of object that owns the pods of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadKind {
    Deployment,
    StatefulSet,
    DaemonSet,
    /// The pods are those in its EndpointSlices.
    Service,
}

/// The kinds with their names in a probe.
const KINDS: [(&str, WorkloadKind); 4] = [
    ("deployment", WorkloadKind::Deployment),
    ("statefulset", WorkloadKind::StatefulSet),
    ("daemonset", WorkloadKind::DaemonSet),
    ("service", WorkloadKind::Service),
];

/// A workload on Kubernetes: `NAMESPACE/KIND/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    pub namespace: String,
    pub kind: WorkloadKind,
    pub name: String,
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let [namespace, kind, name] = parts[..] else {
            return Err("a workload is NAMESPACE/KIND/NAME, as in k8s://shop/deployment/api".to_owned());
        };
        if let Some(bad) = [namespace, name].into_iter().find(|name| !is_host_name(name)) {
            return Err(format!("`{bad}` is no name on Kubernetes"));
        }
        let kind = KINDS.iter().find(|(word, _)| *word == kind).map(|(_, kind)| *kind);
        let kind = kind.ok_or("the kind is deployment, statefulset, daemonset or service")?;
        Ok(Self { namespace: namespace.to_owned(), kind, name: name.to_owned() })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.namespace, self.kind, self.name)
    }
}
