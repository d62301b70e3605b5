//! The runs of a folder, with an index so that unchanged files need not be read again.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use plimsoll_analyze::RunEntry;
use plimsoll_store::{FileStamp, IndexedRun, RunIndex, StoreError};

use crate::HistoryError;
use crate::derive::entry_of;
use crate::notes::{NotesError, RunNotes};

/// The name of the index in the folder.
const INDEX: &str = "index.sqlite";

/// A folder of run files.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// The build that derives figures. Entries of another build are derived again.
    derived_by: String,
}

/// One run file of a folder.
#[derive(Debug)]
pub struct FolderRun {
    pub path: PathBuf,
    /// The start of the run, in milliseconds since 1970-01-01 UTC; `None` if not even that can be read.
    pub started_unix_ms: Option<u64>,
    pub entry: Result<RunEntry, HistoryError>,
}

/// Problems with the index or the notes. The list is complete despite them.
#[derive(Debug, thiserror::Error)]
pub enum IndexTrouble {
    #[error("the index of {0} was damaged or of another version, and was made again from the run files")]
    Replaced(PathBuf),
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// The runs of a folder, and problems found while listing them.
#[derive(Debug, Default)]
pub struct FolderRuns {
    /// The runs, newest first. Files whose start cannot be read come last, by name.
    pub runs: Vec<FolderRun>,
    pub trouble: Vec<IndexTrouble>,
}

impl RunFolder {
    /// Creates a view of the folder at this path. `build` identifies the build of Plimsoll.
    pub fn new(path: &Path, build: &str) -> Self {
        Self { path: path.to_owned(), derived_by: build.to_owned() }
    }

    /// Creates a view of the folder that contains a run file; for a bare file name, that is the current folder.
    pub fn containing(run: &Path, build: &str) -> Self {
        let parent = run.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self::new(parent.unwrap_or(Path::new(".")), build)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all runs. Files that have not changed since they were indexed are not read.
    ///
    /// # Errors
    /// When the folder is missing or cannot be read. A file that cannot be read becomes a row, not an error, and an index that
    /// cannot be read or written is not used.
    pub fn runs(&self) -> Result<FolderRuns, StoreError> {
        let files = plimsoll_store::run_files(&self.path)?;
        let mut listed = FolderRuns::default();
        // A folder without runs gets no index; in a read-only folder it cannot be created.
        let mut index = if files.is_empty() { None } else { RunIndex::open(&self.path.join(INDEX)).ok() };
        if index.as_ref().is_some_and(|index| index.replaced) {
            listed.trouble.push(IndexTrouble::Replaced(self.path.clone()));
        }
        let mut known = index.as_ref().and_then(|index| index.runs().ok()).unwrap_or_default();
        let mut derived = Vec::new();
        for path in files {
            let run = self.run(path, &mut known, &mut derived);
            listed.runs.push(run);
        }
        if let Some(index) = index.as_mut().filter(|_| !derived.is_empty() || !known.is_empty()) {
            let gone: Vec<String> = known.into_keys().collect();
            plimsoll_units::best_effort(
                index.update(&derived, &gone),
                "the next list derives the same again",
            );
        }
        for run in &mut listed.runs {
            listed.trouble.extend(with_notes(run).err().map(IndexTrouble::from));
        }
        let rank = |run: &FolderRun| (Reverse(run.started_unix_ms), run.path.clone());
        listed.runs.sort_by_key(rank);
        Ok(listed)
    }

    /// Returns the run of a file, from the index or derived from the file. Entries used from the index are removed from `known`.
    fn run(
        &self,
        path: PathBuf,
        known: &mut BTreeMap<String, IndexedRun>,
        derived: &mut Vec<(String, IndexedRun)>,
    ) -> FolderRun {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stamp = stamp(&path);
        let indexed = known
            .remove(&name)
            .filter(|indexed| Some(indexed.stamp) == stamp && indexed.derived_by == self.derived_by);
        if let Some(entry) = indexed.and_then(|indexed| serde_json::from_str::<RunEntry>(&indexed.entry).ok())
        {
            return FolderRun { path, started_unix_ms: Some(entry.started_unix_ms), entry: Ok(entry) };
        }
        let entry = entry_of(&path);
        // Not for a run that did not end normally: it may still be written.
        if let (Ok(entry), Some(stamp)) = (&entry, stamp)
            && entry.is_sealed()
            && let Ok(text) = serde_json::to_string(entry)
        {
            derived.push((name, IndexedRun { stamp, derived_by: self.derived_by.clone(), entry: text }));
        }
        let started_unix_ms = match &entry {
            Ok(entry) => Some(entry.started_unix_ms),
            Err(_) => plimsoll_store::summarize(&path).ok().map(|summary| summary.started_unix_ms),
        };
        FolderRun { path, started_unix_ms, entry }
    }
}

/// Applies tags that were changed after the run.
fn with_notes(run: &mut FolderRun) -> Result<(), NotesError> {
    if let Ok(entry) = &mut run.entry {
        RunNotes::read(&run.path)?.apply_to(entry);
    }
    Ok(())
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(FileStamp {
        size_bytes: metadata.len(),
        modified_ns: i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX),
    })
}
