//! Everything recorded, in memory and in the run file alike, and shown to the observer as it happens.

use std::path::{Path, PathBuf};

use plimsoll_record::{
    CpuProfile, Event, EventKind, FailureKind, Frame, GeneratorShare, HostSample, Manifest, Run, Sharing,
    Step,
};
use plimsoll_store::{RunWriter, SessionFile, StoreError};
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

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
    /// What takes the run up again if this process dies.
    session: Option<SessionFile>,
    observer: &'a mut dyn Observer,
    /// The instant from which all times of the run count.
    pub(crate) origin: Instant,
    commits: Commits,
}

/// How many names a run tries: each may be taken by another run that begins in the same moment.
const MAX_NAMES: u32 = 100;

/// The run's file, until a write fails.
#[derive(Default)]
struct KeptFile {
    file: Option<(PathBuf, RunWriter)>,
    trouble: Option<StoreError>,
}

impl KeptFile {
    /// A new file, with what takes the run up again next to it.
    fn create(path: &Path, manifest: &Manifest, session: Option<&str>) -> (Self, Option<SessionFile>) {
        let create = || {
            let (path, writer) = create_file(path, manifest)?;
            let session = session.map(|text| SessionFile::create(&path, text)).transpose()?;
            Ok((path, writer, session))
        };
        match create() {
            Ok((path, writer, session)) => (Self::of(path, writer), session),
            Err(error) => (Self { file: None, trouble: Some(error) }, None),
        }
    }

    fn of(path: PathBuf, writer: RunWriter) -> Self {
        Self { file: Some((path, writer)), trouble: None }
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

/// Makes the file, under the next name that is free if this one was taken since it was chosen.
fn create_file(path: &Path, manifest: &Manifest) -> Result<(PathBuf, RunWriter), StoreError> {
    let (mut path, mut left) = (path.to_owned(), MAX_NAMES);
    loop {
        left -= 1;
        match RunWriter::create(&path, manifest, false) {
            Err(StoreError::Exists { .. }) if left > 0 => {
                let folder = path.parent().unwrap_or(Path::new("."));
                path = plimsoll_store::free_path(folder, &manifest.name, manifest.started_unix_ms);
            }
            created => return created.map(|writer| (path, writer)),
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
    /// Begins to record now; into `file` too if that is given, with what takes the run up again next to it.
    pub(crate) fn begin(
        manifest: Manifest,
        file: Option<&Path>,
        session: Option<&str>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let create = |path| KeptFile::create(path, &manifest, session);
        let (file, session) = file.map(create).unwrap_or_default();
        let (origin, sharing) = (RealClock.now(), Sharing::default());
        let run = Run::begun(manifest);
        Self { run, sharing, file, session, observer, origin, commits: Commits::default() }
    }

    /// Goes on with a run that another process began at `origin`.
    pub(crate) fn resume(
        run: Run,
        (path, writer): (PathBuf, RunWriter),
        session: SessionFile,
        origin: Instant,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (file, sharing) = (KeptFile::of(path, writer), Sharing::default());
        Self { run, sharing, file, session: Some(session), observer, origin, commits: Commits::default() }
    }

    /// Why the file ended before the run, if it did so since the last call.
    pub(crate) fn take_trouble(&mut self) -> Option<StoreError> {
        self.file.trouble.take()
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
        let are_safe = self.commits.write(&frame, &mut self.file, RealClock.now());
        self.observer.observe(&Progress::Framed(&frame));
        self.run.frames.push(frame);
        are_safe
    }

    /// A frame came that the file has, or is not to have.
    pub(crate) fn skip_frame(&mut self) {
        self.commits.skip();
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
        let KeptFile { file, mut trouble } = std::mem::take(&mut self.file);
        let file = file.and_then(|(path, writer)| match writer.seal() {
            Ok(log_stays) => {
                self.show_log(log_stays);
                Some(path)
            }
            Err(error) => {
                trouble = Some(error);
                None
            }
        });
        // Agents keep nothing of a run that has ended, whatever became of its file.
        forget(self.session);
        Outcome { run: self.run, file, trouble }
    }

    /// Ends a run that was resumed: its file is sealed and complete.
    ///
    /// # Errors
    /// When the file could not be written; the run can be resumed again then.
    pub(crate) fn finish(mut self) -> Result<Outcome, StoreError> {
        let KeptFile { file, trouble } = std::mem::take(&mut self.file);
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        self.run.manifest.sealed = true;
        let seal = |(path, writer): (PathBuf, RunWriter)| writer.seal().map(|log_stays| (path, log_stays));
        let file = file.map(seal).transpose()?.map(|(path, log_stays)| {
            self.show_log(log_stays);
            path
        });
        forget(self.session);
        Ok(Outcome { run: self.run, file, trouble: None })
    }

    /// Shows that the log stays next to the file, if it does. The file is sealed, so that this is not recorded.
    fn show_log(&mut self, log_stays: Option<StoreError>) {
        let Some(error) = log_stays else { return };
        let at_ns = self.now().nanos_since(self.origin);
        let event = Event { at_ns, kind: EventKind::Other, failure: None, text: error.to_string() };
        self.observer.observe(&Progress::Happened(&event));
    }

    /// Ends a run of which nothing is kept: its file goes.
    pub(crate) fn discard(self) {
        forget(self.session);
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

/// Nothing is to be resumed any more.
fn forget(session: Option<SessionFile>) {
    let removed = session.map_or(Ok(()), SessionFile::remove);
    best_effort(removed, "a run that is sealed is not resumed, whatever stands next to it");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use plimsoll_store::free_path;

    use super::*;
    use crate::made::tests::{Sample, ladder};

    #[test]
    fn a_run_whose_name_was_taken_meanwhile_gets_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = Sample::new(ladder(None)).run.manifest;
        let path = free_path(folder.path(), &manifest.name, manifest.started_unix_ms);
        symlink("nothing", &path).unwrap();
        let runs = [(); 2].map(|()| KeptFile::create(&path, &manifest, None).0.file.unwrap());
        assert!(runs[0].0 != path && runs[1].0 != path && runs[0].0 != runs[1].0);
    }
}
