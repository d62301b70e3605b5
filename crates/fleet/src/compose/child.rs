//! Runs a program with a time limit.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use plimsoll_units::best_effort;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::deadline::{Deadline, Overdue};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a program may take to end after it was asked to, and its output to arrive after its end.
const END_WITHIN: Duration = Duration::from_secs(5);

/// Why a program has no output.
#[derive(Debug)]
pub(super) enum ChildError {
    System(io::Error),
    /// The program was ended for this reason.
    Overdue(Overdue),
}

impl From<io::Error> for ChildError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Runs a program. After the deadline, ends it with all of its children; at once, without time to end by itself, if `at_once` is
/// set.
pub(super) fn run_within(
    mut command: Command,
    deadline: Deadline<'_>,
    at_once: &AtomicBool,
) -> Result<Output, ChildError> {
    // A group of its own ends as a whole: Compose is a child of `docker`.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let (stdout, stderr) = match (stdout, stderr) {
        (Ok(stdout), Ok(stderr)) => (stdout, stderr),
        (Err(error), _) | (_, Err(error)) => {
            end(&mut child, at_once);
            return Err(error.into());
        }
    };
    loop {
        if let Some(status) = child.try_wait()? {
            let all = |output: Receiver<Vec<u8>>| output.recv_timeout(END_WITHIN).unwrap_or_default();
            return Ok(Output { status, stdout: all(stdout), stderr: all(stderr) });
        }
        if let Some(overdue) = deadline.overdue() {
            end(&mut child, at_once);
            return Err(ChildError::Overdue(overdue));
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Reads `from` in a thread. The channel receives everything once `from` has ended.
fn read(from: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, output) = mpsc::channel();
    let read = move || {
        let mut all = Vec::new();
        if let Some(mut from) = from {
            best_effort(from.read_to_end(&mut all), "what was read is shown");
        }
        best_effort(sender.send(all), "the program was ended");
    };
    thread::Builder::new().name("compose".to_owned()).spawn(read)?;
    Ok(output)
}

fn end(child: &mut Child, at_once: &AtomicBool) {
    let group = Pid::from_child(child);
    let deadline = Deadline::within(END_WITHIN, at_once);
    best_effort(kill_process_group(group, Signal::TERM), "it has just ended");
    while matches!(child.try_wait(), Ok(None)) && deadline.overdue().is_none() {
        thread::sleep(POLL_INTERVAL);
    }
    best_effort(kill_process_group(group, Signal::KILL), "all of it has ended");
    best_effort(child.wait(), "it is gone");
}
