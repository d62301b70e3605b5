//! How many connections a listener on this machine lets wait to be accepted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::TcpTable;

/// The accept backlog of whatever listens at this address on this machine; listeners that share the port
/// (`SO_REUSEPORT`) are added up. `None` if nothing does, or the kernel does not tell.
pub fn accept_backlog(address: SocketAddr) -> Option<u64> {
    let listeners = TcpTable::open().and_then(|mut table| table.listening()).ok()?;
    let at = |ip: IpAddr| {
        let same = listeners.iter().filter(|listener| listener.local == SocketAddr::new(ip, address.port()));
        let mut backlogs = same.map(|listener| u64::from(listener.send_queue)).peekable();
        backlogs.peek().is_some().then(|| backlogs.sum())
    };
    // A listener on every address of IPv6 usually takes IPv4 too.
    let everywhere = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { at_any6() };
    at(address.ip()).or_else(|| at(everywhere)).or_else(|| at(at_any6()))
}

fn at_any6() -> IpAddr {
    Ipv6Addr::UNSPECIFIED.into()
}

#[cfg(test)]
mod tests {
    use rustix::net::{self, AddressFamily, SocketType};

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
}
