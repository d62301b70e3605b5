//! Data about a run outside its file: tags that were changed later, and the stores that have the run or should get it.
//!
//! A sealed run file is never written again, so this data is in `NAME.plimsoll.notes` next to it, as JSON. The file exists only while it
//! has content. Writers lock the run file, so that they do not overwrite each other's changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use plimsoll_analyze::RunEntry;
use plimsoll_record::{Tag, TagChanges, Tags};
use plimsoll_sys::create_private;
use serde::{Deserialize, Serialize};

use crate::team::StoredFile;

/// The ending of notes files, after the whole name of the run file.
const ENDING: &str = ".notes";
/// The maximum length of a notes file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The notes on one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunNotes {
    /// The changes to the tags that the run was started with; [`change_tags`](Self::change_tags) adds further ones.
    pub tags: TagChanges,
    /// Changes of tags that have not been sent yet, by store, for stores that have the run.
    unsent: BTreeMap<String, TagChanges>,
    /// The stores that do not have the run yet, or not its newest tags, by their addresses without user and password.
    pub waiting_for: BTreeSet<String>,
    /// The number of failed deliveries by store, counting only failures that the run may have caused; without entries of 0.
    pub failures: BTreeMap<String, u32>,
    /// The stores that have the run.
    pub delivered_to: BTreeSet<String>,
    /// The id of the original run, if this is a copy from a store. A copy lacks the values that documents hide, so it has
    /// digests of its own.
    pub copy_of: Option<String>,
}

/// Why notes cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    #[error(
        "could not read {path} ({reason}); if it is damaged, remove it: later tags of the run are lost, and which stores have it or are \
         to get it (`plimsoll runs --deliver=all` asks). If the run was fetched from a store, remove the run too and fetch it again: \
         without these notes it is another run"
    )]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("could not write {path} ({reason}); is the folder writable?")]
    Unwritable { path: PathBuf, reason: io::Error },
}

impl RunNotes {
    /// Reads the notes on a run file; empty if there are none.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn read(run: &Path) -> Result<Self, NotesError> {
        let path = path_of(run);
        let read = match plimsoll_sys::read_regular(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.and_then(|text| serde_json::from_slice(&text).map_err(io::Error::other)),
        };
        read.map_err(|reason| NotesError::Unreadable { path, reason })
    }

    /// Whether the store has the run, or should get it.
    pub fn is_for(&self, store: &str) -> bool {
        self.waiting_for.contains(store) || self.delivered_to.contains(store)
    }

    /// Returns the notes on a copy of a run from this store. `recorded` are the tags in the copy's file.
    pub fn of_copy(file: &StoredFile, store: &str, recorded: &Tags) -> Self {
        Self {
            tags: file.tags.as_ref().map(|tags| difference(recorded, tags)).unwrap_or_default(),
            delivered_to: BTreeSet::from([store.to_owned()]),
            copy_of: Some(file.id.clone()),
            ..Self::default()
        }
    }

    /// Changes the tags. The run then waits for each store that has it, so that the next delivery sends the change.
    pub fn change_tags(&mut self, change: impl Fn(&mut TagChanges)) {
        change(&mut self.tags);
        for store in &self.delivered_to {
            change(self.unsent.entry(store.clone()).or_default());
            self.waiting_for.insert(store.clone());
        }
    }

    /// Returns the changes of tags that a store does not have yet; all of them if it does not have the run. Changes that it has
    /// are not sent again, because other users may have changed these tags since.
    pub fn unsent_to(&self, store: &str) -> TagChanges {
        match self.delivered_to.contains(store) {
            true => self.unsent.get(store).cloned().unwrap_or_default(),
            false => self.tags.clone(),
        }
    }

    /// Records that the store has the run, with these changes of its tags.
    pub(crate) fn note_delivery(&mut self, store: &str, sent: &TagChanges) {
        let unsent = self.unsent_to(store);
        self.delivered_to.insert(store.to_owned());
        // Tags that were changed during the delivery wait for the next one.
        if unsent == *sent {
            self.settle(store);
        } else {
            self.unsent.insert(store.to_owned(), unsent);
        }
    }

    /// Records that the run no longer waits for the store.
    pub(crate) fn settle(&mut self, store: &str) {
        self.waiting_for.remove(store);
        self.failures.remove(store);
        self.unsent.remove(store);
    }

    /// Applies the notes to the entry derived from the run file.
    pub(crate) fn apply_to(&self, entry: &mut RunEntry) {
        entry.tags = self.tags.applied_to(&entry.tags);
        if entry.is_sealed() && self.copy_of.is_some() {
            entry.id.clone_from(&self.copy_of);
        }
    }

    /// Changes the notes on a run file, under an exclusive lock.
    ///
    /// # Errors
    /// When the notes cannot be read or written, or the run file does not exist.
    pub fn change(run: &Path, change: impl FnOnce(&mut Self)) -> Result<(), NotesError> {
        let unwritable = |reason| NotesError::Unwritable { path: path_of(run), reason };
        // Held until this function returns; closing the file releases the lock.
        let locked = plimsoll_store::open_to_lock(run).map_err(unwritable)?;
        locked.lock().map_err(unwritable)?;
        let mut notes = Self::read(run)?;
        let before = notes.clone();
        change(&mut notes);
        if notes == before { Ok(()) } else { notes.write(run).map_err(unwritable) }
    }

    /// Writes the notes atomically: a reader sees the old file or the new one, never a part.
    fn write(&self, run: &Path) -> io::Result<()> {
        let path = path_of(run);
        if *self == Self::default() {
            return fs::remove_file(path);
        }
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let text = serde_json::to_string_pretty(self)?;
        // The lock is held, so an existing file was left by a process that was killed.
        match fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = create_private(Path::new(&part))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(part, path)
    }
}

/// Returns the changes that turn the tags `from` into the tags `to`.
fn difference(from: &Tags, to: &Tags) -> TagChanges {
    let values = |tags: &Tags| BTreeMap::<String, String>::from(tags.clone());
    let (from, to) = (values(from), values(to));
    let mut changes = TagChanges::default();
    from.keys().filter(|key| !to.contains_key(*key)).for_each(|key| changes.unset(key));
    let new = to.into_iter().filter(|(key, value)| from.get(key) != Some(value));
    new.for_each(|(key, value)| changes.set(Tag { key, value }));
    changes
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

    fn set(notes: &mut RunNotes, tag: &str) {
        notes.change_tags(|changes| changes.set(tag.parse().unwrap()));
    }

    #[test]
    fn each_store_gets_the_changes_of_tags_that_it_does_not_have() {
        let mut notes = RunNotes::default();
        let unsent = |notes: &RunNotes, store| notes.unsent_to(store).set.to_string();
        set(&mut notes, "a=1");
        notes.note_delivery("one", &notes.unsent_to("one"));
        set(&mut notes, "b=1");
        assert_eq!((unsent(&notes, "one").as_str(), unsent(&notes, "two").as_str()), ("b=1", "a=1 b=1"));
        let sent = notes.unsent_to("two");
        set(&mut notes, "c=1");
        notes.note_delivery("two", &sent);
        assert_eq!(unsent(&notes, "two"), "a=1 b=1 c=1", "c was set while the others were delivered");
        notes.note_delivery("two", &notes.unsent_to("two"));
        assert_eq!((unsent(&notes, "one").as_str(), unsent(&notes, "two").as_str()), ("b=1 c=1", ""));
    }

    #[test]
    fn a_run_with_a_new_tag_waits_for_the_stores_that_have_it_and_for_no_other() {
        let mut notes = RunNotes::default();
        set(&mut notes, "a=1");
        assert!(notes.waiting_for.is_empty(), "no store is to get it");
        notes.note_delivery("one", &notes.unsent_to("one"));
        set(&mut notes, "b=1");
        assert_eq!(notes.waiting_for, ["one".to_owned()].into());
        notes.note_delivery("one", &notes.unsent_to("one"));
        assert!(notes.waiting_for.is_empty());
    }

    #[test]
    fn the_difference_of_tags_makes_the_ones_of_the_others() {
        let tags = |text: &str| text.split(' ').map(|tag| tag.parse::<Tag>().unwrap()).collect::<Tags>();
        let (from, to) = (tags("a=1 b=1 c=1"), tags("a=1 b=2 d"));
        let changes = difference(&from, &to);
        assert_eq!(changes.applied_to(&from), to);
        assert_eq!((changes.set.to_string(), changes.unset), ("b=2 d".to_owned(), ["c".to_owned()].into()));
    }

    #[test]
    fn notes_are_there_while_they_say_something() {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path());
        RunNotes::change(&run, |notes| set(notes, "fast")).unwrap();
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
                    RunNotes::change(run, |notes| set(notes, &format!("t{number}"))).unwrap();
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
        let error = RunNotes::change(&run, |notes| set(notes, "a")).unwrap_err();
        assert!(error.to_string().contains("a.plimsoll.notes"), "{error}");
        let lost = ["which stores have it", "fetch it again"];
        assert!(lost.iter().all(|part| error.to_string().contains(part)), "{error}");
        assert_eq!(fs::read_to_string(path_of(&run)).unwrap(), "{");
    }
}
