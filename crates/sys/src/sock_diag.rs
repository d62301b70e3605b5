//! Lists of sockets from the kernel, by sock_diag(7).

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

use crate::namespace::NetworkNamespace;

/// Length of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Maximum number of parts that are read of one answer, each of up to 32 KiB: enough for some million sockets.
const MAX_PARTS: usize = 4096;

/// A netlink socket that lists the sockets of one network namespace.
#[derive(Debug)]
pub(crate) struct SockDiag {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// The sequence number of the last request, which its answers repeat.
    sequence: u32,
}

impl SockDiag {
    /// Opens a socket in the namespace that a file such as `/proc/1234/ns/net` stands for; `None` means this process's own. A
    /// socket stays in the namespace that it was created in.
    pub(crate) fn open(namespace: Option<&Path>) -> io::Result<Self> {
        let create = || {
            let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
            net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))
        };
        let socket = match namespace {
            None => create()?,
            Some(file) => NetworkNamespace::open(file)?.run(create)??,
        };
        Ok(Self { socket, buffer: vec![0; 64 * 1024], sequence: 0 })
    }

    /// Sends a request of type `kind`, given without its header, and passes every answer of the same type, without its header,
    /// to `each`.
    pub(crate) fn dump(&mut self, kind: u16, request: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        net::send(&self.socket, &message(kind, request, self.sequence), SendFlags::empty())?;
        for _ in 0..MAX_PARTS {
            let (count, _) = net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            if read_part(&self.buffer[..count], kind, self.sequence, &mut each)? {
                return Ok(());
            }
        }
        Err(io::Error::other("the kernel's list of sockets does not end"))
    }
}

fn message(kind: u16, request: &[u8], sequence: u32) -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut message = Vec::with_capacity(HEADER_BYTES + request.len());
    message.extend(((HEADER_BYTES + request.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend([0; 4]);
    message.extend(request);
    message
}

/// Reads the messages of one part that answer this request; returns true if it was the last part.
fn read_part(mut part: &[u8], asked: u16, sequence: u32, each: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while part.len() >= HEADER_BYTES {
        let length = number(part, 0) as usize;
        let kind = u16::from_ne_bytes([part[4], part[5]]);
        if length < HEADER_BYTES || length > part.len() {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        match i32::from(kind) {
            _ if number(part, 8) != sequence => {}
            libc::NLMSG_DONE => return end(&part[HEADER_BYTES..length]),
            libc::NLMSG_ERROR => return Err(refusal(&part[HEADER_BYTES..length])),
            _ if kind == asked => each(&part[HEADER_BYTES..length]),
            _ => {}
        }
        part = part.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Reads the end of a list, which contains the negated errno of an error that ended it early. A kernel without the module of a
/// kind of socket sends such an end after an empty list.
fn end(message: &[u8]) -> io::Result<bool> {
    let failed = message.len() >= 4 && (number(message, 0) as i32) < 0;
    if failed { Err(refusal(message)) } else { Ok(true) }
}

/// Returns the error in a `struct nlmsgerr`, which contains the negated errno.
fn refusal(message: &[u8]) -> io::Error {
    if message.len() < 4 {
        return io::Error::from(io::ErrorKind::InvalidData);
    }
    io::Error::from_raw_os_error((number(message, 0) as i32).saturating_neg())
}

/// Reads the four bytes at `at` as a number in native byte order.
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_answers_hold_no_sockets() {
        let mut found = 0;
        for length in 0..200 {
            for part in [vec![0xff; length], vec![0; length]] {
                let whole = read_part(&part, 18, 0, &mut |_| found += 1).is_ok();
                assert_eq!(whole, length < HEADER_BYTES, "{length}");
            }
        }
        assert_eq!(found, 0);
    }

    #[test]
    fn a_list_that_ends_with_an_error_is_not_an_empty_one() {
        let end = |result: i32| {
            let mut part = 20_u32.to_ne_bytes().to_vec();
            part.extend((libc::NLMSG_DONE as u16).to_ne_bytes());
            part.extend([0; 2]);
            part.extend(7_u32.to_ne_bytes());
            part.extend([0; 4]);
            part.extend(result.to_ne_bytes());
            read_part(&part, 18, 7, &mut |_| panic!("no socket"))
        };
        assert!(end(0).unwrap());
        assert_eq!(end(-libc::ENOENT).unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }
}
