//! Servers that report about themselves, each asked in its own protocol.
//!
//! A component is one more collector of the host it runs on. Its samples have the address it was asked at as their subject,
//! those of a JVM its process. An error is a failed reading; a component never ends a run.

use std::path::Path;

use plimsoll_plan::Probe;

use crate::collector::Collector;

mod conversation;
mod error;
mod exchange;
mod expvar;
mod jvm;
mod mariadb;
mod memcached;
mod nginx;
mod page;
mod prometheus;
mod redis;

pub use mariadb::Login;
pub use page::page_agent;

/// A server that reports about itself, to be added to the host it runs on.
#[derive(Debug)]
pub struct Component(pub(crate) Box<dyn Collector>);

impl Component {
    /// The component that a probe asks, if it asks one; nothing is asked yet. Processes are those of the machine whose file
    /// tree begins at `root`.
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
        Self::new(nginx::Nginx::new(url))
    }

    /// Redis at `host:port`, with the password of its default user if it has one.
    pub fn redis(address: &str, password: Option<&str>) -> Self {
        Self::new(redis::Redis::new(address, password))
    }

    /// memcached at `host:port`.
    pub fn memcached(address: &str) -> Self {
        Self::new(memcached::Memcached::new(address))
    }

    /// MariaDB or MySQL at `host:port`.
    pub fn mariadb(address: &str, login: Login) -> Self {
        Self::new(mariadb::Mariadb::new(address, login))
    }

    /// A Go program, by the URL of its expvar page (`/debug/vars`).
    pub fn expvar(url: &str) -> Self {
        Self::new(expvar::Expvar::new(url))
    }

    /// The JVM of a process on this machine, whose file tree begins at `root`.
    pub fn jvm(root: &Path, pid: u32) -> Self {
        Self::new(jvm::Jvm::new(root, pid))
    }

    /// A page in Prometheus's text form: node_exporter's, a JVM's, or any other.
    pub fn prometheus(url: &str) -> Self {
        Self::new(prometheus::Prometheus::new(url))
    }

    fn new(collector: impl Collector + 'static) -> Self {
        Self(Box::new(collector))
    }
}
