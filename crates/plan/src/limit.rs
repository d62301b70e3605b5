//! What a plan file can expect as the limit, and a verdict name.

/// The kind of limit that a verdict names. `docs/verdict.md` says what each value rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The processors of a host are busy, by the target or by a neighbour.
    Cpu,
    /// One thread, or a process that has one, is busy on a host with idle processors.
    Thread,
    /// The processor quota of a process's own control group, below what its host has.
    Quota,
    /// Bits per second of a link, one way.
    Bandwidth,
    /// Packets per second of a link.
    Packets,
    Disk,
    /// Too little memory: swapping, reclaim at a limit, or garbage collection.
    Memory,
    /// Connections: a full accept queue, descriptors, or a server's own most.
    Connections,
    /// A fixed number of workers or connections, each held for the whole of a request.
    Pool,
    /// Requests take turns at one thing.
    Lock,
    /// Time is spent waiting for something that is not probed.
    Dependency,
    /// The target refuses by policy what is more than it allows.
    Refused,
    Generator,
    /// The target was not pushed to its limit.
    None,
    /// The target was pushed to its limit, and what it is is not known.
    Unknown,
}

impl Limit {
    /// Every value.
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

    /// True for a limit that holds however late requests are sent: a resource of which nothing was left, or a rate that
    /// the target itself keeps to.
    pub fn is_whatever_the_pace(self) -> bool {
        matches!(
            self,
            Self::Cpu | Self::Thread | Self::Quota | Self::Bandwidth | Self::Packets | Self::Refused
        )
    }

    /// The word for it in JSON and in plan files.
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
    /// The limit of this name; `None` if no limit has it.
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
