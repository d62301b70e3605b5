//! Probes: the sources of the counters of a host, or of a component on it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use http::Uri;
use serde::{Deserialize, Serialize};

use super::workload::Workload;
use crate::name::{LOCAL_HOST, default_name, is_host_name};
use crate::typed::{self, stored_as_typed};
use crate::{HostPort, PlanHostError};

/// The source of the counters of a host, or of a component on it. A probe is typed, printed and stored in one form, except that
/// a password is neither printed nor stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Probe {
    /// The host is not sampled.
    None,
    /// This machine; with a port also the process that listens on it, its children, and the local services it is connected to.
    Local {
        port: Option<u16>,
    },
    /// This machine, and the process with this id on it.
    Pid(u32),
    /// Another machine, through the system's `ssh` and a `plimsoll` installed there. The host is a name, an address without
    /// brackets, or an alias in ssh's configuration; `ssh` chooses a user or port that is not given.
    Ssh {
        user: Option<String>,
        host: String,
        port: Option<u16>,
    },
    /// The URL of a page in Prometheus' text format; a node_exporter's page covers a whole host.
    Page(String),
    /// The URL of nginx's stub_status.
    Nginx(String),
    /// A server that speaks Redis' protocol; the password belongs to its default user.
    Redis {
        password: Option<String>,
        address: HostPort,
    },
    Memcached(HostPort),
    /// MariaDB or MySQL.
    Mariadb {
        user: String,
        password: Option<String>,
        address: HostPort,
    },
    /// The URL of a Go program's expvar page.
    Expvar(String),
    /// The process of a Java virtual machine on this machine.
    Jvm(u32),
    /// The pods of a workload on Kubernetes.
    Kubernetes(Workload),
}

impl Probe {
    /// True if the probe samples this machine as a whole, or processes of it.
    pub fn is_here(&self) -> bool {
        matches!(self, Self::Local { .. } | Self::Pid(_))
    }

    /// The same probe, including its password, with host names replaced by the addresses that `address` returns. Names for
    /// which it returns `None` stay.
    pub fn settled(&self, address: impl Fn(&str) -> Option<IpAddr>) -> Self {
        let mut settled = self.clone();
        match &mut settled {
            Self::None
            | Self::Local { .. }
            | Self::Pid(_)
            | Self::Ssh { .. }
            | Self::Jvm(_)
            | Self::Kubernetes(_) => {}
            Self::Page(url) | Self::Nginx(url) | Self::Expvar(url) => {
                let page = host_of(url).and_then(|host| with_host(url, &host, address(&host)?));
                *url = page.unwrap_or_else(|| url.clone());
            }
            Self::Memcached(place)
            | Self::Redis { address: place, .. }
            | Self::Mariadb { address: place, .. } => {
                if let Some(found) = address(&place.host) {
                    place.host = found.to_string();
                }
            }
        }
        settled
    }

    /// The default name of the host that the probe samples: the host in its address, or
    /// [`PlanHost::LOCAL`](crate::PlanHost::LOCAL) for this machine.
    pub fn host_name(&self) -> String {
        let host = match self {
            Self::None | Self::Local { .. } | Self::Pid(_) | Self::Jvm(_) => {
                return LOCAL_HOST.to_owned();
            }
            Self::Ssh { host, .. } => return default_name(host),
            Self::Kubernetes(workload) => return default_name(&workload.name),
            Self::Page(url) | Self::Nginx(url) | Self::Expvar(url) => host_of(url).unwrap_or_default(),
            Self::Memcached(address) | Self::Redis { address, .. } | Self::Mariadb { address, .. } => {
                address.host.clone()
            }
        };
        if is_this_machine(&host) { LOCAL_HOST.to_owned() } else { default_name(&host) }
    }
}

/// True if a name or address denotes this machine.
fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Returns the host of a URL, without brackets.
fn host_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    Some(uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned())
}

/// Replaces the host of a URL. Only the scheme precedes the authority, and a page's URL has no user name.
fn with_host(url: &str, host: &str, address: IpAddr) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let after = rest.strip_prefix(host)?;
    let text = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
    Some(format!("{scheme}://{text}{after}"))
}

/// The text as typed, without a password: the part between a colon and the last `@`. The rest of the text may be invalid.
fn without_password(text: &str) -> String {
    let Some((login, place)) = text.rsplit_once('@') else { return text.to_owned() };
    let begin = login.find("//").map_or(0, |at| at + 2);
    match login[begin..].find(':') {
        Some(colon) => format!("{}:…@{place}", &login[..begin + colon]),
        None => text.to_owned(),
    }
}

/// Checks that a text is the URL of a page over HTTP.
fn page(url: &str) -> Result<String, String> {
    typed::page(url, &format!("`{}`", without_password(url)))?;
    if host_of(url).is_none_or(|host| host.is_empty()) {
        return Err(format!("`{url}` names no host"));
    }
    Ok(url.to_owned())
}

/// Parses `host`, `host:port` or `[address]:port`, with a default port.
fn address(text: &str, otherwise: u16) -> Result<HostPort, String> {
    let text = text.trim_end_matches('/');
    let bare_port = text.ends_with(']') || !text.contains(':');
    let whole = if bare_port { format!("{text}:{otherwise}") } else { text.to_owned() };
    whole.parse().map_err(|_| format!("`{text}` is not a host with a port"))
}

/// Parses `[user@]host[:port]`. A leading dash is refused, because ssh would read an option.
fn ssh(text: &str) -> Result<Probe, String> {
    let text = text.trim_end_matches('/');
    let (user, place) = text.rsplit_once('@').map_or((None, text), |(user, place)| (Some(user), place));
    if user.is_some_and(|user| user.contains(':')) {
        return Err("ssh takes no password here; let a key or an agent log in".to_owned());
    }
    let bracketed = place.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port_text) = match bracketed {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let plain = |text: &str| is_host_name(text) && !text.starts_with('-');
    if !plain(host) && host.parse::<Ipv6Addr>().is_err() {
        return Err(format!("`{host}` is not a host"));
    }
    if let Some(user) = user.filter(|user| !plain(user)) {
        return Err(format!("`{user}` is not a user"));
    }
    let port = port_text.map(typed::port).transpose()?;
    Ok(Probe::Ssh { user: user.map(ToOwned::to_owned), host: host.to_owned(), port })
}

/// Parses `[:password@]host[:port]`. The password may hold any character.
fn redis(text: &str) -> Result<Probe, String> {
    let Some((login, place)) = text.rsplit_once('@') else {
        return Ok(Probe::Redis { password: None, address: address(text, 6379)? });
    };
    let password = login
        .strip_prefix(':')
        .ok_or("a password of Redis stands after a colon, as in redis://:password@host:6379")?;
    Ok(Probe::Redis { password: Some(password.to_owned()), address: address(place, 6379)? })
}

/// Parses `user[:password]@host[:port]`. The password may hold any character.
fn mariadb(text: &str) -> Result<Probe, String> {
    let (login, place) = text.rsplit_once('@').ok_or("it names no user to log in as")?;
    let (user, password) = login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
    if user.is_empty() {
        return Err("it names no user to log in as".to_owned());
    }
    let password = password.map(ToOwned::to_owned);
    Ok(Probe::Mariadb { user: user.to_owned(), password, address: address(place, 3306)? })
}

fn parsed(text: &str) -> Result<Probe, String> {
    if let Some((kind, rest)) = text.split_once("://") {
        return match kind {
            "ssh" => ssh(rest),
            "http" | "https" => page(text).map(Probe::Page),
            "nginx+http" | "nginx+https" => page(&text["nginx+".len()..]).map(Probe::Nginx),
            "expvar+http" | "expvar+https" => page(&text["expvar+".len()..]).map(Probe::Expvar),
            "redis" => redis(rest),
            "memcached" => address(rest, 11211).map(Probe::Memcached),
            "mariadb" | "mysql" => mariadb(rest),
            "k8s" => rest.parse().map(Probe::Kubernetes),
            other => Err(format!("nothing here speaks {other}://")),
        };
    }
    match text.split_once(':') {
        None if text == "none" => Ok(Probe::None),
        None if text == "local" => Ok(Probe::Local { port: None }),
        Some(("local", text)) => typed::port(text).map(|port| Probe::Local { port: Some(port) }),
        Some(("pid", text)) => typed::pid(text).map(Probe::Pid),
        Some(("jvm", text)) => typed::pid(text).map(Probe::Jvm),
        _ => Err("it has no known beginning".to_owned()),
    }
}

impl FromStr for Probe {
    type Err = PlanHostError;

    fn from_str(text: &str) -> Result<Self, PlanHostError> {
        let text = text.trim();
        parsed(text).map_err(|reason| PlanHostError::Probe { text: without_password(text), reason })
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Local { port: None } => f.write_str("local"),
            Self::Local { port: Some(port) } => write!(f, "local:{port}"),
            Self::Pid(pid) => write!(f, "pid:{pid}"),
            Self::Jvm(pid) => write!(f, "jvm:{pid}"),
            Self::Kubernetes(workload) => write!(f, "k8s://{workload}"),
            Self::Ssh { user, host, port } => {
                let user = user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                write!(f, "ssh://{user}{host}{port}")
            }
            Self::Page(url) => f.write_str(url),
            Self::Nginx(url) => write!(f, "nginx+{url}"),
            Self::Expvar(url) => write!(f, "expvar+{url}"),
            Self::Redis { address, .. } => write!(f, "redis://{address}"),
            Self::Memcached(address) => write!(f, "memcached://{address}"),
            Self::Mariadb { user, address, .. } => write!(f, "mariadb://{user}@{address}"),
        }
    }
}

stored_as_typed!(Probe);
