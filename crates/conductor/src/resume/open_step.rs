//! The step that was under way when its conductor died: what its generators have of it is taken in up to its planned end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::Plan;
use plimsoll_record::{EventKind, Frame, FrameHead, Run, Step, StepEnd};
use plimsoll_store::UnderWay;
use plimsoll_units::Instant;

use super::account;
use crate::error::ConductError;
use crate::load::{Load, Policy, measure};
use crate::made::Made;
use crate::peers::PeerGroup;
use crate::recorder::RunRecorder;

/// After the user has ended the load, answers under way are waited for at most this long.
const DRAIN_INTERRUPTED: Duration = Duration::from_secs(1);

/// Generators that have not ended by the end of their waiting, and so long after it, are asked to wait for nothing.
const LEAVE_AFTER: Duration = Duration::from_secs(1);

/// What follows from the step.
pub(super) struct Completed {
    pub(super) peers: Option<PeerGroup>,
    /// The run ends, as a generator was lost.
    pub(super) is_stopped: bool,
    /// What is missing of the step, if it can be made again.
    pub(super) missing: Option<String>,
}

/// A frame of the step: no other has the same worker, request, interval and phase.
type FrameKey = (u32, u16, u32, bool);

fn key(head: &FrameHead) -> FrameKey {
    (head.worker, head.request, head.interval, head.phase == plimsoll_record::Phase::Measure)
}

/// The frames of a step that its file has: however often one comes, it is written once.
#[derive(Debug)]
pub struct KnownFrames {
    step: u32,
    keys: HashSet<FrameKey>,
}

impl KnownFrames {
    /// Those of the step of this index.
    pub fn new(run: &Run, step: u32) -> Self {
        Self { step, keys: run.frames_of(step).map(|frame| key(&frame.head)).collect() }
    }

    /// Takes in a frame that came; true if it is of the step, and new. A warm-up is recorded by no conductor.
    pub fn is_new(&mut self, head: &FrameHead) -> bool {
        head.step == self.step && self.keys.insert(key(head))
    }
}

/// The step that was under way when its conductor died.
pub(super) struct OpenStep<'r, 'a> {
    recorder: &'r mut RunRecorder<'a>,
    open: UnderWay,
    step: Step,
    known: KnownFrames,
    origin: Instant,
    interrupted: &'r AtomicBool,
    /// When the user ended the load.
    ended_at: Option<Instant>,
    /// Generators were asked to wait for nothing.
    left: bool,
}

impl<'r, 'a> OpenStep<'r, 'a> {
    pub(super) fn new(
        recorder: &'r mut RunRecorder<'a>,
        (open, step): (UnderWay, Step),
        origin: Instant,
        interrupted: &'r AtomicBool,
    ) -> Self {
        let known = KnownFrames::new(recorder.run(), step.index);
        Self { recorder, open, step, known, origin, interrupted, ended_at: None, left: false }
    }

    fn at(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns)
    }

    pub(super) fn complete(mut self, peers: PeerGroup, plan: &Plan) -> Result<Completed, ConductError> {
        let times = (self.at(self.step.began_ns), self.at(self.open.ends_ns));
        let mut load = Load::of_others(peers, times, plan.generator.timeout);
        measure(&mut load, &mut self)?;
        self.note_troubles(&mut load);
        self.step.generators = load.shares();
        let ended = account::ended_step(self.recorder.run(), plan, &self.step, self.open);
        let missing = account::missing_text(&ended, self.open);
        let end = if self.ended_at.is_some() { StepEnd::Cut } else { ended.end };
        let ended = Step { end, ..ended };
        let made = Made::new(self.recorder.run(), plan);
        let is_interrupted = self.ended_at.is_some();
        let is_made_again = !is_interrupted && made.is_made_again(&ended);
        // The load of a rate that was decided ended because nothing more was needed.
        let missing = missing.filter(|_| is_interrupted || !made.is_decided(&ended));
        let (missing, lost) = if is_made_again { (missing, None) } else { (None, missing) };
        if let Some(text) = lost {
            self.recorder.event(EventKind::StepFailed, text);
        }
        if self.ended_at.is_some() {
            let text = "interrupted: the last step is incomplete, what was measured is kept".to_owned();
            self.recorder.event(EventKind::Interrupted, text);
        }
        self.recorder.step(ended);
        self.check_file()?;
        load.kept();
        Ok(Completed { is_stopped: load.is_stopped(), peers: load.into_peers(), missing })
    }

    /// Fails if the file could not be written: generators must keep for another conductor what it does not have.
    fn check_file(&mut self) -> Result<(), ConductError> {
        self.recorder.take_trouble().map_or(Ok(()), |trouble| Err(trouble.into()))
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
            Some(ended) if now.since(ended) >= DRAIN_INTERRUPTED => load.abandon(),
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
        if !self.known.is_new(&frame.head) {
            self.recorder.skip_frame();
            return Ok(());
        }
        let is_safe = self.recorder.frame(*frame);
        self.check_file()?;
        if is_safe {
            load.kept();
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), ConductError> {
        let are_safe = self.recorder.commit_if_due();
        self.check_file()?;
        if are_safe {
            load.kept();
        }
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
