//! Addresses in the form in which the kernel reads them.

use std::net::SocketAddr;

use rustix::net::SocketAddrAny;

/// Every address that was connected to, kept as long as the ring: there are few, and each is used over and over.
#[derive(Default)]
pub(super) struct Destinations(Vec<(SocketAddr, Box<SocketAddrAny>)>);

impl Destinations {
    /// Where the address lies and how long it is. It stays there as long as this value lives.
    pub(super) fn locate(&mut self, address: SocketAddr) -> (*const libc::sockaddr, libc::socklen_t) {
        let known = self.0.iter().position(|(known, _)| *known == address);
        let index = known.unwrap_or_else(|| {
            self.0.push((address, Box::new(address.into())));
            self.0.len() - 1
        });
        let found = &self.0[index].1;
        (found.as_ptr().cast(), found.addr_len())
    }
}
