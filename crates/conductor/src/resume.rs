//! Resumes a run whose conductor died: collects the data that its generators still have, makes the steps that are left, and
//! completes the file.

mod account;
mod open_step;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::{Plan, PlanHost};
use plimsoll_record::{EventKind, Run, Source, Step};
use plimsoll_store::{RunWriter, SessionFile, UnderWay};
use plimsoll_units::{Clock as _, Instant, RealClock, unix_ms};

use crate::budget::Budget;
use crate::conduct::open_hosts;
use crate::error::ConductError;
use crate::made::Made;
use crate::peers::{OnLoss, PeerEvent, PeerGroup, Rendezvous};
use crate::prepare::{Prepared, prepare};
use crate::profile::{Profiling, budget_of_load};
use crate::progress::Observer;
use crate::recorder::{Outcome, RunRecorder};
use crate::session::Session;
use crate::traffic::Requests;
use crate::watch::Watch;
pub use account::{NotMade, ended_step, missing_text, not_run_text};
pub use open_step::KnownFrames;
use open_step::{Completed, OpenStep};

/// A run that was not completed, with everything needed to complete its file.
#[derive(Debug)]
pub struct LeftRun {
    /// The contents of the file.
    pub run: Run,
    pub plan: Plan,
    pub file: PathBuf,
    pub writer: RunWriter,
    /// The step that was under way when the conductor died.
    pub open: Option<UnderWay>,
    pub session: SessionFile,
    /// The action when the run loses a generator.
    pub on_loss: OnLoss,
    /// True to complete the file without making further steps.
    pub finish_only: bool,
}

/// Resumes a run: records the generators' data of the step under way, each frame once, waits for its planned end, makes the
/// remaining steps of the plan, and completes the file.
///
/// # Errors
/// When the file cannot be written during the step under way. It then ends at its last commit, and generators keep everything
/// after it. Errors in further steps are handled as in [`conduct`](crate::conduct()).
pub fn resume(
    left: LeftRun,
    generators: &mut dyn Rendezvous,
    interrupted: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Outcome, ConductError> {
    let LeftRun { run, plan, file, writer, open, session, on_loss, finish_only } = left;
    let known_origin = origin_of_run(&run, RealClock.now(), unix_ms());
    let origin = known_origin.unwrap_or_default();
    let open_step = |open: UnderWay| run.steps.iter().find(|step| step.index == open.index).cloned();
    let open = open.and_then(|open| Some((open, open_step(open)?)));
    let mut recorder = RunRecorder::resume(run, (file, writer), session, origin, observer);
    let text =
        "the conductor of the run died; another one went on with it, and hosts were not sampled meanwhile";
    recorder.event(EventKind::Resumed, text.to_owned());
    let under_way = open.as_ref().map(|(_, step)| step.generators.as_slice()).unwrap_or_default();
    let index = open.as_ref().map(|(_, step)| step.index);
    let former: Vec<_> = recorder.run().steps.iter().flat_map(|step| step.generators.clone()).collect();
    let mut peers = PeerGroup::resume(generators, (index, under_way), &former, origin)?;
    peers.set_on_loss(on_loss);
    let why_not = match known_origin {
        _ if finish_only => Some(NotMade::ConductorDied),
        None => Some(NotMade::Booted),
        Some(_) => None,
    };
    if why_not.is_none() {
        peers.stand_by();
    }
    let completed = match open {
        Some((open, step)) => {
            OpenStep::new(&mut recorder, (open, step), origin, interrupted).complete(peers, &plan)?
        }
        None => Completed { peers: Some(peers), is_stopped: false, missing: None },
    };
    let resumed = ResumedRun { recorder, plan, interrupted };
    match why_not {
        None => resumed.go_on(completed),
        Some(why) => resumed.finish(completed.missing, Some(&why)),
    }
}

/// The origin of a run's times on this machine's monotonic clock; `None` if the machine was booted after the run began, so that
/// the clock does not reach back that far.
pub fn origin_of_run(run: &Run, now: Instant, unix_ms: u64) -> Option<Instant> {
    let by_wall_clock = Duration::from_millis(unix_ms.saturating_sub(run.manifest.started_unix_ms));
    // If the wall clock was set back, new steps must still come after the run's existing ones.
    let since = by_wall_clock.max(Duration::from_nanos(run.drained_ns()));
    (Duration::from_nanos(now.as_nanos()) > since).then(|| now - since)
}

/// A run whose step under way has been completed.
struct ResumedRun<'a> {
    recorder: RunRecorder<'a>,
    plan: Plan,
    interrupted: &'a AtomicBool,
}

impl<'a> ResumedRun<'a> {
    fn made(&self) -> Made<'_> {
        Made::new(self.recorder.run(), &self.plan)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Makes the remaining steps with the remaining generators.
    fn go_on(mut self, completed: Completed) -> Result<Outcome, ConductError> {
        let Completed { peers, is_stopped, missing } = completed;
        if account::rest(self.made()).is_empty() {
            return self.finish(missing, None);
        }
        if self.made().end().is_some() || self.is_interrupted() {
            return self.finish(missing, Some(&NotMade::ConductorDied));
        }
        match self.prepare(peers, is_stopped) {
            Ok((peers, prepared, profiling)) => {
                let cut = missing.zip(self.recorder.run().steps.last().cloned());
                self.make_steps(peers, prepared, profiling.as_ref(), cut)
            }
            Err(why) => self.finish(missing, Some(&why)),
        }
    }

    /// Prepares the remaining steps; the error says why they cannot be made.
    fn prepare(
        &mut self,
        peers: Option<PeerGroup>,
        mut is_stopped: bool,
    ) -> Result<(PeerGroup, Prepared, Option<Profiling>), NotMade> {
        let mut peers = peers.ok_or(NotMade::NoAgents)?;
        for event in peers.await_standing_by(self.interrupted) {
            is_stopped |= matches!(event, PeerEvent::Stop(_));
            if let PeerEvent::Fault(text) | PeerEvent::Stop(text) = event {
                self.recorder.event(EventKind::StepFailed, text);
            }
        }
        // Messages that arrived in the meantime belong to steps that are already in the file.
        peers.peers.kept();
        match () {
            () if !peers.peers.are_left() => return Err(NotMade::NoAgents),
            () if is_stopped => return Err(NotMade::AgentLost),
            () => {}
        }
        let prepared = prepare(self.plan.clone(), Requests::of_others(), false, self.interrupted);
        let mut prepared = prepared.map_err(NotMade::NotPrepared)?;
        prepared.context.origin = self.recorder.origin;
        let profiling = Profiling::prepare(&prepared).map_err(|error| NotMade::NotPrepared(error.into()))?;
        Ok((peers, prepared, profiling))
    }

    /// Makes the remaining steps. The plan's time continues from what the load has used. `cut` is a step to be made again, with a
    /// text about its missing part.
    fn make_steps(
        self,
        peers: PeerGroup,
        prepared: Prepared,
        profiling: Option<&Profiling>,
        cut: Option<(String, Step)>,
    ) -> Result<Outcome, ConductError> {
        let (took, last_end) = (self.made().took(), self.made().end());
        let Self { mut recorder, plan, interrupted } = self;
        let budget = Budget::new(recorder.now() - took, budget_of_load(&plan, profiling));
        let is_new = recorder.run().steps.is_empty();
        let mut hosts = open_hosts(&prepared, (Vec::new(), were_sampled(recorder.run())), &mut recorder);
        recorder.announce(Vec::new());
        hosts.await_first(&mut recorder);
        let mut session = Session {
            context: prepared.context,
            recorder,
            hosts,
            peers: Some(peers),
            caps: None,
            budget,
            took,
            last_end,
            watch: Watch::default(),
            interrupt: interrupted,
            outlasts_target: false,
        };
        if is_new {
            session.rest();
            session.warm_up(false)?;
        }
        let made = session.make_steps(profiling);
        if let Some((missing, cut)) = cut {
            let (kind, text) = match Made::new(session.recorder.run(), &plan).was_made_again(&cut) {
                true => (
                    EventKind::Resumed,
                    format!("{missing}; it was made again, and no figure rests on that part"),
                ),
                false => (EventKind::StepFailed, missing),
            };
            session.recorder.event(kind, text);
        }
        session.end(made)
    }

    /// Completes the file, and records why the rest of the plan was not run.
    fn finish(mut self, missing: Option<String>, why: Option<&NotMade>) -> Result<Outcome, ConductError> {
        if let Some(missing) = missing {
            self.recorder.event(EventKind::StepFailed, missing);
        }
        if let Some(text) = why.and_then(|why| not_run_text(self.made(), why)) {
            self.note_not_run(text);
        }
        self.recorder.finish().map_err(ConductError::from)
    }

    fn note_not_run(&mut self, text: String) {
        let is_noted = |run: &Run| run.events.iter().any(|event| event.kind == EventKind::Interrupted);
        match self.is_interrupted() {
            false => self.recorder.event(EventKind::StepFailed, text),
            true if is_noted(self.recorder.run()) => {}
            true => {
                let text = "interrupted: the later steps are not run, what was measured is kept".to_owned();
                self.recorder.event(EventKind::Interrupted, text);
            }
        }
    }
}

/// True if hosts other than the generator's were sampled before.
fn were_sampled(run: &Run) -> bool {
    run.hosts.iter().any(|sample| sample.host != PlanHost::GENERATOR && sample.source != Source::Declared)
}

#[cfg(test)]
mod tests;
