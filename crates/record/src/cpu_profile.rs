//! CPU profiles of a target under load.

use serde::{Deserialize, Serialize};

/// How a profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileForm {
    /// The protobuf of pprof, as the server sent it.
    Pprof,
    /// The text of `perf script`: for each sample its period in nanoseconds, and its frames with symbol and file.
    Perf,
}

/// The outcome of taking a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileOutcome {
    /// The run ended before it was complete.
    UnderWay,
    /// It was taken: its content, which may be compressed by gzip.
    Taken(Vec<u8>),
    /// It could not be taken; the text says why.
    Failed(String),
}

/// One CPU profile, and the step that was held for it. That step is not part of the measured load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProfile {
    /// Index of the step that was held while it was taken.
    pub step: u32,
    /// Where it came from: the URL, or `perf` with the processes.
    pub source: String,
    /// How it is written.
    pub form: ProfileForm,
    /// When taking it began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When it was complete, in nanoseconds since the run began.
    pub ended_ns: u64,
    pub outcome: ProfileOutcome,
}
