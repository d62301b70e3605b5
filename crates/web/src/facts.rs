//! The recorded part of a run that is under way, built from the progress that observers are shown.

use std::collections::BTreeSet;

use plimsoll_conductor::Progress;
use plimsoll_record::{CpuProfile, Event, Frame, HostSample, Manifest, Run, Sharing, Step};

/// One recorded item of a run.
#[derive(Debug)]
pub(crate) enum Fact {
    Begun(Box<Manifest>),
    Step(Step),
    Frame(Box<Frame>),
    Sample(HostSample),
    Event(Event),
    Profile(CpuProfile),
}

impl Fact {
    /// Returns `None` for progress that is shown but not recorded.
    pub(crate) fn new(progress: &Progress<'_>) -> Option<Self> {
        Some(match progress {
            Progress::Prepared(manifest) => Self::Begun(Box::new((*manifest).clone())),
            Progress::StepRecorded(step) => Self::Step((*step).clone()),
            Progress::Framed(frame) => Self::Frame(Box::new((*frame).clone())),
            Progress::Sampled(sample) => Self::Sample((*sample).clone()),
            Progress::EventRecorded(event) => Self::Event((*event).clone()),
            Progress::ProfileRecorded(profile) => Self::Profile((*profile).clone()),
            _ => return None,
        })
    }
}

/// A run that is under way.
#[derive(Debug)]
pub(crate) struct GrowingRun {
    run: Run,
    /// Steps that began and have not ended.
    open: BTreeSet<u32>,
    sharing: Sharing,
}

impl GrowingRun {
    pub(crate) fn new(manifest: Manifest) -> Self {
        Self { run: Run::begun(manifest), open: BTreeSet::new(), sharing: Sharing::default() }
    }

    pub(crate) fn add(&mut self, fact: Fact) {
        match fact {
            Fact::Begun(manifest) => *self = Self::new(*manifest),
            Fact::Step(step) => self.step(step),
            Fact::Frame(frame) => self.run.frames.push(*frame),
            Fact::Sample(sample) => self.run.hosts.push(self.sharing.share(sample)),
            Fact::Event(event) => self.run.events.push(event),
            Fact::Profile(profile) => self.run.record_profile(profile),
        }
    }

    /// A step is under way until it is recorded again, as in a run file.
    fn step(&mut self, step: Step) {
        if self.run.steps.iter().any(|known| known.index == step.index) {
            self.open.remove(&step.index);
        } else {
            self.open.insert(step.index);
        }
        self.run.record_step(step);
    }

    /// Calls `read` with the run as a reader of its file would find it now: a step that is under way ends with its last
    /// frame.
    pub(crate) fn with_run<T>(&mut self, read: impl FnOnce(&Run) -> T) -> T {
        let steps = self.run.steps.clone();
        let open: Vec<u32> = self.open.iter().copied().collect();
        self.run.end_open_steps(&open);
        let made = read(&self.run);
        self.run.steps = steps;
        made
    }
}
