//! Scripts as their authors write them, driven as the engine drives them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod done;
mod examples;
mod failures;
mod hooks;
mod real_wrk;
mod threads;
mod wild;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use plimsoll_record::latency_histogram;
use plimsoll_wrk::options::{self, Options};
use plimsoll_wrk::script::{Script, ScriptError, ThreadState};
use plimsoll_wrk::stats::{Measured, SocketErrors};

/// A place to load scripts against: a socket that accepts connections, and the command line.
struct Bench {
    listener: TcpListener,
    options: Options,
}

impl Bench {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let args = ["-t1".to_owned(), format!("http://127.0.0.1:{port}/index.html?q=1")];
        Self { listener, options: options::parse("wrk", &args).unwrap() }
    }

    fn with_threads(threads: u64) -> Self {
        let mut bench = Self::new();
        bench.options.threads = threads;
        bench
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    fn load_file(&self, path: &Path) -> Result<(Script, Vec<ThreadState>), ScriptError> {
        let mut script = Script::load(path, &self.options)?;
        let threads = script.threads();
        Ok((script, threads))
    }

    /// Loads a script from its text, as a file called `test.lua`.
    fn load(&self, text: &str) -> Result<(Script, Vec<ThreadState>), ScriptError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.lua");
        std::fs::write(&path, text).unwrap();
        self.load_file(&path)
    }

    /// The only thread of a script that loads.
    fn thread(&self, text: &str) -> ThreadState {
        let (_, mut threads) = self.load(text).unwrap();
        threads.pop().unwrap()
    }
}

/// The beginning of a script that finds the target at these addresses, whatever its name.
fn found_at(addresses: &[SocketAddr]) -> String {
    let one = |at: &SocketAddr| format!("found('{}', '{}')[1]", at.ip(), at.port());
    let all: Vec<String> = addresses.iter().map(one).collect();
    format!("local found = wrk.lookup\nwrk.lookup = function() return {{{}}} end\n", all.join(", "))
}

/// A run that measured nothing.
fn nothing() -> Measured {
    Measured {
        runtime_us: 0,
        requests: 0,
        bytes: 0,
        errors: SocketErrors::default(),
        bad_statuses: 0,
        latency: latency_histogram(),
        service_time: latency_histogram(),
        rates: Vec::new(),
    }
}

/// A run with these latencies in microseconds, each with its count.
fn with_latency(pairs: &[(u64, u64)]) -> Measured {
    let mut measured = nothing();
    for (value_us, count) in pairs {
        measured.latency.saturating_record_n(value_us * 1000 + 500, *count);
    }
    measured
}

/// One of the example scripts.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name)
}

/// The text that the thread sends next.
fn next(thread: &mut ThreadState) -> String {
    let mut out = Vec::new();
    thread.request(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The first line of the request that the thread sends next.
fn next_line(thread: &mut ThreadState) -> String {
    next(thread).lines().next().unwrap().to_owned()
}

/// Shows the thread an answer with these fields and this body.
fn answer(thread: &mut ThreadState, status: u16, headers: &[(&str, &str)], body: &str) {
    let fields = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
    thread.response(status, fields, body.as_bytes()).unwrap();
}
