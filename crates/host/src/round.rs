//! Rounds of reading a host, and files that several collectors read in one round.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::collector::{Missing, text};

/// The number of a host's current round. Data read in a round is not read again before the next. Comparing rounds is more
/// reliable than comparing ages, since a busy machine may pause between two collectors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round(Arc<AtomicU64>);

impl Round {
    /// Begins the next round.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The round in which a file was last read, and the result.
type LastRead = (u64, Result<Arc<str>, Missing>);

/// A file that is read once per round for all collectors that need it, because reading it is expensive for the kernel.
#[derive(Debug, Clone)]
pub(crate) struct SharedFile {
    pub(crate) file: Arc<Path>,
    round: Round,
    last: Arc<Mutex<Option<LastRead>>>,
}

impl SharedFile {
    pub(crate) fn new(file: PathBuf, round: &Round) -> Self {
        Self { file: file.into(), round: round.clone(), last: Arc::default() }
    }

    /// Returns the file's text in this round.
    pub(crate) fn text(&self) -> Result<Arc<str>, Missing> {
        let mut last = self.last.lock();
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
    use crate::collector::tests::tree;

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
