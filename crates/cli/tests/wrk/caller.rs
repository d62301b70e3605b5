//! Calling the binary under wrk's names, and reading what it prints.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with the binary in it under the names of wrk and wrk2.
pub(crate) struct Caller {
    folder: TempDir,
}

/// What one call gave.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Caller {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["wrk", "wrk2"] {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The binary called by one of wrk's names.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.path().join(name));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, name: &str, args: &[&str]) -> Called {
        Called::from(self.command(name).args(args).output().unwrap())
    }

    /// Calls `wrk`, which must end with this code.
    pub(crate) fn expect(&self, code: i32, args: &[&str]) -> Called {
        let called = self.call("wrk", args);
        assert_eq!(called.code, code, "{args:?}\n{called:?}");
        called
    }

    /// Writes a script and gives its path.
    pub(crate) fn script(&self, text: &str) -> String {
        let path = self.folder.path().join("test.lua");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl From<Output> for Called {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// One of the example scripts.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wrk/tests/scripts").join(name)
}

/// A number as wrk prints it, its unit left out or turned into milliseconds.
pub(crate) fn number(text: &str) -> f64 {
    let end = text.find(|c: char| !"0123456789.".contains(c)).unwrap_or(text.len());
    let value: f64 = text[..end].parse().unwrap_or_else(|_| panic!("a number, not {text:?}"));
    match &text[end..] {
        "us" => value / 1e3,
        "s" => value * 1e3,
        "m" => value * 6e4,
        "k" => value * 1e3,
        _ => value,
    }
}

impl Called {
    /// The words of the first line that begins with this one.
    pub(crate) fn words(&self, begin: &str) -> Vec<&str> {
        let found = self.out.lines().find(|line| line.trim_start().starts_with(begin));
        found.unwrap_or_else(|| panic!("{begin:?} in {self:?}")).split_ascii_whitespace().collect()
    }

    /// The count in the line `N requests in TIME, SIZE read`.
    pub(crate) fn requests(&self) -> u64 {
        let line = self.out.lines().find(|line| line.contains(" requests in ")).unwrap();
        line.split_ascii_whitespace().next().unwrap().parse().unwrap()
    }

    /// Connect, read, write and timeout errors.
    pub(crate) fn socket_errors(&self) -> [u64; 4] {
        if !self.out.contains("Socket errors") {
            return [0; 4];
        }
        let words = self.words("Socket errors");
        [3, 5, 7, 9].map(|index: usize| words[index].trim_end_matches(',').parse().unwrap())
    }
}
