//! Who may make namespaces, and how those who may not become root of a user namespace of their own.

use std::{fs, io};

use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Bits of the capabilities that namespaces and their networks need (capabilities(7)).
const CAP_NET_ADMIN: u64 = 1 << 12;
const CAP_SYS_ADMIN: u64 = 1 << 21;

/// The number of the user that this process runs as.
pub fn user_number() -> u32 {
    geteuid().as_raw()
}

/// What this process may do with namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// All that a lab needs.
    Full,
    /// It has not this capability.
    Lacks(&'static str),
}

/// Whether this process may make namespaces and set up networks in them.
pub fn namespace_permission() -> Permission {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    match bits {
        bits if bits & CAP_SYS_ADMIN == 0 => Permission::Lacks("CAP_SYS_ADMIN"),
        bits if bits & CAP_NET_ADMIN == 0 => Permission::Lacks("CAP_NET_ADMIN"),
        _ => Permission::Full,
    }
}

/// Moves this process into a user namespace of its own, in which its user is root, and into a mount namespace that
/// belongs to it. To be called while the process has one thread.
///
/// # Errors
/// When the kernel does not allow it: there is more than one thread, user namespaces are switched off
/// (`user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, `kernel.apparmor_restrict_unprivileged_userns`), or
/// a sandbox forbids them.
pub fn become_root_of_own_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: only namespaces of this process change, not its table of descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }?;
    // A group can be mapped only by one who cannot drop groups that deny access (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
