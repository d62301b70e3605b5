//! A command on a host, over ssh.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use plimsoll_host::{Ssh, StreamError};
use plimsoll_units::{Clock as _, RealClock, best_effort};

use super::error::HostError;
use crate::deadline::{Deadline, POLL_INTERVAL};
use crate::reasons::last_words;

/// How long a session whose output has ended may take to end itself.
const END_WITHIN: Duration = Duration::from_secs(5);
/// How many bytes of its standard error are kept.
const MAX_ERROR_BYTES: u64 = 1 << 16;

/// A running ssh. It is killed when dropped; the command there then finds its input closed.
#[derive(Debug)]
pub(super) struct Session {
    place: String,
    child: Child,
    /// Writes to the command's input, which is closed when this is dropped.
    input: Option<Sender<String>>,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Session {
    /// Runs a command there.
    pub(super) fn start(ssh: &Ssh, words: &[&str]) -> Result<Self, HostError> {
        let mut session = Self::spawn(ssh, words, Stdio::piped())?;
        if let Some(mut stdin) = session.child.stdin.take() {
            let (sender, texts) = mpsc::channel::<String>();
            session.input = Some(sender);
            detach(move || {
                let written = texts.into_iter().try_for_each(|text| {
                    stdin.write_all(text.as_bytes())?;
                    stdin.flush()
                });
                best_effort(written, "its end says why");
            })?;
        }
        Ok(session)
    }

    /// Runs a command there, with a file as its input.
    pub(super) fn with_file(ssh: &Ssh, words: &[&str], file: File) -> Result<Self, HostError> {
        Self::spawn(ssh, words, file.into())
    }

    fn spawn(ssh: &Ssh, words: &[&str], stdin: Stdio) -> Result<Self, HostError> {
        let mut command: Command = ssh.command(words);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let started = command.spawn();
        let mut child = started.map_err(|reason| HostError::NoSsh { program, reason })?;
        let (line_sender, lines) = mpsc::channel();
        let (error_sender, errors) = mpsc::channel();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let session = Self { place: ssh.to_string(), child, input: None, lines, errors };
        detach(move || {
            let lines =
                stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines().map_while(Result::ok));
            best_effort(lines.into_iter().try_for_each(|line| line_sender.send(line)), "no more is read");
        })?;
        detach(move || best_effort(error_sender.send(drained(stderr)), "nothing asks for it"))?;
        Ok(session)
    }

    /// Writes a line to the command there.
    pub(super) fn say(&self, line: &str) {
        if let Some(input) = &self.input {
            best_effort(input.send(format!("{line}\n")), "its end says why");
        }
    }

    /// Returns the rest of the first line that begins with `word`. A login may print anything before it.
    pub(super) fn answer(&mut self, word: &str, deadline: Deadline<'_>) -> Result<String, HostError> {
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => {
                    if let Some(rest) = line.strip_prefix(word) {
                        return Ok(rest.trim().to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
            // Checked after a line too: a host may print without end.
            if let Some(overdue) = deadline.overdue() {
                return Err(overdue.into());
            }
        }
    }

    /// True once it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Returns why the command has ended; `None` if it has not.
    pub(super) fn failure(&mut self) -> Option<HostError> {
        self.has_ended().then(|| self.ended())
    }

    /// Closes the command's input and waits until it ends successfully.
    pub(super) fn end(mut self, deadline: Deadline<'_>) -> Result<(), HostError> {
        self.input = None;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(None) => {
                    if let Some(overdue) = deadline.overdue() {
                        return Err(overdue.into());
                    }
                    thread::sleep(POLL_INTERVAL);
                }
                Ok(Some(_)) | Err(_) => return Err(self.ended()),
            }
        }
    }

    fn ended(&mut self) -> HostError {
        let errors = self.errors.recv_timeout(END_WITHIN).unwrap_or_default();
        let status = self.status();
        let said = || last_words(&errors).unwrap_or_else(|| status_text(status));
        match status.and_then(|status| StreamError::not_run(&self.place, status, errors.trim())) {
            Some(error @ StreamError::NotInstalled { .. }) => HostError::NotInstalled(error),
            Some(error) => HostError::Ssh(error),
            None => HostError::Ended(said()),
        }
    }

    fn status(&mut self) -> Option<ExitStatus> {
        let until = RealClock.now() + END_WITHIN;
        while RealClock.now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(POLL_INTERVAL);
        }
        None
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.has_ended() {
            best_effort(self.child.kill(), "it has just ended");
            best_effort(self.child.wait(), "it is gone");
        }
    }
}

fn status_text(status: Option<ExitStatus>) -> String {
    status.map_or_else(
        || "ssh does not end".to_owned(),
        |status| format!("the command there ended with {status}"),
    )
}

fn detach(work: impl FnOnce() + Send + 'static) -> Result<(), HostError> {
    let started = thread::Builder::new().name("ssh".to_owned()).spawn(work);
    started.map(drop).map_err(|error| HostError::Ended(format!("could not start a thread: {error}")))
}

fn drained(stderr: Option<impl Read>) -> String {
    let mut text = Vec::new();
    if let Some(mut stderr) = stderr {
        best_effort(stderr.by_ref().take(MAX_ERROR_BYTES).read_to_end(&mut text), "what was read is shown");
        best_effort(std::io::copy(&mut stderr, &mut std::io::sink()), "it is not shown");
    }
    String::from_utf8_lossy(&text).into_owned()
}
