//! The kinds of limit that a plan file can expect and a verdict can name.

/// The kind of limit that a verdict names. `docs/verdict.md` gives the evidence for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The processors of a host are busy, because of the target or of other processes.
    Cpu,
    /// One thread, or a single-threaded process, is busy on a host with idle processors.
    Thread,
    /// The processor quota of a process's control group, if it is below what the host has.
    Quota,
    /// Bits per second of a link, in one direction.
    Bandwidth,
    /// Packets per second of a link.
    Packets,
    Disk,
    /// Too little memory: swapping, reclaim at a limit, or garbage collection.
    Memory,
    /// Connections: a full accept queue, file descriptors, or a server's own maximum.
    Connections,
    /// A fixed number of workers or connections, each held for the whole of a request.
    Pool,
    /// Requests wait for one another at a resource that serves one at a time.
    Lock,
    /// Time is spent waiting for something that is not probed.
    Dependency,
    /// The target refuses load beyond a configured limit.
    Refused,
    Generator,
    /// The target was not pushed to its limit.
    None,
    /// The target was pushed to its limit, and the limit is not known.
    Unknown,
}

impl Limit {
    /// All values, in the order of their declaration.
    pub const ALL: [Self; 15] = [
        Self::Cpu,
        Self::Thread,
        Self::Quota,
        Self::Bandwidth,
        Self::Packets,
        Self::Disk,
        Self::Memory,
        Self::Connections,
        Self::Pool,
        Self::Lock,
        Self::Dependency,
        Self::Refused,
        Self::Generator,
        Self::None,
        Self::Unknown,
    ];

    /// True for a limit that is valid however late requests are sent: a resource with no capacity left, or a rate that the
    /// target itself enforces.
    pub fn is_whatever_the_pace(self) -> bool {
        matches!(
            self,
            Self::Cpu | Self::Thread | Self::Quota | Self::Bandwidth | Self::Packets | Self::Refused
        )
    }

    /// The name in JSON and plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Thread => "thread",
            Self::Quota => "quota",
            Self::Bandwidth => "bandwidth",
            Self::Packets => "packets",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Connections => "connections",
            Self::Pool => "pool",
            Self::Lock => "lock",
            Self::Dependency => "dependency",
            Self::Refused => "refused",
            Self::Generator => "generator",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
    /// The limit with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_found_by_its_name() {
        for limit in Limit::ALL {
            assert_eq!(Limit::from_name(limit.name()), Some(limit));
        }
        assert_eq!(Limit::from_name("cpus"), None);
    }
}
