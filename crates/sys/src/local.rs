//! Which addresses are this machine's own.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::socket::can_bind;

/// True if the address is one of this machine's own. Usually only these can be bound. If the kernel allows any to be bound, as
/// on machines that take over the address of another, the address has to belong to an interface.
pub fn is_local(address: IpAddr) -> bool {
    let address = address.to_canonical();
    can_bind(address) && (!binds_any(address) || is_local_among(address, &interface_addresses()))
}

/// True if the kernel allows any address to be bound, `net.ipv4.ip_nonlocal_bind` and its IPv6 equivalent.
fn binds_any(address: IpAddr) -> bool {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    fs::read_to_string(format!("/proc/sys/net/{family}/ip_nonlocal_bind"))
        .is_ok_and(|text| text.trim() != "0")
}

/// True if an address belongs to a machine whose interfaces have the addresses `own`. Loopback and unspecified addresses always
/// do.
fn is_local_among(address: IpAddr, own: &[IpAddr]) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified() || own.contains(&address)
}

/// The addresses of the interfaces of this network namespace; empty if the kernel does not list them.
fn interface_addresses() -> Vec<IpAddr> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the pointer is valid for writes. It is set if the call succeeds.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: the pointer is null, at the end, or to an entry of the list, which lives until it is freed below.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: the entry is one of getifaddrs.
        found.extend(unsafe { address_of(entry) });
        next = entry.ifa_next;
    }
    // SAFETY: the list is that of the call above, and nothing refers to it any more.
    unsafe { libc::freeifaddrs(first) };
    found
}

/// Returns the IP address of an interface; `None` if the entry has no address or one of another family.
///
/// # Safety
/// The entry is one of `getifaddrs`: its address is null or valid, and of the size that its family says.
unsafe fn address_of(entry: &libc::ifaddrs) -> Option<IpAddr> {
    // SAFETY: the pointer is null or valid, as the caller says.
    let family = unsafe { entry.ifa_addr.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family is a `sockaddr_in`.
            let address = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a `sockaddr_in6`.
            let address = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn only_own_addresses_are_local() {
        for own in ["127.0.0.1", "127.8.9.10", "0.0.0.0", "::ffff:127.0.0.1"] {
            assert!(is_local(ip(own)), "{own}");
        }
        // These are set apart for documentation (RFC 5737 and RFC 3849), so no machine has them.
        for foreign in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"] {
            assert!(!is_local(ip(foreign)), "{foreign}");
        }
    }

    #[test]
    fn where_any_address_can_be_bound_those_of_interfaces_are_local() {
        let own = [ip("192.0.2.1"), ip("2001:db8::1")];
        let local = [
            "192.0.2.1",
            "::ffff:192.0.2.1",
            "2001:db8::1",
            "127.0.0.1",
            "127.8.9.10",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
            "::",
        ];
        for local in local {
            assert!(is_local_among(ip(local), &own), "{local}");
        }
        for foreign in ["192.0.2.2", "::ffff:192.0.2.2", "2001:db8::2"] {
            assert!(!is_local_among(ip(foreign), &own), "{foreign}");
        }
    }

    #[test]
    fn the_address_of_the_loopback_is_listed() {
        assert!(interface_addresses().contains(&ip("127.0.0.1")));
    }
}
