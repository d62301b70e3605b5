//! One measured step: keeps up its load until its throughput is known, or until something ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_analyze::measured_to_the_last_answer;
use plimsoll_analyze::overload::RecoveryWatch;
use plimsoll_analyze::search::Judge;
use plimsoll_analyze::steady::step_is_known;
use plimsoll_engine::{EngineError, Traffic};
use plimsoll_host::sampling_interval;
use plimsoll_record::{
    Counts, EncodedHistogram, EventKind, FailureCounts, FailureKind, Frame, FrameHead, Phase, Step, StepEnd,
    WorkerTime,
};
use plimsoll_units::Instant;

use crate::connect::connect;
use crate::context::StepPlan;
use crate::load::{Load, Policy, measure};
use crate::progress::{Moment, Progress};
use crate::session::Session;
use crate::traffic::Requests;

/// After the user has interrupted the run, outstanding answers are waited for at most this long.
const DRAIN_INTERRUPTED: Duration = Duration::from_secs(1);

/// After the workers' deadline, workers that are still busy creating requests are waited for at most this long.
const LEAVE_AFTER: Duration = Duration::from_secs(1);

/// The time in which the target must accept a connection to count as back.
const TARGET_RETURN: Duration = Duration::from_secs(1);

/// How often the machine that makes the load is sampled, in addition to both ends of a step.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

const SHOW_EVERY: Duration = Duration::from_millis(500);

/// The condition that ends the load of a step before its time.
#[derive(Debug)]
pub(crate) enum EndsWhen {
    TimeLimit,
    Known,
    /// The outcome of the rate is known.
    Decided(Box<Judge>),
    /// Goodput has recovered after an overload.
    Recovered(Box<RecoveryWatch>),
    Set(Arc<AtomicBool>),
}

impl Session<'_> {
    /// Makes one step, from its first request to its last response.
    pub(crate) fn step(&mut self, spec: StepPlan, ends_when: EndsWhen) -> Result<StepEnd, EngineError> {
        self.sample_hosts();
        let mut load = Load::start(&self.context, self.peers.take(), &spec, self.recorder.now())?;
        let mut step = MeasuredStep::begin(self, spec, ends_when, &load);
        measure(&mut load, &mut step)?;
        let end = step.close(&mut load);
        self.peers = load.into_peers();
        self.last_end = Some(end);
        Ok(end)
    }
}

struct MeasuredStep<'s, 'a> {
    session: &'s mut Session<'a>,
    spec: StepPlan,
    ends_when: EndsWhen,
    /// The index of this step's first frame among the run's frames.
    first_frame: usize,
    began: Instant,
    /// When the load ends unless something ends it before.
    ends_on_time: Instant,
    end: Option<StepEnd>,
    ended_at: Instant,
    /// When the user's interrupt ended the wait for answers.
    abandoned_at: Option<Instant>,
    /// True if workers that did not end are no longer waited for.
    left: bool,
    /// True if a lost generator ends the run.
    stopped_by_loss: bool,
    sampled_at: Instant,
    shown_at: Instant,
    shown_completed: u64,
    /// The end of the latest frame, in nanoseconds since the run began.
    last_ns: u64,
    /// Requests answered during the load.
    completed: u64,
    /// Requests answered during the load or after it.
    answered: u64,
    failed: u64,
}

impl<'s, 'a> MeasuredStep<'s, 'a> {
    /// Records and shows that the step has begun.
    fn begin(session: &'s mut Session<'a>, spec: StepPlan, ends_when: EndsWhen, load: &Load) -> Self {
        let began = load.began();
        // Not `load.ends()`: a short load may be over by now.
        let ends_on_time = began + spec.limit;
        let first_frame = session.recorder.run().frames.len();
        let mut step = Self {
            session,
            spec,
            ends_when,
            first_frame,
            began,
            ends_on_time,
            end: None,
            ended_at: began,
            abandoned_at: None,
            left: false,
            stopped_by_loss: false,
            sampled_at: began,
            shown_at: began,
            shown_completed: 0,
            last_ns: 0,
            completed: 0,
            answered: 0,
            failed: 0,
        };
        step.record(load, (ends_on_time, ends_on_time), StepEnd::Cut);
        let steps_max = step.session.context.plan.load.steps_max();
        let steps_left = steps_max.saturating_sub(step.spec.index);
        let left_max = step.session.budget.left(began).unwrap_or(step.spec.limit.saturating_mul(steps_left));
        step.session.recorder.show(&Progress::StepBegan { step: &step.spec, steps_max, left_max });
        step
    }

    /// Records the step; `ended` is the end of its load, `drained` the arrival of its last response.
    fn record(&mut self, load: &Load, (ended, drained): (Instant, Instant), end: StepEnd) {
        let origin = self.session.context.origin;
        self.session.recorder.step(Step {
            index: self.spec.index,
            connections: self.spec.connections(),
            depth: self.spec.level.depth(),
            rate_per_sec: self.spec.rate_per_sec(),
            stages: self.spec.stages(),
            began_ns: self.began.nanos_since(origin),
            ended_ns: ended.nanos_since(origin),
            drained_ns: drained.max(ended).nanos_since(origin),
            end,
            generators: load.shares(),
        });
    }

    /// Records kinds of failure that did not occur before.
    fn note_failures(&mut self, failed: &FailureCounts) {
        let unix_socket = self.session.context.plan.network.unix.is_some();
        for kind in self.session.watch.first_seen(failed) {
            self.session.recorder.failure_seen(kind, unix_socket);
        }
    }

    /// Adds a frame; true if the rate's outcome is now known, or goodput has recovered. An unreadable frame decides nothing.
    fn decides(&mut self, frame: &Frame) -> bool {
        match &mut self.ends_when {
            EndsWhen::Decided(judge) => judge.add(frame).is_ok() && judge.outcome().is_some(),
            EndsWhen::Recovered(watch) => watch.add(frame).is_ok() && watch.is_back(),
            EndsWhen::TimeLimit | EndsWhen::Known | EndsWhen::Set(_) => false,
        }
    }

    fn is_known(&self, workers: u32) -> bool {
        if !matches!(self.ends_when, EndsWhen::Known) {
            return false;
        }
        let frames = &self.session.recorder.run().frames[self.first_frame..];
        step_is_known(frames.iter().map(|frame| &frame.head), workers)
    }

    /// Records the time since which the target is lost, and what happened to the load.
    fn note_loss(&mut self, load: &str) {
        let since_sec = self.session.watch.refused_since_ns().unwrap_or_default() as f64 / 1e9;
        let text = format!("from {since_sec:.1} s on the target refused every connection; {load}");
        self.session.recorder.event(EventKind::TargetLost, text);
    }

    /// Checks with one more connection whether the target is back: a load may end before refusals have lasted long enough to be
    /// sure.
    fn look_for_target(&mut self) {
        let settled = self.session.outlasts_target || self.end == Some(StepEnd::TargetLost);
        if settled || self.session.watch.refused_since_ns().is_none() {
            return;
        }
        let Session { context, interrupt, .. } = &*self.session;
        let sources = &context.plan.network.source_ips;
        let takes_one = |peer| connect(peer, sources, TARGET_RETURN, interrupt).is_ok();
        if context.destinations.iter().any(takes_one) {
            self.session.watch.is_back();
        } else {
            self.note_loss("the load went on to its end");
            self.end = Some(StepEnd::TargetLost);
        }
    }

    /// Why a load ended by itself: all its requests were sent, or its time was over.
    fn own_end(&self, load: &Load) -> StepEnd {
        let early = load.ends() < self.ends_on_time;
        if early && self.spec.requests_max.is_some() { StepEnd::RequestLimit } else { StepEnd::TimeLimit }
    }

    fn end_load(&mut self, load: &mut Load, end: StepEnd) {
        load.end();
        self.load_ended(load, end);
    }

    /// Handles the end of the load. Hosts are asked for samples now; the samples are awaited after the last response.
    fn load_ended(&mut self, load: &Load, end: StepEnd) {
        self.ended_at = load.ends();
        self.end = Some(end);
        self.session.hosts.ask();
        self.session.recorder.show(&Progress::Draining);
    }

    /// Ends the load if its time is over or its flag is set.
    fn check_end(&mut self, load: &mut Load, now: Instant) {
        if self.end.is_none() && now >= load.ends() {
            self.load_ended(load, self.own_end(load));
        }
        let set = matches!(&self.ends_when, EndsWhen::Set(flag) if flag.load(Ordering::Relaxed));
        if self.end.is_none() && set {
            self.end_load(load, StepEnd::TimeLimit);
        }
    }

    /// Ends the load at once when the user interrupts, and the wait for answers soon after.
    fn interrupt(&mut self, load: &mut Load, now: Instant) {
        match self.abandoned_at {
            _ if self.end != Some(StepEnd::Cut) => self.end_load(load, StepEnd::Cut),
            None if now.since(self.ended_at) >= DRAIN_INTERRUPTED => {
                self.abandoned_at = Some(now);
                load.abandon();
            }
            _ => {}
        }
    }

    /// Stops waiting for workers that do not end. A worker that calls a script cannot end before the script returns, which may
    /// never happen. Its last reported requests in flight count as unanswered; what it did after that report is unknown.
    fn leave(&mut self, load: &mut Load) {
        self.left = true;
        let left = load.leave();
        if left.is_empty() {
            return;
        }
        for worker in &left {
            self.close_account(*worker);
        }
        let what = match self.session.context.requests {
            Requests::Settled(Traffic::Generated(_)) => "the script did not come back",
            Requests::Settled(Traffic::Fixed(_)) | Requests::Varied(_) => "the load did not end",
        };
        let (left, all) = (left.len(), load.workers);
        let text = format!("{what} in {left} of {all} threads; what these measured last is not counted");
        self.session.recorder.event(EventKind::StepFailed, text);
    }

    /// Records a last frame for a worker that has not ended, in which its requests in flight and its backlog fail.
    fn close_account(&mut self, worker: u32) {
        let frames = &self.session.recorder.run().frames[self.first_frame..];
        let own = |frame: &&Frame| frame.head.worker == worker && frame.head.of_worker();
        let Some(last) = frames.iter().rev().find(own).map(|frame| &frame.head) else { return };
        let ended_ns = self.session.recorder.now().nanos_since(self.session.context.origin);
        let mut counts = Counts::default();
        counts.failed.add(FailureKind::Unanswered, last.in_flight);
        counts.failed.add(FailureKind::Unsent, last.backlog);
        let stalled_ns = ended_ns.saturating_sub(last.ended_ns);
        let head = FrameHead {
            interval: last.interval + 1,
            phase: Phase::Drain,
            began_ns: last.ended_ns,
            ended_ns: last.ended_ns + stalled_ns,
            counts,
            in_flight: 0,
            backlog: 0,
            time: WorkerTime { stalled_ns, ..WorkerTime::default() },
            ..last.clone()
        };
        let none = EncodedHistogram::default;
        self.session.recorder.frame(Frame {
            head,
            latency: none(),
            unsuccessful: none(),
            service: None,
            send_lag: none(),
            connect: none(),
            handshake: none(),
            traces: Vec::new(),
        });
    }

    /// Leaves workers that continue after their deadline: the code that they call holds them up.
    fn leave_those_that_go_on(&mut self, load: &mut Load, now: Instant) {
        if !self.left && now.since(load.workers_end()) >= LEAVE_AFTER {
            self.leave(load);
        }
    }

    fn show(&mut self, now: Instant) {
        let span_sec = now.since(self.shown_at).as_secs_f64();
        let throughput_per_sec = (self.completed - self.shown_completed) as f64 / span_sec;
        self.shown_completed = self.completed;
        self.shown_at = now;
        if self.end.is_none() {
            let elapsed = now.since(self.began);
            let (ended, failed) = (self.answered + self.failed, self.failed);
            let moment = Moment { elapsed, throughput_per_sec, ended, failed };
            self.session.recorder.show(&Progress::Moment(moment));
        }
    }

    /// Records the step after all workers have ended.
    fn close(mut self, load: &mut Load) -> StepEnd {
        for trouble in load.troubles() {
            self.session.recorder.event(EventKind::StepFailed, trouble);
        }
        self.look_for_target();
        let drained = self.session.context.origin + Duration::from_nanos(self.last_ns);
        // All workers may have ended before the load's time was over; the load then ended with the last of them.
        let stopped = self.session.recorder.now() < load.ends();
        let ended = if stopped { drained } else { load.ends() };
        // When the last generator is lost, the load ends before the loss is noticed.
        self.stopped_by_loss |= load.is_stopped();
        let by_itself = match stopped {
            _ if self.stopped_by_loss => StepEnd::Cut,
            true => StepEnd::Stopped,
            false => self.own_end(load),
        };
        let end = self.end.unwrap_or(by_itself);
        if self.end.is_none() {
            self.session.hosts.ask();
        }
        self.session.collect_samples();
        self.record(load, (ended, drained), end);
        load.kept();
        let throughput_per_sec = self.throughput_per_sec(ended, drained, end);
        self.session.recorder.show(&Progress::StepEnded { throughput_per_sec, failed: self.failed });
        if self.stopped_by_loss {
            let text = "a generator was lost: the run ends there, what was measured is kept".to_owned();
            self.session.recorder.event(EventKind::StepFailed, text);
        } else if end == StepEnd::Cut {
            let text = "interrupted: the last step is incomplete, what was measured is kept".to_owned();
            self.session.recorder.event(EventKind::Interrupted, text);
        }
        end
    }

    /// A preliminary throughput, over the same time as in the analysis.
    fn throughput_per_sec(&self, ended: Instant, drained: Instant, end: StepEnd) -> f64 {
        let (count, until) = match measured_to_the_last_answer(end, self.completed, self.answered) {
            true => (self.answered, drained),
            false => (self.completed, ended),
        };
        count as f64 / until.since(self.began).as_secs_f64().max(1e-9)
    }
}

impl Policy for MeasuredStep<'_, '_> {
    type Error = EngineError;

    fn frame(&mut self, load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), EngineError> {
        let head = &frame.head;
        let (counts, measured) = (&head.counts, head.phase == Phase::Measure);
        self.completed += if measured { counts.completed } else { 0 };
        self.answered += counts.completed;
        self.failed += counts.failed.total();
        self.last_ns = self.last_ns.max(head.ended_ns);
        let under_load = self.end.is_none() && measured;
        let gone = under_load && self.session.watch.gone(head) && !self.session.outlasts_target;
        self.note_failures(&counts.failed);
        let decided = under_load && self.decides(&frame);
        if self.session.recorder.frame(*frame) {
            load.kept();
        }
        if gone {
            self.note_loss("the run ended there");
            self.end_load(load, StepEnd::TargetLost);
        } else if decided || under_load && self.is_known(load.workers) {
            self.end_load(load, StepEnd::Steady);
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), EngineError> {
        self.check_end(load, now);
        if self.session.recorder.commit_if_due() {
            load.kept();
        }
        for trouble in load.troubles_of_peers() {
            self.session.recorder.event(EventKind::StepFailed, trouble);
        }
        self.session.recorder.generators(self.spec.index, load.news_of_shares());
        self.session.hosts.take_in(&mut self.session.recorder);
        if self.session.interrupted() {
            self.interrupt(load, now);
        } else if load.is_stopped() && !self.stopped_by_loss {
            self.stopped_by_loss = true;
            self.end_load(load, StepEnd::Cut);
        }
        self.leave_those_that_go_on(load, now);
        if self.session.budget.over(now) {
            load.abandon();
        }
        let running = now.since(self.session.context.origin);
        if now.since(self.sampled_at) >= sampling_interval(SAMPLE_EVERY, running) {
            self.sampled_at = now;
            self.session.hosts.sample_generator(&mut self.session.recorder);
        }
        if now.since(self.shown_at) >= SHOW_EVERY {
            self.show(now);
        }
        Ok(())
    }
}
