//! One row of a history: the identity of a run, and its key figures.

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
    /// True if runs of both can be compared. The kernel may differ: it is patched often, and cutting a history at each patch would leave
    /// none. Changes of the kernel are shown instead.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.hostname, self.cores) == (&other.hostname, other.cores)
    }
}

/// A recorded run in a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// Identifies a sealed run in any store, in hex; `None` for a run that was not sealed.
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
    /// True if the user, a lost target or a failed step ended it, so that its figures cover a part of the planned load. False in older
    /// rows of a store, which lack it.
    #[serde(default)]
    pub ended_early: bool,
    /// Tags given with the run and later.
    pub tags: Tags,
    pub figures: RunFigures,
    /// What limits the target and where, as a phrase.
    pub limit_phrase: String,
}

impl RunEntry {
    /// True if the run was sealed.
    pub fn is_sealed(&self) -> bool {
        self.id.is_some()
    }

    /// True if its figures cover all of the planned load: it was sealed, and did not end early.
    pub fn is_whole(&self) -> bool {
        self.is_sealed() && !self.ended_early
    }
}
