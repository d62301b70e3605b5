//! The part of a host that a resource or a place is. All text about it comes from its [`Display`](fmt::Display).

use std::collections::BTreeSet;
use std::fmt;

use plimsoll_record::{Source, Subject, SubjectKind};

/// The loopback interface of Linux.
const LOOPBACK: &str = "lo";

/// A part of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Whole,
    Core(u32),
    /// The cores that processes may run on, where these are not all of the host.
    Cores(BTreeSet<u32>),
    /// `name` is as the kernel keeps it.
    Thread {
        pid: u32,
        tid: u32,
        name: String,
    },
    /// The only thread of a process whose threads were not sampled.
    SoleThread(ProcessId),
    /// The thread that serves the requests of a component, by the component's own counters.
    ComponentThread {
        component: Source,
        address: String,
    },
    Process(ProcessId),
    /// All processes of one name.
    Processes(String),
    /// A process that serves no requests of the load.
    OtherProcess(ProcessId),
    /// A control group by its path.
    Group(String),
    /// The control group of a process, where groups were not sampled.
    GroupOf(ProcessId),
    Interface(String),
    Device(String),
    /// A component whose own counters are read. `address` is where it is queried; `None` stands for any component of its kind.
    Component {
        component: Source,
        address: Option<String>,
    },
    /// The address that a process listens on.
    Listener(String),
    /// Other guests of the machine that the host runs on.
    OtherGuests,
    /// Unknown users of the CPU.
    Others,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId {
    pub pid: u32,
    /// As the kernel keeps it; empty if it could not be read.
    pub name: String,
}

impl ProcessId {
    /// A process by its number and name.
    pub fn new(pid: u32, name: impl Into<String>) -> Self {
        Self { pid, name: name.into() }
    }

    /// The process that a sample describes; `None` for any other subject.
    pub(crate) fn from_subject(subject: Subject<'_>) -> Option<Self> {
        match subject {
            Subject::Process { pid, name } => Some(Self::new(pid, name)),
            _ => None,
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Process { pid: self.pid, name: &self.name }
    }
}

impl Part {
    /// The part of its host that a sample describes; `None` if it describes no part, or has a subject that this version cannot read.
    pub(crate) fn from_sample(source: Source, subject: Subject<'_>) -> Option<Self> {
        Some(match subject {
            Subject::Host => Self::Whole,
            Subject::Core(number) => Self::Core(number),
            Subject::Process { pid, name } => Self::Process(ProcessId::new(pid, name)),
            Subject::Thread { pid, tid, name } => Self::Thread { pid, tid, name: name.to_owned() },
            Subject::Address(address) => Self::Listener(address.to_string()),
            Subject::Named(name) => Self::named(source, name.to_owned())?,
            Subject::Other(_) => return None,
        })
    }

    fn named(source: Source, name: String) -> Option<Self> {
        Some(match source.subject_kind() {
            SubjectKind::Disk => Self::Device(name),
            SubjectKind::Interface => Self::Interface(name),
            SubjectKind::Group => Self::Group(name),
            SubjectKind::Component | SubjectKind::Jvm => {
                Self::Component { component: source, address: Some(name) }
            }
            SubjectKind::Host
            | SubjectKind::Core
            | SubjectKind::Process
            | SubjectKind::Thread
            | SubjectKind::Address
            | SubjectKind::Cap
            | SubjectKind::Probe => return None,
        })
    }

    /// The subject of the samples of a host, a core, a thread, a process, a group, an interface or a device; `None` for other parts.
    pub(crate) fn subject(&self) -> Option<Subject<'_>> {
        match self {
            Self::Whole => Some(Subject::Host),
            Self::Core(number) => Some(Subject::Core(*number)),
            Self::Thread { pid, tid, name } => Some(Subject::Thread { pid: *pid, tid: *tid, name }),
            Self::SoleThread(process)
            | Self::Process(process)
            | Self::OtherProcess(process)
            | Self::GroupOf(process) => Some(process.subject()),
            Self::Group(name) | Self::Interface(name) | Self::Device(name) => Some(Subject::Named(name)),
            Self::Cores(_)
            | Self::ComponentThread { .. }
            | Self::Processes(_)
            | Self::Component { .. }
            | Self::Listener(_)
            | Self::OtherGuests
            | Self::Others => None,
        }
    }

    /// True for the loopback interface, which has no limit of its own and leads to no other host.
    pub fn is_loopback(&self) -> bool {
        matches!(self, Self::Interface(name) if name == LOOPBACK)
    }
}

impl fmt::Display for ProcessId {
    /// `12 nginx`, or `12` without a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subject().fmt(f)
    }
}

impl fmt::Display for Part {
    /// The name of the part; empty for a whole host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Core(number) => write!(f, "core {number}"),
            Self::Cores(numbers) => cores(numbers, f),
            Self::Thread { pid, tid, name } => Subject::Thread { pid: *pid, tid: *tid, name }.fmt(f),
            Self::ComponentThread { component, address } => write!(f, "{component} {address}"),
            Self::SoleThread(process)
            | Self::Process(process)
            | Self::OtherProcess(process)
            | Self::GroupOf(process) => process.fmt(f),
            Self::Component { component, address: None } => component.fmt(f),
            Self::Processes(name)
            | Self::Group(name)
            | Self::Interface(name)
            | Self::Device(name)
            | Self::Component { address: Some(name), .. }
            | Self::Listener(name) => f.write_str(name),
            Self::OtherGuests => f.write_str("other guests of its machine"),
            Self::Others => f.write_str("other processes"),
        }
    }
}

/// `core 3`, `cores 0, 1, 2`.
fn cores(numbers: &BTreeSet<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    write!(f, "core{} {}", if texts.len() == 1 { "" } else { "s" }, texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_reads_as_the_sample_that_it_comes_from() {
        let words = [
            (Source::Cpu, "", ""),
            (Source::Core, "3", "core 3"),
            (Source::Thread, "12/14 VM Thread", "12/14 VM Thread"),
            (Source::Process, "12 a) (b", "12 a) (b"),
            (Source::Process, "12", "12"),
            (Source::Cgroup, "/box", "/box"),
            (Source::Interface, "eth0", "eth0"),
            (Source::Disk, "cciss/c0d0", "cciss/c0d0"),
            (Source::Listener, "[::]:80", "[::]:80"),
            (Source::Memcached, "cache:11211", "cache:11211"),
        ];
        for (source, word, text) in words {
            let subject = Subject::parse(source, word);
            let part = Part::from_sample(source, subject).unwrap();
            assert_eq!(part.to_string(), text);
            let is_read_back = !matches!(part, Part::Listener(_) | Part::Component { .. });
            assert_eq!(part.subject(), is_read_back.then_some(subject));
        }
    }

    #[test]
    fn a_word_of_another_version_is_no_part() {
        let subject = Subject::parse(Source::Process, "of a newer version");
        assert_eq!(Part::from_sample(Source::Process, subject), None);
    }

    #[test]
    fn parts_that_no_sample_has_read_as_what_they_are() {
        assert_eq!(Part::Cores(BTreeSet::from([3])).to_string(), "core 3");
        assert_eq!(Part::Cores(BTreeSet::from([10, 2])).to_string(), "cores 2, 10");
        let redis = Part::ComponentThread { component: Source::Redis, address: "cache:6379".to_owned() };
        assert_eq!(redis.to_string(), "redis cache:6379");
        assert_eq!(Part::Component { component: Source::Nginx, address: None }.to_string(), "nginx");
    }

    #[test]
    fn only_an_interface_is_the_loopback() {
        assert!(Part::Interface("lo".to_owned()).is_loopback());
        assert!(!Part::Interface("eth0".to_owned()).is_loopback());
        assert!(!Part::Group("lo".to_owned()).is_loopback());
    }
}
