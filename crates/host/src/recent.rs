//! One read that several sources tell of.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use crate::source::{Missing, text};

/// Sources are read one right after another; what was read this long ago belongs to the same sample.
pub(crate) const SAME_SAMPLE: Duration = Duration::from_millis(20);

/// When a file was read, and what that gave.
type Read = (Instant, Result<Arc<str>, Missing>);

/// The text of a file that costs the kernel enough to be read once for all sources that need it.
#[derive(Debug, Clone)]
pub(crate) struct Recent {
    file: Arc<Path>,
    last: Arc<Mutex<Option<Read>>>,
}

impl Recent {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file: file.into(), last: Arc::default() }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The file's text as it is, or was just now.
    pub(crate) fn text(&self) -> Result<Arc<str>, Missing> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = RealClock.now();
        match &*last {
            Some((at, text)) if now.since(*at) < SAME_SAMPLE => text.clone(),
            _ => last.insert((now, text(&self.file).map(Arc::from))).1.clone(),
        }
    }
}
