//! Servers that report about themselves, each asked in its own protocol.
//!
//! A component is a collector of the host that it runs on. The subject of its samples is the address that is queried; for a
//! JVM it is the process. An error becomes a failed reading and never ends a run.

use std::path::Path;

use plimsoll_plan::{HostPort, Probe};
use plimsoll_record::{Source, Subject};

use crate::collector::{Collector, Missing, Read};

mod answer;
mod conversation;
mod error;
mod expvar;
mod jvm;
mod kubernetes;
mod mariadb;
mod memcached;
mod nginx;
mod page;
mod password;
mod prometheus;
mod redis;

pub use answer::{AnswerForm, read_answer};
pub use page::{page_agent, proxied_agent};
pub use password::resolve as resolve_password;

/// A server that reports about itself; it is added to the host that it runs on.
#[derive(Debug)]
pub struct Component(pub(crate) Collector);

impl Component {
    /// Returns the component that a probe queries; `None` if it queries none. Nothing is sent yet. A process id refers to the
    /// machine whose file tree begins at `root`.
    pub fn from_probe(probe: &Probe, root: &Path) -> Option<Self> {
        Some(Self(match probe {
            Probe::None | Probe::Local { .. } | Probe::Pid(_) | Probe::Ssh { .. } => return None,
            Probe::Page(url) => prometheus::collector(url),
            Probe::Nginx(url) => nginx::collector(url),
            Probe::Expvar(url) => expvar::collector(url),
            Probe::Jvm(pid) => jvm::collector(root, *pid),
            Probe::Kubernetes(workload) => kubernetes::collector(workload),
            Probe::Redis { address, password } => match password::resolve(password.as_deref()) {
                Ok(password) => redis::collector(address, password.as_deref()),
                Err(reason) => without_password(Source::Redis, address, &reason),
            },
            Probe::Memcached(address) => memcached::collector(address),
            Probe::Mariadb { user, password, address } => match password::resolve(password.as_deref()) {
                Ok(password) => mariadb::collector(address, user, password.as_deref()),
                Err(reason) => without_password(Source::Mariadb, address, &reason),
            },
        }))
    }
}

/// Returns a collector whose every read fails, for a server whose password is unavailable.
fn without_password(source: Source, address: &HostPort, reason: &str) -> Collector {
    let (subject, failed) = (address.to_string(), Missing::Failed(reason.to_owned()));
    Collector::new(move || vec![Read::new(source, Subject::Named(&subject), Err(failed.clone()))])
}
