//! The number of a lab, and the file that lists what it made.
//!
//! A lab locks its file for its lifetime; the kernel releases the lock of a killed lab. So a file without a lock lists what a dead
//! lab left behind, and the next lab removes that.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use plimsoll_units::best_effort;

use crate::LabError;
use crate::group::remove_tree;
use crate::naming::{MAX_LABS, NAME};

/// A resource that outlives a killed process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeaseEntry {
    Group(PathBuf),
    Folder(PathBuf),
}

impl LeaseEntry {
    fn line(&self) -> String {
        let (word, path) = match self {
            Self::Group(path) => ("group", path),
            Self::Folder(path) => ("folder", path),
        };
        format!("{word} {}\n", path.display())
    }

    /// Parses a line; `None` for a path that a lab does not make.
    fn read(line: &str) -> Option<Self> {
        let (word, path) = line.split_once(' ')?;
        let path = PathBuf::from(path);
        let ours = path.is_absolute() && path.file_name()?.to_str()?.starts_with(NAME);
        match word {
            "group" if ours => Some(Self::Group(path)),
            "folder" if ours => Some(Self::Folder(path)),
            _ => None,
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Group(path) | Self::Folder(path) => path,
        }
    }

    /// Removes the resource, if it still exists.
    fn remove(&self) -> io::Result<()> {
        let outcome = match self {
            Self::Group(path) => remove_tree(path),
            Self::Folder(path) => fs::remove_dir_all(path),
        };
        outcome.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    }
}

/// The number of a lab, which determines its names and addresses; released when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) number: u16,
    path: PathBuf,
    file: File,
    noted: Vec<PathBuf>,
}

impl Lease {
    /// Removes what dead labs left behind, and takes the lowest free number.
    pub(crate) fn take(folder: &Path) -> Result<Self, LabError> {
        let make = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        make.and_then(|()| check_private(folder)).map_err(LabError::file("make the folder", folder))?;
        clear_dead(folder)?;
        for number in 0..MAX_LABS {
            let path = folder.join(format!("{NAME}{number}"));
            let Some(file) = locked(&path).map_err(LabError::file("lock", &path))? else { continue };
            // A file with lines belongs to a dead lab that could not be removed completely.
            if file.metadata().is_ok_and(|file| file.len() == 0) {
                return Ok(Self { number, path, file, noted: Vec::new() });
            }
        }
        Err(LabError::TooMany(MAX_LABS))
    }

    /// The prefix of the names of everything that the lab makes.
    pub(crate) fn name(&self) -> String {
        format!("{NAME}{}", self.number)
    }

    /// Notes a resource before it is made.
    pub(crate) fn note(&mut self, entry: &LeaseEntry) -> Result<(), LabError> {
        self.noted.push(entry.path().to_owned());
        let written = self.file.write_all(entry.line().as_bytes());
        written.map_err(LabError::file("write", &self.path))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A group that did not become empty in time stays noted; the next lab or `plimsoll lab clean` removes it.
        if self.noted.iter().any(|path| path.exists()) {
            return;
        }
        best_effort(
            fs::remove_file(&self.path),
            "all that it lists is gone, and the next lab removes the file",
        );
    }
}

/// Fails for a folder that another user made or can write to, because the paths listed there are removed with this user's rights.
fn check_private(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let wrong = match () {
        () if !found.is_dir() => "it is a link or a file",
        () if found.uid() != plimsoll_sys::user_id() => "it belongs to another user",
        () if found.mode() & 0o077 != 0 => "others may enter it; it needs mode 0700",
        () => return Ok(()),
    };
    Err(io::Error::other(format!("{wrong}; remove it, or set XDG_RUNTIME_DIR to a folder of your own")))
}

/// Opens and locks a file, creating it if necessary; `None` if another lab holds the lock.
fn locked(path: &Path) -> io::Result<Option<File>> {
    loop {
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).custom_flags(no_link).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => {}
        }
        // Another lab may have removed the file between opening and locking; the lock would then be on an unlinked file.
        let same =
            |named: fs::Metadata, own: fs::Metadata| (named.dev(), named.ino()) == (own.dev(), own.ino());
        if let (Ok(named), own) = (fs::metadata(path), file.metadata()?)
            && same(named, own)
        {
            return Ok(Some(file));
        }
    }
}

/// Resources that killed labs left behind.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeftOvers {
    /// Control groups and folders that were removed.
    pub removed: Vec<PathBuf>,
    /// Control groups and folders that could not be removed.
    pub kept: Vec<PathBuf>,
}

/// Removes what dead labs left behind; running labs are not affected. `folder` is the folder of leases, see
/// [`crate::Privileges::runtime_folder`].
///
/// # Errors
/// When the leases cannot be read.
pub fn remove_left_overs(folder: &Path) -> Result<LeftOvers, LabError> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LeftOvers::default()),
        _ => {
            check_private(folder).map_err(LabError::file("read the folder", folder))?;
            clear_dead(folder)
        }
    }
}

/// Removes what dead labs left behind. If that fails, the lease stays for another attempt.
fn clear_dead(folder: &Path) -> Result<LeftOvers, LabError> {
    let mut found = LeftOvers::default();
    let entries = fs::read_dir(folder).map_err(LabError::file("list", folder))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(NAME) {
            continue;
        }
        let Some(mut file) = locked(&path).map_err(LabError::file("lock", &path))? else { continue };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(LabError::file("read", &path))?;
        let kept_before = found.kept.len();
        for entry in text.lines().filter_map(LeaseEntry::read) {
            let existed = entry.path().exists();
            match entry.remove() {
                Ok(()) if existed => found.removed.push(entry.path().to_owned()),
                Ok(()) => {}
                Err(_) => found.kept.push(entry.path().to_owned()),
            }
        }
        if found.kept.len() == kept_before {
            fs::remove_file(&path).map_err(LabError::file("remove", &path))?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_leases_have_different_numbers_and_a_number_is_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let leases = folder.path().join("leases");
        let first = Lease::take(&leases).unwrap();
        let second = Lease::take(&leases).unwrap();
        assert_eq!((first.number, second.number), (0, 1));
        drop(first);
        assert_eq!(Lease::take(&leases).unwrap().number, 0);
    }

    #[test]
    fn what_could_not_be_removed_stays_noted_until_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let leases = folder.path().join("leases");
        let stays = folder.path().join("plimsoll-lab-0-stays");
        fs::create_dir(&stays).unwrap();
        let mut lease = Lease::take(&leases).unwrap();
        lease.note(&LeaseEntry::Group(folder.path().join("plimsoll-lab-0-gone"))).unwrap();
        lease.note(&LeaseEntry::Group(stays.clone())).unwrap();
        drop(lease);
        assert_eq!(remove_left_overs(&leases).unwrap().removed, [stays]);
        assert_eq!(fs::read_dir(&leases).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_reach_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |leases: &Path, reason: &str| {
            let error = Lease::take(leases).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        let open = folder.path().join("open");
        fs::DirBuilder::new().mode(0o755).create(&open).unwrap();
        refused(&open, "0700");
        // What a planted link leads to stays as it is.
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::DirBuilder::new().mode(0o700).create(&victim).unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        refused(&link, "a link");
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
        std::os::unix::fs::symlink(&victim, victim.join("plimsoll-lab-0")).unwrap();
        assert!(Lease::take(&victim).is_err(), "a planted link is not locked");
    }

    #[test]
    fn a_number_of_which_something_is_left_is_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        // A file in the place of a group is nothing that can be removed as one.
        let stuck = folder.path().join("plimsoll-lab-0-stuck");
        fs::write(&stuck, "").unwrap();
        let leases = folder.path().join("leases");
        fs::DirBuilder::new().mode(0o700).create(&leases).unwrap();
        fs::write(leases.join("plimsoll-lab-0"), format!("group {}\n", stuck.display())).unwrap();
        assert_eq!(Lease::take(&leases).unwrap().number, 1);
        fs::remove_file(stuck).unwrap();
        assert_eq!(Lease::take(&leases).unwrap().number, 0, "once it is gone the number is free");
    }

    #[test]
    fn what_a_dead_lab_noted_is_removed_and_what_a_living_one_noted_stays() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (dead, alive, other) = (made("plimsoll-lab-0-x"), made("plimsoll-lab-1-x"), made("other"));
        let leases = folder.path().join("leases");
        fs::DirBuilder::new().mode(0o700).create(&leases).unwrap();
        let lines = format!("folder {}\nfolder {}\n", dead.display(), other.display());
        fs::write(leases.join("plimsoll-lab-0"), lines).unwrap();
        let mut living = Lease {
            number: 1,
            path: leases.join("plimsoll-lab-1"),
            file: { locked(&leases.join("plimsoll-lab-1")).unwrap().unwrap() },
            noted: Vec::new(),
        };
        living.note(&LeaseEntry::Folder(alive.clone())).unwrap();
        let cleaned = remove_left_overs(&leases).unwrap();
        assert_eq!(cleaned, LeftOvers { removed: vec![dead.clone()], kept: Vec::new() });
        assert_eq!(remove_left_overs(&leases).unwrap(), LeftOvers::default(), "nothing is left");
        assert_eq!(remove_left_overs(&folder.path().join("none")).unwrap(), LeftOvers::default());
        let lease = Lease::take(&leases).unwrap();
        assert_eq!(lease.number, 0);
        assert!(!dead.exists() && alive.exists());
        assert!(other.exists(), "a name that no lab gives is never removed");
        assert_eq!(fs::read_to_string(leases.join("plimsoll-lab-0")).unwrap(), "");
    }
}
