//! A source of samples, and the channel that it sends to.

use std::sync::mpsc::{Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Deadline};
use std::{fmt, io};

use plimsoll_record::{HostSample, Text};
use plimsoll_units::{Instant, best_effort};

use crate::stream::KillHandle;

type Start = Box<dyn FnOnce(SampleSender) -> io::Result<RunningSource> + Send>;

/// A source of host samples, not yet started.
pub struct SampleSource {
    /// The name in messages, such as `local` or `ssh://web`.
    pub name: String,
    /// The host name given to all samples, instead of the one that the source sends.
    pub(super) host: Option<Text>,
    pub(super) start: Start,
}

impl SampleSource {
    /// Creates a source. `start` begins to send in its own thread, until the value that it returns is dropped.
    pub(super) fn new(
        name: &str,
        start: impl FnOnce(SampleSender) -> io::Result<RunningSource> + Send + 'static,
    ) -> Self {
        Self { name: name.to_owned(), host: None, start: Box::new(start) }
    }

    /// Returns the source with this host name for all its samples.
    #[must_use]
    pub fn of_host(self, name: &str) -> Self {
        Self { host: Some(name.into()), ..self }
    }
}

impl fmt::Debug for SampleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SampleSource").field(&self.name).finish()
    }
}

/// An event of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The index of the source in the order in which the sources were given.
    pub source: usize,
    pub event: SourceEvent,
}

/// An event that a source sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceEvent {
    /// A sample. Its times count from the beginning of the run.
    Sample(HostSample),
    /// The source has ended and sends nothing more. The text gives the reason and advice.
    Failed(String),
}

/// A message in the channel.
#[derive(Debug)]
pub(super) enum Message {
    Event(SourceEvent),
    /// All samples requested up to this question have been sent.
    Answered(u64),
}

/// The receiver is gone because the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

/// The sending end of the channel, for one source.
pub(super) struct SampleSender {
    pub(super) source: usize,
    pub(super) host: Option<Text>,
    /// The instant from which times in samples count.
    pub(super) origin: Instant,
    pub(super) channel: SyncSender<(usize, Message)>,
}

impl SampleSender {
    /// Sends a sample; blocks while the channel is full.
    pub(super) fn sample(&self, sample: HostSample) -> Result<(), Closed> {
        let host = self.host.as_ref().unwrap_or(&sample.host).clone();
        self.send(Message::Event(SourceEvent::Sample(HostSample { host, ..sample })))
    }

    /// Reports why this source sends nothing more.
    pub(super) fn fail(&self, why: String) -> Result<(), Closed> {
        self.send(Message::Event(SourceEvent::Failed(why)))
    }

    pub(super) fn answered(&self, question: u64) -> Result<(), Closed> {
        self.send(Message::Answered(question))
    }

    fn send(&self, message: Message) -> Result<(), Closed> {
        self.channel.send((self.source, message)).map_err(|_| Closed)
    }
}

/// How long to wait for a thread after its last question. Its target may not answer; the thread is then abandoned, and ends with
/// the process.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How often the thread's end is checked.
const POLL: Duration = Duration::from_millis(2);

/// A running source. Dropping it kills its child and waits for its thread, up to [`END_TIMEOUT`].
#[derive(Debug, Default)]
pub(super) struct RunningSource {
    /// Requests a sample now; `None` if the source sends only on its own.
    pub(super) questions: Option<Sender<u64>>,
    pub(super) child: Option<KillHandle>,
    /// The thread, if it ends once `questions` and `child` are gone.
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Drop for RunningSource {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(child) = self.child.take() {
            child.kill();
        }
        let Some(thread) = self.thread.take() else { return };
        let until = Deadline::now() + END_TIMEOUT;
        while !thread.is_finished() && Deadline::now() < until {
            std::thread::sleep(POLL);
        }
        if thread.is_finished() {
            best_effort(thread.join(), "its panic was printed when it happened");
        }
    }
}
