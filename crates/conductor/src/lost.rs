//! When a target counts as gone.

use std::time::Duration;

use plimsoll_record::{FailureKind, FrameHead};

/// A target that answers nothing and refuses every connection for this long is gone. Shorter absences,
/// such as a restart, are failures of the requests they hit, and the run goes on.
const GONE_AFTER: Duration = Duration::from_secs(3);

/// Watches for the end of a target.
#[derive(Debug, Default)]
pub(crate) struct LossWatch {
    refused_since_ns: Option<u64>,
    alive_at_ns: u64,
}

impl LossWatch {
    /// Takes in one frame; true once the target counts as gone.
    pub(crate) fn gone(&mut self, head: &FrameHead) -> bool {
        let failed = |kind| head.counts.failed.of(kind);
        let refused = failed(FailureKind::ConnectRefused) + failed(FailureKind::ConnectUnreachable);
        if head.counts.completed > 0 {
            self.alive_at_ns = self.alive_at_ns.max(head.ended_ns);
            self.refused_since_ns = None;
        } else if refused > 0 && head.began_ns >= self.alive_at_ns {
            self.refused_since_ns.get_or_insert(head.began_ns);
        }
        self.refused_since_ns
            .is_some_and(|since| Duration::from_nanos(head.ended_ns.saturating_sub(since)) >= GONE_AFTER)
    }

    /// Since when every connection was refused, in nanoseconds since the run began.
    pub(crate) fn since_ns(&self) -> u64 {
        self.refused_since_ns.unwrap_or(self.alive_at_ns)
    }
}
