//! Taking a profile on a thread of its own, beside the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use super::error::ProfileError;
use super::{Source, WARM_UP};

/// A thread that is told to end does so within this time, unless it waits for a server. Then it is left to itself.
const LEAVE: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) content: Result<Vec<u8>, ProfileError>,
}

/// A profile that is being taken.
#[derive(Debug)]
pub(super) struct Capture {
    began: Instant,
    done: Arc<AtomicBool>,
    taken: Receiver<Taken>,
    /// The thread is told to end by dropping it.
    go_on: Sender<()>,
}

impl Capture {
    /// Begins to take one when the load is warm.
    pub(super) fn begin(source: Source, time: Duration) -> Self {
        let (go_on, cancelled) = channel();
        let (outcome, taken) = channel();
        let done = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&done);
        thread::spawn(move || {
            let one = take(&source, time, &cancelled);
            // Nobody waits for it any more if the run was given up.
            outcome.send(one).ok();
            ended.store(true, Ordering::Relaxed);
        });
        Self { began: RealClock.now(), done, taken, go_on }
    }

    /// Set once the profile is there, or never will be.
    pub(super) fn done(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.done)
    }

    /// The load is over: what there is.
    pub(super) fn end(self) -> Taken {
        drop(self.go_on);
        self.taken.recv_timeout(LEAVE).unwrap_or_else(|_| Taken {
            began: self.began,
            ended: RealClock.now(),
            content: Err(ProfileError::Cancelled),
        })
    }
}

fn take(source: &Source, time: Duration, cancelled: &Receiver<()>) -> Taken {
    let warm = cancelled.recv_timeout(WARM_UP) == Err(RecvTimeoutError::Timeout);
    let began = RealClock.now();
    let content = match source {
        _ if !warm => Err(ProfileError::Cancelled),
        Source::Page(page) => page.take(time),
        Source::Perf(perf) => perf.take(time, cancelled),
    };
    let ended = RealClock.now();
    Taken { began, ended, content: content.and_then(|content| with_samples(source, content)) }
}

/// A profile of a target under load in which nothing ran is of something else.
fn with_samples(source: &Source, content: Vec<u8>) -> Result<Vec<u8>, ProfileError> {
    let empty =
        plimsoll_profile::parse(source.form(), &content).is_ok_and(|stacks| stacks.total().samples == 0);
    if empty { Err(ProfileError::Empty { source_name: source.name() }) } else { Ok(content) }
}
