//! When frames are safe: not before the file that they were written to is committed.

use std::time::Duration;

use plimsoll_record::Frame;
use plimsoll_units::Instant;

/// A run that is killed loses at most this much of its file.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// What frames are written to. A failure ends the file, which it reports by itself.
pub trait FrameFile {
    fn write(&mut self, frame: &Frame);

    /// Everything that was written stays, whatever becomes of this process.
    fn commit(&mut self);
}

/// The commits of one file.
#[derive(Debug, Default)]
pub struct Commits {
    /// When the file was last committed; `None` before the first frame, which is committed at once.
    last: Option<Instant>,
}

impl Commits {
    /// Writes a frame; true if it and everything before it are safe now.
    pub fn write(&mut self, frame: &Frame, file: &mut impl FrameFile, now: Instant) -> bool {
        file.write(frame);
        let is_due = self.last.is_none_or(|last| now.since(last) >= COMMIT_EVERY);
        if is_due {
            self.last = Some(now);
            file.commit();
        }
        is_due
    }
}
