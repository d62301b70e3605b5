//! Events of a run.

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The target stopped answering; the run ended early.
    TargetLost,
    /// The warm-up ended with steady throughput.
    WarmedUp,
    /// The warm-up ended at its time limit, before throughput was steady.
    NotWarm,
    /// The user ended the run.
    Interrupted,
    /// The time budget ended before the ladder did.
    BudgetEnded,
    /// An address of the target accepted no connection before the load, and got no load.
    AddressDropped,
    /// The plan meets a limit of this machine, or of the target on it.
    LimitMet,
    /// Requests failed in a way that is new in the run.
    FailureSeen,
    /// A step could not be run, or not by all of its workers; what it measured stands.
    StepFailed,
    /// A host, or a component on it, cannot be sampled, or not any longer.
    ProbeFailed,
    /// An event of a newer version, described by its text.
    #[serde(other)]
    Other,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// What happened.
    pub kind: EventKind,
    /// What happened, as a sentence that stands alone.
    pub text: String,
}
