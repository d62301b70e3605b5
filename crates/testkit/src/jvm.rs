//! A real JVM with a small program.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::server::{ServerError, command, spawn};

/// A running JVM that has collected garbage; killed and waited for when dropped.
pub struct Jvm {
    child: Child,
    heap_max_bytes: u64,
    _folder: TempDir,
}

impl Jvm {
    /// Collections that it has made, at the least.
    pub const COLLECTIONS: u64 = 3;
    /// Bytes that it keeps, at the least.
    pub const KEPT_BYTES: u64 = 12 << 20;
    /// Threads of the program, not counting those of the JVM itself.
    pub const THREADS: u64 = 6;

    /// Starts a JVM with these options and waits until its program has made its garbage.
    ///
    /// # Errors
    /// When there is no Java, or it ends at once.
    pub fn start(options: &[&str]) -> Result<Self, ServerError> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("Garbage.java");
        fs::write(&source, include_str!("../programs/Garbage.java"))?;
        let mut java = command("java");
        java.args(options).arg(&source).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = spawn(&mut java)?;
        // From here on the child is owned, and ended with its handle whatever follows.
        let mut jvm = Self { child, heap_max_bytes: 0, _folder: folder };
        let mut line = String::new();
        if let Some(output) = jvm.child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let log = "not the size of its heap; its error is above".to_owned();
        let bytes = line.trim().parse();
        jvm.heap_max_bytes =
            bytes.map_err(|_| ServerError::NotAccepting { program: "java".to_owned(), log })?;
        Ok(jvm)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How large its heap may become, as the program itself reports it.
    pub fn heap_max_bytes(&self) -> u64 {
        self.heap_max_bytes
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // Both fail only if the child has ended and was waited for already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
