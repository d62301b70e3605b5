//! The parts of an overload step, from the offered rates.

use std::time::Duration;

use plimsoll_plan::{Onset, Slo, Stage, queue_gone_sec};
use plimsoll_record::RateStage;

/// The rates of an overload step, and the start of each part in seconds since the load began.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) base_per_sec: f64,
    pub(super) peak_per_sec: f64,
    pub(super) onset: Onset,
    /// From when on the base counts: before, answers may still take longer, and too few have come.
    pub(super) counts_sec: f64,
    /// Begin of the overload, including its ramp.
    pub(super) begins_sec: f64,
    /// When the highest rate is reached.
    pub(super) peak_sec: f64,
    /// End of the overload.
    pub(super) ends_sec: f64,
    /// The share of responses that may exceed the latency limit of goodput.
    pub(super) late_ratio: f64,
    /// End of the load; equal to `ends_sec` if nothing follows the overload.
    pub(super) load_ends_sec: f64,
    stages: Vec<Stage>,
}

impl Shape {
    /// Reads a step that goes from a level by a jump or a ramp to a higher level, and possibly back; `None` for any other.
    pub(super) fn of(stages: &[RateStage], slo: &Slo) -> Option<Self> {
        let stages: Vec<Stage> = stages.iter().map(stage).collect();
        let (base, rest) = stages.split_first()?;
        let is_level = |stage: &Stage| stage.from_per_sec == stage.to_per_sec;
        let sec = |stage: &Stage| stage.duration.as_secs_f64();
        let (onset, ramp_sec, peak, after) = match rest {
            [ramp, peak, after @ ..] if !is_level(ramp) => (Onset::Ramp, sec(ramp), peak, after),
            [peak, after @ ..] => (Onset::Jump, 0.0, peak, after),
            [] => return None,
        };
        if !is_level(base) || !is_level(peak) || peak.to_per_sec <= base.to_per_sec || after.len() > 1 {
            return None;
        }
        let begins_sec = sec(base);
        let peak_sec = begins_sec + ramp_sec;
        let ends_sec = peak_sec + sec(peak);
        Some(Self {
            base_per_sec: base.to_per_sec,
            peak_per_sec: peak.to_per_sec,
            onset,
            counts_sec: slo.settling_sec(),
            begins_sec,
            peak_sec,
            ends_sec,
            late_ratio: slo.tail_limit().map_or(0.0, |limit| limit.late_ratio()),
            load_ends_sec: ends_sec + after.iter().map(sec).sum::<f64>(),
            stages,
        })
    }

    /// The middle of the time at the highest rate; an overload is judged from there on.
    pub(super) fn settled_sec(&self) -> f64 {
        (self.peak_sec + self.ends_sec) / 2.0
    }

    /// The seconds until a queue of all the excess over this rate would be empty.
    pub(super) fn queue_sec(&self, rate_per_sec: f64) -> f64 {
        queue_gone_sec(&self.stages, rate_per_sec, self.base_per_sec)
    }
}

fn stage(recorded: &RateStage) -> Stage {
    let RateStage { from_per_sec, to_per_sec, span_ns } = *recorded;
    Stage { from_per_sec, to_per_sec, duration: Duration::from_nanos(span_ns) }
}
