//! Reads files that others may have written, only if they are regular and not too long; creates files that only their owner can
//! read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Reads a regular file of at most `max_bytes`. Follows a symbolic link.
///
/// It does not wait for a pipe, and does not read a device.
///
/// # Errors
/// When the file cannot be opened or read, is not regular, or is longer.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_opened(&open(path, 0)?, max_bytes)
}

/// Like [`read_regular`], for a folder that others can write to: does not follow a symbolic link, and requires that the file
/// belongs to the user with the number `owner`, if given.
///
/// # Errors
/// As for [`read_regular`], and when it is a link or belongs to another user.
pub fn read_regular_of(path: &Path, max_bytes: u64, owner: Option<u32>) -> io::Result<Vec<u8>> {
    let file = open(path, libc::O_NOFOLLOW)?;
    let found = file.metadata()?.uid();
    if owner.is_some_and(|owner| owner != found) {
        return Err(io::Error::other(format!("it belongs to user {found} and not to that of the process")));
    }
    read_opened(&file, max_bytes)
}

/// Creates a file that only its owner can read, for writing. Does not follow a symbolic link.
///
/// # Errors
/// When a file or a link of that name exists, or the file cannot be created.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Opens without waiting for the other end of a pipe. The flag has no effect on a regular file.
fn open(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | flags).open(path)
}

fn read_opened(file: &File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    // The file may grow while it is read, and files of a virtual file system report no length.
    read_stream(file, max_bytes)
}

/// Reads a stream of at most `max_bytes` to its end.
///
/// # Errors
/// When it cannot be read, or is longer.
pub fn read_stream(stream: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        let why = format!("it is longer than {} MiB", max_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_of_bounded_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), [7; 1 << 20]).unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        assert_eq!(read_regular(&path("link"), 1 << 20).unwrap().len(), 1 << 20);
        let error = |name: &str, max_bytes| read_regular(&path(name), max_bytes).unwrap_err().to_string();
        assert_eq!(error("file", (1 << 20) - 1), "it is longer than 0 MiB");
        for name in ["zero", "pipe", "."] {
            assert_eq!(error(name, 1 << 20), "it is not a regular file", "{name}");
        }
        assert_eq!(read_stream(&[1, 2][..], 2).unwrap(), [1, 2]);
        assert!(read_stream(io::repeat(0), 100).is_err());
    }

    #[test]
    fn in_a_folder_of_others_links_and_files_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        let own = std::fs::metadata(&file).unwrap().uid();
        assert_eq!(read_regular_of(&file, 100, Some(own)).unwrap(), b"text");
        assert!(read_regular_of(&link, 100, None).is_err());
        let error = read_regular_of(&file, 100, Some(own + 1)).unwrap_err().to_string();
        assert!(error.contains("belongs to user"), "{error}");
    }
}
