//! Addresses, and which of them load may go to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why load may not go to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// In 0.0.0.0/8, except 0.0.0.0 itself: the system reads a mistyped number as such an address.
    #[error(
        "{0} is in 0.0.0.0/8, where no server is; for a port of this machine write http://127.0.0.1:PORT"
    )]
    ThisNetwork(Ipv4Addr),
    #[error("{0} is the broadcast address of a network; load goes to single hosts: give the address of one")]
    Broadcast(Ipv4Addr),
    #[error("{0} is a multicast address; load goes to single hosts: give the address of one")]
    Multicast(IpAddr),
    /// 240.0.0.0/4.
    #[error("{0} is in 240.0.0.0/4, which is reserved: no server is there")]
    Reserved(Ipv4Addr),
}

/// Checks that load may go to an address. An unspecified address is allowed: it stands for this machine, see [`destination`].
///
/// # Errors
/// When no single server can be there.
pub fn check_address(address: IpAddr) -> Result<(), AddressError> {
    match address.to_canonical() {
        any if any.is_multicast() => Err(AddressError::Multicast(any)),
        IpAddr::V4(v4) if v4.is_broadcast() => Err(AddressError::Broadcast(v4)),
        IpAddr::V4(v4) if v4.octets()[0] >= 240 => Err(AddressError::Reserved(v4)),
        IpAddr::V4(v4) if v4.octets()[0] == 0 && !v4.is_unspecified() => Err(AddressError::ThisNetwork(v4)),
        _ => Ok(()),
    }
}

/// The address that connections to `address` go to. Development servers print the address that they listen on, 0.0.0.0 or
/// `::`; from this machine that is the loopback address.
pub fn destination(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

/// True for an address that can be reached from anywhere. False for addresses of this machine, of a private network (RFC 1918,
/// RFC 4193, RFC 6598), link-local ones, and ranges for documentation or benchmarks (RFC 2544).
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let shared = first == 100 && second & 0b1100_0000 == 64;
            let benchmark = first == 198 && second & 0b1111_1110 == 18;
            let own = v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified();
            !(own || v4.is_documentation() || shared || benchmark)
        }
        IpAddr::V6(v6) => {
            let documentation = v6.segments()[..2] == [0x2001, 0xdb8];
            let own = v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local();
            !(own || v6.is_unspecified() || documentation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn load_goes_to_single_hosts_only() {
        for wrong in [
            "0.0.31.144",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "ff02::1",
            "::ffff:0.0.0.7",
        ] {
            assert!(check_address(address(wrong)).is_err(), "{wrong}");
        }
        for right in ["127.0.0.1", "0.0.0.0", "::", "::1", "10.0.0.255", "93.184.216.34", "fe80::1"] {
            assert_eq!(check_address(address(right)), Ok(()), "{right}");
        }
    }

    #[test]
    fn the_address_that_a_server_listens_on_stands_for_this_machine() {
        assert_eq!(destination(address("0.0.0.0")), address("127.0.0.1"));
        assert_eq!(destination(address("::")), address("::1"));
        assert_eq!(destination(address("10.0.0.1")), address("10.0.0.1"));
    }

    #[test]
    fn private_networks_and_this_machine_are_not_public() {
        for own in [
            "127.0.0.9",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "198.18.0.2",
            "::1",
            "fd00::1",
        ] {
            assert!(!is_public(address(own)), "{own}");
        }
        for public in ["93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:2800::1"]
        {
            assert!(is_public(address(public)), "{public}");
        }
    }
}
