//! The sources of host samples: what is read, and what its subjects are.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Text;

/// What the subjects of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// The host itself; the stored word is empty.
    Host,
    /// A core, by its number.
    Core,
    /// A disk, by its name.
    Disk,
    /// A network interface, by its name.
    Interface,
    /// A control group, by its path; empty for the host's own group.
    Group,
    /// A process: `1234 nginx`.
    Process,
    /// A thread: `1234/1240 nginx`.
    Thread,
    /// An address that a process listens on: `10.0.0.1:80`, `unix:/run/app.sock`.
    Address,
    /// A component, by the address it is asked at.
    Component,
    /// A JVM: a process, or the address of its metrics page.
    Jvm,
    /// A cap of a host: `cores`, `link_out`.
    Cap,
    /// A probe, by its name.
    Probe,
}

/// One row of the table of sources.
#[derive(Debug, Clone, Copy)]
struct SourceRow {
    source: Source,
    name: &'static str,
    subject: SubjectKind,
    meaning: &'static str,
    /// What the names of its metrics are, where they are not in the table of metrics.
    made_names: Option<&'static str>,
}

const fn row(
    source: Source,
    name: &'static str,
    subject: SubjectKind,
    meaning: &'static str,
    made_names: Option<&'static str>,
) -> SourceRow {
    SourceRow { source, name, subject, meaning, made_names }
}

/// A source of host samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Source {
    Cpu,
    Core,
    Scheduler,
    Pressure,
    Memory,
    Disk,
    Interface,
    Tcp,
    Sockets,
    Conntrack,
    Cgroup,
    Process,
    Thread,
    Waiting,
    Listener,
    Peers,
    OtherProcesses,
    Ports,
    Descriptors,
    Nginx,
    Redis,
    Memcached,
    Mariadb,
    Go,
    Jvm,
    Prometheus,
    Probe,
    Declared,
    Intervention,
}

use Source as S;
use SubjectKind as K;

/// Every source, in the order of [`Source`].
const SOURCES: [SourceRow; 29] = [
    row(S::Cpu, "cpu", K::Host, "CPU time of all cores together, from `/proc/stat`", None),
    row(S::Core, "core", K::Core, "CPU time of each core that is online, from `/proc/stat`", None),
    row(S::Scheduler, "scheduler", K::Host, "Tasks and context switches, from `/proc/stat`", None),
    row(
        S::Pressure,
        "pressure",
        K::Host,
        "Time in which tasks waited for a resource, from `/proc/pressure` or the host's control group; \
         needs `CONFIG_PSI` and no `psi=0`",
        None,
    ),
    row(S::Memory, "memory", K::Host, "Memory and swap, from `/proc/meminfo` and `/proc/vmstat`", None),
    row(S::Disk, "disk", K::Disk, "Each whole block device, from `/proc/diskstats`", None),
    row(
        S::Interface,
        "interface",
        K::Interface,
        "Each network interface, from `/proc/net/dev`; the loopback only where there is no other",
        None,
    ),
    row(
        S::Tcp,
        "tcp",
        K::Host,
        "TCP of the network namespace, from `/proc/net/snmp` and `/proc/net/netstat` (RFC 4022)",
        None,
    ),
    row(
        S::Sockets,
        "sockets",
        K::Host,
        "TCP sockets of the network namespace by state, from `/proc/net/sockstat`",
        None,
    ),
    row(
        S::Conntrack,
        "conntrack",
        K::Host,
        "The kernel's table of tracked connections; absent where none are tracked",
        None,
    ),
    row(
        S::Cgroup,
        "cgroup",
        K::Group,
        "Control groups of version 1 or 2: the host's own, those of watched processes, and groups above these \
         that have a quota; on the generator only the group that caps it",
        None,
    ),
    row(S::Process, "process", K::Process, "Each watched process, from `/proc/PID`", None),
    row(
        S::Thread,
        "thread",
        K::Thread,
        "Threads of watched processes that were once among the busiest of their process",
        None,
    ),
    row(
        S::Waiting,
        "waiting",
        K::Process,
        "Where the threads of each watched process are, sampled about ten times a second from `/proc/PID/task/TID/wchan`",
        None,
    ),
    row(
        S::Listener,
        "listener",
        K::Address,
        "Each TCP or unix address that a watched process listens on",
        None,
    ),
    row(
        S::Peers,
        "peers",
        K::Process,
        "Connections that each watched process opened",
        Some("the address of the other end; each is the gauge of established connections to it"),
    ),
    row(
        S::OtherProcesses,
        "neighbours",
        K::Process,
        "The busiest processes that are not watched, read every few seconds",
        None,
    ),
    row(S::Ports, "ports", K::Host, "Local ports of the generator, and the sockets that hold them", None),
    row(S::Descriptors, "descriptors", K::Host, "File descriptors of the generator's own process", None),
    row(S::Nginx, "nginx", K::Component, "nginx, by its page `stub_status`", None),
    row(S::Redis, "redis", K::Component, "Redis, by its command `INFO`", None),
    row(S::Memcached, "memcached", K::Component, "memcached, by its command `stats`", None),
    row(
        S::Mariadb,
        "mariadb",
        K::Component,
        "MariaDB or MySQL, by `SHOW GLOBAL STATUS` and `SHOW GLOBAL VARIABLES`",
        None,
    ),
    row(
        S::Go,
        "go",
        K::Component,
        "A Go program, by its pages `/debug/vars` and `/debug/pprof/`, or by Go's Prometheus client",
        None,
    ),
    row(
        S::Jvm,
        "jvm",
        K::Jvm,
        "A JVM, by its file `/tmp/hsperfdata_USER/PID`, or by its Prometheus page (Micrometer, Prometheus' Java \
         client, JMX exporter)",
        None,
    ),
    row(
        S::Prometheus,
        "prometheus",
        K::Component,
        "Any other page in Prometheus' text form",
        Some("the name and labels of a row; the end of the name says the unit"),
    ),
    row(S::Probe, "probe", K::Probe, "What a probe itself costs", None),
    row(S::Declared, "declared", K::Host, "What the plan says that the host can do, recorded once", None),
    row(S::Intervention, "intervention", K::Cap, "A cap of a lab host that was raised during the run", None),
];

impl Source {
    /// Every source, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        SOURCES.iter().map(|row| row.source)
    }

    fn row(self) -> &'static SourceRow {
        &SOURCES[self as usize]
    }

    /// The word in run files and streams.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The source of this word; `None` for one of another version.
    pub fn from_name(name: &str) -> Option<Self> {
        SOURCES.iter().find(|row| row.name == name).map(|row| row.source)
    }

    /// What its subjects are.
    pub fn subject_kind(self) -> SubjectKind {
        self.row().subject
    }

    /// What it describes and where it is read, for people.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What the names of its metrics are where they are made when they are read, as the addresses in `peers`; `None`
    /// where the table of metrics has them all.
    pub fn made_names(self) -> Option<&'static str> {
        self.row().made_names
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The source of a sample, as it was recorded: possibly one that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceName {
    /// A source of the table.
    Known(Source),
    /// The word of another version.
    Other(Text),
}

impl SourceName {
    /// The word in run files and streams.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(source) => source.name(),
            Self::Other(word) => word,
        }
    }

    /// The source, if this version knows it.
    pub fn known(&self) -> Option<Source> {
        match self {
            Self::Known(source) => Some(*source),
            Self::Other(_) => None,
        }
    }
}

impl From<Source> for SourceName {
    fn from(source: Source) -> Self {
        Self::Known(source)
    }
}

impl From<&str> for SourceName {
    fn from(word: &str) -> Self {
        Source::from_name(word).map_or_else(|| Self::Other(word.into()), Self::Known)
    }
}

impl PartialEq<Source> for SourceName {
    fn eq(&self, other: &Source) -> bool {
        self.known() == Some(*other)
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for SourceName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SourceName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::from(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_in_its_own_row_and_is_found_by_its_name() {
        for (index, row) in SOURCES.iter().enumerate() {
            assert_eq!(row.source as usize, index, "{}", row.name);
            assert_eq!(Source::from_name(row.name), Some(row.source));
        }
    }

    #[test]
    fn a_source_of_another_version_keeps_its_word() {
        let known: SourceName = serde_json::from_str("\"cpu\"").unwrap();
        assert_eq!(known, Source::Cpu);
        let other: SourceName = serde_json::from_str("\"gpu\"").unwrap();
        assert_eq!((other.known(), serde_json::to_string(&other).unwrap()), (None, "\"gpu\"".to_owned()));
    }
}
