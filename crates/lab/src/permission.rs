//! Who may make a lab.

use plimsoll_sys::{Permission, become_root_of_own_namespace, namespace_permission};

use crate::LabError;

/// By which right this process makes labs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has the capabilities for it.
    Root,
    /// It is root of a user namespace of its own.
    OwnNamespace,
}

/// Sees that this process may make labs; one that may not becomes root of a user namespace of its own. To be called
/// before the process has a second thread.
///
/// # Errors
/// When neither is possible; the error says which permission is missing.
pub fn permit() -> Result<Standing, LabError> {
    match namespace_permission() {
        Permission::Full => Ok(Standing::Root),
        Permission::Lacks(capability) => match become_root_of_own_namespace() {
            Ok(()) => Ok(Standing::OwnNamespace),
            Err(reason) => Err(LabError::Permission { capability, reason }),
        },
    }
}
