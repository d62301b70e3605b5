//! How a cluster is reached.

use crate::credentials::Credentials;

/// How a cluster is reached.
#[derive(Debug)]
pub(crate) struct Access {
    /// The URL of the API server.
    pub(crate) server: String,
    /// The authority of its certificate, in PEM; the system's if `None`.
    pub(crate) authority: Option<Vec<u8>>,
    /// Its certificate is not verified, as the kubeconfig asks for.
    pub(crate) is_unverified: bool,
    pub(crate) credentials: Credentials,
    pub(crate) namespace: Option<String>,
}
