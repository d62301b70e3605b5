//! The folder of a fleet on this machine: its record, its keys and its logs. It is removed with the fleet.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use plimsoll_units::best_effort;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::FleetError;

/// Only the owner has access.
const MODE: u32 = 0o700;

/// Creates the folder, or takes an empty one: other files would be removed with the fleet.
///
/// # Errors
/// When anything is in it, or it cannot be made.
pub(crate) fn make_own(folder: &Path) -> Result<(), FleetError> {
    let is_used = match fs::read_dir(folder) {
        Ok(entries) => entries.count() > 0,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(FleetError::system("could not read the folder of the fleet")(error)),
    };
    if is_used {
        return Err(FleetError::FolderInUse { folder: folder.to_owned() });
    }
    let made = DirBuilder::new().recursive(true).mode(MODE).create(folder);
    let owned = made.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(MODE)));
    owned.map_err(FleetError::system("could not make the folder of the fleet"))
}

/// Reads a record in JSON; `None` if there is no such file.
///
/// # Errors
/// When it cannot be read; `doing` says what could not be done.
pub(crate) fn read_record<T: DeserializeOwned>(
    path: &Path,
    doing: &'static str,
) -> Result<Option<T>, FleetError> {
    let read = match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    read.map_err(FleetError::system(doing))
}

/// Writes a record in JSON and replaces an older one atomically. On a full disk the older one stays.
///
/// # Errors
/// When it cannot be written; `doing` says what could not be done.
pub(crate) fn write_record(
    path: &Path,
    record: &impl Serialize,
    doing: &'static str,
) -> Result<(), FleetError> {
    let new = path.with_extension("new");
    let text = serde_json::to_vec_pretty(record).map_err(io::Error::from);
    let written = text.and_then(|text| fs::write(&new, text)).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        best_effort(fs::remove_file(&new), "it was not made");
        FleetError::system(doing)(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_written_leaves_nothing_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        write_record(&path, &1, "could not write").unwrap();
        write_record(&path, &2, "could not write").unwrap();
        assert_eq!(read_record(&path, "could not read").unwrap(), Some(2));
        let taken = folder.path().join("taken.json");
        fs::create_dir(&taken).unwrap();
        assert!(write_record(&taken, &3, "could not write").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no half file is left");
    }

    #[test]
    fn a_folder_with_files_of_others_is_refused_and_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        make_own(folder.path()).unwrap();
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, "precious").unwrap();
        assert!(matches!(make_own(folder.path()), Err(FleetError::FolderInUse { .. })));
        assert_eq!(fs::read_to_string(theirs).unwrap(), "precious");
        let new = folder.path().join("a/b");
        make_own(&new).unwrap();
        assert_eq!(fs::metadata(new).unwrap().permissions().mode() & 0o777, MODE);
    }
}
