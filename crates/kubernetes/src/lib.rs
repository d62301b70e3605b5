//! The API of a Kubernetes cluster, as far as fleets and probes use it.
//!
//! [`Cluster`] sends requests to the API server, as the user of a kubeconfig or as the service account of a pod. The types here
//! hold only the fields that are read of an object.

mod access;
mod cluster;
mod credentials;
mod error;
mod event;
mod file;
mod in_pod;
mod kubeconfig;
mod pod;
mod program;
mod trouble;
mod workload;
mod yaml;

pub use cluster::Cluster;
pub use error::KubernetesError;
pub use event::{Event, events_of};
pub use pod::{ContainerStatus, Pod, PodList};
pub use trouble::trouble;
pub use workload::{PlacedPod, pods_behind, pods_of};
