//! The privileges to create namespaces, and how an unprivileged user gets them in a user namespace.

use std::{fs, io};

use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Bits of the capabilities that are needed for namespaces and their networks (capabilities(7)).
const CAP_NET_ADMIN: u64 = 1 << 12;
const CAP_SYS_ADMIN: u64 = 1 << 21;

/// The effective user ID of this process.
pub fn user_id() -> u32 {
    geteuid().as_raw()
}

/// The capability that this process lacks to create namespaces and configure networks in them; `None` if it lacks none.
pub fn missing_capability() -> Option<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    let needed = [(CAP_SYS_ADMIN, "CAP_SYS_ADMIN"), (CAP_NET_ADMIN, "CAP_NET_ADMIN")];
    needed.into_iter().find(|(bit, _)| bits & bit == 0).map(|(_, name)| name)
}

/// Moves this process into a new user namespace, in which its user is root, and a new mount namespace. The process must
/// have one thread.
///
/// # Errors
/// When the kernel does not allow it: there is more than one thread, user namespaces are switched off
/// (`user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, `kernel.apparmor_restrict_unprivileged_userns`), or
/// a sandbox forbids them.
pub fn become_root_of_own_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: only namespaces of this process change, not its table of descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }?;
    // Only a process that cannot drop supplementary groups may map a group (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
