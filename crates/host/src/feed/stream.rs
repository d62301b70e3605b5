//! Hosts that another process looks at.

use std::io::{self, BufReader, Read};
use std::process::Command;
use std::{fmt, thread};

use plimsoll_record::{HostSample, Text};

use super::{Feed, Line, Outlet};
use crate::stream::{Remote, SampleStream, Ssh, StreamClock, StreamError};

/// Samples that another process writes, as lines of text.
#[derive(Debug)]
pub struct StreamFeed {
    name: String,
    input: Input,
    /// What the host is called here, whatever the other process calls it.
    host: Option<String>,
}

/// Where the lines come from.
enum Input {
    /// Somebody who was there before, on this machine.
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

impl StreamFeed {
    fn new(name: &str, input: Input) -> Self {
        Self { name: name.to_owned(), input, host: None }
    }

    /// Samples of this machine's clock that somebody writes, for example to the standard input. The thread that reads them
    /// lives until they end or the process does, for nothing else ends the wait for a line.
    pub fn reader(name: &str, input: Box<dyn Read + Send>) -> Self {
        Self::new(name, Input::Reader(input))
    }

    /// Samples that a command writes, which is started and ended with the feed.
    pub fn child(name: &str, command: Command, clock: StreamClock) -> Self {
        Self::new(name, Input::Child(Box::new(command), clock))
    }

    /// Samples of another machine.
    pub fn ssh(name: &str, ssh: Ssh) -> Self {
        Self::new(name, Input::Ssh(ssh))
    }

    /// The same, all samples being of the host of this name.
    #[must_use]
    pub fn of_host(self, name: &str) -> Self {
        Self { host: Some(name.to_owned()), ..self }
    }
}

/// Sends what comes until nothing does.
fn pass_on(outlet: &Outlet, host: Option<&str>, mut next: impl FnMut() -> Result<HostSample, StreamError>) {
    loop {
        let sample = match next() {
            Ok(sample) => sample,
            Err(error) => return outlet.fail(error.to_string()),
        };
        let host = host.map_or_else(|| sample.host.clone(), Text::from);
        if outlet.sample(HostSample { host, ..sample }).is_err() {
            return;
        }
    }
}

/// Passes a child's samples on. The thread that reads them ends with the child, but for one that has left its output to
/// children of its own, and so it is not waited for.
fn follow(remote: Result<Remote, StreamError>, host: Option<String>, outlet: Outlet) -> io::Result<Line> {
    let mut remote = match remote {
        Ok(remote) => remote,
        Err(error) => {
            outlet.fail(error.to_string());
            return Ok(Line::default());
        }
    };
    let ender = remote.ender();
    thread::Builder::new()
        .name("probe".to_owned())
        .spawn(move || pass_on(&outlet, host.as_deref(), || remote.next_sample()))?;
    Ok(Line { questions: None, ender: Some(ender), thread: None })
}

/// Passes on what somebody writes.
fn listen(name: &str, input: Box<dyn Read + Send>, host: Option<&str>, outlet: &Outlet) {
    let ended = || StreamError::Ended { place: name.to_owned(), reason: "their writer has gone".to_owned() };
    match SampleStream::begin(BufReader::new(input), name, StreamClock::Ours, outlet.origin()) {
        Ok(mut stream) => pass_on(outlet, host, || stream.next_sample()?.ok_or_else(ended)),
        Err(error) => outlet.fail(error.to_string()),
    }
}

impl Feed for StreamFeed {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn start(self: Box<Self>, outlet: Outlet) -> io::Result<Line> {
        let Self { name, input, host } = *self;
        let origin = outlet.origin();
        match input {
            Input::Child(command, clock) => {
                follow(Remote::start(*command, &name, clock, origin), host, outlet)
            }
            Input::Ssh(ssh) => follow(ssh.start(origin), host, outlet),
            Input::Reader(input) => {
                let listen = move || listen(&name, input, host.as_deref(), &outlet);
                thread::Builder::new().name("probe".to_owned()).spawn(listen)?;
                Ok(Line::default())
            }
        }
    }
}
