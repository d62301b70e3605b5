//! Frames are safe once the file that they were written to is committed.

use std::time::Duration;

use plimsoll_record::Frame;
use plimsoll_units::Instant;

/// A killed run loses at most this much of its file.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// A file for frames. If writing fails, the file ends and reports that itself.
pub trait FrameFile {
    fn write(&mut self, frame: &Frame);

    /// Makes everything written so far durable, even if this process dies.
    fn commit(&mut self);
}

/// Decides when one file is committed.
#[derive(Debug, Default)]
pub struct Commits {
    /// The last commit; `None` before the first frame, which is committed at once.
    last: Option<Instant>,
    /// True if something was written since the last commit.
    is_behind: bool,
}

impl Commits {
    /// Writes a frame; returns true if it and everything before it are now safe.
    pub fn write(&mut self, frame: &Frame, file: &mut impl FrameFile, now: Instant) -> bool {
        file.write(frame);
        self.is_behind = true;
        self.commit_if_due(file, now)
    }

    /// Notes a frame that the file does not need; it is confirmed with the next commit. Without that, such frames alone could fill
    /// the carrier's buffers.
    pub fn skip(&mut self) {
        self.is_behind = true;
    }

    /// Commits if a commit is due; returns true if everything written so far became safe. To be called without new frames too,
    /// so that the last frames become safe.
    pub fn commit_if_due(&mut self, file: &mut impl FrameFile, now: Instant) -> bool {
        let is_due = self.is_behind && self.last.is_none_or(|last| now.since(last) >= COMMIT_EVERY);
        if is_due {
            (self.last, self.is_behind) = (Some(now), false);
            file.commit();
        }
        is_due
    }
}
