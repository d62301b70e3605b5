//! Why the hosts of a plan cannot be sampled.

/// Hosts or probes that cannot be taken as they are typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanHostError {
    /// Not a probe.
    #[error(
        "`{text}` is not a probe: {reason}; write local, local:8080, pid:1234, jvm:1234, ssh://user@host:22, \
         http://host:9100/metrics, nginx+http://host/stub_status, expvar+http://host:6060/debug/vars, \
         redis://host:6379, memcached://host:11211, mariadb://user:password@host:3306 or none"
    )]
    Probe {
        /// As typed.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Not a name of a host.
    #[error(
        "`{0}` cannot be a host's name; use letters, digits, - _ and dots, at most 100 bytes, and not `generator`, \
         which is the machine that makes the load"
    )]
    Name(String),
    /// Two hosts of one name.
    #[error("two hosts are called `{0}`; give each a name of its own, and several probes to one host")]
    Twice(String),
    /// A host with the probe `none` and another.
    #[error("the host `{0}` has the probe `none` and another; leave one of them out")]
    NoneAndOthers(String),
    /// A capacity of nothing.
    #[error("the {what} of host `{host}` is {value}; it must be above 0, or left out where it is not known")]
    Capacity {
        host: String,
        /// Which capacity.
        what: &'static str,
        value: String,
    },
}
