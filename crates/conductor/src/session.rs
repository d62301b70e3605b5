//! The state of a run in progress, which its phases share.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_analyze::Raise;
use plimsoll_record::{EventKind, HostSample, Reading, StepEnd};
use plimsoll_units::Instant;

use crate::budget::Budget;
use crate::context::RunContext;
use crate::error::duration_text;
use crate::hosts::Hosts;
use crate::peers::PeerGroup;
use crate::recorder::RunRecorder;
use crate::watch::Watch;

/// How often the interrupt flag is read while waiting for samples.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long hosts are sampled before the load; what they use in this time is not caused by requests. Many kernels count the
/// CPU time of processes in steps of 10 ms, 2 % of this time.
const REST: Duration = Duration::from_millis(500);

/// Changes the caps of hosts during a run.
pub trait CapController: Debug {
    /// Caps the hosts that started without caps.
    ///
    /// # Errors
    /// When the request cannot be delivered.
    fn apply(&mut self) -> io::Result<()>;

    /// Asks to raise a cap. The outcome must arrive from one of the run's feeds, as a sample of the source
    /// [`Source::Intervention`](plimsoll_record::Source::Intervention) with the cap's name as subject and
    /// [`Raise::reading`], or with the reason for the failure.
    ///
    /// # Errors
    /// When the request cannot be delivered.
    fn raise(&mut self, raise: &Raise) -> io::Result<()>;
}

/// A run in progress: the state that all of its phases share.
pub(crate) struct Session<'a> {
    pub(crate) context: RunContext,
    pub(crate) recorder: RunRecorder<'a>,
    pub(crate) hosts: Hosts,
    pub(crate) peers: Option<PeerGroup>,
    pub(crate) caps: Option<&'a mut dyn CapController>,
    pub(crate) budget: Budget,
    /// The time that the load took before this process resumed the run.
    pub(crate) took: Duration,
    /// How the last step ended; `None` before the first step, and in a resumed run that has steps left.
    pub(crate) last_end: Option<StepEnd>,
    pub(crate) watch: Watch,
    pub(crate) interrupt: &'a AtomicBool,
    /// True if the load goes on although the target refuses every connection.
    pub(crate) outlasts_target: bool,
}

impl Session<'_> {
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// The instant at which a load begins if it is started now: later than now by the time that peers need to receive the command.
    pub(crate) fn load_begins(&self) -> Instant {
        let head_start = self.peers.as_ref().map_or(Duration::ZERO, |group| group.head_start);
        self.recorder.now() + head_start
    }

    /// True if no step may follow, even if the plan has more.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.last_end, Some(StepEnd::Cut | StepEnd::TargetLost)) || self.interrupted()
    }

    /// Records the counters of all hosts, and waits briefly for their samples.
    pub(crate) fn sample_hosts(&mut self) {
        self.hosts.ask();
        self.collect_samples();
    }

    /// Samples hosts for [`REST`] without load, if any is watched. The time is added to the run's budget.
    pub(crate) fn rest(&mut self) {
        if !self.hosts.are_watched() {
            return;
        }
        let began = self.recorder.now();
        self.await_sample(REST, |_| false);
        if self.interrupted() {
            return;
        }
        self.sample_hosts();
        let took = self.recorder.now().since(began);
        self.budget = self.budget.later_by(took);
        self.recorder.usual_event(
            EventKind::Rested,
            format!("hosts were sampled for {} without load", duration_text(took)),
        );
    }

    /// Waits for this time, or until the user ends the run, and records the samples that arrive in between.
    pub(crate) fn pause(&mut self, time: Duration) {
        let deadline = self.recorder.now() + time;
        loop {
            let wait = deadline.since(self.recorder.now()).min(POLL_INTERVAL);
            if wait.is_zero() || self.interrupted() {
                return;
            }
            if !self.hosts.await_more(wait, &mut self.recorder) {
                std::thread::sleep(wait);
            }
        }
    }

    /// Records the samples that hosts were asked for earlier, and a new sample of this machine.
    pub(crate) fn collect_samples(&mut self) {
        self.hosts.sample_generator(&mut self.recorder);
        self.hosts.await_answers(&mut self.recorder);
    }

    /// Records samples until one matches, and returns its reading; `None` if this time passes first, the user ends the run, or no
    /// more samples can arrive.
    pub(crate) fn await_sample(
        &mut self,
        longest: Duration,
        matches: impl Fn(&HostSample) -> bool,
    ) -> Option<Reading> {
        let deadline = self.recorder.now() + longest;
        let mut seen = 0;
        loop {
            let samples = &self.recorder.run().hosts;
            if let Some(sample) = samples[seen..].iter().find(|sample| matches(sample)) {
                return Some(sample.reading.clone());
            }
            seen = samples.len();
            let left = deadline.since(self.recorder.now());
            let over = left.is_zero() || self.interrupted();
            if over || !self.hosts.await_more(left.min(POLL_INTERVAL), &mut self.recorder) {
                return None;
            }
        }
    }
}
