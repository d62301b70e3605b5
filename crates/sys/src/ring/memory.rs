//! Memory that the kernel reads while an operation is under way: copies of what is sent, and addresses.

use std::io;

use rustix::net::SocketAddrAny;

use crate::route::Destination;

/// Copies of what is being sent. Each is kept until the kernel has completed its send.
#[derive(Default)]
pub(super) struct SendCopies {
    copies: Vec<SendCopy>,
    free: Vec<u32>,
}

/// One copy. Its bytes are on the heap and unchanged while it is being sent, so the value itself may move.
struct SendCopy {
    bytes: Vec<u8>,
    token: u64,
}

impl SendCopies {
    /// Copies `bytes`; gives the number of the copy and its address.
    pub(super) fn keep(&mut self, bytes: &[u8], token: u64) -> (u32, *const u8) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.copies.push(SendCopy { bytes: Vec::new(), token });
            // All numbers may be free at the same time, and `release` must not allocate.
            self.free.reserve(self.copies.len());
            self.copies.len() as u32 - 1
        });
        let copy = &mut self.copies[number as usize];
        copy.token = token;
        copy.bytes.clear();
        copy.bytes.extend_from_slice(bytes);
        (number, copy.bytes.as_ptr())
    }

    /// Frees a copy whose send has completed; gives the token that it was kept with, and its length.
    pub(super) fn release(&mut self, number: u32) -> (u64, usize) {
        self.free.push(number);
        let copy = &self.copies[number as usize];
        (copy.token, copy.bytes.len())
    }
}

/// Every address that was connected to, in the kernel's form, kept as long as the ring. There are few, and each is used
/// many times.
#[derive(Default)]
pub(super) struct Addresses(Vec<(Destination, Box<SocketAddrAny>)>);

impl Addresses {
    /// The address in memory and its length. It stays there as long as this value lives.
    ///
    /// # Errors
    /// When a unix socket's path cannot be an address.
    pub(super) fn locate(
        &mut self,
        peer: &Destination,
    ) -> io::Result<(*const libc::sockaddr, libc::socklen_t)> {
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
