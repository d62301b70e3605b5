//! The part of a host that a sample is about.

use std::fmt;
use std::net::SocketAddr;

use crate::source::SubjectKind;
use crate::{Source, Text};

/// The prefix of a unix socket's name.
const UNIX: &str = "unix:";

/// The address that a connection leads to or a process listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address<'a> {
    /// An IP address with a port. An IPv4 address that is written as an IPv6 address is stored as IPv4.
    Tcp(SocketAddr),
    /// The name of a unix socket, which does not lead to another host.
    Unix(&'a str),
}

impl<'a> Address<'a> {
    /// Parses `10.0.0.1:80`, `[::1]:80`, `::1:80` or `unix:/run/app.sock`.
    pub fn parse(text: &'a str) -> Option<Self> {
        match text.strip_prefix(UNIX) {
            Some(name) => Some(Self::Unix(name)),
            None => tcp(text).map(Self::Tcp),
        }
    }
}

fn tcp(text: &str) -> Option<SocketAddr> {
    let without_brackets = || {
        let (host, port) = text.rsplit_once(':')?;
        Some(SocketAddr::new(host.parse().ok()?, port.parse().ok()?))
    };
    let address: SocketAddr = text.parse().ok().or_else(without_brackets)?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(name) => write!(f, "{UNIX}{name}"),
        }
    }
}

/// Prefixes of names of interfaces that lead to containers, guests or tunnels of their host.
const INNER: [&str; 14] = [
    "br-",
    "cali",
    "cilium",
    "cni",
    "docker",
    "flannel",
    "lxc",
    "tailscale",
    "tap",
    "tun",
    "veth",
    "virbr",
    "vnet",
    "wg",
];

/// Whether an interface of this name leads to containers, guests or tunnels of its host, or of its pod (`POD/INTERFACE`). Memory or another
/// interface carries its bytes, so it has no speed of its own, whatever its driver reports.
///
/// ```
/// # use plimsoll_record::is_inner_interface;
/// assert!(is_inner_interface("veth12ab") && is_inner_interface("api-1/tunl0"));
/// assert!(!is_inner_interface("eth0") && !is_inner_interface("docker-registry-1/eth0"));
/// ```
pub fn is_inner_interface(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    INNER.iter().any(|begin| name.starts_with(begin))
}

/// The part of a host that was read. Its [`Display`](fmt::Display) is the text in run files and streams, which [`Subject::parse`]
/// parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject<'a> {
    /// The host itself, or its own control group; the text is empty.
    Host,
    /// The number of a core.
    Core(u32),
    /// The name is as the kernel keeps it; empty if it could not be read.
    Process {
        pid: u32,
        name: &'a str,
    },
    Thread {
        pid: u32,
        tid: u32,
        name: &'a str,
    },
    /// An address that a process listens on.
    Address(Address<'a>),
    /// The name of a disk, an interface, a cap or a probe, the path of a control group, or the address at which a component is queried.
    Named(&'a str),
    /// A text that this version cannot parse.
    Other(&'a str),
}

impl<'a> Subject<'a> {
    /// Parses the subject of a sample of this source.
    pub fn parse(source: Source, word: &'a str) -> Self {
        if word.is_empty() {
            return Self::Host;
        }
        let known = match source.subject_kind() {
            SubjectKind::Host => None,
            SubjectKind::Core => word.parse().ok().map(Self::Core),
            SubjectKind::Process => process(word),
            SubjectKind::Thread => thread(word),
            SubjectKind::Address => Address::parse(word).map(Self::Address),
            SubjectKind::Jvm => process(word).or(Some(Self::Named(word))),
            SubjectKind::Disk
            | SubjectKind::Interface
            | SubjectKind::Group
            | SubjectKind::Component
            | SubjectKind::Cap
            | SubjectKind::Probe => Some(Self::Named(word)),
        };
        known.unwrap_or(Self::Other(word))
    }

    /// Returns the process id of a process or a thread; `None` for anything else.
    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Process { pid, .. } | Self::Thread { pid, .. } => Some(pid),
            _ => None,
        }
    }

    /// Returns the name of a process or thread; empty for anything else.
    pub fn name(self) -> &'a str {
        match self {
            Self::Process { name, .. } | Self::Thread { name, .. } => name,
            _ => "",
        }
    }
}

fn process(word: &str) -> Option<Subject<'_>> {
    let (pid, name) = word.split_once(' ').unwrap_or((word, ""));
    Some(Subject::Process { pid: pid.parse().ok()?, name })
}

fn thread(word: &str) -> Option<Subject<'_>> {
    let (ids, name) = word.split_once(' ').unwrap_or((word, ""));
    let (pid, tid) = ids.split_once('/')?;
    Some(Subject::Thread { pid: pid.parse().ok()?, tid: tid.parse().ok()?, name })
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => Ok(()),
            Self::Core(number) => number.fmt(f),
            Self::Process { pid, name: "" } => pid.fmt(f),
            Self::Process { pid, name } => write!(f, "{pid} {name}"),
            Self::Thread { pid, tid, name } => write!(f, "{pid}/{tid} {name}"),
            Self::Address(address) => address.fmt(f),
            Self::Named(word) | Self::Other(word) => f.write_str(word),
        }
    }
}

/// The text in run files and streams.
impl From<Subject<'_>> for Text {
    fn from(subject: Subject<'_>) -> Self {
        match subject {
            Subject::Host => Self::default(),
            Subject::Named(word) | Subject::Other(word) => word.into(),
            other => other.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_written_as_it_was_read() {
        let words = [
            (Source::Cpu, "", Subject::Host),
            (Source::Core, "3", Subject::Core(3)),
            (Source::Disk, "cciss/c0d0", Subject::Named("cciss/c0d0")),
            (Source::Interface, "eth0", Subject::Named("eth0")),
            (Source::Cgroup, "/box", Subject::Named("/box")),
            (Source::Process, "12 a) (b", Subject::Process { pid: 12, name: "a) (b" }),
            (Source::Jvm, "12 java", Subject::Process { pid: 12, name: "java" }),
            (Source::Jvm, "12", Subject::Process { pid: 12, name: "" }),
            (Source::Jvm, "10.0.0.1:8080", Subject::Named("10.0.0.1:8080")),
            (Source::Thread, "12/14 VM Thread", Subject::Thread { pid: 12, tid: 14, name: "VM Thread" }),
            (Source::Listener, "unix:@app", Subject::Address(Address::Unix("@app"))),
            (Source::Listener, "[::]:80", Subject::Address(Address::Tcp("[::]:80".parse().unwrap()))),
            (Source::Redis, "cache:6379", Subject::Named("cache:6379")),
            (Source::Intervention, "link_out", Subject::Named("link_out")),
            (Source::Probe, "ssh://web", Subject::Named("ssh://web")),
            (Source::Process, "of a newer version", Subject::Other("of a newer version")),
            (Source::Cpu, "socket 1", Subject::Other("socket 1")),
        ];
        for (source, word, subject) in words {
            assert_eq!(Subject::parse(source, word), subject);
            assert_eq!(subject.to_string(), word);
            assert_eq!(Text::from(subject).as_str(), word);
        }
    }

    #[test]
    fn an_address_of_ipv4_is_one_however_it_is_written() {
        let plain = Address::parse("10.0.0.1:80");
        assert_eq!(Address::parse("[::ffff:10.0.0.1]:80"), plain);
        assert_eq!(Address::parse("::ffff:10.0.0.1:80"), plain);
        assert_eq!(Address::parse("cache:6379"), None);
    }
}
