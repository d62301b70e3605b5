//! Resolves the host of the URL to the addresses that connections go to.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use plimsoll_plan::{IpRange, Plan, check_address, destination};
use plimsoll_sys::Destination;

use super::error::PrepareError;

/// The destinations of the plan's connections: every address of the host, or its unix socket.
///
/// # Errors
/// When the host has no address, or none that the plan's sources can connect to.
pub fn destinations(plan: &Plan) -> Result<Vec<Destination>, PrepareError> {
    let network = &plan.network;
    if let Some(path) = &network.unix {
        return Ok(vec![Destination::Unix(path.as_path().into())]);
    }
    let (host, port) = match &network.connect_to {
        Some(to) => (to.host.as_str(), to.port),
        None => (plan.target.host.as_str(), plan.target.port),
    };
    let given = network.resolve.iter().filter(|entry| entry.covers(host, port));
    let given: Vec<IpAddr> = given.flat_map(|entry| entry.addresses.iter().copied()).collect();
    let addresses = if given.is_empty() {
        ask_resolver(host, port)?
    } else {
        given.into_iter().map(|address| SocketAddr::new(address, port)).collect()
    };
    let mut peers: Vec<Destination> = Vec::new();
    for address in reachable_from(&network.source_ips, addresses, host)? {
        check_address(address.ip())?;
        let peer = Destination::Tcp(SocketAddr::new(destination(address.ip()), address.port()));
        if !peers.contains(&peer) {
            peers.push(peer);
        }
    }
    Ok(peers)
}

fn ask_resolver(host: &str, port: u16) -> Result<Vec<SocketAddr>, PrepareError> {
    let error = |source| PrepareError::Resolve { host: host.to_owned(), source };
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(error)?.collect();
    if addresses.is_empty() { Err(error(io::ErrorKind::NotFound.into())) } else { Ok(addresses) }
}

/// Keeps the addresses whose family a source has; all of them without sources.
fn reachable_from(
    sources: &[IpRange],
    mut addresses: Vec<SocketAddr>,
    host: &str,
) -> Result<Vec<SocketAddr>, PrepareError> {
    let Some(first) = sources.first() else { return Ok(addresses) };
    let same_family =
        |address: &SocketAddr| sources.iter().any(|range| range.first().is_ipv4() == address.is_ipv4());
    addresses.retain(same_family);
    if addresses.is_empty() {
        let family = if first.first().is_ipv4() { "IPv4" } else { "IPv6" };
        return Err(PrepareError::Family { host: host.to_owned(), family });
    }
    Ok(addresses)
}

/// Checks that the sources are addresses of this machine. Only both ends of each range are checked, because a range may be long.
pub(super) fn check_sources(sources: &[IpRange]) -> Result<(), PrepareError> {
    let mut ends = sources.iter().flat_map(|range| [range.first(), range.last()]);
    let remedy = "see `ip address`, and add it with `ip address add ADDRESS dev INTERFACE`";
    let foreign = ends.find(|address| !plimsoll_sys::is_local(*address));
    foreign.map_or(Ok(()), |address| Err(PrepareError::Source { address, remedy }))
}
