//! The load before the first step, which makes the target warm. Of it are recorded how it ended
//! and the samples of hosts, nothing of its requests.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_analyze::warm::{Speed, WarmUp};
use plimsoll_engine::StepEvent;
use plimsoll_plan::{Level, RateProfile};
use plimsoll_record::{EventKind, Frame, Phase};
use plimsoll_units::{Clock, Instant, RealClock, count_text, duration_text, grouped, percent_text};

use crate::conduct::ConductError;
use crate::load::{Load, Means};
use crate::lost::LossWatch;
use crate::observer::{Observer, Progress};
use crate::step::{StepContext, StepTask};
use crate::tape::Tape;

/// The number of this load among the steps, so that no value of a request that it makes comes again in one of them.
const STEP: u32 = u32::MAX;

/// The longest interval of one frame.
const INTERVAL: Duration = Duration::from_millis(100);

/// How often the signals are looked at while no frame comes.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often it is looked whether the target is warm, and told how far it is.
const JUDGE_EVERY: Duration = Duration::from_millis(500);

/// After the user has ended it, workers whose requests are still being made are waited for at most this long.
const LEAVE_INTERRUPTED: Duration = Duration::from_secs(1);

/// Hosts without caps have this part of the time at most: what is warm must be seen with them.
const FREE_PART: u32 = 2;

/// A warm-up in which more requests failed than this is told with their share.
const FAILED_TOLD: f64 = 0.01;

/// A warm-up that no step follows.
#[derive(Debug, thiserror::Error)]
pub enum WarmUpError {
    /// The user ended it.
    #[error("interrupted after {} of warm-up: no step was measured, and nothing is kept", text(.after))]
    Interrupted {
        /// How long it had taken.
        after: Duration,
    },
    /// The target is gone.
    #[error(
        "from {} of the warm-up on the target refused every connection: no step was measured; look why it ended under \
         load", text(.since)
    )]
    TargetLost {
        /// The time since the warm-up began.
        since: Duration,
    },
    /// Hosts have more than their caps.
    #[error("the hosts could not be held to their caps after the first part of the warm-up: {0}")]
    NotHeld(#[source] io::Error),
}

/// Somebody who holds hosts to their caps. Until then they have what the machine has: what becomes warm by work that it does
/// once is warm sooner.
pub trait Caps: Debug {
    /// Asks for the hosts to be held from now on.
    ///
    /// # Errors
    /// When nobody hears it.
    fn hold(&mut self) -> io::Result<()>;
}

fn text(duration: &Duration) -> String {
    duration_text(duration.as_secs_f64() * 1e9)
}

/// How a warm-up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Steady,
    TimeLimit,
    Interrupted,
    TargetLost,
}

/// A warm-up while it goes on.
struct Warming<'a, 'c> {
    load: Load<'a>,
    seen: WarmUp,
    loss: LossWatch,
    began: Instant,
    end: Option<(End, Instant)>,
    judged_at: Instant,
    completed: u64,
    told_completed: u64,
    /// Who is to hold the hosts, until that is done.
    caps: Option<&'c mut dyn Caps>,
    /// How long hosts may have no caps, and how long they had none.
    free_at_most: Duration,
    free: Option<Duration>,
}

/// Loads the target until it is warm, if the plan wants that. The time of it comes on top of the run's budget.
pub(crate) fn warm_up(
    context: &mut StepContext<'_>,
    caps: Option<&mut dyn Caps>,
    tape: &mut Tape,
    observer: &mut dyn Observer,
) -> Result<(), ConductError> {
    let Some(limit) = context.means.plan.warm else { return Ok(()) };
    let began = RealClock.now();
    let level = context.means.plan.load.warming();
    let rate_per_sec = level.profile().map(RateProfile::mean_per_sec);
    observer.observe(&Progress::WarmUpBegan { connections: level.connections(), rate_per_sec, limit });
    let warmed = warmed(context, (&level, limit), caps, (tape, observer))?;
    context.budget = context.budget.later_by(RealClock.now().since(began));
    let (kind, text) = warmed;
    let event = tape.event(kind, text);
    observer.observe(&Progress::Happened(&event));
    Ok(())
}

/// Holds the load, and gives what is to be told of it.
fn warmed(
    context: &StepContext<'_>,
    (level, limit): (&Level, Duration),
    caps: Option<&mut dyn Caps>,
    (tape, observer): (&mut Tape, &mut dyn Observer),
) -> Result<(EventKind, String), ConductError> {
    let task = StepTask {
        index: STEP,
        level: level.clone(),
        limit,
        until_known: false,
        requests_max: None,
        ended_by: None,
    };
    let means = Means { interval: context.means.interval.min(INTERVAL), ..context.means.clone() };
    let load = Load::start(&means, context.mates.as_ref(), &task)?;
    let speed = if level.profile().is_some() { Speed::ServiceTime } else { Speed::Throughput };
    let (seen, began) = (WarmUp::new(load.workers(), speed), load.began());
    let mut warming = Warming {
        load,
        seen,
        loss: LossWatch::default(),
        began,
        end: None,
        judged_at: began,
        completed: 0,
        told_completed: 0,
        caps,
        free_at_most: limit / FREE_PART,
        free: None,
    };
    warming.watch_to_the_end(context, tape, observer)?;
    warming.hold()?;
    for trouble in warming.load.faults() {
        let event = tape.event(EventKind::StepFailed, trouble);
        observer.observe(&Progress::Happened(&event));
    }
    warming.told(level, context.means.origin)
}

impl Warming<'_, '_> {
    fn watch_to_the_end(
        &mut self,
        context: &StepContext<'_>,
        tape: &mut Tape,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductError> {
        loop {
            match self.load.next(LOOK_EVERY)? {
                StepEvent::Frame(frame) => self.take(&frame),
                StepEvent::Timeout => {}
                StepEvent::Ended => return Ok(()),
            }
            context.hosts.borrow_mut().take_in(tape, observer);
            self.look_around(context.interrupted.load(Ordering::Relaxed), observer)?;
        }
    }

    fn take(&mut self, frame: &Frame) {
        if frame.head.phase == Phase::Measure {
            self.completed += frame.head.counts.completed;
        }
        // Our own frames can be read, and those of a mate that cannot are as good as none.
        self.seen.add(frame).ok();
        if self.end.is_none() && self.loss.gone(&frame.head) {
            self.load.abandon();
            self.end = Some((End::TargetLost, RealClock.now()));
        }
    }

    fn look_around(&mut self, interrupted: bool, observer: &mut dyn Observer) -> Result<(), WarmUpError> {
        let now = RealClock.now();
        match self.end {
            Some((End::Interrupted, at)) if now.since(at) >= LEAVE_INTERRUPTED => {
                self.load.leave();
            }
            Some((End::Interrupted | End::TargetLost, _)) => {}
            _ if interrupted => {
                self.load.abandon();
                self.end = Some((End::Interrupted, now));
            }
            None if now >= self.load.load_ends() => self.finish(End::TimeLimit, observer),
            None if now.since(self.judged_at) >= JUDGE_EVERY => return self.judge(now, observer),
            _ => {}
        }
        Ok(())
    }

    fn judge(&mut self, now: Instant, observer: &mut dyn Observer) -> Result<(), WarmUpError> {
        let span_sec = now.since(self.judged_at).as_secs_f64();
        let throughput_per_sec = (self.completed - self.told_completed) as f64 / span_sec;
        (self.judged_at, self.told_completed) = (now, self.completed);
        let ((failed, ended), elapsed) = (self.seen.failed(), now.since(self.began));
        let steady = self.seen.is_steady();
        if self.caps.is_some() && (steady || elapsed >= self.free_at_most) {
            self.hold()?;
        } else if steady {
            self.load.end_load();
            self.finish(End::Steady, observer);
            return Ok(());
        }
        observer.observe(&Progress::Moment { elapsed, throughput_per_sec, ended, failed });
        Ok(())
    }

    /// Has the hosts held to their caps, if they are not yet. What is warm is seen anew from here on.
    fn hold(&mut self) -> Result<(), WarmUpError> {
        let Some(caps) = self.caps.take() else { return Ok(()) };
        caps.hold().map_err(WarmUpError::NotHeld)?;
        self.free = Some(RealClock.now().since(self.began));
        self.seen.forget();
        Ok(())
    }

    /// The load has ended; the last answers are waited for.
    fn finish(&mut self, end: End, observer: &mut dyn Observer) {
        self.end = Some((end, self.load.load_ends()));
        observer.observe(&Progress::Draining);
    }

    /// What is told of the warm-up, once it is over.
    fn told(&self, level: &Level, origin: Instant) -> Result<(EventKind, String), ConductError> {
        // Nothing has ended the load that was seen: its time was over, or its workers have made all that they could.
        let by_itself = (End::TimeLimit, self.load.load_ends().min(RealClock.now()));
        let (end, at) = self.end.unwrap_or(by_itself);
        let took = at.since(self.began);
        let at_level = match level.profile() {
            Some(profile) => format!("{} requests/s offered", count_text(profile.mean_per_sec())),
            None => {
                let throughput = count_text(self.seen.throughput_per_sec());
                let connections = grouped(level.connections().into());
                format!("{throughput} requests/s at {connections} connections")
            }
        };
        let free =
            self.free.map(|free| format!(", the first {} without caps", text(&free))).unwrap_or_default();
        let (at_level, took_text) = (format!("{free}: {at_level}{}", self.failures()), text(&took));
        match end {
            End::Steady => Ok((EventKind::WarmedUp, format!("warmed up for {took_text}{at_level}"))),
            End::TimeLimit => {
                Ok((EventKind::NotWarm, format!("not steady after {took_text} of warm-up{at_level}")))
            }
            End::Interrupted => Err(WarmUpError::Interrupted { after: took }.into()),
            End::TargetLost => {
                let since = self.loss.refused_since_ns().unwrap_or_default();
                let since = Duration::from_nanos(since.saturating_sub(self.began.nanos_since(origin)));
                Err(WarmUpError::TargetLost { since }.into())
            }
        }
    }

    fn failures(&self) -> String {
        let (failed, ended) = self.seen.failed();
        let ratio = failed as f64 / ended.max(1) as f64;
        if ratio > FAILED_TOLD {
            format!(", {} of the requests failed", percent_text(ratio))
        } else {
            String::new()
        }
    }
}
