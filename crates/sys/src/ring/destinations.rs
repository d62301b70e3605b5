//! Addresses in the form in which the kernel reads them.

use std::io;

use rustix::net::SocketAddrAny;

use crate::Peer;

/// Every address that was connected to, kept as long as the ring: there are few, and each is used over and over.
#[derive(Default)]
pub(super) struct Destinations(Vec<(Peer, Box<SocketAddrAny>)>);

impl Destinations {
    /// Where the address lies and how long it is. It stays there as long as this value lives.
    ///
    /// # Errors
    /// When a unix socket's path cannot be an address.
    pub(super) fn locate(&mut self, peer: &Peer) -> io::Result<(*const libc::sockaddr, libc::socklen_t)> {
        let known = self.0.iter().position(|(known, _)| known == peer);
        let index = match known {
            Some(index) => index,
            None => {
                self.0.push((peer.clone(), Box::new(peer.address()?)));
                self.0.len() - 1
            }
        };
        let found = &self.0[index].1;
        Ok((found.as_ptr().cast(), found.addr_len()))
    }
}
