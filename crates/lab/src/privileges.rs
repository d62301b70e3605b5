//! The privileges to make labs.

use std::path::PathBuf;

use plimsoll_sys::{become_root_of_own_namespace, missing_capability, user_id};

use crate::LabError;

/// The privileges with which this process makes labs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privileges {
    Root,
    OwnNamespace {
        /// The user id outside the namespace.
        user: u32,
    },
}

impl Privileges {
    /// Acquires the privileges: without the capabilities, this process becomes root of its own user namespace. Must be called before
    /// the process has a second thread. If neither is possible, the error names the missing capability.
    pub fn acquire() -> Result<Self, LabError> {
        let Some(capability) = missing_capability() else { return Ok(Self::Root) };
        // Within the namespace the user id is 0.
        let user = user_id();
        become_root_of_own_namespace().map_err(|reason| LabError::Permission { capability, reason })?;
        Ok(Self::OwnNamespace { user })
    }

    /// The folder of the leases of this user's labs: below `/run` for root, otherwise in the session's runtime folder.
    pub fn runtime_folder(self) -> PathBuf {
        let Self::OwnNamespace { user } = self else { return PathBuf::from("/run/plimsoll-lab") };
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
        match session {
            Some(folder) => folder.join("plimsoll-lab"),
            None => std::env::temp_dir().join(format!("plimsoll-lab-of-{user}")),
        }
    }
}
