//! What a source of samples is, and the channel that it sends to.

use std::sync::mpsc::{Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Deadline};
use std::{fmt, io};

use plimsoll_record::{HostSample, Text};
use plimsoll_units::{Instant, best_effort};

use crate::stream::KillHandle;

type Start = Box<dyn FnOnce(SampleSender) -> io::Result<RunningSource> + Send>;

/// Something that sends samples of hosts.
pub struct SampleSource {
    /// In messages, such as `local` or `ssh://web`.
    pub name: String,
    /// The host's name here, whatever the source calls it.
    pub(super) host: Option<Text>,
    pub(super) start: Start,
}

impl SampleSource {
    /// A source that `start` lets send, in a thread of its own, until what it returns is dropped.
    pub(super) fn new(
        name: &str,
        start: impl FnOnce(SampleSender) -> io::Result<RunningSource> + Send + 'static,
    ) -> Self {
        Self { name: name.to_owned(), host: None, start: Box::new(start) }
    }

    /// The same, all samples being of the host with this name.
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
    /// The index of the source, in the order they were given.
    pub source: usize,
    pub event: SourceEvent,
}

/// What a source sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceEvent {
    /// A sample, its times counted from the run's begin.
    Sample(HostSample),
    /// It has ended, and why, with what to do; nothing comes after that.
    Failed(String),
}

/// What goes through the channel.
#[derive(Debug)]
pub(super) enum Message {
    Event(SourceEvent),
    /// Everything that was asked for up to this question has been sent.
    Answered(u64),
}

/// The run is over: no one takes samples any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

/// Where a source sends to.
pub(super) struct SampleSender {
    pub(super) source: usize,
    pub(super) host: Option<Text>,
    /// The instant from which the times of samples count.
    pub(super) origin: Instant,
    pub(super) channel: SyncSender<(usize, Message)>,
}

impl SampleSender {
    /// Sends a sample; waits while too many have not been taken.
    pub(super) fn sample(&self, sample: HostSample) -> Result<(), Closed> {
        let host = self.host.as_ref().unwrap_or(&sample.host).clone();
        self.send(Message::Event(SourceEvent::Sample(HostSample { host, ..sample })))
    }

    /// Reports why nothing will come any more.
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

/// How long a thread may take to end once nothing more is asked of it. What it reads may not answer: it is left then, and ends
/// with the process.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How often its end is checked.
const POLL: Duration = Duration::from_millis(2);

/// A source that runs. Dropping it ends it: its child is killed, and its thread is waited for, but not for ever.
#[derive(Debug, Default)]
pub(super) struct RunningSource {
    /// Asks it for a sample at once; `None` if it sends only on its own.
    pub(super) questions: Option<Sender<u64>>,
    pub(super) child: Option<KillHandle>,
    /// The thread, if it ends once questions and child are gone.
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
