//! Frequently read small files of `/proc`, above all `/proc/PID/stat`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// More than the length of any file that is read here.
const SMALL_BYTES: usize = 8 * 1024;

/// Reads files that the kernel produces in one piece, with one call each and one buffer for all.
#[derive(Debug)]
pub(crate) struct SmallFiles {
    buffer: Vec<u8>,
}

impl SmallFiles {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; SMALL_BYTES] }
    }

    /// Reads a small file. Bytes that are not ASCII, which occur only in a process's name, become question marks.
    pub(crate) fn text(&mut self, file: &Path) -> io::Result<&str> {
        self.text_of(&File::open(file)?)
    }

    /// Reads the current text of an open small file. Opening a file costs the kernel more than reading it.
    pub(crate) fn text_of(&mut self, file: &File) -> io::Result<&str> {
        let count = file.read_at(&mut self.buffer, 0)?;
        self.buffer[..count].iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        std::str::from_utf8(&self.buffer[..count]).map_err(io::Error::other)
    }

    /// Reads `stat` of the process or thread whose folder in `/proc` is `task`.
    pub(crate) fn stat(&mut self, task: &Path) -> io::Result<Stat<'_>> {
        self.stat_of(&File::open(task.join("stat"))?)
    }

    /// Reads the current line of an open `stat`.
    ///
    /// # Errors
    /// When the process has ended, even if another process has its id by now.
    pub(crate) fn stat_of(&mut self, file: &File) -> io::Result<Stat<'_>> {
        Stat::parse(self.text_of(file)?).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}

/// The columns of `/proc/PID/stat` that are used here (proc_pid_stat(5)). Times are in ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat<'a> {
    pub(crate) name: &'a str,
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) major_faults: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    /// User and system time of children that have ended and were waited for.
    pub(crate) children_ticks: u64,
    pub(crate) threads: u64,
    pub(crate) started_ticks: u64,
    pub(crate) resident_pages: u64,
    /// The core on which it runs, or last ran.
    pub(crate) core: u32,
}

impl<'a> Stat<'a> {
    /// Parses a line. The name is in parentheses and may itself contain parentheses.
    fn parse(text: &'a str) -> Option<Self> {
        let (head, rest) = text.rsplit_once(") ")?;
        let name = head.split_once('(')?.1;
        // The manual counts columns from 1; the state is column 3.
        let mut words = rest.split_ascii_whitespace().enumerate();
        let mut column = |number: usize| words.find(|(at, _)| at + 3 == number).map(|(_, word)| word);
        Some(Self {
            name,
            state: column(3)?.chars().next()?,
            parent: column(4)?.parse().ok()?,
            major_faults: column(12)?.parse().ok()?,
            user_ticks: column(14)?.parse().ok()?,
            system_ticks: column(15)?.parse().ok()?,
            children_ticks: column(16)?.parse::<u64>().ok()? + column(17)?.parse::<u64>().ok()?,
            threads: column(20)?.parse().ok()?,
            started_ticks: column(22)?.parse().ok()?,
            resident_pages: column(24)?.parse().ok()?,
            core: column(39)?.parse().ok()?,
        })
    }
}

/// Converts clock ticks to milliseconds.
pub(crate) fn ticks_ms(ticks: u64) -> u64 {
    ticks * 1000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::collector::tests::tree;

    /// A line in the kernel's form.
    pub(crate) fn line(pid: u32, name: &str, state: char, parent: u32, ticks: u64) -> String {
        format!(
            "{pid} ({name}) {state} {parent} 1 1 0 -1 4194560 200 0 3 0 {ticks} 7 11 2 20 0 5 0 900 1000000 50 \
             18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        )
    }

    #[test]
    fn a_name_may_hold_spaces_and_parentheses() {
        let root = tree(&[("9/stat", &line(9, "a) S 1 (b é", 'R', 4, 120))]);
        let mut files = SmallFiles::new();
        let stat = files.stat(&root.path().join("9")).unwrap();
        assert_eq!((stat.name, stat.state, stat.parent), ("a) S 1 (b ??", 'R', 4));
        assert_eq!((stat.major_faults, stat.user_ticks, stat.system_ticks), (3, 120, 7));
        assert_eq!(stat.children_ticks, 13);
        assert_eq!((stat.threads, stat.started_ticks, stat.resident_pages, stat.core), (5, 900, 50, 1));
    }

    #[test]
    fn a_line_that_ends_early_is_none() {
        let whole = line(9, "x", 'S', 4, 1);
        for end in 0..whole.find(" 17 1").unwrap() {
            assert_eq!(Stat::parse(&whole[..end]), None, "{}", &whole[..end]);
        }
    }

    #[test]
    fn this_process_has_a_line() {
        let mut files = SmallFiles::new();
        let stat = files.stat(Path::new("/proc/self")).unwrap();
        assert!(stat.threads >= 1 && stat.resident_pages > 0 && stat.started_ticks > 0);
    }
}
