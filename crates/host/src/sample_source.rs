//! Sources of samples that run alongside a run, each in a thread of its own.
//!
//! All sources of a run share one bounded channel. The conductor takes samples out when it has time; until then the sources
//! wait, and the load does not. A source that fails reports that once and ends nothing but itself.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use channel::{Message, RunningSource, SampleSender};

mod channel;
mod local;
mod stream;

pub use channel::{Received, SampleSource, SourceEvent};

/// Samples that may wait to be taken out: some seconds of a few hosts.
const MAX_WAITING: usize = 4096;

/// After this time samples become rarer.
const FULL_RATE: Duration = Duration::from_secs(3600);

/// The time from one sample to the next after so long a run: the usual one for an hour, and a 3600th of the run's time later,
/// so that a run of a day has 15,000 samples of a kind, and not 86,400.
///
/// ```
/// # use std::time::Duration;
/// # use plimsoll_host::sampling_interval;
/// let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
/// assert_eq!(sampling_interval(second, hour / 2), second);
/// assert_eq!(sampling_interval(second, hour * 24), second * 24);
/// ```
pub fn sampling_interval(usual: Duration, running: Duration) -> Duration {
    usual.mul_f64((running.as_secs_f64() / FULL_RATE.as_secs_f64()).max(1.0))
}

/// When the next round of samples begins, after one that was due at an instant: an interval later, and after a pause that is as
/// long as the round was. A host too busy to be sampled in time is so left half of its time at least, and is not sampled twice
/// at once afterwards.
///
/// ```
/// # use std::time::Duration;
/// # use plimsoll_host::next_round;
/// # use plimsoll_units::Instant;
/// let second = Duration::from_secs(1);
/// let due = Instant::from_nanos(0) + 9 * second;
/// assert_eq!(next_round(due, second, (due, due + second / 4)), due + second);
/// assert_eq!(next_round(due, second, (due, due + 3 * second)), due + 6 * second);
/// ```
pub fn next_round(due: Instant, interval: Duration, (began, ended): (Instant, Instant)) -> Instant {
    (due + interval).max(ended + ended.since(began))
}

/// A source and the questions sent to it.
#[derive(Debug)]
struct Slot {
    source: RunningSource,
    asked: u64,
    answered: u64,
    /// It answered too late the last time, so that it is no longer waited for.
    slow: bool,
    /// It has sent something, or never will.
    heard: bool,
}

impl Slot {
    fn owes_answer(&self) -> bool {
        self.source.questions.is_some() && self.answered < self.asked
    }
}

/// All sources of a run.
#[derive(Debug)]
pub struct SampleSources {
    receiver: Receiver<(usize, Message)>,
    slots: Vec<Slot>,
    /// Until when answers to the last question are waited for.
    deadline: Instant,
    /// Sources that could not be started.
    not_started: Vec<Received>,
}

impl SampleSources {
    /// Starts every source. Times in the samples count from `origin`, when the run began.
    pub fn start(sources: Vec<SampleSource>, origin: Instant) -> Self {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let mut not_started = Vec::new();
        let mut slots = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            let SampleSource { host, start, .. } = source;
            let started = start(SampleSender { source: index, host, origin, channel: sender.clone() });
            let heard = started.is_err();
            let source = started.unwrap_or_else(|error| {
                let why = format!("could not start a thread ({error}); see `ulimit -u`");
                not_started.push(Received { source: index, event: SourceEvent::Failed(why) });
                RunningSource::default()
            });
            slots.push(Slot { source, asked: 0, answered: 0, slow: false, heard });
        }
        Self { receiver, slots, deadline: origin, not_started }
    }

    /// Asks every source that takes questions for a sample at once. [`Self::wait_answers`] waits at most this long.
    pub fn ask(&mut self, timeout: Duration) {
        self.deadline = RealClock.now() + timeout;
        for slot in &mut self.slots {
            slot.asked += 1;
            let question = slot.asked;
            let gone = slot.source.questions.as_ref().is_some_and(|to| to.send(question).is_err());
            if gone {
                slot.source.questions = None;
            }
        }
    }

    /// Takes out what has come, without waiting.
    pub fn take(&mut self) -> Vec<Received> {
        let mut received = std::mem::take(&mut self.not_started);
        // What comes meanwhile is left for the next time, so that this ends however fast samples come.
        for _ in 0..MAX_WAITING {
            let Ok(message) = self.receiver.try_recv() else { break };
            received.extend(self.note(message));
        }
        received
    }

    /// As [`Self::take`], after anything has come, or the time to wait is over; `None` if nothing will come any more.
    pub fn wait_any(&mut self, timeout: Duration) -> Option<Vec<Received>> {
        let mut received = self.take();
        if received.is_empty() {
            match self.receiver.recv_timeout(timeout) {
                Ok(message) => received.extend(self.note(message)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            received.extend(self.take());
        }
        Some(received)
    }

    /// As [`Self::take`], after every source has sent something, or failed, or the time to wait is over: another machine
    /// takes a while to begin.
    pub fn wait_first(&mut self, timeout: Duration) -> Vec<Received> {
        self.deadline = RealClock.now() + timeout;
        self.wait_while(|slot| !slot.heard)
    }

    /// As [`Self::take`], after all sources that answer promptly have answered the last question, or the time to wait is over.
    pub fn wait_answers(&mut self) -> Vec<Received> {
        let received = self.wait_while(|slot| slot.owes_answer() && !slot.slow);
        self.slots.iter_mut().for_each(|slot| slot.slow = slot.owes_answer());
        received
    }

    /// Takes out what comes while any source is waited for, until the deadline.
    fn wait_while(&mut self, waits: impl Fn(&Slot) -> bool) -> Vec<Received> {
        let mut received = self.take();
        while self.slots.iter().any(&waits) {
            match self.receiver.recv_timeout(self.deadline.since(RealClock.now())) {
                Ok(message) => received.extend(self.note(message)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        received
    }

    fn note(&mut self, (index, message): (usize, Message)) -> Option<Received> {
        let slot = &mut self.slots[index];
        slot.heard = true;
        match message {
            Message::Answered(question) => {
                slot.answered = question;
                None
            }
            Message::Event(event) => {
                if matches!(event, SourceEvent::Failed(_)) {
                    slot.source.questions = None;
                }
                Some(Received { source: index, event })
            }
        }
    }
}

#[cfg(test)]
mod tests;
