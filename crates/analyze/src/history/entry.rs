//! One row of a history: what identifies a run, and what it came to.

use plimsoll_record::{RunCommand, Tags};
use serde::{Deserialize, Serialize};

use super::figures::RunFigures;

/// The machine that made the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryMachine {
    pub hostname: String,
    pub kernel: String,
    pub cores: u32,
}

impl EntryMachine {
    /// True if runs of both can be compared. Another kernel makes no other machine: patches come often, and cutting a history at each
    /// would leave none; what it changes is to be seen.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.hostname, self.cores) == (&other.hostname, other.cores)
    }
}

/// A recorded run in a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// What identifies a sealed run wherever it is kept, in hex; `None` for a run that did not end in order.
    pub id: Option<String>,
    /// The name of its file.
    pub file: String,
    pub name: String,
    pub command: RunCommand,
    /// The target's URL, without the values of its query.
    pub target: String,
    /// Equal hashes mean the same load.
    pub plan_hash: String,
    pub machine: EntryMachine,
    pub tool_version: String,
    /// In milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// True if the user, a lost target or a failed step ended it: its figures are of a part of the planned load. Older rows of a
    /// store do not say.
    #[serde(default)]
    pub ended_early: bool,
    /// Those that it was made with, and those given later.
    pub tags: Tags,
    pub figures: RunFigures,
    /// What limits the target and where, as a phrase.
    pub limit_phrase: String,
}

impl RunEntry {
    /// True if the run ended in order.
    pub fn is_sealed(&self) -> bool {
        self.id.is_some()
    }

    /// True if its figures are of all of the planned load: it ended in order, and not early.
    pub fn is_whole(&self) -> bool {
        self.is_sealed() && !self.ended_early
    }
}
