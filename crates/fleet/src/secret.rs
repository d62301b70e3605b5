//! Files that only their owner may read: keys and credentials.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nkeys::{KeyPair, KeyPairType};
use plimsoll_sys::create_private;
use plimsoll_units::best_effort;

use crate::error::FleetError;

/// The permission bits of other users in a file's mode.
const OTHERS: u32 = 0o077;

/// Writes a new file that only its owner may read.
///
/// # Errors
/// When it is there already, or cannot be written.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), FleetError> {
    let written = create_private(path).and_then(|mut file| file.write_all(content.as_ref()));
    written.map_err(|source| FleetError::SecretFile { path: path.to_owned(), source })
}

/// Writes a file that only its owner may read, in place of an older one.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn replace(path: &Path, content: &str) -> Result<(), FleetError> {
    best_effort(fs::remove_file(path), "there is none");
    write(path, content)
}

/// Makes a key, and writes its seed to a file.
///
/// # Errors
/// When the file is there already, or cannot be written.
pub(crate) fn make_key(kind: KeyPairType, path: &Path) -> Result<KeyPair, FleetError> {
    let pair = random_key(kind)?;
    let seed =
        pair.seed().map_err(|error| FleetError::Key { path: path.to_owned(), why: error.to_string() })?;
    write(path, format!("{seed}\n"))?;
    Ok(pair)
}

/// Makes a random key.
pub(crate) fn random_key(kind: KeyPairType) -> Result<KeyPair, FleetError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| FleetError::system("could not draw a random key")(error.into()))?;
    KeyPair::new_from_raw(kind, bytes).map_err(|error| FleetError::Ended { why: error.to_string() })
}

/// Reads the key whose seed a file holds.
///
/// # Errors
/// When it cannot be read, others may read it, or it holds no seed.
pub(crate) fn read_key(path: &Path) -> Result<KeyPair, FleetError> {
    let wrong = |why: String| FleetError::Key { path: path.to_owned(), why };
    let mode = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(wrong(format!(
            "other users may read it (mode {mode:o}); chmod 600 it, or make a new key"
        )));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    KeyPair::from_seed(text.trim())
        .map_err(|_| wrong("it holds no seed of a key; plimsoll fleet keys DIR makes one".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        make_key(KeyPairType::User, &path).unwrap();
        read_key(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read_key(&path).unwrap_err().to_string().contains("mode 640"));
    }

    #[test]
    fn a_file_without_a_seed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write(&path, "not a seed").unwrap();
        assert!(read_key(&path).unwrap_err().to_string().contains("holds no seed"));
        assert!(write(&path, "again").is_err(), "no secret is overwritten");
    }
}
