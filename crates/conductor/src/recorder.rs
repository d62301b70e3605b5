//! Everything recorded, in memory and in the run file alike, and shown to the observer as it happens.

use std::path::{Path, PathBuf};

use plimsoll_record::{
    CpuProfile, Event, EventKind, FailureKind, Frame, HostSample, Manifest, Run, Sharing, Step,
};
use plimsoll_store::{RunWriter, StoreError};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::commits::{Commits, FrameFile};
use crate::progress::{Observer, Progress};

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
    file: KeptFile,
    observer: &'a mut dyn Observer,
    /// The instant from which all times of the run count.
    pub(crate) origin: Instant,
    commits: Commits,
}

/// The run's file, until a write fails.
#[derive(Default)]
struct KeptFile {
    file: Option<(PathBuf, RunWriter)>,
    trouble: Option<StoreError>,
}

impl KeptFile {
    fn create(path: &Path, manifest: &Manifest) -> Self {
        match RunWriter::create(path, manifest, false) {
            Ok(writer) => Self { file: Some((path.to_owned(), writer)), trouble: None },
            Err(error) => Self { file: None, trouble: Some(error) },
        }
    }

    fn write_with(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<(), StoreError>) {
        if let Some((_, writer)) = &mut self.file
            && let Err(error) = write(writer)
        {
            self.file = None;
            self.trouble = Some(error);
        }
    }
}

impl FrameFile for KeptFile {
    fn write(&mut self, frame: &Frame) {
        self.write_with(|writer| writer.frame(frame));
    }

    fn commit(&mut self) {
        self.write_with(RunWriter::commit);
    }
}

impl<'a> RunRecorder<'a> {
    /// Begins to record now; into `file` too if that is given.
    pub(crate) fn begin(manifest: Manifest, file: Option<&Path>, observer: &'a mut dyn Observer) -> Self {
        let file = file.map(|path| KeptFile::create(path, &manifest)).unwrap_or_default();
        let origin = RealClock.now();
        let run = Run::begun(manifest);
        let sharing = Sharing::default();
        Self { run, sharing, file, observer, origin, commits: Commits::default() }
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
        if let Some(error) = &self.file.trouble {
            self.observer.observe(&Progress::NotKept(error));
        }
    }

    /// Records a step, in place of what was recorded under its index before.
    pub(crate) fn step(&mut self, step: Step) {
        self.write(|writer| writer.step(&step));
        self.observer.observe(&Progress::StepRecorded(&step));
        self.run.record_step(step);
    }

    /// Records a frame; true if it and everything before it are safe in the file, or no file is kept.
    pub(crate) fn frame(&mut self, frame: Frame) -> bool {
        let are_safe = self.commits.write(&frame, &mut self.file, RealClock.now());
        self.observer.observe(&Progress::Framed(&frame));
        self.run.frames.push(frame);
        are_safe
    }

    /// Commits the frames so far if it is time; true if they became safe by that.
    pub(crate) fn commit_if_due(&mut self) -> bool {
        self.commits.commit_if_due(&mut self.file, RealClock.now())
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
        let KeptFile { file, mut trouble } = self.file;
        let file = file.and_then(|(path, writer)| match writer.seal() {
            Ok(()) => Some(path),
            Err(error) => {
                trouble = Some(error);
                None
            }
        });
        Outcome { run: self.run, file, trouble }
    }

    /// Ends a run of which nothing is kept: its file goes.
    pub(crate) fn discard(self) {
        if let Some((_, writer)) = self.file.file
            && let Err(error) = writer.discard()
        {
            self.observer.observe(&Progress::NotKept(&error));
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<(), StoreError>) {
        self.file.write_with(write);
    }
}
