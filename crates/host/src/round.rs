//! One round of reading all sources of a host, and what several of them tell of in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::{Missing, text};

/// The number of the round that a host is in. What was read in a round is not read again before the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round(Arc<AtomicU64>);

impl Round {
    /// The next round begins.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// In which round a file was read, and what that gave.
type Read = (u64, Result<Arc<str>, Missing>);

/// The text of a file that costs the kernel enough to be read once for all sources that need it.
#[derive(Debug, Clone)]
pub(crate) struct SharedFile {
    file: Arc<Path>,
    round: Round,
    last: Arc<Mutex<Option<Read>>>,
}

impl SharedFile {
    pub(crate) fn new(file: PathBuf, round: &Round) -> Self {
        Self { file: file.into(), round: round.clone(), last: Arc::default() }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The file's text in this round.
    pub(crate) fn text(&self) -> Result<Arc<str>, Missing> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let round = self.round.number();
        match &*last {
            Some((at, text)) if *at == round => text.clone(),
            _ => last.insert((round, text(&self.file).map(Arc::from))).1.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    #[test]
    fn a_file_is_the_same_throughout_a_round() {
        let root = tree(&[("stat", "first")]);
        let round = Round::default();
        let file = SharedFile::new(root.path().join("stat"), &round);
        let other = file.clone();
        assert_eq!(&*file.text().unwrap(), "first");
        std::fs::write(root.path().join("stat"), "second").unwrap();
        assert_eq!(&*other.text().unwrap(), "first");
        round.begin();
        assert_eq!(&*other.text().unwrap(), "second");
    }
}
