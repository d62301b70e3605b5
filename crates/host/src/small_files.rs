//! Reading the small files of `/proc` often.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::process_stat::Stat;

/// Longer than any of the small files that are read here.
const SMALL_BYTES: usize = 8 * 1024;

/// Reads the files that the kernel makes in one piece: with one call each, and without a new buffer for each.
#[derive(Debug)]
pub(crate) struct SmallFiles {
    buffer: Vec<u8>,
}

impl SmallFiles {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; SMALL_BYTES] }
    }

    /// The text of a small file. What it holds that is no text becomes question marks in a process's name, which may hold
    /// anything.
    pub(crate) fn text(&mut self, file: &Path) -> io::Result<&str> {
        self.text_of(&File::open(file)?)
    }

    /// The text that a small file has now, which was opened before: to open it costs the kernel more than to read it.
    pub(crate) fn text_of(&mut self, file: &File) -> io::Result<&str> {
        let count = file.read_at(&mut self.buffer, 0)?;
        self.buffer[..count].iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        std::str::from_utf8(&self.buffer[..count]).map_err(io::Error::other)
    }

    /// A process's or thread's line, in the folder of `/proc` that stands for it.
    pub(crate) fn stat(&mut self, task: &Path) -> io::Result<Stat<'_>> {
        let text = self.text(&task.join("stat"))?;
        Stat::parse(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}
