//! Hosts that another process samples.

use std::io::{self, BufReader, Read};
use std::thread;

use plimsoll_record::HostSample;
use plimsoll_units::best_effort;

use super::channel::{Closed, RunningSource, SampleSender, SampleSource};
use crate::stream::{SampleStream, Ssh, StreamClock, StreamError};

impl SampleSource {
    /// Creates a source of samples that another process of this machine writes, for example to our standard input. The reading
    /// thread lives until the input or this process ends, since nothing else ends its wait for a line.
    pub fn reader(name: &str, input: impl Read + Send + 'static) -> Self {
        let place = name.to_owned();
        Self::new(name, move |sender| {
            spawn(move || read(&place, input, &sender))?;
            Ok(RunningSource::default())
        })
    }

    /// Creates a source of another machine's samples. The reading thread ends with the child, unless the child has passed its output
    /// on to children of its own. So the thread is not waited for.
    pub fn ssh(name: &str, ssh: Ssh) -> Self {
        Self::new(name, move |sender| {
            let remote = ssh.start(sender.origin);
            let child = remote.as_ref().ok().map(|remote| remote.handle.clone());
            spawn(move || match remote {
                Ok(mut remote) => forward(&sender, || remote.next_sample()),
                Err(error) => sender.fail(error.to_string()),
            })?;
            Ok(RunningSource { questions: None, child, thread: None })
        })
    }
}

/// Forwards the samples that another process writes.
fn read(name: &str, input: impl Read, sender: &SampleSender) -> Result<(), Closed> {
    let ended = || StreamError::Ended { place: name.to_owned(), reason: "their writer has gone".to_owned() };
    match SampleStream::begin(BufReader::new(input), name, StreamClock::Ours, sender.origin) {
        Ok(mut stream) => forward(sender, || stream.next_sample()?.ok_or_else(ended)),
        Err(error) => sender.fail(error.to_string()),
    }
}

/// Sends samples until there are no more, or the run is over.
fn forward(
    sender: &SampleSender,
    mut next: impl FnMut() -> Result<HostSample, StreamError>,
) -> Result<(), Closed> {
    loop {
        match next() {
            Ok(sample) => sender.sample(sample)?,
            Err(error) => return sender.fail(error.to_string()),
        }
    }
}

/// Starts a thread that ends when its samples do or the run is over.
fn spawn(run: impl FnOnce() -> Result<(), Closed> + Send + 'static) -> io::Result<()> {
    let run = move || best_effort(run(), "the run is over");
    thread::Builder::new().name("probe".to_owned()).spawn(run).map(drop)
}
