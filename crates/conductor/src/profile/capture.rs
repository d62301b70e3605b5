//! A profile is taken on a thread of its own while the load is on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use plimsoll_record::ProfileForm;
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

use super::error::ProfileError;
use super::page;
use super::perf::Perf;

/// The load is on for so long before the profile begins.
pub(super) const WARM_UP: Duration = Duration::from_secs(1);

/// A thread that is asked to end does so within this time, unless it waits for a server. Then it is left to itself.
const LEAVE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub(super) enum Source {
    /// The page of this URL.
    Page(String),
    Perf(Perf),
}

impl Source {
    pub(super) fn form(&self) -> ProfileForm {
        match self {
            Self::Page(_) => ProfileForm::Pprof,
            Self::Perf(_) => ProfileForm::Perf,
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Page(url) => url.clone(),
            Self::Perf(perf) => perf.name(),
        }
    }

    pub(super) fn try_out(&self) -> Result<(), ProfileError> {
        match self {
            Self::Page(url) => page::take(url, Duration::from_secs(1)).map(drop),
            Self::Perf(perf) => perf.try_out(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Taken {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) content: Result<Vec<u8>, ProfileError>,
}

#[derive(Debug)]
pub(super) struct Capture {
    began: Instant,
    done: Arc<AtomicBool>,
    taken: Receiver<Taken>,
    /// Dropping it asks the thread to end.
    go_on: Sender<()>,
}

impl Capture {
    /// Starts the thread, which begins when the load is warm.
    pub(super) fn begin(source: Source, time: Duration) -> Self {
        let (go_on, cancelled) = channel();
        let (outcome, taken) = channel();
        let done = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&done);
        thread::spawn(move || {
            best_effort(outcome.send(take(&source, time, &cancelled)), "the run was given up");
            ended.store(true, Ordering::Relaxed);
        });
        Self { began: RealClock.now(), done, taken, go_on }
    }

    /// Set once the profile is there, or never will be.
    pub(super) fn done(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.done)
    }

    /// Ends it, and gives what there is.
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
        Source::Page(url) => page::take(url, time),
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
