//! What the tests need around the binary: a folder, a target, the binary itself.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The binary under test, in a folder of its own.
pub(crate) struct Bench {
    folder: TempDir,
}

/// What one call of the binary gave.
pub(crate) struct Called {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.args(args).current_dir(self.folder.path()).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Calls the binary and waits for its end.
    pub(crate) fn call(&self, args: &[&str]) -> Called {
        Called::from(self.command(args).output().unwrap())
    }

    /// Calls the binary, which must end with this code.
    pub(crate) fn expect(&self, code: i32, args: &[&str]) -> Called {
        let called = self.call(args);
        assert_eq!(called.code, code, "{args:?}\n--- out\n{}\n--- err\n{}", called.out, called.err);
        called
    }

    /// The only run file in a folder.
    pub(crate) fn run_file(&self, folder: &str) -> PathBuf {
        let files: Vec<PathBuf> = std::fs::read_dir(self.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "plimsoll"))
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
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

impl Called {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Whether a run's document has an event of this kind.
pub(crate) fn happened(run: &Value, kind: &str) -> bool {
    run["events"].as_array().unwrap().iter().any(|event| event["kind"] == kind)
}

/// Polls until a condition holds, for a minute at most.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited a minute: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// `plimsoll target`, ended when dropped.
pub(crate) struct Target {
    child: Child,
    address: String,
}

impl Target {
    pub(crate) fn start(bench: &Bench) -> Self {
        Self::listen(bench, "0")
    }

    /// Kills the server and starts it again on the same port once `down` returns.
    pub(crate) fn restart(&mut self, bench: &Bench, down: impl FnOnce()) {
        let (_, port) = self.address.rsplit_once(':').unwrap();
        let port = port.to_owned();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        down();
        *self = Self::listen(bench, &port);
    }

    fn listen(bench: &Bench, port: &str) -> Self {
        let mut child = bench.command(&["target", "--port", port]).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
