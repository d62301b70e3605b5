//! The way to the target as typed: where connections go to and come from, apart from what the URL says.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the target is reached. By default: by the URL's host and port, over connections that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// A unix socket that takes the place of host and port.
    pub unix: Option<PathBuf>,
    /// Addresses of this machine that connections come from; the kernel's choice if none are given.
    pub source_ips: Vec<IpRange>,
    /// Host and port to connect to instead of the URL's, which stay in the request.
    pub connect_to: Option<HostPort>,
    /// Addresses of names that the resolver is not asked for.
    pub resolve: Vec<ResolveEntry>,
    /// Whether a connection serves one request after another, or each request gets its own.
    pub keep_alive: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self { unix: None, source_ips: Vec::new(), connect_to: None, resolve: Vec::new(), keep_alive: true }
    }
}

/// A way to the target that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Not addresses.
    #[error(
        "`{0}` is not an address or a range of addresses; write it like 10.0.0.1, 10.0.0.1-10.0.0.9 or 10.0.0.0/24"
    )]
    Addresses(String),
    /// A range that ends before it begins, or whose ends are of two families.
    #[error("the range `{0}` does not go upwards within one family; write its lower address first")]
    Downwards(String),
    /// Not a host with a port.
    #[error("`{0}` is not a host with a port; write it like 10.0.0.1:8080, api.test:80 or [::1]:8080")]
    HostPort(String),
    /// Not an entry of a resolver.
    #[error("`{0}` does not say which addresses a host has; write it like api.test:80:10.0.0.1,10.0.0.2")]
    Resolve(String),
    /// A unix socket has no addresses.
    #[error("a unix socket has no addresses: leave out --unix, or {0}")]
    Unix(&'static str),
}

impl Network {
    /// True if the target is reached as its URL says, over connections that are kept.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// When something is asked of a unix socket that only TCP has.
    pub(crate) fn checked(self) -> Result<Self, NetworkError> {
        let asked = [
            (!self.source_ips.is_empty(), "--source-ip"),
            (self.connect_to.is_some(), "--connect-to"),
            (!self.resolve.is_empty(), "--resolve"),
        ];
        match asked.into_iter().find(|(given, _)| *given && self.unix.is_some()) {
            Some((_, flag)) => Err(NetworkError::Unix(flag)),
            None => Ok(self),
        }
    }
}

/// Addresses from one to another, both included; of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IpRange {
    first: IpAddr,
    last: IpAddr,
}

/// An address as a number, so that addresses can be counted.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl IpRange {
    /// The addresses from `first` to `last`; `None` if that is downwards, or they are of two families.
    pub fn new(first: IpAddr, last: IpAddr) -> Option<Self> {
        (first.is_ipv4() == last.is_ipv4() && first <= last).then_some(Self { first, last })
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        self.last
    }

    /// How many addresses there are; for a range that no number here holds, the highest.
    pub fn count(&self) -> u64 {
        u64::try_from(bits(self.last) - bits(self.first)).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// The address at this index, counted from 0; `None` beyond the last.
    pub fn nth(&self, index: u64) -> Option<IpAddr> {
        let address =
            bits(self.first).checked_add(index.into()).filter(|address| *address <= bits(self.last))?;
        Some(match self.first {
            IpAddr::V4(_) => Ipv4Addr::from_bits(u32::try_from(address).ok()?).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(address).into(),
        })
    }

    /// The addresses of a network: for IPv4 without its own address and the one for all its hosts, which no
    /// connection can come from.
    fn network(address: IpAddr, prefix: u8) -> Option<Self> {
        let width = if address.is_ipv4() { 32 } else { 128 };
        let host_bits = u32::from(u8::checked_sub(width, prefix)?);
        let hosts = u128::MAX.checked_shr(128 - host_bits).unwrap_or(0);
        let base = bits(address) & !hosts;
        let edge = u128::from(address.is_ipv4() && host_bits >= 2);
        let (first, last) = (base + edge, (base | hosts) - edge);
        Some(match address {
            IpAddr::V4(_) => Self {
                first: Ipv4Addr::from_bits(u32::try_from(first).ok()?).into(),
                last: Ipv4Addr::from_bits(u32::try_from(last).ok()?).into(),
            },
            IpAddr::V6(_) => {
                Self { first: Ipv6Addr::from_bits(first).into(), last: Ipv6Addr::from_bits(last).into() }
            }
        })
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
        let downwards = || NetworkError::Downwards(text.to_owned());
        Self::new(address(first)?, address(last)?).ok_or_else(downwards)
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
    /// TCP port.
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::HostPort(text.to_owned());
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?;
        Ok(Self { host: without_brackets(host).ok_or_else(wrong)?, port })
    }
}

/// The host of `host` or `[address]`. Without brackets there is no colon in it.
fn without_brackets(text: &str) -> Option<String> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match bracketed {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(|_| address)?,
        None => text,
    };
    let whole = !host.is_empty() && !host.contains(char::is_whitespace);
    (whole && (bracketed.is_some() || !host.contains(':'))).then(|| host.to_owned())
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// What a name stands for at one port, without asking the resolver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ResolveEntry {
    /// The name and the port it counts for.
    pub host: HostPort,
    pub addresses: Vec<IpAddr>,
}

impl ResolveEntry {
    /// True if the entry counts for this host and port. Names are the same whatever their case (RFC 4343).
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
        let port_at = host_end + text[host_end..].find(':').ok_or_else(wrong)? + 1;
        let addresses_at = port_at + text[port_at..].find(':').ok_or_else(wrong)? + 1;
        let host = text[..addresses_at - 1].parse().map_err(|_| wrong())?;
        let address = |part: &str| {
            let part = part.trim().trim_start_matches('[').trim_end_matches(']');
            part.parse().map_err(|_| wrong())
        };
        let addresses = text[addresses_at..].split(',').map(address).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { host, addresses })
    }
}

impl fmt::Display for ResolveEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        write!(f, "{}:{}", self.host, addresses.join(","))
    }
}

/// A type that is stored in the form in which it is typed.
macro_rules! stored_as_typed {
    ($($kind:ty),*) => {$(
        impl TryFrom<String> for $kind {
            type Error = NetworkError;

            fn try_from(text: String) -> Result<Self, NetworkError> {
                text.parse()
            }
        }

        impl From<$kind> for String {
            fn from(value: $kind) -> Self {
                value.to_string()
            }
        }
    )*};
}

stored_as_typed!(IpRange, HostPort, ResolveEntry);

#[cfg(test)]
mod tests;
