//! What runs on a host: shell commands, with their output kept in files.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use plimsoll_units::best_effort;

/// Folders of system programs, which the PATH of an ordinary user lacks on Debian.
pub(crate) const SYSTEM_FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

/// How much of the output an error shows, in lines and bytes.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: u64 = 8192;

/// A command that was started on a host.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) command: String,
    pub(crate) child: Child,
    pub(crate) log: PathBuf,
}

/// Where programs are found: the given folders first, then as for this process, then those of the system.
pub(crate) fn search_path(first: &[PathBuf]) -> String {
    let first = first.iter().map(|folder| folder.display().to_string());
    let path = std::env::var("PATH").unwrap_or_default();
    let all = first.chain([path, SYSTEM_FOLDERS.to_owned()]).filter(|part| !part.is_empty());
    all.collect::<Vec<_>>().join(":")
}

impl Service {
    /// Its exit status, if it failed. One that succeeded may have started others that go on.
    pub(crate) fn failure(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten().filter(|status| !status.success())
    }

    /// Waits for its end; the caller must have killed it.
    pub(crate) fn wait(&mut self) {
        best_effort(self.child.wait(), "it fails only if the process was waited for");
    }

    /// The last lines that it wrote.
    pub(crate) fn tail(&self) -> String {
        output_tail(&self.log)
    }
}

/// A service may have written more than there is memory for.
fn last_bytes(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let from = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last lines of a file that a service wrote its output to; nothing of one that cannot be read.
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
