//! The parts of a run that are delivered to a store: its figures and tags, and its file without what documents hide.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use plimsoll_analyze::RunEntry;
use plimsoll_record::TagChanges;
use plimsoll_report::shareable_plan;
use plimsoll_store::{StoreError, copy_with_plan};

use crate::HistoryError;

/// The largest run file that is delivered, in bytes. For a larger one only the figures are delivered.
pub(crate) const MAX_FILE_BYTES: u64 = 256 << 20;
/// The size of the parts in which a file is stored, in bytes.
pub(super) const PART_BYTES: usize = 1 << 20;

/// A run in the form in which it is delivered.
#[derive(Debug)]
pub(crate) struct SharedRun {
    pub(crate) entry: RunEntry,
    /// The changes that `entry.tags` already includes, for a store that has received the run in the meantime.
    pub(crate) changes: TagChanges,
    /// The file, compressed by gzip; `None` if it is too large or its plan cannot be shared.
    pub(crate) content: Option<Vec<u8>>,
}

impl SharedRun {
    /// Reads a sealed run file for delivery.
    pub(crate) fn new(path: &Path, entry: RunEntry, changes: TagChanges) -> Result<Self, HistoryError> {
        Ok(Self { content: content(path)?, entry, changes })
    }
}

fn content(path: &Path) -> Result<Option<Vec<u8>>, HistoryError> {
    let manifest = plimsoll_store::read(path)?.manifest;
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_FILE_BYTES);
    let Some(plan) = shareable_plan(&manifest.plan).filter(|_| is_small) else { return Ok(None) };
    remove_left_copies(path);
    let copy = Copied(copy_path(path));
    copy_with_plan(path, &copy.0, &plan)?;
    let unreadable = |reason: io::Error| StoreError::Unreadable {
        path: copy.0.clone(),
        reason: format!("{reason}; is there room in its folder?"),
    };
    // The write-ahead log may have held more data than the file.
    if fs::metadata(&copy.0).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Ok(None);
    }
    let bytes = fs::read(&copy.0).map_err(unreadable)?;
    Ok(Some(compressed(&bytes).map_err(unreadable)?))
}

/// Returns a file name in the same folder that no list of runs shows and no other delivery uses.
fn copy_path(path: &Path) -> PathBuf {
    static COPIES: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = COPIES.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{number}.copy", std::process::id()))
}

/// Removes copies that killed processes left behind.
fn remove_left_copies(path: &Path) {
    let beginning = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_left = |name: &str| name.strip_prefix(&beginning).and_then(pid_of_copy).is_some_and(is_gone);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_left) {
            plimsoll_units::best_effort(
                fs::remove_file(entry.path()),
                "another delivery may have removed it",
            );
        }
    }
}

/// Returns the process id in the name of a copy, from the part after the run's name: `123-0.copy`.
fn pid_of_copy(rest: &str) -> Option<u32> {
    let (pid, number) = rest.split_once('-')?;
    number.strip_suffix(".copy")?;
    pid.parse().ok()
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// A temporary copy that is removed on drop.
struct Copied(PathBuf);

impl Drop for Copied {
    fn drop(&mut self) {
        plimsoll_units::best_effort(fs::remove_file(&self.0), "it may never have been made");
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Reverses [`compressed`]. The result is limited to the size of delivered files.
pub(super) fn expanded(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(content).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("it is larger than any run file that is delivered"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_processes_that_are_gone_are_removed_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (run, other) = (folder.path().join("a.plimsoll"), folder.path().join("b.plimsoll"));
        let copy = |run: &Path, pid: u32| {
            let name = run.file_name().unwrap().to_string_lossy();
            folder.path().join(format!(".{name}.{pid}-0.copy"))
        };
        // No process has so high a number.
        let gone = copy(&run, u32::MAX);
        let stay = [copy(&run, std::process::id()), copy(&other, u32::MAX), run.clone()];
        stay.iter().chain([&gone]).for_each(|path| fs::write(path, "").unwrap());
        remove_left_copies(&run);
        assert!(!gone.exists() && stay.iter().all(|path| path.exists()));
    }

    #[test]
    fn a_file_comes_back_as_it_was_and_one_without_end_is_refused() {
        assert_eq!(expanded(&compressed(b"run").unwrap()).unwrap(), b"run");
        let bomb = compressed(&vec![0; MAX_FILE_BYTES as usize + 2]).unwrap();
        assert!(expanded(&bomb).is_err());
        assert!(expanded(b"no gzip").is_err());
    }
}
