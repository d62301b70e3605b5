//! The load before the first step, which warms up the target. The run records its end and the samples of hosts, and none of its
//! requests.

use std::time::Duration;

use plimsoll_analyze::warm_up::{Speed, WarmUp};
use plimsoll_plan::Level;
use plimsoll_record::{EventKind, Frame, Phase};
use plimsoll_units::{Instant, count_text, grouped, percent_text};

use crate::context::StepPlan;
use crate::error::{ConductError, WarmUpError, duration_text};
use crate::load::{Load, Policy, measure};
use crate::progress::{Moment, Progress};
use crate::session::Session;
use crate::watch::Watch;

/// The step index of the warm-up: no step has it, so no step repeats a value that a template wrote into a warm-up request.
const STEP: u32 = u32::MAX;

const INTERVAL: Duration = Duration::from_millis(100);

/// How often the target is judged and progress is shown.
const JUDGE_EVERY: Duration = Duration::from_millis(500);

/// After the workers' deadline, workers that are still busy creating requests are waited for at most this long.
const LEAVE_AFTER: Duration = Duration::from_secs(1);

/// Hosts run uncapped for at most 1/2 of the time: whether they are warm must be judged with their caps.
const UNCAPPED_PART: u32 = 2;

/// A warm-up reports its ratio of failed requests above this value.
const FAILED_REPORTED: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Steady,
    TimeLimit,
    Interrupted,
    TargetLost,
}

impl Session<'_> {
    /// Loads the target until it is warm, if the plan asks for that. The time is added to the run's budget. Hosts that start
    /// uncapped are capped on the way: work that a host does only once finishes sooner without caps.
    pub(crate) fn warm_up(&mut self, starts_uncapped: bool) -> Result<(), ConductError> {
        let Some(limit) = self.context.plan.warm else { return Ok(()) };
        let began = self.recorder.now();
        let spec = self.context.step(STEP, self.context.plan.load.warming(), limit);
        let spec = StepPlan { interval: spec.interval.min(INTERVAL), ..spec };
        self.recorder.show(&Progress::WarmUpBegan(&spec));
        let (kind, text) = self.warm(&spec, starts_uncapped)?;
        self.budget = self.budget.later_by(self.recorder.now().since(began));
        self.recorder.event(kind, text);
        Ok(())
    }

    /// Makes the load, and returns the event that reports its end.
    fn warm(&mut self, spec: &StepPlan, starts_uncapped: bool) -> Result<(EventKind, String), ConductError> {
        let mut load = Load::start(&self.context, self.peers.take(), spec, self.recorder.now())?;
        let speed = if spec.level.profile().is_some() { Speed::ServiceTime } else { Speed::Throughput };
        let mut warming = Warming {
            warmth: WarmUp::new(load.workers, speed),
            watch: Watch::default(),
            began: load.began(),
            end: None,
            left: false,
            judged_at: load.began(),
            completed: 0,
            shown_completed: 0,
            uncapped: starts_uncapped && self.caps.is_some(),
            uncapped_at_most: spec.limit / UNCAPPED_PART,
            uncapped_for: None,
            session: self,
        };
        measure(&mut load, &mut warming)?;
        warming.apply_caps()?;
        for fault in load.faults() {
            warming.session.recorder.event(EventKind::StepFailed, fault);
        }
        let outcome = warming.outcome(&load, &spec.level)?;
        self.peers = load.into_peers();
        Ok(outcome)
    }
}

struct Warming<'s, 'a> {
    session: &'s mut Session<'a>,
    warmth: WarmUp,
    watch: Watch,
    began: Instant,
    end: Option<(End, Instant)>,
    /// True if workers that did not end are no longer waited for.
    left: bool,
    judged_at: Instant,
    completed: u64,
    shown_completed: u64,
    uncapped: bool,
    uncapped_at_most: Duration,
    /// How long hosts were uncapped.
    uncapped_for: Option<Duration>,
}

impl Warming<'_, '_> {
    /// Judges whether the target is warm, and shows progress.
    fn judge(&mut self, load: &mut Load, now: Instant) -> Result<(), WarmUpError> {
        let span_sec = now.since(self.judged_at).as_secs_f64();
        let throughput_per_sec = (self.completed - self.shown_completed) as f64 / span_sec;
        (self.judged_at, self.shown_completed) = (now, self.completed);
        let ((failed, ended), elapsed) = (self.warmth.failed(), now.since(self.began));
        let steady = self.warmth.is_steady();
        if self.uncapped && (steady || elapsed >= self.uncapped_at_most) {
            self.apply_caps()?;
        } else if steady {
            load.end();
            self.load_ended(load, End::Steady);
            return Ok(());
        }
        let moment = Moment { elapsed, throughput_per_sec, ended, failed };
        self.session.recorder.show(&Progress::Moment(moment));
        Ok(())
    }

    /// Caps the hosts if they are uncapped. Whether they are warm is then judged anew.
    fn apply_caps(&mut self) -> Result<(), WarmUpError> {
        if !std::mem::take(&mut self.uncapped) {
            return Ok(());
        }
        if let Some(caps) = &mut self.session.caps {
            caps.apply().map_err(WarmUpError::NotCapped)?;
        }
        self.uncapped_for = Some(self.session.recorder.now().since(self.began));
        self.warmth.forget();
        Ok(())
    }

    /// Notes that the load has ended; outstanding responses are waited for.
    fn load_ended(&mut self, load: &Load, end: End) {
        self.end = Some((end, load.ends()));
        self.session.recorder.show(&Progress::Draining);
    }

    /// The event about the end of the warm-up, or an error if no step can follow.
    fn outcome(&self, load: &Load, level: &Level) -> Result<(EventKind, String), ConductError> {
        // Nothing ended the load early: its time was over, or its workers sent all their requests.
        let by_itself = (End::TimeLimit, load.ends().min(self.session.recorder.now()));
        let (end, at) = self.end.unwrap_or(by_itself);
        let took = at.since(self.began);
        let rest = format!("{}: {}{}", self.uncapped_text(), self.level_text(level), self.failures());
        match end {
            End::Steady => Ok((EventKind::WarmedUp, format!("warmed up for {}{rest}", duration_text(took)))),
            End::TimeLimit => {
                Ok((EventKind::NotWarm, format!("not steady after {} of warm-up{rest}", duration_text(took))))
            }
            End::Interrupted => Err(WarmUpError::Interrupted { after: took }.into()),
            End::TargetLost => {
                let since_ns = self.watch.refused_since_ns().unwrap_or_default();
                let began_ns = self.began.nanos_since(self.session.context.origin);
                let since = Duration::from_nanos(since_ns.saturating_sub(began_ns));
                Err(WarmUpError::TargetLost { since }.into())
            }
        }
    }

    fn uncapped_text(&self) -> String {
        let without = |uncapped| format!(", the first {} without caps", duration_text(uncapped));
        self.uncapped_for.map(without).unwrap_or_default()
    }

    fn level_text(&self, level: &Level) -> String {
        match level.profile() {
            Some(profile) => format!("{} requests/s offered", count_text(profile.mean_per_sec())),
            None => {
                let throughput = count_text(self.warmth.throughput_per_sec());
                format!("{throughput} requests/s at {} connections", grouped(level.connections().into()))
            }
        }
    }

    fn failures(&self) -> String {
        let (failed, ended) = self.warmth.failed();
        let ratio = failed as f64 / ended.max(1) as f64;
        if ratio > FAILED_REPORTED {
            format!(", {} of the requests failed", percent_text(ratio))
        } else {
            String::new()
        }
    }
}

impl Policy for Warming<'_, '_> {
    type Error = ConductError;

    fn frame(&mut self, load: &mut Load, frame: Box<Frame>, now: Instant) -> Result<(), ConductError> {
        if frame.head.phase == Phase::Measure {
            self.completed += frame.head.counts.completed;
        }
        if let Err(error) = self.warmth.add(&frame) {
            let text = format!("a frame of worker {} is not part of the warm-up: {error}", frame.head.worker);
            self.session.recorder.event(EventKind::StepFailed, text);
        }
        if self.end.is_none() && self.watch.gone(&frame.head) {
            load.abandon();
            self.end = Some((End::TargetLost, now));
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), ConductError> {
        self.session.hosts.take_in(&mut self.session.recorder);
        match self.end {
            _ if now.since(load.workers_end()) >= LEAVE_AFTER && !self.left => {
                self.left = true;
                load.leave();
            }
            Some((End::Interrupted | End::TargetLost, _)) => {}
            _ if self.session.interrupted() => {
                load.abandon();
                self.end = Some((End::Interrupted, now));
            }
            None if now >= load.ends() => self.load_ended(load, End::TimeLimit),
            None if now.since(self.judged_at) >= JUDGE_EVERY => self.judge(load, now)?,
            _ => {}
        }
        Ok(())
    }
}
