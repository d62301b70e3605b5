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
    /// Something was written since.
    is_behind: bool,
}

impl Commits {
    /// Writes a frame; true if it and everything before it are safe now.
    pub fn write(&mut self, frame: &Frame, file: &mut impl FrameFile, now: Instant) -> bool {
        file.write(frame);
        self.is_behind = true;
        self.commit_if_due(file, now)
    }

    /// A frame came that the file needs no more: it is confirmed with the next commit. Otherwise such frames alone could fill what
    /// carries them.
    pub fn skip(&mut self) {
        self.is_behind = true;
    }

    /// Commits what was written if it is time; true if all of it became safe by that. Frames that come no more must not keep the
    /// last ones waiting.
    pub fn commit_if_due(&mut self, file: &mut impl FrameFile, now: Instant) -> bool {
        let is_due = self.is_behind && self.last.is_none_or(|last| now.since(last) >= COMMIT_EVERY);
        if is_due {
            (self.last, self.is_behind) = (Some(now), false);
            file.commit();
        }
        is_due
    }
}
