//! A child process that writes samples.

use std::io::{BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant as Deadline};

use plimsoll_record::HostSample;
use plimsoll_units::Instant;

use super::{SampleStream, StreamClock, StreamError};

/// So much of what the child says on its standard error is kept, from the beginning, where the reason stands.
const WORDS_BYTES_MAX: usize = 2048;

/// How long a child that has closed its output may take to end, and its last words to arrive.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often it is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// Makes an error out of how the child ended and what it said.
pub(super) type Explain = fn(place: &str, status: Option<ExitStatus>, words: &str) -> StreamError;

/// A child process whose standard output is a stream of samples. It runs until this is dropped, or until its [`Ender`]
/// says so.
#[derive(Debug)]
pub struct Remote {
    place: String,
    ender: Ender,
    words: Receiver<String>,
    explain: Explain,
    source: Source,
}

/// What was read so far.
#[derive(Debug)]
enum Source {
    /// Nothing: the first line is waited for when the first sample is asked for.
    Silent(Option<ChildStdout>, StreamClock, Instant),
    /// The first line.
    Speaking(SampleStream<BufReader<ChildStdout>>),
}

/// Ends the child of a [`Remote`], from any thread.
#[derive(Debug, Clone)]
pub struct Ender(Arc<Mutex<Child>>);

impl Ender {
    /// Ends the child, if it has not ended; whoever waits for its samples is told that there are no more.
    pub fn end(&self) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Both fail only if the child has ended and was waited for already.
        child.kill().ok();
        child.wait().ok();
    }

    /// How it ended, if it does so soon.
    fn status(&self) -> Option<ExitStatus> {
        let until = Deadline::now() + FAREWELL;
        while Deadline::now() < until {
            let ended = self.0.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            if let Ok(Some(status)) = ended {
                return Some(status);
            }
            thread::sleep(POLL);
        }
        None
    }
}

impl Remote {
    /// Starts a command that writes samples. Its standard input stays open as long as samples are wanted. `place` names it
    /// in errors; times of samples will count from `origin`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        command: Command,
        place: &str,
        clock: StreamClock,
        origin: Instant,
    ) -> Result<Self, StreamError> {
        Self::explained(command, place, (clock, origin), ended)
    }

    pub(super) fn explained(
        mut command: Command,
        place: &str,
        (clock, origin): (StreamClock, Instant),
        explain: Explain,
    ) -> Result<Self, StreamError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn().and_then(|mut child| {
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            // From here on the child is owned, and ended with this whatever follows.
            let (sender, words) = channel();
            let source = Source::Silent(stdout, clock, origin);
            let ender = Ender(Arc::new(Mutex::new(child)));
            let remote = Self { place: place.to_owned(), ender, words, explain, source };
            if let Some(stderr) = stderr {
                thread::Builder::new()
                    .name("probe-words".to_owned())
                    .spawn(move || listen(stderr, &sender))?;
            }
            Ok(remote)
        });
        let program = command.get_program().to_string_lossy().into_owned();
        started.map_err(|reason| StreamError::NotStarted { program, place: place.to_owned(), reason })
    }

    /// What ends the child from another thread, while this one waits for samples.
    pub fn ender(&self) -> Ender {
        self.ender.clone()
    }

    /// The next sample, which is waited for.
    ///
    /// # Errors
    /// When the child has ended, says why; when what it writes are no samples.
    pub fn next_sample(&mut self) -> Result<HostSample, StreamError> {
        let next = match &mut self.source {
            Source::Speaking(stream) => stream.next_sample(),
            Source::Silent(stdout, clock, origin) => {
                let (clock, origin) = (*clock, *origin);
                let Some(stdout) = stdout.take() else { return Err(self.farewell()) };
                return self.first_sample(stdout, clock, origin);
            }
        };
        next.and_then(|sample| sample.ok_or_else(|| self.farewell()))
    }

    /// Before the first line whatever a login prints may come; if the child then ends, its end says more than that.
    fn first_sample(
        &mut self,
        stdout: ChildStdout,
        clock: StreamClock,
        origin: Instant,
    ) -> Result<HostSample, StreamError> {
        match SampleStream::begin(BufReader::new(stdout), &self.place, clock, origin) {
            Ok(stream) => {
                self.source = Source::Speaking(stream);
                self.next_sample()
            }
            Err(StreamError::Ended { .. }) => Err(self.farewell()),
            Err(error @ StreamError::Foreign { .. }) => {
                let failed = self.ender.status().is_some_and(|status| !status.success());
                Err(if failed { self.farewell() } else { error })
            }
            Err(error) => Err(error),
        }
    }

    fn farewell(&self) -> StreamError {
        let status = self.ender.status();
        let words = self.words.recv_timeout(FAREWELL).unwrap_or_default();
        (self.explain)(&self.place, status, words.trim())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.ender.end();
    }
}

/// Takes in what the child says until it says no more, so that it never waits to say it.
fn listen(mut stderr: ChildStderr, sender: &Sender<String>) {
    let mut words = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let room = WORDS_BYTES_MAX.saturating_sub(words.len());
        words.extend_from_slice(&buffer[..read.min(room)]);
    }
    if sender.send(String::from_utf8_lossy(&words).into_owned()).is_err() {
        // Nobody asks any more.
    }
}

/// The end of a child of which nothing else is known.
pub(super) fn ended(place: &str, status: Option<ExitStatus>, words: &str) -> StreamError {
    let status = status.map_or_else(|| "its output was closed".to_owned(), |status| status.to_string());
    let reason = if words.is_empty() { status } else { format!("{status}: {}", one_line(words)) };
    StreamError::Ended { place: place.to_owned(), reason }
}

/// Several lines as one, without what would move a terminal's cursor.
pub(super) fn one_line(words: &str) -> String {
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().filter(|letter| !letter.is_control()).collect()
}
