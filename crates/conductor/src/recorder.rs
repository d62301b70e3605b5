//! Records a run in memory and in the run file, and shows it to the observer.

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
    /// Why the run file is missing or incomplete; `None` if nothing failed.
    pub trouble: Option<StoreError>,
}

/// The run so far, its file and its observer. A disk error ends the file, never the run.
pub(crate) struct RunRecorder<'a> {
    run: Run,
    /// Stores repeated words and values of samples once, so that an hour of samples fits in memory.
    sharing: Sharing,
    file: KeptFile,
    /// The session that resumes the run if this process dies.
    session: Option<SessionFile>,
    observer: &'a mut dyn Observer,
    /// The origin of all times of the run.
    pub(crate) origin: Instant,
    commits: Commits,
}

/// How many file names a run tries: another run that begins at the same moment may take each of them.
const MAX_NAMES: u32 = 100;

/// The run's file, until a write fails.
#[derive(Default)]
struct KeptFile {
    file: Option<(PathBuf, RunWriter)>,
    trouble: Option<StoreError>,
}

impl KeptFile {
    /// Creates the file, with the session that resumes the run next to it.
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

/// Creates the file, under the next free name if the name was taken in the meantime.
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
    /// Begins to record now; also into `file`, with `session` next to it, if given.
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

    /// Continues a run that another process began at `origin`.
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

    /// Returns and clears the error that ended the file.
    pub(crate) fn take_trouble(&mut self) -> Option<StoreError> {
        self.file.trouble.take()
    }

    pub(crate) fn now(&self) -> Instant {
        RealClock.now()
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Shows progress without recording it.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        self.observer.observe(progress);
    }

    /// Shows that the load is about to begin, and records the remarks of the preparation.
    pub(crate) fn announce(&mut self, remarks: Vec<(EventKind, String)>) {
        self.observer.observe(&Progress::Prepared(&self.run.manifest));
        remarks.into_iter().for_each(|(kind, text)| self.event(kind, text));
        if let Some(error) = &self.file.trouble {
            self.observer.observe(&Progress::NotKept(error));
        }
    }

    /// Records a step, replacing the one with the same index. It is committed at once, so that the run can be resumed from
    /// there.
    pub(crate) fn step(&mut self, step: Step) {
        self.write(|writer| writer.step(&step));
        self.write(RunWriter::commit);
        self.observer.observe(&Progress::StepRecorded(&step));
        self.run.record_step(step);
    }

    /// Records new data about the generators of the current step.
    pub(crate) fn generators(&mut self, step: u32, news: Option<Vec<GeneratorShare>>) {
        let Some(generators) = news else { return };
        self.write(|writer| writer.generators(step, &generators));
        if let Some(step) = self.run.steps.iter_mut().find(|known| known.index == step) {
            step.generators = generators;
        }
    }

    /// Records a frame; returns true if it and everything before it are safe in the file, or no file is kept.
    pub(crate) fn frame(&mut self, frame: Frame) -> bool {
        let are_safe = self.commits.write(&frame, &mut self.file, RealClock.now());
        self.observer.observe(&Progress::Framed(&frame));
        self.run.frames.push(frame);
        are_safe
    }

    /// Notes a frame that the file already has, or is not to have.
    pub(crate) fn skip_frame(&mut self) {
        self.commits.skip();
    }

    /// Commits the frames so far if a commit is due; returns true if they became safe.
    pub(crate) fn commit_if_due(&mut self) -> bool {
        self.commits.commit_if_due(&mut self.file, RealClock.now())
    }

    pub(crate) fn host_sample(&mut self, sample: HostSample) {
        self.write(|writer| writer.host_sample(&sample));
        self.observer.observe(&Progress::Sampled(&sample));
        self.run.hosts.push(self.sharing.share(sample));
    }

    /// Records a profile, replacing the one for its step.
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

    /// Records an event that happens in every run, without showing a line for it.
    pub(crate) fn usual_event(&mut self, kind: EventKind, text: String) {
        let event = Event { at_ns: self.now().nanos_since(self.origin), kind, failure: None, text };
        self.keep(event);
    }

    /// Records and shows a kind of failure that did not occur before in the run.
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

    /// Ends the run and seals its file.
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
        // Agents keep no data of a run that has ended, even if its file could not be sealed.
        forget(self.session);
        Outcome { run: self.run, file, trouble }
    }

    /// Ends a resumed run and seals its file.
    ///
    /// # Errors
    /// When the file could not be written; the run can then be resumed again.
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

    /// Shows that the log could not be removed. This is not recorded, because the file is sealed.
    fn show_log(&mut self, log_stays: Option<StoreError>) {
        let Some(error) = log_stays else { return };
        let at_ns = self.now().nanos_since(self.origin);
        let event = Event { at_ns, kind: EventKind::Other, failure: None, text: error.to_string() };
        self.observer.observe(&Progress::Happened(&event));
    }

    /// Ends a run without a result and removes its file.
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

/// Removes the session, because the run is not to be resumed.
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
