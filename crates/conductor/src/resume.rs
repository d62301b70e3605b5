//! A run whose conductor died: another one takes in what its generators still have, and completes its file.

mod account;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::Plan;
use plimsoll_record::{EventKind, Frame, FrameHead, Run, Step, StepEnd};
use plimsoll_store::{RunWriter, SessionFile, UnderWay};
use plimsoll_units::{Clock as _, Instant, RealClock, unix_ms};

use crate::error::ConductError;
use crate::load::{Load, Policy, measure};
use crate::peers::{PeerGroup, Rendezvous};
use crate::progress::Observer;
use crate::recorder::{Outcome, RunRecorder};

/// After the user has ended the load, answers under way are waited for at most this long.
const DRAIN_INTERRUPTED: Duration = Duration::from_secs(1);

/// Generators that have not ended by the end of their waiting, and so long after it, are asked to wait for nothing.
const LEAVE_AFTER: Duration = Duration::from_secs(1);

/// A run that did not end in order, and what completes its file.
#[derive(Debug)]
pub struct LeftRun {
    /// What the file holds.
    pub run: Run,
    pub plan: Plan,
    pub file: PathBuf,
    pub writer: RunWriter,
    /// The step that its conductor had not ended.
    pub open: Option<UnderWay>,
    pub session: SessionFile,
}

/// Records what generators have of the step that was under way, each frame once, waits for its planned end, and completes the
/// file. The steps that would have come after it are not run.
///
/// # Errors
/// When the file cannot be written. It then ends at its last commit, and generators keep everything after it.
pub fn resume(
    left: LeftRun,
    generators: &mut dyn Rendezvous,
    interrupted: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Outcome, ConductError> {
    let LeftRun { run, plan, file, writer, open, session } = left;
    let since_start = Duration::from_millis(unix_ms().saturating_sub(run.manifest.started_unix_ms));
    let origin = RealClock.now() - since_start;
    let open_step = |open: UnderWay| run.steps.iter().find(|step| step.index == open.index).cloned();
    let open = open.and_then(|open| Some((open, open_step(open)?)));
    let mut recorder = RunRecorder::resume(run, (file, writer), session, origin, observer);
    let text = "the conductor of the run died; another one went on with it, and hosts were not sampled since"
        .to_owned();
    recorder.event(EventKind::Resumed, text);
    let shares = open.as_ref().map(|(_, step)| step.generators.as_slice()).unwrap_or_default();
    let peers = PeerGroup::resume(generators, shares, origin)?;
    if let Some((open, step)) = open {
        OpenStep::new(&mut recorder, (open, step), origin, interrupted).complete(peers, &plan)?;
    }
    if let Some(text) = account::not_run_text(recorder.run(), &plan) {
        recorder.event(EventKind::StepFailed, text);
    }
    recorder.finish().map_err(ConductError::from)
}

/// A frame of the step: no other has the same worker, request, interval and phase.
type FrameKey = (u32, u16, u32, bool);

fn key(head: &FrameHead) -> FrameKey {
    (head.worker, head.request, head.interval, head.phase == plimsoll_record::Phase::Measure)
}

/// The step that was under way when its conductor died.
struct OpenStep<'r, 'a> {
    recorder: &'r mut RunRecorder<'a>,
    open: UnderWay,
    step: Step,
    /// Its frames in the file.
    known: HashSet<FrameKey>,
    origin: Instant,
    interrupted: &'r AtomicBool,
    /// When the user ended the load.
    ended_at: Option<Instant>,
    /// Generators were asked to wait for nothing.
    left: bool,
}

impl<'r, 'a> OpenStep<'r, 'a> {
    fn new(
        recorder: &'r mut RunRecorder<'a>,
        (open, step): (UnderWay, Step),
        origin: Instant,
        interrupted: &'r AtomicBool,
    ) -> Self {
        let known = recorder.run().frames_of(step.index).map(|frame| key(&frame.head)).collect();
        Self { recorder, open, step, known, origin, interrupted, ended_at: None, left: false }
    }

    fn at(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns)
    }

    fn complete(mut self, peers: PeerGroup, plan: &Plan) -> Result<(), ConductError> {
        let times = (self.at(self.step.began_ns), self.at(self.open.ends_ns));
        let mut load = Load::of_others(peers, times, plan.generator.timeout);
        measure(&mut load, &mut self)?;
        self.note_troubles(&mut load);
        self.step.generators = load.shares();
        let ended = account::ended_step(self.recorder.run(), plan, &self.step, self.open);
        if let Some(text) = account::missing_text(&ended, self.open) {
            self.recorder.event(EventKind::StepFailed, text);
        }
        if self.ended_at.is_some() {
            let text = "interrupted: the last step is incomplete, what was measured is kept".to_owned();
            self.recorder.event(EventKind::Interrupted, text);
        }
        let end = if self.ended_at.is_some() { StepEnd::Cut } else { ended.end };
        self.recorder.step(Step { end, ..ended });
        Ok(())
    }

    fn note_troubles(&mut self, load: &mut Load) {
        for trouble in load.troubles_of_peers() {
            self.recorder.event(EventKind::StepFailed, trouble);
        }
    }

    /// The user ends the load at once, and the wait for answers soon after.
    fn interrupt(&mut self, load: &mut Load, now: Instant) {
        match self.ended_at {
            None => {
                self.ended_at = Some(now);
                load.end();
            }
            Some(ended) if now.since(ended) >= DRAIN_INTERRUPTED => self.leave(load),
            Some(_) => {}
        }
    }

    fn leave(&mut self, load: &mut Load) {
        if !self.left {
            self.left = true;
            load.leave();
        }
    }
}

impl Policy for OpenStep<'_, '_> {
    type Error = ConductError;

    fn frame(&mut self, load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), ConductError> {
        // A warm-up is recorded by no conductor.
        if frame.head.step != self.step.index || !self.known.insert(key(&frame.head)) {
            return Ok(());
        }
        let is_safe = self.recorder.frame(*frame);
        if let Some(trouble) = self.recorder.take_trouble() {
            return Err(trouble.into());
        }
        if is_safe {
            load.kept();
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), ConductError> {
        self.note_troubles(load);
        self.recorder.generators(self.step.index, load.news_of_shares());
        if self.interrupted.load(Ordering::Relaxed) {
            self.interrupt(load, now);
        }
        if now.since(load.workers_end()) >= LEAVE_AFTER {
            self.leave(load);
        }
        Ok(())
    }
}
