//! Where a limit is.

use std::fmt;

use plimsoll_record::Source;

use super::Part;

/// Where a limit is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The machine that makes the load.
    Generator,
    /// The target, by the authority of its URL: no watched host is known to be it.
    Target(String),
    /// Something that requests go to and no probe samples: its address, or the name that the plan gives it.
    Unwatched(String),
    /// A watched host or a tier of a table, or a part of it.
    Host { name: String, part: Part },
    /// No place: nothing limits, or a row of a table is not used.
    Nowhere,
}

impl Place {
    /// A part of a host.
    pub fn part(host: &str, part: Part) -> Self {
        Self::Host { name: host.to_owned(), part }
    }

    /// All of a host.
    pub fn host(name: impl Into<String>) -> Self {
        Self::Host { name: name.into(), part: Part::Whole }
    }

    /// All processes of one name on a host; all of the host where the name is empty.
    pub fn process(host: &str, name: &str) -> Self {
        Self::part(host, if name.is_empty() { Part::Whole } else { Part::Processes(name.to_owned()) })
    }

    /// The components of a host whose counters are of this source.
    pub fn component(host: &str, component: Source) -> Self {
        Self::part(host, Part::Component { component, address: None })
    }

    /// The name of the host, the target's authority or the address; empty for no place.
    pub fn host_name(&self) -> &str {
        match self {
            Self::Generator => plimsoll_plan::PlanHost::GENERATOR,
            Self::Target(name) | Self::Unwatched(name) | Self::Host { name, .. } => name,
            Self::Nowhere => "",
        }
    }

    /// The part of a host; `None` for a place that is no host.
    pub fn of_host(&self) -> Option<&Part> {
        match self {
            Self::Host { part, .. } => Some(part),
            _ => None,
        }
    }

    /// True for a part of a host; false for a whole host and for a place that is no host.
    pub fn is_part(&self) -> bool {
        self.of_host().is_some_and(|part| *part != Part::Whole)
    }

    /// True for processes or guests that take a host's CPU and serve no requests of the load.
    pub(crate) fn is_other(&self) -> bool {
        matches!(self.of_host(), Some(Part::OtherProcess(_) | Part::OtherGuests | Part::Others))
    }
}

impl fmt::Display for Place {
    /// `web`, `web: nginx`, `generator`, `10.0.0.1:8080`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.host_name())?;
        match self.of_host().filter(|part| **part != Part::Whole) {
            Some(part) => write!(f, ": {part}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::ProcessId;

    #[test]
    fn a_place_reads_as_its_host_and_what_of_it() {
        let process = Part::Process(ProcessId::new(12, "nginx"));
        assert_eq!(Place::part("web", process).to_string(), "web: 12 nginx");
        assert_eq!(Place::process("web", ""), Place::host("web"));
        assert_eq!(Place::host("web").to_string(), "web");
        assert_eq!(Place::Target("10.0.0.1:8080".to_owned()).to_string(), "10.0.0.1:8080");
        assert_eq!(Place::Nowhere.to_string(), "");
    }

    #[test]
    fn only_a_part_of_a_host_is_a_part() {
        assert!(Place::process("web", "nginx").is_part());
        assert!(!Place::host("web").is_part());
        assert!(!Place::Target("[::1]:80".to_owned()).is_part());
    }
}
