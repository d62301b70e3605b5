//! The address of a cluster, and how to log in.

use crate::credentials::Credentials;

/// The address of a cluster, and how to log in.
#[derive(Debug)]
pub(crate) struct Access {
    /// The URL of the API server.
    pub(crate) server: String,
    /// The authorities that its certificate is verified against, in PEM; those of the system if `None`.
    pub(crate) authority: Option<Vec<u8>>,
    /// True if its certificate is not verified, as the kubeconfig asks for.
    pub(crate) is_unverified: bool,
    pub(crate) credentials: Credentials,
    pub(crate) namespace: Option<String>,
}
