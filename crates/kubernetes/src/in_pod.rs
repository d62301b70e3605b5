//! The cluster of the pod that this process runs in.

use std::path::Path;

use crate::access::Access;
use crate::credentials::{Credentials, Login};
use crate::error::KubernetesError;
use crate::file::read;

/// Where the kubelet mounts the service account.
const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the access of this pod's service account; `None` if this is no pod, or its account is not mounted.
pub(crate) fn access() -> Option<Result<Access, KubernetesError>> {
    let host = std::env::var("KUBERNETES_SERVICE_HOST").ok()?;
    let port = std::env::var("KUBERNETES_SERVICE_PORT").ok()?;
    let folder = Path::new(FOLDER);
    folder.join("token").is_file().then(|| account(folder, &host, &port))
}

fn account(folder: &Path, host: &str, port: &str) -> Result<Access, KubernetesError> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let namespace = String::from_utf8_lossy(&read(&folder.join("namespace"))?).trim().to_owned();
    Ok(Access {
        server: format!("https://{host}:{port}"),
        authority: Some(read(&folder.join("ca.crt"))?),
        is_unverified: false,
        credentials: Credentials { certificate: None, login: Login::TokenFile(folder.join("token")) },
        namespace: Some(namespace).filter(|namespace| !namespace.is_empty()),
    })
}
