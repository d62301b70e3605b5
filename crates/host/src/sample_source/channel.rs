//! What a source of samples is, and the channel that it sends to.

use std::io;
use std::sync::mpsc::{Sender, SyncSender};
use std::thread::JoinHandle;

use plimsoll_record::HostSample;
use plimsoll_units::{Instant, best_effort};

use crate::stream::KillHandle;

/// Something that sends samples of hosts.
pub trait SampleSource: std::fmt::Debug + Send {
    /// Its name in messages, such as `local` or `ssh://web`.
    fn name(&self) -> String;

    /// Begins to send, in a thread of its own, until what it returns is dropped.
    ///
    /// # Errors
    /// When the thread cannot be started.
    fn start(self: Box<Self>, sender: SampleSender) -> io::Result<RunningSource>;
}

/// An event of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The index of the source, in the order they were given.
    pub source: usize,
    /// What came.
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
pub struct Closed;

/// Where a source sends to.
#[derive(Debug)]
pub struct SampleSender {
    source: usize,
    origin: Instant,
    channel: SyncSender<(usize, Message)>,
}

impl SampleSender {
    pub(super) fn new(source: usize, origin: Instant, channel: SyncSender<(usize, Message)>) -> Self {
        Self { source, origin, channel }
    }

    /// The instant from which the times of samples count.
    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Sends a sample; waits while too many have not been taken.
    ///
    /// # Errors
    /// When the run is over.
    pub fn sample(&self, sample: HostSample) -> Result<(), Closed> {
        self.send(Message::Event(SourceEvent::Sample(sample)))
    }

    /// Reports why nothing will come any more.
    ///
    /// # Errors
    /// When the run is over, so that no one needs to know.
    pub fn fail(&self, why: String) -> Result<(), Closed> {
        self.send(Message::Event(SourceEvent::Failed(why)))
    }

    pub(super) fn answered(&self, question: u64) -> Result<(), Closed> {
        self.send(Message::Answered(question))
    }

    fn send(&self, message: Message) -> Result<(), Closed> {
        self.channel.send((self.source, message)).map_err(|_| Closed)
    }
}

/// A source that runs. Dropping it ends it: its child is killed, and its thread is waited for if it is sure to end.
#[derive(Debug, Default)]
pub struct RunningSource {
    /// Asks it for a sample at once; `None` if it sends only on its own.
    pub(super) questions: Option<Sender<u64>>,
    /// Ends its child.
    pub(super) child: Option<KillHandle>,
    /// The thread, if it is sure to end once questions and child are gone.
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Drop for RunningSource {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(child) = self.child.take() {
            child.kill();
        }
        if let Some(thread) = self.thread.take() {
            best_effort(
                thread.join(),
                "its panic was printed when it happened, and what it sent before stands",
            );
        }
    }
}
