//! How many connections a listener on this machine lets wait to be accepted, asked of the kernel by sock_diag(7).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// Length of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Length of `struct inet_diag_req_v2`.
const REQUEST_BYTES: usize = 56;
/// Length of `struct inet_diag_msg`, without the attributes that may follow it.
const ANSWER_BYTES: usize = 72;
/// The type of both the request and its answers, `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// The bit of the state LISTEN, number 10 in the kernel's `tcp_states.h`.
const LISTENING: u32 = 1 << 10;
/// Parts of an answer that are read: more listeners than fit are those of no usual machine.
const PARTS_MAX: usize = 256;

/// The accept backlog of whatever listens at this address on this machine; listeners that share the port
/// (`SO_REUSEPORT`) are added up. `None` if nothing does, or the kernel does not tell.
pub fn accept_backlog(address: SocketAddr) -> Option<u64> {
    let mut listeners = listeners(libc::AF_INET).unwrap_or_default();
    listeners.extend(listeners6());
    let at = |ip: IpAddr| {
        let same = |listener: &&Listening| listener.address == SocketAddr::new(ip, address.port());
        let mut backlogs = listeners.iter().filter(same).map(|listener| listener.backlog).peekable();
        backlogs.peek().is_some().then(|| backlogs.sum())
    };
    // A listener on every address of IPv6 usually takes IPv4 too.
    let everywhere = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { at_any6() };
    at(address.ip()).or_else(|| at(everywhere)).or_else(|| at(at_any6()))
}

fn at_any6() -> IpAddr {
    Ipv6Addr::UNSPECIFIED.into()
}

fn listeners6() -> Vec<Listening> {
    listeners(libc::AF_INET6).unwrap_or_default()
}

/// One listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listening {
    address: SocketAddr,
    backlog: u64,
}

fn listeners(family: i32) -> io::Result<Vec<Listening>> {
    let flags = SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    net::send(&socket, &request(family as u8), SendFlags::empty())?;
    let mut buffer = vec![0; 64 * 1024];
    let mut found = Vec::new();
    for _ in 0..PARTS_MAX {
        let (count, _) = net::recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        if !read_part(&buffer[..count], &mut found) {
            break;
        }
    }
    Ok(found)
}

/// Asks for every TCP socket of a family that listens.
fn request(family: u8) -> [u8; HEADER_BYTES + REQUEST_BYTES] {
    const LENGTH: usize = HEADER_BYTES + REQUEST_BYTES;
    let mut request = [0; LENGTH];
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[..4].copy_from_slice(&(LENGTH as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    request[HEADER_BYTES] = family;
    request[HEADER_BYTES + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&LISTENING.to_ne_bytes());
    request
}

/// Reads the messages of one part; false if it was the last one.
fn read_part(mut part: &[u8], found: &mut Vec<Listening>) -> bool {
    while part.len() >= HEADER_BYTES {
        let length = number(part, 0) as usize;
        let kind = u16::from_ne_bytes([part[4], part[5]]);
        if kind != BY_FAMILY || length < HEADER_BYTES || length > part.len() {
            return false;
        }
        found.extend(listening(&part[HEADER_BYTES..length]));
        part = part.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    true
}

/// One `struct inet_diag_msg`. Of a listening socket, `idiag_wqueue` is the backlog.
fn listening(answer: &[u8]) -> Option<Listening> {
    if answer.len() < ANSWER_BYTES {
        return None;
    }
    let port = u16::from_be_bytes([answer[4], answer[5]]);
    let mut ip = [0; 16];
    ip.copy_from_slice(&answer[8..24]);
    let ip: IpAddr = match i32::from(answer[0]) {
        libc::AF_INET => [ip[0], ip[1], ip[2], ip[3]].into(),
        _ => ip.into(),
    };
    Some(Listening { address: SocketAddr::new(ip, port), backlog: number(answer, 60).into() })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(address: &str, backlog: i32) -> (std::os::fd::OwnedFd, u16) {
        let address: SocketAddr = address.parse().unwrap();
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket(family, SocketType::STREAM, None).unwrap();
        net::bind(&socket, &address).unwrap();
        net::listen(&socket, backlog).unwrap();
        let bound: SocketAddr = net::getsockname(&socket).unwrap().try_into().unwrap();
        (socket, bound.port())
    }

    #[test]
    fn the_backlog_is_the_one_the_listener_asked_for() {
        let (_socket, port) = listen("127.0.0.1:0", 37);
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 1], port))), Some(37));
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 2], port))), None);
    }

    #[test]
    fn a_listener_on_every_address_is_found_by_any_of_them() {
        let (_socket, port) = listen("0.0.0.0:0", 41);
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 3], port))), Some(41));
    }

    #[test]
    fn broken_answers_are_no_listeners() {
        let mut found = Vec::new();
        for length in 0..200 {
            read_part(&vec![0xff; length], &mut found);
            read_part(&vec![0; length], &mut found);
        }
        assert_eq!(found, []);
    }
}
