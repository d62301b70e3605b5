//! Servers that tell about themselves, each asked in its own language.
//!
//! A component is one more source of the host it runs on. What it tells is kept under the address it was asked at, or,
//! for a JVM, under its process. Whatever goes wrong is a reading that says so; a component never ends a run.

use std::path::Path;
use std::time::Duration;

use plimsoll_plan::Probe;
use plimsoll_record::Reading;

use crate::source::{Counters, Source};

mod conversation;
mod expvar;
mod jvm;
mod mariadb;
mod memcached;
mod nginx;
mod page;
mod prometheus;
mod redis;
mod trouble;

pub use mariadb::Login;
pub use page::page_agent;
pub(crate) use prometheus::{Prometheus, Told};
use trouble::Trouble;

/// How long a component may take to answer, connecting included. A server under load answers late, and a sample that is
/// half a second old tells of another moment than the rest.
const DEADLINE: Duration = Duration::from_millis(500);

/// A server that is asked about itself, to be added to the host it runs on.
#[derive(Debug)]
pub struct Component(pub(crate) Kind);

/// How what a component tells becomes samples.
#[derive(Debug)]
pub(crate) enum Kind {
    /// As one source.
    Source(Box<dyn Source>),
    /// As whatever sources its page makes.
    Page(Prometheus),
}

impl Component {
    /// What a probe asks, if it asks a component; nothing is asked yet. Processes are those of the machine whose file tree
    /// begins at `root`.
    pub fn of(probe: &Probe, root: &Path) -> Option<Self> {
        Some(match probe {
            Probe::None | Probe::Local { .. } | Probe::Pid(_) | Probe::Ssh { .. } => return None,
            Probe::Page(url) => Self::prometheus(url),
            Probe::Nginx(url) => Self::nginx(url),
            Probe::Expvar(url) => Self::expvar(url),
            Probe::Jvm(pid) => Self::jvm(root, *pid),
            Probe::Redis { address, password } => Self::redis(&address.to_string(), password.as_deref()),
            Probe::Memcached(address) => Self::memcached(&address.to_string()),
            Probe::Mariadb { user, password, address } => {
                let login = Login { user: user.clone(), password: password.clone() };
                Self::mariadb(&address.to_string(), login)
            }
        })
    }

    /// nginx, by the URL of its `stub_status` page.
    pub fn nginx(url: &str) -> Self {
        Self::source(nginx::Nginx::new(url))
    }

    /// Redis at `host:port`, with the password of its default user if it has one.
    pub fn redis(address: &str, password: Option<&str>) -> Self {
        Self::source(redis::Redis::new(address, password))
    }

    /// memcached at `host:port`.
    pub fn memcached(address: &str) -> Self {
        Self::source(memcached::Memcached::new(address))
    }

    /// MariaDB or MySQL at `host:port`.
    pub fn mariadb(address: &str, login: Login) -> Self {
        Self::source(mariadb::Mariadb::new(address, login))
    }

    /// A Go program, by the URL of its expvar page (`/debug/vars`).
    pub fn expvar(url: &str) -> Self {
        Self::source(expvar::Expvar::new(url))
    }

    /// The JVM of a process on this machine, whose file tree begins at `root`.
    pub fn jvm(root: &Path, pid: u32) -> Self {
        Self::source(jvm::Jvm::new(root, pid))
    }

    /// A page in Prometheus's text form: node_exporter's, a JVM's, or any other.
    pub fn prometheus(url: &str) -> Self {
        Self(Kind::Page(Prometheus::new(url)))
    }

    fn source(source: impl Source + 'static) -> Self {
        Self(Kind::Source(Box::new(source)))
    }
}

/// The reading that one attempt to ask a component comes to.
fn told(attempt: Result<Counters, Trouble>) -> Reading {
    match attempt {
        Ok(counters) => Reading::Ok(counters.into()),
        Err(trouble) => Reading::Failed(trouble.to_string()),
    }
}

/// Takes the counters of a table, `(theirs, ours)`, out of what a component said; what it does not have is left out.
fn taken<'a>(table: &[(&str, &str)], value: impl Fn(&str) -> Option<&'a str>) -> Counters {
    let number = |theirs: &str| value(theirs)?.trim().parse().ok();
    table.iter().filter_map(|(theirs, ours)| Some(((*ours).to_owned(), number(theirs)?))).collect()
}

/// Seconds with a fraction, as decimal text, in whole microseconds.
fn seconds_to_us(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1e6).round() as u64)
}
