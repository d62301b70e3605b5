//! What is known of a run beyond its file: tags that were changed later, and the stores that have it or that it waits for.
//!
//! A sealed run file is never written to again, so this stands in `NAME.plimsoll.notes` next to it, as JSON. The file is only there
//! while it says something. Writers lock the run file, so that two of them do not lose each other's change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use plimsoll_analyze::RunEntry;
use plimsoll_record::TagChanges;
use serde::{Deserialize, Serialize};

/// The ending of these files, after the whole name of the run file.
const ENDING: &str = ".notes";
/// The longest such file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The notes on one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunNotes {
    pub tags: TagChanges,
    /// The stores that do not have the run yet, or not its newest tags, by their addresses without user and password.
    pub waiting_for: BTreeSet<String>,
    /// How many deliveries to a store failed in a way that the run may be the reason for; those of 0 are left out.
    pub failures: BTreeMap<String, u32>,
    /// The stores that have the run.
    pub delivered_to: BTreeSet<String>,
    /// The id of the run that this is a copy of, fetched from a store: without values that documents hide, it has digests of its
    /// own.
    pub copy_of: Option<String>,
}

/// Notes that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    #[error(
        "could not read {path} ({reason}); remove it if it is damaged: only later tags of the run are lost"
    )]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("could not write {path} ({reason}); is the folder writable?")]
    Unwritable { path: PathBuf, reason: io::Error },
}

impl RunNotes {
    /// The notes on a run file; empty if there are none.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(run: &Path) -> Result<Self, NotesError> {
        let path = path_of(run);
        let read = match plimsoll_sys::read_regular(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.and_then(|text| serde_json::from_slice(&text).map_err(io::Error::other)),
        };
        read.map_err(|reason| NotesError::Unreadable { path, reason })
    }

    /// True if the store has the run, or is to get it.
    pub fn is_for(&self, store: &str) -> bool {
        self.waiting_for.contains(store) || self.delivered_to.contains(store)
    }

    /// The run no longer waits for the store.
    pub(crate) fn settle(&mut self, store: &str) {
        self.waiting_for.remove(store);
        self.failures.remove(store);
    }

    /// Applies what they say to what was derived from the run file.
    pub(crate) fn apply_to(&self, entry: &mut RunEntry) {
        entry.tags = self.tags.applied_to(&entry.tags);
        if entry.is_sealed() && self.copy_of.is_some() {
            entry.id.clone_from(&self.copy_of);
        }
    }

    /// Changes the notes on a run file, alone at that time.
    ///
    /// # Errors
    /// When they cannot be read or written, or the run file does not exist.
    pub fn change(run: &Path, change: impl FnOnce(&mut Self)) -> Result<(), NotesError> {
        let unwritable = |reason| NotesError::Unwritable { path: path_of(run), reason };
        // Held until this ends; closing the file releases it.
        let locked = File::open(run).map_err(unwritable)?;
        locked.lock().map_err(unwritable)?;
        let mut notes = Self::read(run)?;
        let before = notes.clone();
        change(&mut notes);
        if notes == before { Ok(()) } else { notes.write(run).map_err(unwritable) }
    }

    /// A reader sees the old file or the new one, never a part.
    fn write(&self, run: &Path) -> io::Result<()> {
        let path = path_of(run);
        if *self == Self::default() {
            return fs::remove_file(path);
        }
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let text = serde_json::to_string_pretty(self)?;
        // The lock is held: what is there was left by a process that was killed.
        match fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(part, path)
    }
}

fn path_of(run: &Path) -> PathBuf {
    let mut path = run.as_os_str().to_owned();
    path.push(ENDING);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path) -> PathBuf {
        let run = folder.join("a.plimsoll");
        fs::write(&run, "").unwrap();
        run
    }

    #[test]
    fn notes_are_there_while_they_say_something() {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path());
        RunNotes::change(&run, |notes| notes.tags.set("fast".parse().unwrap())).unwrap();
        RunNotes::change(&run, |notes| notes.waiting_for.extend(["db".to_owned()])).unwrap();
        let notes = RunNotes::read(&run).unwrap();
        assert!(notes.tags.set.has(&"fast".parse().unwrap()) && notes.waiting_for.contains("db"));
        RunNotes::change(&run, |notes| *notes = RunNotes::default()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_change_of_several_at_once_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let run = &run;
                scope.spawn(move || {
                    let tag = format!("t{number}").parse().unwrap();
                    RunNotes::change(run, |notes| notes.tags.set(tag)).unwrap();
                });
            }
        });
        let tags = RunNotes::read(&run).unwrap().tags.set.to_string();
        assert_eq!(tags, "t0 t1 t2 t3 t4 t5 t6 t7");
    }

    #[test]
    fn what_is_no_notes_is_named_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path());
        fs::write(path_of(&run), "{").unwrap();
        let error = RunNotes::change(&run, |notes| notes.tags.unset("a")).unwrap_err();
        assert!(error.to_string().contains("a.plimsoll.notes"), "{error}");
        assert_eq!(fs::read_to_string(path_of(&run)).unwrap(), "{");
    }
}
