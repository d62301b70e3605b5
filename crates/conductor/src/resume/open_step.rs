//! The step that was under way when its conductor died: collects its generators' data up to its planned end.

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

/// After the user has interrupted the load, outstanding answers are waited for at most this long.
const DRAIN_INTERRUPTED: Duration = Duration::from_secs(1);

/// Generators that have not ended this long after their wait for answers are asked to abandon it.
const LEAVE_AFTER: Duration = Duration::from_secs(1);

/// The outcome of completing the step.
pub(super) struct Completed {
    pub(super) peers: Option<PeerGroup>,
    /// True if the run ends because a generator was lost.
    pub(super) is_stopped: bool,
    /// A text about the missing part of the step, if the step can be made again.
    pub(super) missing: Option<String>,
}

/// The key of a frame, unique within the step: worker, request, interval, and whether it is measured.
type FrameKey = (u32, u16, u32, bool);

fn key(head: &FrameHead) -> FrameKey {
    (head.worker, head.request, head.interval, head.phase == plimsoll_record::Phase::Measure)
}

/// The frames of a step that its file has, to write each frame only once even if it arrives again.
#[derive(Debug)]
pub struct KnownFrames {
    step: u32,
    keys: HashSet<FrameKey>,
}

impl KnownFrames {
    /// The known frames of the step with this index.
    pub fn new(run: &Run, step: u32) -> Self {
        Self { step, keys: run.frames_of(step).map(|frame| key(&frame.head)).collect() }
    }

    /// Notes an arrived frame; true if it belongs to the step and is new. No conductor records the frames of a warm-up.
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
    /// When the user interrupted the load.
    ended_at: Option<Instant>,
    /// True if generators were asked to abandon their wait.
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
        // A rate whose outcome is known needs no further load, so nothing is missing.
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

    /// Fails if the file could not be written: generators must then keep their data for another conductor.
    fn check_file(&mut self) -> Result<(), ConductError> {
        self.recorder.take_trouble().map_or(Ok(()), |trouble| Err(trouble.into()))
    }

    fn note_troubles(&mut self, load: &mut Load) {
        for trouble in load.troubles_of_peers() {
            self.recorder.event(EventKind::StepFailed, trouble);
        }
    }

    /// Ends the load at once when the user interrupts, and the wait for answers soon after.
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
