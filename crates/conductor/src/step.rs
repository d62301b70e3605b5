//! One step: its load is held until it is known, or until something ends it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_analyze::measured_to_the_last_answer;
use plimsoll_analyze::steady::step_is_known;
use plimsoll_engine::{EngineError, StepEvent};
use plimsoll_plan::{Level, RateProfile};
use plimsoll_record::{EventKind, FailureCounts, Frame, Phase, Step, StepEnd};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::budget::Budget;
use crate::hosts::Hosts;
use crate::load::{Load, Means};
use crate::mates::Mates;
use crate::observer::{Observer, Progress};
use crate::reach::{reach, route};
use crate::tape::Tape;
use crate::watch::{Watch, first_seen};

/// How often the signals and deadlines are looked at while no frame comes.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// After the user has ended the run, answers under way are waited for at most this long.
const DRAIN_INTERRUPTED: Duration = Duration::from_secs(1);

/// After that, workers whose requests are still being made are waited for at most this long.
const LEAVE_INTERRUPTED: Duration = Duration::from_secs(1);

/// How long the target may take to show that it is back.
const LOOK_FOR_TARGET: Duration = Duration::from_secs(1);

/// The machine that makes the load is asked about itself this often, and at both ends of a step.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Progress is told about this often.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// What stays the same in all steps of a run.
pub(crate) struct StepContext<'a> {
    pub(crate) means: Means<'a>,
    /// The other generators, if there are any.
    pub(crate) mates: Option<RefCell<Mates>>,
    /// The load goes on although the target refuses every connection.
    pub(crate) outlasts_target: bool,
    pub(crate) budget: Budget,
    pub(crate) interrupted: &'a AtomicBool,
    pub(crate) hosts: RefCell<Hosts>,
}

/// One step to be run.
#[derive(Debug, Clone)]
pub(crate) struct StepTask {
    pub(crate) index: u32,
    pub(crate) level: Level,
    pub(crate) limit: Duration,
    /// End the step as soon as its throughput is known.
    pub(crate) until_known: bool,
    /// End the step after so many requests.
    pub(crate) requests_max: Option<u64>,
    /// End the step as soon as this is set.
    pub(crate) ended_by: Option<Arc<AtomicBool>>,
}

impl StepTask {
    fn connections(&self) -> u32 {
        self.level.connections()
    }

    fn rate_per_sec(&self) -> Option<f64> {
        self.level.profile().map(RateProfile::mean_per_sec)
    }
}

/// A step while it is measured.
struct Measuring<'a, 'b> {
    context: &'a StepContext<'b>,
    task: StepTask,
    tape: &'a mut Tape,
    observer: &'a mut dyn Observer,
    load: Load<'a>,
    /// Where this step's frames begin among the run's.
    first_frame: usize,
    watch: &'a mut Watch,
    /// When the load ends if nothing ends it before.
    ends_on_time: Instant,
    end: Option<StepEnd>,
    ended_at: Instant,
    /// When the user's wish to end the run ended the waiting for answers too.
    abandoned_at: Option<Instant>,
    sampled_at: Instant,
    told_at: Instant,
    told_completed: u64,
    /// When the last frame ended, in nanoseconds since the run began.
    last_ns: u64,
    /// Answered while the load was on.
    completed: u64,
    /// Answered at all.
    answered: u64,
    failed: u64,
}

/// Runs one step, from its first request to its last answer.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    task: StepTask,
    watch: &mut Watch,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<StepEnd, EngineError> {
    note_edge(context, tape, observer);
    let load = Load::start(&context.means, context.mates.as_ref(), &task)?;
    let began = load.began();
    // Not asked of the load, which may have ended by now if it is short.
    let ends = began + task.limit;
    tape.step(step_record(context, &task, (began, ends, ends), StepEnd::Cut));
    observer.observe(&Progress::StepBegan {
        index: task.index,
        connections: task.connections(),
        rate_per_sec: task.rate_per_sec(),
        limit: task.limit,
        requests_max: task.requests_max,
    });
    let first_frame = tape.run().frames.len();
    let mut measuring = Measuring {
        context,
        task,
        tape,
        observer,
        load,
        first_frame,
        watch,
        ends_on_time: ends,
        last_ns: 0,
        end: None,
        ended_at: began,
        abandoned_at: None,
        sampled_at: began,
        told_at: began,
        told_completed: 0,
        completed: 0,
        answered: 0,
        failed: 0,
    };
    measuring.watch_to_the_end()?;
    Ok(measuring.close(began))
}

/// Notes where the counters of all hosts stand before a step.
fn note_edge(context: &StepContext<'_>, tape: &mut Tape, observer: &mut dyn Observer) {
    let mut hosts = context.hosts.borrow_mut();
    hosts.ask();
    hosts.ask_generator(tape);
    hosts.await_answers(tape, observer);
}

/// The record of a step with the instants at which it began, its load ended and its last answer came.
fn step_record(
    context: &StepContext<'_>,
    task: &StepTask,
    (began, ended, drained): (Instant, Instant, Instant),
    end: StepEnd,
) -> Step {
    Step {
        index: task.index,
        connections: task.connections(),
        depth: task.level.depth(),
        rate_per_sec: task.rate_per_sec(),
        began_ns: began.nanos_since(context.means.origin),
        ended_ns: ended.nanos_since(context.means.origin),
        drained_ns: drained.max(ended).nanos_since(context.means.origin),
        end,
    }
}

impl Measuring<'_, '_> {
    /// Takes in frames until every worker has ended.
    fn watch_to_the_end(&mut self) -> Result<(), EngineError> {
        loop {
            match self.load.next(LOOK_EVERY)? {
                StepEvent::Frame(frame) => self.take(*frame),
                StepEvent::Timeout => {}
                StepEvent::Ended => return Ok(()),
            }
            self.look_around();
        }
    }

    fn take(&mut self, frame: Frame) {
        if frame.head.phase == Phase::Measure {
            self.completed += frame.head.counts.completed;
        }
        self.answered += frame.head.counts.completed;
        self.last_ns = self.last_ns.max(frame.head.ended_ns);
        self.failed += frame.head.counts.failed.total();
        let under_load = self.end.is_none() && frame.head.phase == Phase::Measure;
        let gone = under_load && self.watch.loss.gone(&frame.head) && !self.context.outlasts_target;
        self.tell_remedies(&frame.head.counts.failed);
        self.tape.frame(frame);
        if gone {
            self.lose_target();
        } else if under_load && self.task.until_known && self.known() {
            self.end_load(StepEnd::Steady);
        }
    }

    /// What fails for the first time is told at once, with what helps.
    fn tell_remedies(&mut self, failed: &FailureCounts) {
        for row in self.watch.remedies.news(failed) {
            let unix_socket = self.context.means.plan.network.unix.is_some();
            let event = self.tape.event(EventKind::FailureSeen, first_seen(row, unix_socket));
            self.observer.observe(&Progress::Happened(&event));
        }
    }

    fn known(&self) -> bool {
        let frames = &self.tape.run().frames[self.first_frame..];
        step_is_known(frames.iter().map(|frame| &frame.head), self.load.workers())
    }

    fn lose_target(&mut self) {
        self.tell_loss("the run ended there");
        self.end_load(StepEnd::TargetLost);
    }

    /// Tells since when the target is gone, and what became of the load.
    fn tell_loss(&mut self, load: &str) {
        let since_sec = self.watch.loss.refused_since_ns().unwrap_or_default() as f64 / 1e9;
        let text = format!("from {since_sec:.1} s on the target refused every connection; {load}");
        let event = self.tape.event(EventKind::TargetLost, text);
        self.observer.observe(&Progress::Happened(&event));
    }

    /// A load may end before refusals have lasted long enough to be sure. Then one more connection tells
    /// whether the target is back.
    fn look_for_target(&mut self) {
        let settled = self.context.outlasts_target || self.end == Some(StepEnd::TargetLost);
        if settled || self.watch.loss.refused_since_ns().is_none() {
            return;
        }
        let sources = &self.context.means.plan.network.source_ips;
        let takes_one =
            |peer| reach(&route(peer, sources), LOOK_FOR_TARGET, self.context.interrupted).is_ok();
        if self.context.means.peers.iter().any(takes_one) {
            self.watch.loss.is_back();
        } else {
            self.tell_loss("the load went on to its end");
            self.end = Some(StepEnd::TargetLost);
        }
    }

    fn look_around(&mut self) {
        let now = RealClock.now();
        if self.end.is_none() && now >= self.load.load_ends() {
            self.end = Some(self.own_end());
            self.ended_at = self.load.load_ends();
            self.note_end();
        }
        if self.end.is_none()
            && self.task.ended_by.as_ref().is_some_and(|ended| ended.load(Ordering::Relaxed))
        {
            self.end_load(StepEnd::TimeLimit);
        }
        self.context.hosts.borrow_mut().take_in(self.tape, self.observer);
        if self.context.interrupted.load(Ordering::Relaxed) {
            self.interrupt(now);
        }
        if self.context.budget.over(now) {
            self.load.abandon();
        }
        if now.since(self.sampled_at) >= SAMPLE_EVERY {
            self.sampled_at = now;
            self.context.hosts.borrow_mut().ask_generator(self.tape);
        }
        if now.since(self.told_at) >= TELL_EVERY {
            self.tell(now);
        }
    }

    /// Why a load ended that nobody ended: its requests were all sent, or its time was over.
    fn own_end(&self) -> StepEnd {
        let early = self.load.load_ends() < self.ends_on_time;
        match self.task.requests_max {
            Some(_) if early => StepEnd::RequestLimit,
            _ => StepEnd::TimeLimit,
        }
    }

    /// The user wants the end: of the load at once, of the waiting soon.
    fn interrupt(&mut self, now: Instant) {
        match self.abandoned_at {
            _ if self.end != Some(StepEnd::Cut) => self.end_load(StepEnd::Cut),
            None if now.since(self.ended_at) >= DRAIN_INTERRUPTED => {
                self.abandoned_at = Some(now);
                self.load.abandon();
            }
            Some(abandoned_at) if now.since(abandoned_at) >= LEAVE_INTERRUPTED => self.leave(),
            _ => {}
        }
    }

    /// A worker that calls a script cannot end before the script comes back, and that may be never.
    fn leave(&mut self) {
        let left = self.load.leave();
        if left > 0 {
            let text = format!(
                "the script did not come back in {left} of {} threads; what these measured last is not counted",
                self.load.workers()
            );
            let event = self.tape.event(EventKind::StepFailed, text);
            self.observer.observe(&Progress::Happened(&event));
        }
    }

    fn end_load(&mut self, end: StepEnd) {
        self.load.end_load();
        self.ended_at = self.load.load_ends();
        self.end = Some(end);
        self.note_end();
    }

    /// The load has ended. Where the counters of hosts stand is asked now and waited for after the last answer.
    fn note_end(&mut self) {
        self.context.hosts.borrow_mut().ask();
        self.observer.observe(&Progress::Draining);
    }

    fn tell(&mut self, now: Instant) {
        let span_sec = now.since(self.told_at).as_secs_f64();
        let throughput_per_sec = (self.completed - self.told_completed) as f64 / span_sec;
        self.told_completed = self.completed;
        self.told_at = now;
        if self.end.is_none() {
            let elapsed = now.since(self.load.began());
            let (ended, failed) = (self.answered + self.failed, self.failed);
            self.observer.observe(&Progress::Moment { elapsed, throughput_per_sec, ended, failed });
        }
    }

    /// Requests that could not be made end the load of their worker, and other generators may fail; why is told once.
    fn tell_troubles(&mut self) {
        for trouble in self.load.troubles() {
            let event = self.tape.event(EventKind::StepFailed, trouble);
            self.observer.observe(&Progress::Happened(&event));
        }
    }

    fn close(mut self, began: Instant) -> StepEnd {
        self.tell_troubles();
        self.look_for_target();
        let last_answer = self.context.means.origin + Duration::from_nanos(self.last_ns);
        // All workers may have ended while the load could have gone on: then it ended with the last of them.
        let stopped = RealClock.now() < self.load.load_ends();
        let ended = if stopped { last_answer } else { self.load.load_ends() };
        let by_itself = if stopped { StepEnd::Stopped } else { self.own_end() };
        let end = self.end.unwrap_or(by_itself);
        self.note_counters();
        self.tape.step(step_record(self.context, &self.task, (began, ended, last_answer), end));
        self.observer.observe(&Progress::StepEnded {
            connections: self.task.connections(),
            throughput_per_sec: self.throughput_per_sec(began, (ended, last_answer), end),
            failed: self.failed,
        });
        end
    }

    /// Where the counters of all hosts stand after the step.
    fn note_counters(&mut self) {
        let mut hosts = self.context.hosts.borrow_mut();
        if self.end.is_none() {
            hosts.ask();
        }
        hosts.ask_generator(self.tape);
        hosts.await_answers(self.tape, self.observer);
    }

    /// A first impression of the throughput, over the time that the analysis will take too.
    fn throughput_per_sec(
        &self,
        began: Instant,
        (ended, last_answer): (Instant, Instant),
        end: StepEnd,
    ) -> f64 {
        let (count, until) = match measured_to_the_last_answer(end, self.completed, self.answered) {
            true => (self.answered, last_answer),
            false => (self.completed, ended),
        };
        count as f64 / until.since(began).as_secs_f64().max(1e-9)
    }
}
