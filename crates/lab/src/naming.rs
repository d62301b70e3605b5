//! The names and addresses of labs. All labs share 198.18.0.0/15, which is reserved for benchmarks (RFC 2544, C.2.2); each lab has
//! 256 of these addresses.

use std::net::Ipv4Addr;

/// The prefix of the names of everything that a lab makes. A clean-up removes nothing without it.
pub(crate) const NAME: &str = "plimsoll-lab-";

/// The first address of the range.
const RANGE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// The prefix length of one lab's addresses.
pub(crate) const PREFIX: u8 = 24;

/// The most labs that have addresses.
pub(crate) const MAX_LABS: u16 = 512;

/// The most hosts of one lab: the bridge has the first address, and the last is the broadcast address.
pub(crate) const MAX_HOSTS: usize = 253;

/// The address of the bridge of a lab.
pub(crate) fn bridge(lab: u16) -> Ipv4Addr {
    at(lab, 1)
}

/// The address of the host at this index, counted from 0.
pub(crate) fn host(lab: u16, index: usize) -> Ipv4Addr {
    at(lab, index.min(MAX_HOSTS) as u32 + 2)
}

fn at(lab: u16, place: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(RANGE.to_bits() + u32::from(lab.min(MAX_LABS - 1)) * 256 + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_all_labs_have_different_addresses_in_the_range() {
        assert_eq!(bridge(0), Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(host(0, 0), Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!(host(1, 0), Ipv4Addr::new(198, 18, 1, 2));
        assert_eq!(host(MAX_LABS - 1, MAX_HOSTS - 1), Ipv4Addr::new(198, 19, 255, 254));
    }
}
