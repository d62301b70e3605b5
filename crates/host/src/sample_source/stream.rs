//! Hosts that another process samples.

use std::io::{self, BufReader, Read};
use std::process::Command;
use std::{fmt, thread};

use plimsoll_record::{HostSample, Text};
use plimsoll_units::best_effort;

use super::channel::{Closed, RunningSource, SampleSender, SampleSource};
use crate::stream::{Remote, SampleStream, Ssh, StreamClock, StreamError};

/// Samples that another process writes, as lines of text.
#[derive(Debug)]
pub struct StreamSource {
    name: String,
    input: Input,
    /// The host's name here, whatever the other process calls it.
    host: Option<String>,
}

/// Where the lines come from.
enum Input {
    /// A process of this machine that was there before.
    Reader(Box<dyn Read + Send>),
    /// A child that is started.
    Child(Box<Command>, StreamClock),
    /// Another machine.
    Ssh(Ssh),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reader(_) => f.write_str("Reader"),
            Self::Child(command, clock) => f.debug_tuple("Child").field(command).field(clock).finish(),
            Self::Ssh(ssh) => f.debug_tuple("Ssh").field(ssh).finish(),
        }
    }
}

impl StreamSource {
    fn new(name: &str, input: Input) -> Self {
        Self { name: name.to_owned(), input, host: None }
    }

    /// Samples by this machine's clock that another process writes, for example to the standard input. The thread that reads
    /// them lives until they end or this process does, since nothing else ends the wait for a line.
    pub fn reader(name: &str, input: Box<dyn Read + Send>) -> Self {
        Self::new(name, Input::Reader(input))
    }

    /// Samples that a command writes, which starts and ends with the source.
    pub fn child(name: &str, command: Command, clock: StreamClock) -> Self {
        Self::new(name, Input::Child(Box::new(command), clock))
    }

    /// Samples of another machine.
    pub fn ssh(name: &str, ssh: Ssh) -> Self {
        Self::new(name, Input::Ssh(ssh))
    }

    /// The same, all samples being of the host with this name.
    #[must_use]
    pub fn of_host(self, name: &str) -> Self {
        Self { host: Some(name.to_owned()), ..self }
    }
}

/// Sends what comes until nothing does, or the run is over.
fn forward(
    sender: &SampleSender,
    host: Option<&str>,
    mut next: impl FnMut() -> Result<HostSample, StreamError>,
) -> Result<(), Closed> {
    loop {
        let sample = match next() {
            Ok(sample) => sample,
            Err(error) => return sender.fail(error.to_string()),
        };
        let host = host.map_or_else(|| sample.host.clone(), Text::from);
        sender.sample(HostSample { host, ..sample })?;
    }
}

/// Starts a thread that ends when its samples do or the run is over.
fn spawn(run: impl FnOnce() -> Result<(), Closed> + Send + 'static) -> io::Result<()> {
    let run = move || best_effort(run(), "the run is over");
    thread::Builder::new().name("probe".to_owned()).spawn(run).map(drop)
}

/// Forwards the samples of a child. The thread that reads them ends with the child, unless that has left its output to
/// children of its own, so that it is not waited for.
fn start_remote(
    remote: Result<Remote, StreamError>,
    host: Option<String>,
    sender: SampleSender,
) -> io::Result<RunningSource> {
    let child = remote.as_ref().ok().map(Remote::kill_handle);
    spawn(move || match remote {
        Ok(mut remote) => forward(&sender, host.as_deref(), || remote.next_sample()),
        Err(error) => sender.fail(error.to_string()),
    })?;
    Ok(RunningSource { questions: None, child, thread: None })
}

/// Forwards what another process writes.
fn read(
    name: &str,
    input: Box<dyn Read + Send>,
    host: Option<&str>,
    sender: &SampleSender,
) -> Result<(), Closed> {
    let ended = || StreamError::Ended { place: name.to_owned(), reason: "their writer has gone".to_owned() };
    match SampleStream::begin(BufReader::new(input), name, StreamClock::Ours, sender.origin()) {
        Ok(mut stream) => forward(sender, host, || stream.next_sample()?.ok_or_else(ended)),
        Err(error) => sender.fail(error.to_string()),
    }
}

impl SampleSource for StreamSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn start(self: Box<Self>, sender: SampleSender) -> io::Result<RunningSource> {
        let Self { name, input, host } = *self;
        let origin = sender.origin();
        match input {
            Input::Child(command, clock) => {
                start_remote(Remote::start(*command, &name, clock, origin), host, sender)
            }
            Input::Ssh(ssh) => start_remote(ssh.start(origin), host, sender),
            Input::Reader(input) => {
                spawn(move || read(&name, input, host.as_deref(), &sender))?;
                Ok(RunningSource::default())
            }
        }
    }
}
