//! Raw counters of one host at one instant.

use serde::{Deserialize, Serialize};

use crate::{Counters, SourceName, Subject, Text};

/// What a read of one source gave. Missing is never zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The counters.
    Ok(Counters),
    /// This host does not have the source.
    Absent,
    /// The source exists and could not be read; the text says why.
    Failed(String),
}

/// One subject of one source of one host, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSample {
    /// The host's name; `generator` is the machine that makes the load.
    pub host: Text,
    /// What was read.
    pub source: SourceName,
    /// The word for what of the host was read, see [`HostSample::subject`].
    pub subject: Text,
    /// When the read began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When the read ended, in nanoseconds since the run began.
    pub ended_ns: u64,
    /// What the read gave.
    pub reading: Reading,
}

impl HostSample {
    /// What of the host was read.
    pub fn subject(&self) -> Subject<'_> {
        match &self.source {
            SourceName::Known(source) => Subject::parse(*source, &self.subject),
            SourceName::Other(_) => Subject::Other(&self.subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_small() {
        // A run of an hour holds hundreds of thousands; their names and equal values are shared.
        assert!(size_of::<HostSample>() <= 104, "{}", size_of::<HostSample>());
        assert_eq!(size_of::<SourceName>(), size_of::<Text>());
    }
}
