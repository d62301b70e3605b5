//! The sources of host samples: what each reads, and what kind of subjects it has.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Text;

/// The kind of a source's subjects. `Subject` describes how each is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    Host,
    Core,
    Disk,
    Interface,
    Group,
    Process,
    Thread,
    Address,
    Component,
    /// A process, or the address of its metrics page.
    Jvm,
    Cap,
    Probe,
}

struct SourceRow {
    source: Source,
    name: &'static str,
    subject: SubjectKind,
    meaning: &'static str,
}

/// Defines the sources and their table. A row is the source, its name in run files and streams, the kind of its subjects, and what it
/// describes and where that is read.
macro_rules! sources {
    ($($source:ident $name:literal $subject:ident $meaning:literal;)*) => {
        /// A source of host samples.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Source {
            $($source),*
        }

        /// All sources, in the order of [`Source`].
        const SOURCES: &[SourceRow] = &[$(SourceRow {
            source: Source::$source,
            name: $name,
            subject: SubjectKind::$subject,
            meaning: $meaning,
        }),*];
    };
}

sources! {
    Cpu "cpu" Host "CPU time of all cores together, from `/proc/stat`";
    Core "core" Core "CPU time of each core that is online, from `/proc/stat`";
    Scheduler "scheduler" Host "Tasks and context switches, from `/proc/stat`";
    Pressure "pressure" Host
        "Time in which tasks waited for a resource, from `/proc/pressure` or the host's control group; needs `CONFIG_PSI` and no `psi=0`";
    Memory "memory" Host "Memory and swap, from `/proc/meminfo` and `/proc/vmstat`";
    Disk "disk" Disk "Each whole block device, from `/proc/diskstats`";
    Interface "interface" Interface "Each network interface, from `/proc/net/dev`; the loopback only where there is no other. On Kubernetes those of pods";
    Tcp "tcp" Host "TCP of the network namespace, from `/proc/net/snmp` and `/proc/net/netstat` (RFC 4022)";
    Sockets "sockets" Host "TCP sockets of the network namespace by state, from `/proc/net/sockstat`";
    Conntrack "conntrack" Host "The kernel's table of tracked connections; absent where none are tracked";
    Cgroup "cgroup" Group
        "Control groups of version 1 or 2: the host's own, those of watched processes, and groups above these that have a quota; on the generator only the group that caps it. On Kubernetes the containers of a workload";
    Process "process" Process "Each watched process, from `/proc/PID`";
    Thread "thread" Thread "Threads of watched processes that were once among the busiest of their process";
    Waiting "waiting" Process
        "Where the threads of each watched process are, sampled about ten times a second from `/proc/PID/task/TID/wchan`";
    Listener "listener" Address "Each TCP or unix address that a watched process listens on";
    Peers "peers" Process "Connections that each watched process opened";
    OtherProcesses "neighbours" Process "The busiest processes that are not watched, read every few seconds";
    Ports "ports" Host "Local ports of the generator, and the sockets that hold them";
    Descriptors "descriptors" Host "File descriptors of the generator's own process";
    Nginx "nginx" Component "nginx, by its page `stub_status`";
    Redis "redis" Component "Redis, by its command `INFO`";
    Memcached "memcached" Component "memcached, by its command `stats`";
    Mariadb "mariadb" Component "MariaDB or MySQL, by `SHOW GLOBAL STATUS` and `SHOW GLOBAL VARIABLES`";
    Go "go" Component "A Go program, by its pages `/debug/vars` and `/debug/pprof/`, or by Go's Prometheus client";
    Jvm "jvm" Jvm
        "A JVM, by its file `/tmp/hsperfdata_USER/PID`, or by its Prometheus page (Micrometer, Prometheus' Java client, JMX exporter)";
    Prometheus "prometheus" Component "Any other page in Prometheus' text form";
    Probe "probe" Probe "What a probe itself costs";
    Declared "declared" Host "What the plan says that the host can do, recorded once";
    Intervention "intervention" Cap "A cap of a lab host that was raised during the run";
}

impl Source {
    /// Returns all sources, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        SOURCES.iter().map(|row| row.source)
    }

    /// Returns the name in run files and streams.
    pub fn name(self) -> &'static str {
        SOURCES[self as usize].name
    }

    /// Returns the source with this name; `None` for one of another version.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|source| source.name() == name)
    }

    /// Returns the kind of its subjects.
    pub fn subject_kind(self) -> SubjectKind {
        SOURCES[self as usize].subject
    }

    /// Returns what the source describes and where it is read, as text for users.
    pub fn meaning(self) -> &'static str {
        SOURCES[self as usize].meaning
    }

    /// Returns a description of the metric names that are only known at the time of the read; `None` if the table of metrics
    /// contains all names of this source.
    pub fn made_names(self) -> Option<&'static str> {
        match self {
            Self::Peers => {
                Some("the address of the other end; each is the gauge of established connections to it")
            }
            Self::Prometheus => Some("the name and labels of a row; the end of the name says the unit"),
            _ => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The source of a recorded sample, which may be unknown to this version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceName {
    Known(Source),
    /// The name of a source of another version.
    Other(Text),
}

impl SourceName {
    /// Returns the name in run files and streams.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(source) => source.name(),
            Self::Other(word) => word,
        }
    }

    /// Returns the source; `None` if this version does not know it.
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
