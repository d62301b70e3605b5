//! Takes a profile on its own thread during the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use plimsoll_record::ProfileForm;
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

use super::error::ProfileError;
use super::page::ProfilePage;
use super::perf::{Perf, PerfRecording};

/// The time between the start of the load and the start of the profile.
pub(super) const WARM_UP: Duration = Duration::from_secs(1);

/// How long the thread may take to end when asked. It takes longer only if it waits for a server, and is then abandoned.
const LEAVE: Duration = Duration::from_secs(1);

/// How often the interrupt is checked while a recording is converted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub(super) enum Source {
    Page(ProfilePage),
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
            Self::Page(page) => page.name(),
            Self::Perf(perf) => perf.name(),
        }
    }

    pub(super) fn try_out(&self) -> Result<(), ProfileError> {
        match self {
            Self::Page(page) => page.take(Duration::from_secs(1)).map(drop),
            Self::Perf(perf) => perf.try_out(),
        }
    }

    /// Records for `time`, or until the sender of `cancelled` is dropped.
    fn record(&self, time: Duration, cancelled: &Receiver<()>) -> Result<Recording<'_>, ProfileError> {
        match self {
            Self::Page(page) => page.take(time).map(Recording::Profile),
            Self::Perf(perf) => perf.record(time, cancelled).map(Recording::Perf),
        }
    }
}

/// The result of recording, which may still have to be converted to a profile.
#[derive(Debug)]
enum Recording<'a> {
    Profile(Vec<u8>),
    Perf(PerfRecording<'a>),
}

impl Recording<'_> {
    fn convert(self, cancelled: &Receiver<()>) -> Result<Vec<u8>, ProfileError> {
        match self {
            Self::Profile(content) => Ok(content),
            Self::Perf(recording) => recording.convert(cancelled),
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
    /// Starts the thread, which begins to record after [`WARM_UP`].
    pub(super) fn begin(source: Source, time: Duration) -> Self {
        let (go_on, cancelled) = channel();
        let (outcome, taken) = channel();
        let done = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&done);
        thread::spawn(move || {
            best_effort(outcome.send(take(&source, time, &cancelled, &ended)), "the run was given up");
        });
        Self { began: RealClock.now(), done, taken, go_on }
    }

    /// A flag that is set once recording has ended. The profile may still have to be converted.
    pub(super) fn done(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.done)
    }

    /// Cancels a recording in progress, or waits for the conversion of a finished one unless the run is `interrupted`.
    pub(super) fn end(self, interrupted: impl Fn() -> bool) -> Taken {
        while self.done.load(Ordering::Relaxed) && !interrupted() {
            match self.taken.recv_timeout(LOOK_EVERY) {
                Ok(taken) => return taken,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        drop(self.go_on);
        self.taken.recv_timeout(LEAVE).unwrap_or_else(|_| Taken {
            began: self.began,
            ended: RealClock.now(),
            content: Err(ProfileError::Cancelled),
        })
    }
}

fn take(source: &Source, time: Duration, cancelled: &Receiver<()>, done: &AtomicBool) -> Taken {
    let warm = cancelled.recv_timeout(WARM_UP) == Err(RecvTimeoutError::Timeout);
    let began = RealClock.now();
    let recording = if warm { source.record(time, cancelled) } else { Err(ProfileError::Cancelled) };
    let ended = RealClock.now();
    done.store(true, Ordering::Relaxed);
    let content = recording.and_then(|recording| recording.convert(cancelled));
    Taken { began, ended, content: content.and_then(|content| with_samples(source, content)) }
}

/// Refuses an empty profile: under load, it must be of something other than the target.
fn with_samples(source: &Source, content: Vec<u8>) -> Result<Vec<u8>, ProfileError> {
    let empty =
        plimsoll_profile::parse(source.form(), &content).is_ok_and(|stacks| stacks.total().samples == 0);
    if empty { Err(ProfileError::Empty { source_name: source.name() }) } else { Ok(content) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Starts a capture by a perf that has recorded at once, and converts once this file is there; waits for the recording.
    fn recorded(folder: &Path, converts: &Path) -> Capture {
        let wait = format!("until [ -e {} ]; do sleep 0.01; done", converts.display());
        let samples = r"printf '5\n  1 main (/a)\n'";
        let begins = format!("echo $$ > {0}/pid.new; mv {0}/pid.new {0}/pid", folder.display());
        let perf =
            Perf::scripted(folder, &format!("[ \"$1\" != script ] || {{ {begins}; {wait}; {samples}; }}"));
        let capture = Capture::begin(Source::Perf(perf), Duration::ZERO);
        while !capture.done.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
        capture
    }

    #[test]
    fn a_recording_is_converted_after_the_profiled_time() {
        let folder = tempfile::tempdir().unwrap();
        let converts = folder.path().join("converts");
        let capture = recorded(folder.path(), &converts);
        let before = RealClock.now();
        let taken = capture.end(|| {
            fs::write(&converts, "").unwrap();
            false
        });
        assert!(taken.content.is_ok(), "{taken:?}");
        assert!(taken.began <= taken.ended && taken.ended <= before, "{taken:?}, converted after {before:?}");
    }

    #[test]
    fn an_interrupt_ends_the_conversion_too() {
        let folder = tempfile::tempdir().unwrap();
        let capture = recorded(folder.path(), &folder.path().join("never"));
        let pid = folder.path().join("pid");
        while !pid.exists() {
            thread::sleep(LOOK_EVERY);
        }
        let taken = capture.end(|| true);
        assert!(matches!(taken.content, Err(ProfileError::Cancelled)), "{taken:?}");
        let pid = fs::read_to_string(pid).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "perf goes on");
    }
}
