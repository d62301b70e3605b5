//! Why a plan cannot be run.

use std::time::Duration;

use crate::hosts::PlanHostError;
use crate::network::NetworkError;
use crate::requests::HostError;
use crate::target::TargetError;
use crate::transport::TransportError;

/// A plan that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request or its target is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The duration says other than the stages of the rate.
    #[error(
        "the duration is {duration:?}, but the stages of the rate last {stages:?} together; leave the duration out"
    )]
    Duration {
        /// What was given.
        duration: Duration,
        /// What the stages come to.
        stages: Duration,
    },
    /// The requests cannot be sent to one host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A request of a file is wrong.
    #[error("line {line} of the requests: {source}")]
    Request {
        /// The line in which it begins.
        line: usize,
        /// What is wrong with it.
        source: TargetError,
    },
    /// The way to the target cannot be taken.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The protocols do not go together.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Two hosts have the same name, or one host is not valid.
    #[error(transparent)]
    Hosts(#[from] PlanHostError),
    /// A value is outside its range.
    #[error("{what} is {value}; it must be {expected}")]
    Range {
        /// What was given.
        what: &'static str,
        value: String,
        /// What would be right.
        expected: String,
    },
}
