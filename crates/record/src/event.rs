//! Things that happened once, worth telling the reader.

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The target stopped answering for good; the run ended early.
    TargetLost,
    /// The target was loaded before the first step until its throughput was steady.
    WarmedUp,
    /// The target was loaded before the first step, and its throughput was not steady when the time for that was over.
    NotWarm,
    /// The user ended the run.
    Interrupted,
    /// The time budget ended before the ladder did.
    BudgetEnded,
    /// An address of the target took no connection before the load, and so got none.
    AddressDropped,
    /// A limit of this machine, or of the target on it, was met by the plan.
    LimitMet,
    /// Requests failed in a way that had not been seen in the run before.
    FailureSeen,
    /// A step could not be run, or not by all of its workers; what was measured stands.
    StepFailed,
    /// A host, or something on it, could not be looked at, or not any longer.
    ProbeFailed,
    /// Something that this version has no word for, in a file of a newer one: its text tells what.
    #[serde(other)]
    Other,
}

/// Something that happened once during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// What happened.
    pub kind: EventKind,
    /// The same in words, complete enough to stand alone.
    pub text: String,
}
