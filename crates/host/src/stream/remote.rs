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

/// Bytes of the child's standard error that are kept, from its beginning, which has the reason.
const MAX_STDERR_BYTES: usize = 2048;

/// How long a child that has closed its output may take to end, and the rest of its standard error to arrive.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How often its end is checked.
const POLL: Duration = Duration::from_millis(5);

/// The exit code of ssh when it could not open a session, or lost it; every other one is the remote command's.
const NO_SESSION: i32 = 255;
/// The exit codes of shells for a command that cannot be executed, or does not exist.
const NO_COMMAND: [i32; 2] = [126, 127];

/// A child process whose standard output is a stream of samples by another clock. It runs until this is dropped, or its
/// [`KillHandle`] kills it.
#[derive(Debug)]
pub struct Remote {
    place: String,
    /// Kills the child from another thread, while this one waits for samples.
    pub(crate) handle: KillHandle,
    stderr: Receiver<String>,
    /// Until the first call for a sample, which waits for the first line.
    unread: Option<(ChildStdout, Instant)>,
    stream: Option<SampleStream<BufReader<ChildStdout>>>,
}

/// Kills the child of a [`Remote`], from any thread.
#[derive(Debug, Clone)]
pub(crate) struct KillHandle(Arc<Mutex<Child>>);

impl KillHandle {
    /// Kills the child, if it has not ended, which ends its stream of samples. A child that this user may not kill, as one
    /// that runs as another user, ends when its standard input is closed.
    pub(crate) fn kill(&self) {
        let mut child = self.0.lock();
        if child.kill().is_ok() {
            best_effort(child.wait(), "whether it was killed or had ended, it is gone");
        }
    }

    /// The exit status, if the child ends soon.
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
    /// Starts a command that writes samples. Its standard input stays open until this is dropped. `place` names it in errors;
    /// times of samples count from `origin`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(mut command: Command, place: &str, origin: Instant) -> Result<Self, StreamError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn().and_then(|mut child| {
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            // From here on the child is owned, and killed with `remote` whatever follows.
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
    /// When the child has ended, with its reason; when it writes something else than samples.
    pub fn next_sample(&mut self) -> Result<HostSample, StreamError> {
        if let Some((stdout, origin)) = self.unread.take() {
            let begun = SampleStream::begin(BufReader::new(stdout), &self.place, StreamClock::Theirs, origin);
            self.stream = Some(begun.map_err(|error| self.explained(error))?);
        }
        let next = self.stream.as_mut().map_or(Ok(None), SampleStream::next_sample);
        next.map_err(|error| self.explained(error))?.ok_or_else(|| self.ended())
    }

    /// A login may print anything before the first line, and a connection may break within one: if the child failed, how it
    /// ended says more than that.
    fn explained(&self, error: StreamError) -> StreamError {
        let failed = || self.handle.status().is_some_and(|status| !status.success());
        match error {
            StreamError::Ended { .. } => self.ended(),
            StreamError::Foreign { .. } if failed() => self.ended(),
            error => error,
        }
    }

    /// The error of a child that has ended. Once samples come, ssh has logged in, and what it ran exists.
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

/// The beginning of the child's standard error. It is read to its end, so that the child never waits to write it.
fn drained(mut stderr: ChildStderr) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let room = MAX_STDERR_BYTES.saturating_sub(text.len());
        text.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Why samples ended, by a child's exit status and standard error.
fn reason(status: Option<ExitStatus>, stderr: &str) -> String {
    let status = match status {
        None => "its output was closed".to_owned(),
        Some(status) if status.code() == Some(NO_SESSION) => "the connection broke".to_owned(),
        Some(status) => status.to_string(),
    };
    if stderr.is_empty() { status } else { format!("{status}: {}", one_line(stderr)) }
}

impl StreamError {
    /// Why ssh or the shell there did not run a command of `plimsoll`, by how ssh ended and what it wrote to standard error;
    /// `None` if they ran it.
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

/// Several lines as one, without characters that would move a terminal's cursor.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().filter(|letter| !letter.is_control()).collect()
}
