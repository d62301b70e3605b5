//! Why a plan cannot be run.

use std::fmt::Display;
use std::time::Duration;

use crate::{NetworkError, TargetError, TransportError};

/// A plan that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(
        "the duration is {duration:?}, but the stages of the rate last {stages:?} together; leave the duration out"
    )]
    Duration { duration: Duration, stages: Duration },
    #[error(transparent)]
    Host(#[from] HostError),
    /// The request of a file that begins in this line is wrong.
    #[error("line {line} of the requests: {source}")]
    Request { line: usize, source: TargetError },
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error(transparent)]
    Hosts(#[from] PlanHostError),
    /// The request that begins in this line of a file (0 for a plan's only request) has the header that carries trace ids.
    #[error("{} has a traceparent header of its own; leave it out, or leave --trace out", the_request(*.line))]
    OwnTrace { line: usize },
    /// An option for a single request, but the plan has several.
    #[error(
        "{option} is about a single request, and the plan has requests of its own ([[request]] or target.requests); leave {option} out"
    )]
    Unsent { option: &'static str },
    #[error("{name} has two limits; leave one of them out")]
    TwoLimits { name: String },
    #[error("{what} is {value}; it must be {expected}")]
    Range { what: &'static str, value: String, expected: String },
}

fn the_request(line: usize) -> String {
    if line == 0 { "the request".to_owned() } else { format!("the request in line {line}") }
}

impl PlanError {
    pub(crate) fn range(what: &'static str, value: impl Display, expected: impl Into<String>) -> Self {
        Self::Range { what, value: value.to_string(), expected: expected.into() }
    }
}

/// Requests that cannot be sent to one host. `first` is the host of the command's URL or of the first request that names one;
/// `other` is the host of the request that begins in `line`.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(
        "the requests go to several hosts, {first} and {other} (line {line}); one run loads one host: write the \
         requests of the others into another file"
    )]
    Several { first: String, other: String, line: usize },
    #[error("no request names its host; give a URL with the file, such as http://127.0.0.1:8080")]
    None,
    #[error(
        "`{0}` has a variable in its host; only ${{env.NAME}} may stand there, as one run loads one host"
    )]
    Variable(String),
}

/// Why hosts or probes are rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanHostError {
    #[error(
        "`{text}` is not a probe: {reason}; write local, local:8080, pid:1234, jvm:1234, ssh://user@host:22, \
         http://host:9100/metrics, nginx+http://host/stub_status, expvar+http://host:6060/debug/vars, \
         redis://host:6379, memcached://host:11211, mariadb://user:password@host:3306, \
         k8s://namespace/deployment/name or none"
    )]
    Probe { text: String, reason: String },
    #[error(
        "`{0}` cannot be a host's name; use letters, digits, - _ and dots, at most 100 bytes, and not `generator`, \
         which is the machine that makes the load"
    )]
    Name(String),
    #[error("two hosts are called `{0}`; give each a name of its own, and several probes to one host")]
    Twice(String),
    #[error("the host `{0}` has the probe `none` and another; leave one of them out")]
    NoneAndOthers(String),
    #[error("the {what} of host `{host}` is {value}; it must be above 0, or left out where it is not known")]
    Capacity { host: String, what: &'static str, value: f64 },
}
