//! Sources of samples that work alongside a run, each in its own thread.
//!
//! All sources of a run share one bounded channel. The conductor takes samples out when it has time; until then the sources
//! wait, and the load does not. A source that fails reports that once and affects nothing else.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use channel::{Message, RunningSource, SampleSender};

mod channel;
mod local;
mod stream;

pub use channel::{Received, SampleSource, SourceEvent};

/// The most samples that wait in the channel: some seconds of a few hosts.
const MAX_WAITING: usize = 4096;

/// After this time in a run, sampling slows down.
const FULL_RATE: Duration = Duration::from_secs(3600);

/// Returns the time between two samples after a run has lasted for `running`: `usual` for the first hour, then `usual` times the
/// hours of the run. A run of a day then has 15,000 samples of a kind, and not 86,400.
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

/// Returns when the next round of samples begins: an interval after the last one was due, but no sooner than a pause as long
/// as the last round took. So a host too busy to be sampled in time keeps at least half of its time, and is not sampled twice
/// in a row afterwards.
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

/// A source, and the state of the questions sent to it.
#[derive(Debug)]
struct Slot {
    source: RunningSource,
    asked: u64,
    answered: u64,
    /// Its last answer was late, so [`SampleSources::wait_answers`] does not wait for it.
    slow: bool,
    /// It has sent something, or could not be started.
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
    /// The end of waiting for answers to the last question.
    deadline: Instant,
    /// Failures of sources that could not be started.
    not_started: Vec<Received>,
}

impl SampleSources {
    /// Starts every source. Times in the samples count from `origin`, the beginning of the run.
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

    /// Asks every source that takes questions for a sample now. [`Self::wait_answers`] waits at most for `timeout`.
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

    /// Takes out all events that have arrived, without waiting.
    pub fn take(&mut self) -> Vec<Received> {
        let mut received = std::mem::take(&mut self.not_started);
        // Bounded, so that this returns however fast samples arrive; the rest is left for the next call.
        for _ in 0..MAX_WAITING {
            let Ok(message) = self.receiver.try_recv() else { break };
            received.extend(self.note(message));
        }
        received
    }

    /// Like [`Self::take`], but first waits until an event arrives or `timeout` passes; `None` if no source is left.
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

    /// Like [`Self::take`], but first waits until every source has sent something or failed, or `timeout` passes. Another machine
    /// takes a while to start.
    pub fn wait_first(&mut self, timeout: Duration) -> Vec<Received> {
        self.deadline = RealClock.now() + timeout;
        self.wait_while(|slot| !slot.heard)
    }

    /// Like [`Self::take`], but first waits until all sources that usually answer in time have answered the last question, or until the
    /// deadline.
    pub fn wait_answers(&mut self) -> Vec<Received> {
        let received = self.wait_while(|slot| slot.owes_answer() && !slot.slow);
        self.slots.iter_mut().for_each(|slot| slot.slow = slot.owes_answer());
        received
    }

    /// Takes out events while `waits` holds for any source, until the deadline.
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
