//! Everything recorded, in memory and in the run file alike, and shown to the observer as it happens.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::{
    CpuProfile, Event, EventKind, FailureKind, Frame, GeneratorShare, HostSample, Manifest, Run, Sharing,
    Step,
};
use plimsoll_store::{RunWriter, SessionFile, StoreError};
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

use crate::progress::{Observer, Progress};

/// A run that is killed loses at most this much of its file.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    pub run: Run,
    pub file: Option<PathBuf>,
    /// Why the run file is missing or incomplete although it should not be.
    pub trouble: Option<StoreError>,
}

/// The run so far, its file and its observer. A disk that fails ends the file, never the run.
pub(crate) struct RunRecorder<'a> {
    run: Run,
    /// Keeps one copy of words and values that samples repeat, so that an hour of samples fits in memory.
    sharing: Sharing,
    file: Option<(PathBuf, RunWriter)>,
    /// What takes the run up again if this process dies.
    session: Option<SessionFile>,
    trouble: Option<StoreError>,
    observer: &'a mut dyn Observer,
    /// The instant from which all times of the run count.
    pub(crate) origin: Instant,
    /// When the file was last committed; `None` before the first frame, which is committed at once.
    committed: Option<Instant>,
}

impl<'a> RunRecorder<'a> {
    /// Begins to record now; into `file` too if that is given, with what takes the run up again next to it.
    pub(crate) fn begin(
        manifest: Manifest,
        file: Option<&Path>,
        session: Option<&str>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let create = |path: &Path| {
            let writer = RunWriter::create(path, &manifest, false)?;
            let session = session.map(|text| SessionFile::create(path, text)).transpose()?;
            Ok(((path.to_owned(), writer), session))
        };
        let (file, session, trouble) = match file.map(create).transpose() {
            Ok(made) => made.map_or((None, None, None), |(file, session)| (Some(file), session, None)),
            Err(error) => (None, None, Some(error)),
        };
        let origin = RealClock.now();
        let run = Run::begun(manifest);
        let sharing = Sharing::default();
        Self { run, sharing, file, session, trouble, observer, origin, committed: None }
    }

    /// Goes on with a run that another process began at `origin`.
    pub(crate) fn resume(
        run: Run,
        file: (PathBuf, RunWriter),
        session: SessionFile,
        origin: Instant,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (file, session, sharing) = (Some(file), Some(session), Sharing::default());
        Self { run, sharing, file, session, trouble: None, observer, origin, committed: None }
    }

    /// Why the file ended before the run, if it did so since the last call.
    pub(crate) fn take_trouble(&mut self) -> Option<StoreError> {
        self.trouble.take()
    }

    pub(crate) fn now(&self) -> Instant {
        RealClock.now()
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Shows the observer what is not recorded.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        self.observer.observe(progress);
    }

    /// Shows that the load is about to begin, and records what is worth knowing before it.
    pub(crate) fn announce(&mut self, remarks: Vec<(EventKind, String)>) {
        self.observer.observe(&Progress::Prepared(&self.run.manifest));
        remarks.into_iter().for_each(|(kind, text)| self.event(kind, text));
        if let Some(error) = &self.trouble {
            self.observer.observe(&Progress::NotKept(error));
        }
    }

    /// Records a step, in place of what was recorded under its index before. It is in the file at once, so that the run can be
    /// resumed from there.
    pub(crate) fn step(&mut self, step: Step) {
        self.write(|writer| writer.step(&step));
        self.write(RunWriter::commit);
        self.observer.observe(&Progress::StepRecorded(&step));
        self.run.record_step(step);
    }

    /// Records what is new of the generators of a step that is under way.
    pub(crate) fn generators(&mut self, step: u32, news: Option<Vec<GeneratorShare>>) {
        let Some(generators) = news else { return };
        self.write(|writer| writer.generators(step, &generators));
        if let Some(step) = self.run.steps.iter_mut().find(|known| known.index == step) {
            step.generators = generators;
        }
    }

    /// Records a frame; true if it and everything before it are safe in the file, or no file is kept.
    pub(crate) fn frame(&mut self, frame: Frame) -> bool {
        self.write(|writer| writer.frame(&frame));
        self.observer.observe(&Progress::Framed(&frame));
        self.run.frames.push(frame);
        let now = self.now();
        let is_due = self.committed.is_none_or(|committed| now.since(committed) >= COMMIT_EVERY);
        if is_due {
            self.committed = Some(now);
            self.write(RunWriter::commit);
        }
        is_due
    }

    pub(crate) fn host_sample(&mut self, sample: HostSample) {
        self.write(|writer| writer.host_sample(&sample));
        self.observer.observe(&Progress::Sampled(&sample));
        self.run.hosts.push(self.sharing.share(sample));
    }

    /// Records a profile, in place of what was recorded for its step before.
    pub(crate) fn profile(&mut self, profile: CpuProfile) {
        self.write(|writer| writer.profile(&profile));
        self.observer.observe(&Progress::ProfileRecorded(&profile));
        self.run.record_profile(profile);
    }

    /// Records an event and shows it.
    pub(crate) fn event(&mut self, kind: EventKind, text: String) {
        let event = Event { at_ns: self.now().nanos_since(self.origin), kind, failure: None, text };
        self.observer.observe(&Progress::Happened(&event));
        self.keep(event);
    }

    /// Records an event that happens in every run, and is worth no line.
    pub(crate) fn usual_event(&mut self, kind: EventKind, text: String) {
        let event = Event { at_ns: self.now().nanos_since(self.origin), kind, failure: None, text };
        self.keep(event);
    }

    /// Records that requests failed in a way that is new in the run, and shows it.
    pub(crate) fn failure_seen(&mut self, failure: FailureKind, unix_socket: bool) {
        self.observer.observe(&Progress::FailureSeen { failure, unix_socket });
        let at_ns = self.now().nanos_since(self.origin);
        let (kind, failure) = (EventKind::FailureSeen, Some(failure));
        self.keep(Event { at_ns, kind, failure, text: String::new() });
    }

    fn keep(&mut self, event: Event) {
        self.write(|writer| writer.event(&event));
        self.observer.observe(&Progress::EventRecorded(&event));
        self.run.events.push(event);
    }

    /// Ends the run: its file is sealed and complete.
    pub(crate) fn seal(mut self) -> Outcome {
        self.run.manifest.sealed = true;
        let file = self.file.take().and_then(|(path, writer)| match writer.seal() {
            Ok(()) => Some(path),
            Err(error) => {
                self.trouble = Some(error);
                None
            }
        });
        // Agents keep nothing of a run that has ended, whatever became of its file.
        forget(self.session);
        Outcome { run: self.run, file, trouble: self.trouble }
    }

    /// Ends a run that was resumed: its file is sealed and complete.
    ///
    /// # Errors
    /// When the file could not be written; the run can be resumed again then.
    pub(crate) fn finish(mut self) -> Result<Outcome, StoreError> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        self.run.manifest.sealed = true;
        let file = self.file.take().map(|(path, writer)| writer.seal().map(|()| path)).transpose()?;
        forget(self.session);
        Ok(Outcome { run: self.run, file, trouble: None })
    }

    /// Ends a run of which nothing is kept: its file goes.
    pub(crate) fn discard(self) {
        forget(self.session);
        if let Some((_, writer)) = self.file
            && let Err(error) = writer.discard()
        {
            self.observer.observe(&Progress::NotKept(&error));
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<(), StoreError>) {
        if let Some((_, writer)) = &mut self.file
            && let Err(error) = write(writer)
        {
            self.file = None;
            self.trouble = Some(error);
        }
    }
}

/// Nothing is to be resumed any more.
fn forget(session: Option<SessionFile>) {
    let removed = session.map_or(Ok(()), SessionFile::remove);
    best_effort(removed, "a run that is sealed is not resumed, whatever stands next to it");
}
