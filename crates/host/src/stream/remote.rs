//! A child process that writes samples.

use std::io::{BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant as Deadline};

use parking_lot::Mutex;
use plimsoll_record::HostSample;
use plimsoll_units::{Instant, best_effort};

use super::{SampleStream, StreamClock, StreamError};

/// How many bytes of the child's standard error are kept, from its beginning, where the reason is.
const MAX_STDERR_BYTES: usize = 2048;

/// How long to wait for a child that has closed its output to exit, and for the rest of its standard error.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How often the child's end is checked.
const POLL: Duration = Duration::from_millis(5);

/// ssh's exit code when it could not open a session or lost it. Any other code is the remote command's.
const NO_SESSION: i32 = 255;
/// Exit codes of shells for a command that cannot be executed or does not exist.
const NO_COMMAND: [i32; 2] = [126, 127];

/// A child process whose standard output is a stream of samples by another clock. It runs until this is dropped, or its
/// [`KillHandle`] kills it.
#[derive(Debug)]
pub struct Remote {
    place: String,
    /// Kills the child from another thread while this thread waits for samples.
    pub(crate) handle: KillHandle,
    stderr: Receiver<String>,
    /// The child's output and the origin of times, until the first call of [`Self::next_sample`] reads the opening line.
    unread: Option<(ChildStdout, Instant)>,
    stream: Option<SampleStream<BufReader<ChildStdout>>>,
}

/// Kills the child of a [`Remote`], from any thread.
#[derive(Debug, Clone)]
pub(crate) struct KillHandle(Arc<Mutex<Child>>);

impl KillHandle {
    /// Kills the child if it is still running, which ends its stream of samples. If this user may not kill it, because it runs as
    /// another user, closing its standard input ends it.
    pub(crate) fn kill(&self) {
        let mut child = self.0.lock();
        if child.kill().is_ok() {
            best_effort(child.wait(), "whether it was killed or had ended, it is gone");
        }
    }

    /// Returns the exit status if the child ends within [`END_TIMEOUT`].
    fn status(&self) -> Option<ExitStatus> {
        let until = Deadline::now() + END_TIMEOUT;
        while Deadline::now() < until {
            let ended = self.0.lock().try_wait();
            if let Ok(Some(status)) = ended {
                return Some(status);
            }
            thread::sleep(POLL);
        }
        None
    }
}

impl Remote {
    /// Starts a command that writes samples. Its standard input stays open until this is dropped. `place` names it in errors. Times
    /// of samples count from `origin`.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub(super) fn start(mut command: Command, place: &str, origin: Instant) -> Result<Self, StreamError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn().and_then(|mut child| {
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            // From here on `remote` owns the child, so every error path kills it.
            let (sender, errors) = channel();
            let handle = KillHandle(Arc::new(Mutex::new(child)));
            let unread = stdout.map(|stdout| (stdout, origin));
            let remote = Self { place: place.to_owned(), handle, stderr: errors, unread, stream: None };
            if let Some(stderr) = stderr {
                thread::Builder::new()
                    .name("probe-stderr".to_owned())
                    .spawn(move || sender.send(drained(stderr)))?;
            }
            Ok(remote)
        });
        let program = command.get_program().to_string_lossy().into_owned();
        started.map_err(|reason| StreamError::NotStarted { program, place: place.to_owned(), reason })
    }

    /// Waits for the next sample.
    ///
    /// # Errors
    /// When the child has ended, with its reason; when it writes anything else than samples.
    pub fn next_sample(&mut self) -> Result<HostSample, StreamError> {
        if let Some((stdout, origin)) = self.unread.take() {
            let begun = SampleStream::begin(BufReader::new(stdout), &self.place, StreamClock::Theirs, origin);
            self.stream = Some(begun.map_err(|error| self.explained(error))?);
        }
        let next = self.stream.as_mut().map_or(Ok(None), SampleStream::next_sample);
        next.map_err(|error| self.explained(error))?.ok_or_else(|| self.ended())
    }

    /// Replaces an error by the child's exit status if that is more informative: a login may print anything before the first line,
    /// and a connection may break within a line.
    fn explained(&self, error: StreamError) -> StreamError {
        let failed = || self.handle.status().is_some_and(|status| !status.success());
        match error {
            StreamError::Ended { .. } => self.ended(),
            StreamError::Foreign { .. } if failed() => self.ended(),
            error => error,
        }
    }

    /// Returns the error for a child that has ended. Once samples arrive, ssh has logged in and the remote command exists.
    fn ended(&self) -> StreamError {
        let status = self.handle.status();
        let stderr = self.stderr.recv_timeout(END_TIMEOUT).unwrap_or_default();
        let stderr = stderr.trim();
        if self.stream.is_none()
            && let Some(error) = status.and_then(|status| StreamError::not_run(&self.place, status, stderr))
        {
            return error;
        }
        StreamError::Ended { place: self.place.clone(), reason: reason(status, stderr) }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.handle.kill();
    }
}

/// Returns the beginning of the child's standard error. Reads it to its end, so that the child never blocks on writing.
fn drained(mut stderr: ChildStderr) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let room = MAX_STDERR_BYTES.saturating_sub(text.len());
        text.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the reason why samples ended, from a child's exit status and standard error.
fn reason(status: Option<ExitStatus>, stderr: &str) -> String {
    let status = match status {
        None => "its output was closed".to_owned(),
        Some(status) if status.code() == Some(NO_SESSION) => "the connection broke".to_owned(),
        Some(status) => status.to_string(),
    };
    if stderr.is_empty() { status } else { format!("{status}: {}", one_line(stderr)) }
}

impl StreamError {
    /// Returns why ssh or the remote shell did not run a command of `plimsoll`, from ssh's exit status and standard error; `None`
    /// if the command was run.
    pub fn not_run(place: &str, status: ExitStatus, stderr: &str) -> Option<Self> {
        let place = place.to_owned();
        let reason = if stderr.is_empty() { "without a message".to_owned() } else { one_line(stderr) };
        match status.code()? {
            NO_SESSION => Some(Self::Login { place, reason }),
            code if NO_COMMAND.contains(&code) => Some(Self::NotInstalled { place, reason }),
            _ => None,
        }
    }
}

/// Joins lines into one, without control characters that could move a terminal's cursor.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().filter(|letter| !letter.is_control()).collect()
}
