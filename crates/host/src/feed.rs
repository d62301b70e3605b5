//! Samples that come by themselves while a run goes on, each feed from a thread of its own.
//!
//! A feed sends into one bounded channel that all feeds of a run share. Whoever conducts the run takes out what has come
//! when there is time; if that takes long, the feeds wait and not the load. A feed that fails says so once and ends
//! nothing but itself.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_record::HostSample;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::stream::Ender;

mod local;
mod stream;

pub use local::LocalFeed;
pub use stream::StreamFeed;

/// Samples that may wait to be taken out: some seconds of a few hosts.
const WAITING_MAX: usize = 4096;

/// Something that sends samples of hosts.
pub trait Feed: std::fmt::Debug + Send {
    /// What it is called where it is told about, such as `local` or `ssh://web`.
    fn name(&self) -> String;

    /// Begins to send, in a thread of its own, until the line is dropped.
    ///
    /// # Errors
    /// When there can be no such thread.
    fn start(self: Box<Self>, outlet: Outlet) -> io::Result<Line>;
}

/// What came from a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The index of the feed, in the order they were given.
    pub feed: usize,
    /// What came.
    pub told: Told,
}

/// What a feed tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// A sample, its times counted from the run's begin.
    Sample(HostSample),
    /// It has ended, and why, with what to do; nothing comes after that.
    Failed(String),
}

/// What goes through the channel.
#[derive(Debug)]
enum Message {
    Told(Told),
    /// Everything that was asked for up to this question has been sent.
    Answered(u64),
}

/// Nobody takes samples any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Where a feed sends to.
#[derive(Debug)]
pub struct Outlet {
    feed: usize,
    origin: Instant,
    sender: SyncSender<(usize, Message)>,
}

impl Outlet {
    /// The instant from which the times of samples count.
    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Sends a sample; waits while too many have not been taken.
    ///
    /// # Errors
    /// When the run is over.
    pub fn sample(&self, sample: HostSample) -> Result<(), Closed> {
        self.send(Message::Told(Told::Sample(sample)))
    }

    /// Says why nothing will come any more. Nobody hears it if the run is over.
    pub fn fail(&self, why: String) {
        if self.send(Message::Told(Told::Failed(why))).is_err() {
            // The run is over, and with it the wish to know.
        }
    }

    fn answered(&self, question: u64) -> Result<(), Closed> {
        self.send(Message::Answered(question))
    }

    fn send(&self, message: Message) -> Result<(), Closed> {
        self.sender.send((self.feed, message)).map_err(|_| Closed)
    }
}

/// A feed that runs. Dropped, it is ended: its child is killed, its thread waited for if that is sure to end.
#[derive(Debug, Default)]
pub struct Line {
    /// Where it is asked for a sample at once; `None` if it tells only of itself.
    questions: Option<Sender<u64>>,
    /// What ends its child.
    ender: Option<Ender>,
    /// The thread, if it is sure to end once questions and child are gone.
    thread: Option<JoinHandle<()>>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(ender) = self.ender.take() {
            ender.end();
        }
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            // Its panic was printed when it happened, and what it sent before stands.
        }
    }
}

/// A line and what was asked of it.
#[derive(Debug)]
struct Watched {
    line: Line,
    asked: u64,
    answered: u64,
    /// It answered too late the last time, so that it is no longer waited for.
    slow: bool,
    /// It has told something, or never will.
    heard: bool,
}

impl Watched {
    fn owes(&self) -> bool {
        self.line.questions.is_some() && self.answered < self.asked
    }
}

/// All feeds of a run.
#[derive(Debug)]
pub struct Feeds {
    receiver: Receiver<(usize, Message)>,
    lines: Vec<Watched>,
    /// Until when answers to the last question are waited for.
    deadline: Instant,
    /// What could not be started.
    stillborn: Vec<News>,
}

impl Feeds {
    /// Starts every feed. Times in the samples count from `origin`, when the run began.
    pub fn start(feeds: Vec<Box<dyn Feed>>, origin: Instant) -> Self {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let mut stillborn = Vec::new();
        let mut lines = Vec::new();
        for (feed, source) in feeds.into_iter().enumerate() {
            let line = source.start(Outlet { feed, origin, sender: sender.clone() });
            let line = line.unwrap_or_else(|error| {
                let why = format!("could not start a thread ({error}); see `ulimit -u`");
                stillborn.push(News { feed, told: Told::Failed(why) });
                Line::default()
            });
            let heard = stillborn.iter().any(|news| news.feed == feed);
            lines.push(Watched { line, asked: 0, answered: 0, slow: false, heard });
        }
        Self { receiver, lines, deadline: origin, stillborn }
    }

    /// Asks every feed that can be asked for a sample at once. Answers are waited for at most this long.
    pub fn ask(&mut self, patience: Duration) {
        self.deadline = RealClock.now() + patience;
        for watched in &mut self.lines {
            watched.asked += 1;
            let gone = watched.line.questions.as_ref().is_some_and(|line| line.send(watched.asked).is_err());
            if gone {
                watched.line.questions = None;
            }
        }
    }

    /// What has come and was not taken yet; waits for nothing.
    pub fn news(&mut self) -> Vec<News> {
        let mut news = std::mem::take(&mut self.stillborn);
        // What comes meanwhile is for the next time, so that this ends however fast samples come.
        for _ in 0..WAITING_MAX {
            let Ok(message) = self.receiver.try_recv() else { break };
            news.extend(self.take(message));
        }
        news
    }

    /// As [`Feeds::news`], after anything has come, or the time to wait is over; `None` if nothing will come any more.
    pub fn next_news(&mut self, patience: Duration) -> Option<Vec<News>> {
        let mut news = self.news();
        if news.is_empty() {
            match self.receiver.recv_timeout(patience) {
                Ok(message) => news.extend(self.take(message)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            news.extend(self.news());
        }
        Some(news)
    }

    /// As [`Feeds::news`], after every feed has told something, or failed, or the time to wait is over: another machine takes
    /// a while to begin.
    pub fn first_news(&mut self, patience: Duration) -> Vec<News> {
        self.deadline = RealClock.now() + patience;
        self.awaited(|line| !line.heard)
    }

    /// As [`Feeds::news`], after the last question was answered by all that answer promptly, or the time to wait is over.
    pub fn answers(&mut self) -> Vec<News> {
        let news = self.awaited(|line| line.owes() && !line.slow);
        self.lines.iter_mut().for_each(|line| line.slow = line.owes());
        news
    }

    /// What comes while any line is waited for, until the deadline.
    fn awaited(&mut self, waits: impl Fn(&Watched) -> bool) -> Vec<News> {
        let mut news = self.news();
        while self.lines.iter().any(&waits) {
            match self.receiver.recv_timeout(self.deadline.since(RealClock.now())) {
                Ok(message) => news.extend(self.take(message)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        news
    }

    fn take(&mut self, (feed, message): (usize, Message)) -> Option<News> {
        self.lines[feed].heard = true;
        match message {
            Message::Answered(question) => {
                self.lines[feed].answered = question;
                None
            }
            Message::Told(told) => {
                if matches!(told, Told::Failed(_)) {
                    self.lines[feed].line.questions = None;
                }
                Some(News { feed, told })
            }
        }
    }
}

#[cfg(test)]
mod tests;
