//! Whether the place of a limit is a tier.

use std::net::SocketAddr;

use plimsoll_record::Source;

use super::{Endpoint, TierNode};
use crate::findings::{Part, Place, ProcessId};

impl TierNode {
    /// True if a place is this tier, one of its processes or threads, or what all processes of its host share, such as the CPU or a
    /// link. Processes that serve no requests of the load are not part of a tier.
    pub fn is_at(&self, place: &Place) -> bool {
        match place {
            Place::Host { name, part } => *name == self.host && self.has(part),
            Place::Target(_) => self.depth == 1,
            Place::Unwatched(name) => self.is_called(name),
            Place::Generator | Place::Nowhere => false,
        }
    }

    /// True for the name of its host, its address with its port, or its unix socket.
    fn is_called(&self, name: &str) -> bool {
        let is_address = |address: SocketAddr| {
            address.ip().to_string() == self.host && self.listens_on_port(address.port())
        };
        *name == self.host || name.parse().is_ok_and(is_address) || self.listens_on(name)
    }

    fn has(&self, part: &Part) -> bool {
        match part {
            // No sample says which processes are in a control group.
            Part::Whole
            | Part::Core(_)
            | Part::Cores(_)
            | Part::Group(_)
            | Part::Interface(_)
            | Part::Device(_) => true,
            Part::Thread { pid, .. } => self.pids.contains(pid),
            Part::SoleThread(process) | Part::Process(process) | Part::GroupOf(process) => {
                self.has_process(process)
            }
            Part::Processes(name) => self.process.as_deref() == Some(name),
            Part::ComponentThread { component, address } => self.is_component(*component, Some(address)),
            Part::Component { component, address } => self.is_component(*component, address.as_deref()),
            Part::Listener(address) => self.listens_on(address),
            Part::OtherProcess(_) | Part::OtherGuests | Part::Others => false,
        }
    }

    fn has_process(&self, process: &ProcessId) -> bool {
        match self.pids.is_empty() {
            true => self.process.as_deref() == Some(process.name.as_str()),
            false => self.pids.contains(&process.pid),
        }
    }

    /// A store is queried at the port at which it serves. Pages of other components may have a port of their own, so that these are
    /// compared by their process names.
    fn is_component(&self, component: Source, address: Option<&str>) -> bool {
        let names: &[&str] = match component {
            Source::Nginx => &["nginx"],
            Source::Redis => &["redis", "valkey"],
            Source::Memcached => &["memcached"],
            Source::Mariadb => &["mariadbd", "mysqld"],
            Source::Jvm => &["java"],
            _ => &[],
        };
        let is_store = matches!(component, Source::Redis | Source::Memcached | Source::Mariadb);
        match address.filter(|_| is_store || names.is_empty()) {
            Some(address) => self.listens_on(address),
            None => self.process.as_deref().is_some_and(|own| names.iter().any(|name| own.contains(name))),
        }
    }

    /// True for the address of its listener, with a port or of a unix socket.
    fn listens_on(&self, address: &str) -> bool {
        match &self.endpoint {
            Endpoint::Unix(path) => address.strip_prefix("unix:").unwrap_or(address) == path,
            Endpoint::Port(_) => {
                let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
                port.is_some_and(|port| self.listens_on_port(port))
            }
        }
    }

    fn listens_on_port(&self, port: u16) -> bool {
        self.endpoint == Endpoint::Port(port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(process: &str, pids: &[u32], port: u16) -> TierNode {
        TierNode {
            host: "box".to_owned(),
            process: Some(process.to_owned()),
            pids: pids.to_vec(),
            endpoint: Endpoint::Port(port),
            depth: 2,
            downstream: Vec::new(),
        }
    }

    /// Which of nginx, an API and Redis, all on one host, a place is.
    fn at(part: Part) -> [bool; 3] {
        let place = Place::part("box", part);
        let tiers =
            [tier("nginx", &[10, 11], 80), tier("java", &[20], 8080), tier("redis-server", &[30], 6379)];
        tiers.map(|tier| tier.is_at(&place))
    }

    #[test]
    fn a_limit_of_one_process_is_not_that_of_its_neighbours() {
        let thread = |pid, name: &str| Part::Thread { pid, tid: pid, name: name.to_owned() };
        let redis =
            |address: &str| Part::Component { component: Source::Redis, address: Some(address.to_owned()) };
        assert_eq!(at(thread(11, "nginx")), [true, false, false]);
        assert_eq!(at(Part::Processes("java".to_owned())), [false, true, false]);
        assert_eq!(at(Part::SoleThread(ProcessId::new(30, "redis-server"))), [false, false, true]);
        assert_eq!(at(redis("127.0.0.1:6379")), [false, false, true]);
        assert_eq!(at(redis("127.0.0.1:6380")), [false; 3]);
        let main = Part::ComponentThread { component: Source::Redis, address: "box:6379".to_owned() };
        assert_eq!(at(main), [false, false, true]);
        assert_eq!(at(Part::Component { component: Source::Nginx, address: None }), [true, false, false]);
        assert_eq!(at(Part::Listener("[::]:8080".to_owned())), [false, true, false]);
    }

    #[test]
    fn what_processes_share_is_of_each_and_what_others_take_of_none() {
        assert_eq!(at(Part::Whole), [true; 3]);
        assert_eq!(at(Part::Interface("eth0".to_owned())), [true; 3]);
        assert_eq!(at(Part::OtherProcess(ProcessId::new(77, "backup"))), [false; 3]);
        assert!(!tier("nginx", &[10], 80).is_at(&Place::process("other", "nginx")));
    }

    #[test]
    fn a_dependency_without_a_probe_is_found_by_its_address() {
        let database = TierNode { host: "198.18.0.9".to_owned(), ..tier("", &[], 3306) };
        assert!(database.is_at(&Place::Unwatched("198.18.0.9:3306".to_owned())));
        assert!(!database.is_at(&Place::Unwatched("198.18.0.9:5432".to_owned())));
        let socket = TierNode { endpoint: Endpoint::Unix("/run/db".to_owned()), ..database };
        assert!(socket.is_at(&Place::Unwatched("unix:/run/db".to_owned())));
    }
}
