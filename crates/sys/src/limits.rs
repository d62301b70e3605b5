//! Limits of this machine and process.

use std::ops::RangeInclusive;
use std::{fs, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::system::uname;

/// Limits that bound how many connections a process can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    pub descriptors: u64,
    /// Number of local ports from which the kernel picks for one target address.
    pub ports: u64,
}

/// Raises the soft limit of descriptors to the hard limit; returns the resulting limits.
pub fn resource_limits() -> ResourceLimits {
    ResourceLimits { descriptors: descriptor_limit(), ports: local_ports().len() as u64 }
}

/// Raises the soft limit of descriptors to the hard limit; returns the resulting limit.
pub fn descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // If the kernel refuses to raise it, the soft limit remains and is returned.
    let descriptors = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    descriptors.unwrap_or(u64::MAX)
}

/// True if the error means that the process, or the machine, has no descriptor left.
pub fn out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// The local ports that the kernel picks from, `net.ipv4.ip_local_port_range`; IPv6 uses the same.
pub fn local_ports() -> RangeInclusive<u16> {
    read_ports().unwrap_or(32_768..=60_999)
}

fn read_ports() -> Option<RangeInclusive<u16>> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ports = text.split_ascii_whitespace().map(|port| port.parse::<u16>().ok());
    let (first, last) = (ports.next()??, ports.next()??);
    (first <= last).then_some(first..=last)
}

/// The longest accept queue that a listener on this machine can have, `net.core.somaxconn`; `None` if it cannot be read.
pub fn accept_backlog_max() -> Option<u64> {
    fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?.trim().parse().ok()
}

/// The host's name, the kernel's name with its release, and the hardware.
pub fn kernel_name() -> (String, String, String) {
    let name = uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let kernel = format!("{} {}", text(name.sysname()), text(name.release()));
    (text(name.nodename()), kernel, text(name.machine()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_this_process() {
        let limits = resource_limits();
        assert!(limits.descriptors >= 64 && limits.ports >= 1);
        assert!(kernel_name().1.starts_with("Linux"));
    }
}
