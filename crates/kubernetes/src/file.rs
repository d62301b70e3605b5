//! Files of a kubeconfig, and of a service account.

use std::fs;
use std::path::Path;

use crate::error::KubernetesError;

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads a file, unless it is larger than a kubeconfig can be.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, KubernetesError> {
    let unreadable = |source| KubernetesError::File { path: path.to_owned(), source };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_FILE_BYTES {
        return Err(unreadable(std::io::Error::other("it is too long for a kubeconfig or a key")));
    }
    fs::read(path).map_err(unreadable)
}
