//! Errors of clusters.

use std::io;
use std::path::PathBuf;

/// Why a cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KubernetesError {
    #[error(
        "no kubeconfig was found (KUBECONFIG, ~/.kube/config), and this is no pod; name one with KUBECONFIG=FILE"
    )]
    NoConfig,
    #[error("no kubeconfig was found for the context {context:?}; name one with KUBECONFIG=FILE")]
    NoConfigOf { context: String },
    #[error("there is no kubeconfig at {}; name one that exists with KUBECONFIG=FILE", paths.display())]
    NoFile { paths: PathBuf },
    #[error("could not read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is no kubeconfig: {why}", path.display())]
    Config { path: PathBuf, why: String },
    #[error("{} has no {kind} {name:?}; `kubectl config get-contexts` lists what it has", path.display())]
    NotInConfig { path: PathBuf, kind: &'static str, name: String },
    #[error(
        "{} has {field} for the {kind} {name:?}, which is not supported; use a context without it", path.display()
    )]
    Unread { path: PathBuf, kind: &'static str, name: String, field: String },
    #[error("{program}, which the kubeconfig names to log in, {why}; run it by hand to see more")]
    Login { program: String, why: String },
    #[error("could not reach the Kubernetes API server at {server}: {why}")]
    Unreachable {
        server: String,
        why: String,
        /// The request may have been sent, and may take effect.
        may_be_sent: bool,
    },
    #[error(
        "the Kubernetes API server refused the login ({request}: {message}); log in again: `kubectl get pods` has to work"
    )]
    LoggedOut { request: String, message: String },
    #[error(
        "the Kubernetes API server refused {request}: {message}; the roles that are needed are in docs/kubernetes.md"
    )]
    Forbidden { request: String, message: String },
    #[error("the Kubernetes API server has no {request} ({message})")]
    NotFound { request: String, message: String },
    #[error("the Kubernetes API server already has it: {message}")]
    Exists { message: String },
    #[error("the Kubernetes API server answered {request} with status {status}: {message}")]
    Refused { request: String, status: u16, message: String },
    #[error("the answer to {request} is not what the Kubernetes API gives: {why}")]
    Answer { request: String, why: String },
}

impl KubernetesError {
    /// True if the same request will be refused again: the user has to log in, or lacks a role.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Login { .. } | Self::LoggedOut { .. } | Self::Forbidden { .. })
    }
}
