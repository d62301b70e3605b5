//! The services of a host: shell commands, with their output in files.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use plimsoll_units::best_effort;

/// Folders of system programs that an ordinary user's PATH lacks on Debian.
pub(crate) const SYSTEM_FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

/// The most output that an error shows, in lines and bytes.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: u64 = 8192;

/// A command started on a host.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) command: String,
    pub(crate) child: Child,
    pub(crate) log: PathBuf,
}

/// The PATH of services: the given folders, then this process's PATH, then the system folders.
pub(crate) fn search_path(first: &[PathBuf]) -> String {
    let first = first.iter().map(|folder| folder.display().to_string());
    let path = std::env::var("PATH").unwrap_or_default();
    let all = first.chain([path, SYSTEM_FOLDERS.to_owned()]).filter(|part| !part.is_empty());
    all.collect::<Vec<_>>().join(":")
}

impl Service {
    /// The exit status, if the command failed. A command that succeeded may have started processes that still run.
    pub(crate) fn failure(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten().filter(|status| !status.success())
    }

    /// Waits for the process to exit; the caller must have killed it.
    pub(crate) fn wait(&mut self) {
        best_effort(self.child.wait(), "it fails only if the process was waited for");
    }

    /// The last lines of its output.
    pub(crate) fn tail(&self) -> String {
        output_tail(&self.log)
    }
}

/// Reads the end of a log, because the whole may not fit in memory.
fn last_bytes(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let from = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last lines of a service's log; empty if it cannot be read.
pub fn output_tail(log: &Path) -> String {
    let bytes = last_bytes(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    shown.iter().map(|line| plimsoll_units::escape_control(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_end_of_a_log_is_read_however_long_it_is() {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(output_tail(log.path()), "");
        writeln!(log, "one\ntwo").unwrap();
        assert_eq!(output_tail(log.path()), "one\ntwo");
        log.as_file().set_len(1 << 36).unwrap();
        log.seek(SeekFrom::End(0)).unwrap();
        log.write_all(b"\nit has no memory left\n").unwrap();
        assert!(output_tail(log.path()).ends_with("it has no memory left"));
    }
}
