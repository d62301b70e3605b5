//! The session file next to a run file during the run. With it another process can resume the run if this one dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::access::{OWNER_ONLY, companion};
use crate::error::{self, StoreError};

/// The ending of its name, after the name of the run file.
pub(crate) const ENDING: &str = "-session";

/// The maximum length of the text, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// A text next to a run file, locked by the process that makes the run. If that process dies, the file stays and the lock is released.
#[derive(Debug)]
pub struct SessionFile {
    path: PathBuf,
    /// The open file, which holds the lock.
    file: File,
}

impl SessionFile {
    /// Writes the text with which this run can be resumed, and locks the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(run_file: &Path, text: &str) -> Result<Self, StoreError> {
        let path = companion(run_file, ENDING);
        let preparing = |error: io::Error| error::preparing(&path, &error);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(OWNER_ONLY);
        let mut file = options.open(&path).map_err(preparing)?;
        lock(&file, run_file)?;
        file.write_all(text.as_bytes()).map_err(preparing)?;
        Ok(Self { path, file })
    }

    /// Reads the text with which this run can be resumed, and locks the file; `None` if there is no such file.
    ///
    /// # Errors
    /// When another process makes the run, or the file cannot be read.
    pub fn open(run_file: &Path) -> Result<Option<(Self, String)>, StoreError> {
        let path = companion(run_file, ENDING);
        let looking = |error: io::Error| error::looking(&path, &error);
        let mut file = match open_to_lock(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(looking)?,
        };
        lock(&file, run_file)?;
        let mut text = String::new();
        (&mut file).take(MAX_BYTES).read_to_string(&mut text).map_err(looking)?;
        Ok(Some((Self { path, file }, text)))
    }

    /// Removes the file, because the run has ended.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn remove(self) -> Result<(), StoreError> {
        let Self { path, file } = self;
        let removed = fs::remove_file(&path).map_err(|error| error::preparing(&path, &error));
        drop(file);
        removed
    }
}

/// Opens a file to lock it. On NFS only a file opened for writing can be locked exclusively, so it is opened for writing if possible, and
/// for reading if this user may only read it.
///
/// # Errors
/// When it can be opened for neither.
pub fn open_to_lock(path: &Path) -> io::Result<File> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if is_read_only(&error) => File::open(path),
        opened => opened,
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn lock(file: &File, run_file: &Path) -> Result<(), StoreError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::UnderWay { path: run_file.to_owned() },
        TryLockError::Error(error) => error::preparing(run_file, &error),
    })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_session_has_one_owner_and_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a.plimsoll");
        assert!(SessionFile::open(&run).unwrap().is_none());
        let owner = SessionFile::create(&run, "how to go on").unwrap();
        assert!(matches!(SessionFile::open(&run), Err(StoreError::UnderWay { .. })));
        drop(owner);
        let (next, text) = SessionFile::open(&run).unwrap().unwrap();
        assert_eq!(text, "how to go on");
        assert!(matches!(SessionFile::open(&run), Err(StoreError::UnderWay { .. })));
        next.remove().unwrap();
        assert!(SessionFile::open(&run).unwrap().is_none());
    }

    #[test]
    fn a_file_that_is_to_be_locked_is_open_for_writing_unless_it_is_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "").unwrap();
        open_to_lock(&path).unwrap().write_all(b"a").unwrap();
        // The superuser may write to it all the same.
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        let mut text = String::new();
        open_to_lock(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a");
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            assert!(is_read_only(&kind.into()), "{kind}");
        }
        assert!(!is_read_only(&io::ErrorKind::NotFound.into()));
    }
}
