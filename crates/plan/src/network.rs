//! The network path to the target as typed: where connections go to and come from, apart from the URL.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::address::{AddressError, check_address};
use crate::target::{TargetError, check_host};
use crate::typed::{self, stored_as_typed};

/// How the target is reached. By default: by the URL's host and port, over connections that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// A unix socket to connect to instead of host and port.
    pub unix: Option<PathBuf>,
    /// Addresses of this machine that connections come from; the kernel's choice if none are given.
    pub source_ips: Vec<IpRange>,
    /// Host and port to connect to instead of the URL's; the request keeps those of the URL.
    pub connect_to: Option<HostPort>,
    /// Addresses to use for names instead of asking the resolver.
    pub resolve: Vec<ResolveEntry>,
    /// True if a connection serves one request after another, false if each request gets its own connection.
    pub keep_alive: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self { unix: None, source_ips: Vec::new(), connect_to: None, resolve: Vec::new(), keep_alive: true }
    }
}

/// A network path that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    #[error(
        "`{0}` is not an address or a range of addresses; write it like 10.0.0.1, 10.0.0.1-10.0.0.9 or 10.0.0.0/24"
    )]
    Addresses(String),
    /// The range ends before it begins, or its ends are of different families.
    #[error("the range `{0}` does not go upwards within one family; write its lower address first")]
    Downwards(String),
    #[error("`{0}` is not a host with a port; write it like 10.0.0.1:8080, api.test:80 or [::1]:8080")]
    HostPort(String),
    #[error("`{0}` does not say which addresses a host has; write it like api.test:80:10.0.0.1,10.0.0.2")]
    Resolve(String),
    #[error("a unix socket has no addresses: leave out --unix, or {0}")]
    Unix(&'static str),
    /// Load cannot go to the host or address that an option names.
    #[error("{option}: {reason}")]
    Host { option: &'static str, reason: String },
}

impl Network {
    /// True if connections go to the URL's host and port and are kept alive.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that no option for TCP is combined with a unix socket, and that load can go to the given hosts and addresses.
    pub(crate) fn check(&self) -> Result<(), NetworkError> {
        if let Some(to) = &self.connect_to {
            let of_option =
                |error: TargetError| NetworkError::Host { option: "--connect-to", reason: error.to_string() };
            check_host(&to.host).map_err(of_option)?;
        }
        for address in self.resolve.iter().flat_map(|entry| &entry.addresses) {
            let of_option =
                |error: AddressError| NetworkError::Host { option: "--resolve", reason: error.to_string() };
            check_address(*address).map_err(of_option)?;
        }
        let asked = [
            (!self.source_ips.is_empty(), "--source-ip"),
            (self.connect_to.is_some(), "--connect-to"),
            (!self.resolve.is_empty(), "--resolve"),
        ];
        match asked.into_iter().find(|(given, _)| *given && self.unix.is_some()) {
            Some((_, flag)) => Err(NetworkError::Unix(flag)),
            None => Ok(()),
        }
    }
}

/// A range of addresses of one family, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IpRange {
    first: IpAddr,
    last: IpAddr,
}

/// Returns an address as a number, so that addresses can be counted.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the address with this number in the family of `other`; `None` beyond the last.
fn address(bits: u128, other: IpAddr) -> Option<IpAddr> {
    Some(match other {
        IpAddr::V4(_) => Ipv4Addr::from_bits(u32::try_from(bits).ok()?).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
    })
}

impl IpRange {
    /// The lowest address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// The highest address, which belongs to the range.
    pub fn last(&self) -> IpAddr {
        self.last
    }

    /// The number of addresses, at most `u64::MAX`.
    pub fn count(&self) -> u64 {
        u64::try_from(bits(self.last) - bits(self.first)).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// The address at this index, counted from 0; `None` beyond the last.
    pub fn nth(&self, index: u64) -> Option<IpAddr> {
        let number = bits(self.first).checked_add(index.into());
        address(number.filter(|number| *number <= bits(self.last))?, self.first)
    }

    /// The addresses of a network. For IPv4 this leaves out the network and broadcast addresses, which no connection can come
    /// from.
    fn network(of: IpAddr, prefix: u8) -> Option<Self> {
        let width = if of.is_ipv4() { 32 } else { 128 };
        let host_bits = u32::from(u8::checked_sub(width, prefix)?);
        let hosts = u128::MAX.checked_shr(128 - host_bits).unwrap_or(0);
        let base = bits(of) & !hosts;
        let edge = u128::from(of.is_ipv4() && host_bits >= 2);
        Some(Self { first: address(base + edge, of)?, last: address((base | hosts) - edge, of)? })
    }
}

impl FromStr for IpRange {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::Addresses(text.to_owned());
        let address = |part: &str| part.trim().parse::<IpAddr>().map_err(|_| wrong());
        if let Some((network, prefix)) = text.split_once('/') {
            let prefix = prefix.trim().parse().map_err(|_| wrong())?;
            return Self::network(address(network)?, prefix).ok_or_else(wrong);
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (address(first)?, address(last)?);
        let upwards = first.is_ipv4() == last.is_ipv4() && first <= last;
        upwards.then_some(Self { first, last }).ok_or_else(|| NetworkError::Downwards(text.to_owned()))
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPort {
    /// Name or address, without brackets.
    pub host: String,
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::HostPort(text.to_owned());
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(wrong)?;
        let port = typed::port(port).map_err(|_| wrong())?;
        Ok(Self { host: without_brackets(host).ok_or_else(wrong)?, port })
    }
}

/// Parses `host` or `[address]`. A host without brackets holds no colon.
fn without_brackets(text: &str) -> Option<String> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match bracketed {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(|_| address)?,
        None => text,
    };
    let whole = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "[]".contains(c));
    (whole && (bracketed.is_some() || !host.contains(':'))).then(|| host.to_owned())
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Addresses to use for a name at one port instead of asking the resolver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ResolveEntry {
    /// The name, and the port for which the entry holds.
    pub host: HostPort,
    pub addresses: Vec<IpAddr>,
}

impl ResolveEntry {
    /// True if the entry holds for this host and port. Names are compared without case (RFC 4343).
    pub fn covers(&self, host: &str, port: u16) -> bool {
        self.host.port == port && self.host.host.eq_ignore_ascii_case(host)
    }
}

impl FromStr for ResolveEntry {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::Resolve(text.to_owned());
        // The host may be an address in brackets, with colons of its own.
        let host_end = if text.starts_with('[') { text.find(']').ok_or_else(wrong)? } else { 0 };
        let (at, _) = text[host_end..].match_indices(':').nth(1).ok_or_else(wrong)?;
        let (host, addresses) = text.split_at(host_end + at);
        let address = |part: &str| {
            let part = part.trim().trim_start_matches('[').trim_end_matches(']');
            part.parse().map_err(|_| wrong())
        };
        let host = host.parse().map_err(|_| wrong())?;
        Ok(Self { host, addresses: addresses[1..].split(',').map(address).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for ResolveEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        write!(f, "{}:{}", self.host, addresses.join(","))
    }
}

stored_as_typed!(IpRange, HostPort, ResolveEntry);

#[cfg(test)]
mod tests;
