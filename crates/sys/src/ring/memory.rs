//! Memory that the kernel reads while an operation is pending: copies of sent bytes, and addresses.

use std::io;

use rustix::net::SocketAddrAny;

use crate::route::Destination;

/// Copies of the bytes of pending sends. Each is kept until the kernel has completed its send.
#[derive(Default)]
pub(super) struct SendCopies {
    copies: Vec<SendCopy>,
    free: Vec<u32>,
}

/// One copy. Its bytes are on the heap and do not change during the send, so the value itself may move.
struct SendCopy {
    bytes: Vec<u8>,
    token: u64,
}

impl SendCopies {
    /// Copies `bytes`; returns the number of the copy and its address.
    pub(super) fn keep(&mut self, bytes: &[u8], token: u64) -> (u32, *const u8) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.copies.push(SendCopy { bytes: Vec::new(), token });
            // All numbers may become free at the same time, and `release` must not allocate.
            self.free.reserve(self.copies.len());
            self.copies.len() as u32 - 1
        });
        let copy = &mut self.copies[number as usize];
        copy.token = token;
        copy.bytes.clear();
        copy.bytes.extend_from_slice(bytes);
        (number, copy.bytes.as_ptr())
    }

    /// Releases a copy whose send has completed; returns its token and its length.
    pub(super) fn release(&mut self, number: u32) -> (u64, usize) {
        self.free.push(number);
        let copy = &self.copies[number as usize];
        (copy.token, copy.bytes.len())
    }
}

/// Every address that was connected to, in the kernel's form, kept as long as the ring. There are few, and each is used many
/// times.
#[derive(Default)]
pub(super) struct Addresses(Vec<(Destination, Box<SocketAddrAny>)>);

impl Addresses {
    /// Returns the address in memory and its length. The memory is valid as long as this value lives.
    ///
    /// # Errors
    /// When a unix socket's path is not a valid address.
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
