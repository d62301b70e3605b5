//! Who may make a lab.

use std::path::PathBuf;

use plimsoll_sys::{Permission, become_root_of_own_namespace, namespace_permission, user_number};

use crate::LabError;

/// By which right this process makes labs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has the capabilities for it.
    Root,
    /// It is root of a user namespace of its own.
    OwnNamespace {
        /// The user's number outside.
        user: u32,
    },
}

impl Standing {
    /// The folder in which the labs of this user note what they made: below `/run` for root, else where the session keeps
    /// such.
    pub fn runtime_folder(self) -> PathBuf {
        let Self::OwnNamespace { user } = self else { return PathBuf::from("/run/plimsoll-lab") };
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
        match session {
            Some(folder) => folder.join("plimsoll-lab"),
            None => std::env::temp_dir().join(format!("plimsoll-lab-of-{user}")),
        }
    }
}

/// Sees that this process may make labs; one that may not becomes root of a user namespace of its own. To be called
/// before the process has a second thread.
///
/// # Errors
/// When neither is possible; the error says which permission is missing.
pub fn permit() -> Result<Standing, LabError> {
    match namespace_permission() {
        Permission::Full => Ok(Standing::Root),
        Permission::Lacks(capability) => {
            // Within the namespace it is zero.
            let user = user_number();
            become_root_of_own_namespace().map_err(|reason| LabError::Permission { capability, reason })?;
            Ok(Standing::OwnNamespace { user })
        }
    }
}
