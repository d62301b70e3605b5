//! Everything recorded, in memory and on disk alike.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::{CpuProfile, Event, EventKind, Frame, HostSample, Manifest, Run, Sharing, Step};
use plimsoll_store::{RunWriter, StoreError};
use plimsoll_units::{Clock, Instant, RealClock};

/// A run that is killed loses at most this much of its file.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// The run so far. A disk that fails ends the file, never the run.
#[derive(Debug)]
pub(crate) struct Tape {
    run: Run,
    /// A long run must not hold each second's words anew.
    sharing: Sharing,
    file: Option<(PathBuf, RunWriter)>,
    trouble: Option<StoreError>,
    origin: Instant,
    committed: Instant,
}

impl Tape {
    /// A tape that begins now; it is kept in `file` if that is given.
    pub(crate) fn begin(manifest: Manifest, file: Option<&Path>, origin: Instant) -> Self {
        let (run, sharing) = (empty_run(manifest), Sharing::default());
        let mut tape = Self { run, sharing, file: None, trouble: None, origin, committed: origin };
        if let Some(path) = file {
            match RunWriter::create(path, &tape.run.manifest, false) {
                Ok(writer) => tape.file = Some((path.to_owned(), writer)),
                Err(error) => tape.trouble = Some(error),
            }
        }
        tape
    }

    /// When the run began.
    pub(crate) fn origin(&self) -> Instant {
        self.origin
    }

    /// Where the run is kept, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Why the run is not kept, or not completely.
    pub(crate) fn trouble(&self) -> Option<&StoreError> {
        self.trouble.as_ref()
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.write(|writer| writer.step(&step));
        match self.run.steps.iter_mut().find(|known| known.index == step.index) {
            Some(known) => *known = step,
            None => self.run.steps.push(step),
        }
    }

    pub(crate) fn frame(&mut self, frame: Frame) {
        self.write(|writer| writer.frame(&frame));
        self.run.frames.push(frame);
        let now = RealClock.now();
        if now.since(self.committed) >= COMMIT_EVERY {
            self.committed = now;
            self.write(RunWriter::commit);
        }
    }

    pub(crate) fn host_sample(&mut self, sample: HostSample) {
        self.write(|writer| writer.host_sample(&sample));
        self.run.hosts.push(self.sharing.share(sample));
    }

    pub(crate) fn profile(&mut self, profile: CpuProfile) {
        self.write(|writer| writer.profile(&profile));
        match self.run.profiles.iter_mut().find(|known| known.step == profile.step) {
            Some(known) => *known = profile,
            None => self.run.profiles.push(profile),
        }
    }

    pub(crate) fn event(&mut self, kind: EventKind, text: String) -> Event {
        let event = Event { at_ns: RealClock.now().nanos_since(self.origin), kind, text };
        self.write(|writer| writer.event(&event));
        self.run.events.push(event.clone());
        event
    }

    /// The run is over: the file is sealed and whole.
    pub(crate) fn seal(mut self) -> (Run, Option<PathBuf>, Option<StoreError>) {
        self.run.manifest.sealed = true;
        let path = self.file.take().and_then(|(path, writer)| match writer.seal() {
            Ok(()) => Some(path),
            Err(error) => {
                self.trouble = Some(error);
                None
            }
        });
        (self.run, path, self.trouble)
    }

    /// There is nothing to be kept: the file goes.
    pub(crate) fn discard(self) {
        if let Some((_, writer)) = self.file {
            // What stays behind says itself that it is not whole.
            writer.discard().ok();
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

fn empty_run(manifest: Manifest) -> Run {
    Run {
        manifest,
        steps: Vec::new(),
        frames: Vec::new(),
        hosts: Vec::new(),
        events: Vec::new(),
        profiles: Vec::new(),
    }
}
