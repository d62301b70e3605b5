//! Runs a program with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, Output};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a program to the end of its output, and returns what it wrote to pipes. Kills it after the limit.
///
/// # Errors
/// When it does not start, or did not end in time; as words that follow its name.
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let mut child = command.spawn().map_err(|error| format!("did not start ({error})"))?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let mut waited = Duration::ZERO;
    loop {
        let ended = child.try_wait().map_err(|error| format!("cannot be waited for ({error})"))?;
        if let Some(status) = ended
            && stdout.is_finished()
            && stderr.is_finished()
        {
            return Ok(Output { status, stdout: all(stdout)?, stderr: all(stderr)? });
        }
        if waited >= limit {
            return Err(end(&mut child, limit));
        }
        thread::sleep(POLL_INTERVAL);
        waited += POLL_INTERVAL;
    }
}

/// Reads `from` in a thread of its own: a pipe that is full would stop the program.
fn reader(from: Option<impl Read + Send + 'static>) -> JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        match from {
            Some(mut from) => from.read_to_end(&mut all).map(|_| all),
            None => Ok(all),
        }
    })
}

fn all(reader: JoinHandle<io::Result<Vec<u8>>>) -> Result<Vec<u8>, String> {
    let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    read.map_err(|error| format!("has output that cannot be read ({error})"))
}

/// Kills a program that is late. Returns a description of the outcome.
fn end(child: &mut Child, limit: Duration) -> String {
    let late = format!("did not end within {} s", limit.as_secs());
    match child.kill().and_then(|()| child.wait()) {
        Ok(_) => format!("{late} and was stopped"),
        Err(error) => format!("{late} and could not be stopped ({error})"),
    }
}
