//! Overloads: what is offered beyond the highest rate within the conditions, and what a plan file can expect of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{RateProfile, Slo, Stage};

/// The base is held before each overload for as long as that, within these bounds, and as much longer as a slow service settles.
const MIN_LEAD: Duration = Duration::from_secs(2);
const MAX_LEAD: Duration = Duration::from_secs(5);
/// The time that is watched after an overload, over the time in which a queue of all the excess would be gone.
const WATCH_PER_QUEUE: f64 = 1.5;
const MIN_DEFAULT_WATCH: Duration = Duration::from_secs(10);
/// Goodput is back once it was in so many windows in a row,
pub const BACK_WINDOWS: usize = 3;
/// each of which has as many requests as this at the base, within these bounds of time in seconds.
const WINDOW_REQUESTS: f64 = 50.0;
/// The shortest of them, in seconds.
pub const MIN_WINDOW_SEC: f64 = 1.0;
const MAX_WINDOW_SEC: f64 = 5.0;
/// A queue makes answers later than the limit L after L/(f − 1), as it grows by f − 1 seconds of work in a second. An overload of so many
/// times that shows it in its second half.
const HOLD_PER_LATE: f64 = 2.0;
/// Fewer requests due in the half of an overload that is judged say too little: the goodput of 100 Poisson arrivals is known to ± 20 %.
pub const MIN_DUE: u64 = 100;
/// Where so many requests are expected in that half, chance makes them fewer than [`MIN_DUE`] in one of three hundred.
const EXPECTED_DUE: f64 = 130.0;
/// The longest part of an overload.
pub(crate) const MAX_STAGE: Duration = Duration::from_secs(3600);

/// Overloads that follow the load of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverloadOrder {
    /// The highest rate within the conditions, requests per second; `None` takes what the search of the run finds.
    pub rate_per_sec: Option<f64>,
    /// The load before and after an overload, as a part of that rate.
    pub base: f64,
    /// The overloads, as multiples of that rate, lowest first.
    pub factors: Vec<f64>,
    pub hold: Duration,
    /// How long a load settles beyond its first second: before the limit of latency is over, a slow service has not answered.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub settle: Duration,
    /// How long the base is watched after an overload at most; `None` goes by the size of the overload.
    pub watch: Option<Duration>,
}

/// How an overload begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onset {
    Jump,
    Ramp,
}

impl OverloadOrder {
    /// The steps of the overloads of a rate, in order: the rate itself, a jump to each multiple of it, a ramp to the highest.
    pub fn profiles(&self, rate_per_sec: f64) -> Vec<RateProfile> {
        let jumps = self.factors.iter().map(|factor| self.overload(rate_per_sec, *factor, Onset::Jump));
        let highest = self.factors.last().map(|factor| self.overload(rate_per_sec, *factor, Onset::Ramp));
        std::iter::once(self.reference(rate_per_sec)).chain(jumps).chain(highest).collect()
    }

    fn lead(&self) -> Duration {
        self.hold.clamp(MIN_LEAD, MAX_LEAD) + self.settle
    }

    /// The rate itself after the base.
    pub(crate) fn reference(&self, rate_per_sec: f64) -> RateProfile {
        RateProfile::Stages(vec![
            level(self.base * rate_per_sec, self.lead()),
            level(rate_per_sec, self.hold),
        ])
    }

    fn overload(&self, rate_per_sec: f64, factor: f64, onset: Onset) -> RateProfile {
        let (base, peak) = (self.base * rate_per_sec, factor * rate_per_sec);
        let ramp = Stage { from_per_sec: base, to_per_sec: peak, duration: self.hold };
        let mut stages = vec![level(base, self.lead())];
        stages.extend((onset == Onset::Ramp).then_some(ramp));
        stages.push(level(peak, self.hold));
        let queue_sec = queue_gone_sec(&stages, rate_per_sec, base);
        // Goodput that comes back within a window is seen from the next on.
        let seen_sec = (BACK_WINDOWS + 1) as f64 * window_sec(base);
        let by_queue = bounded(WATCH_PER_QUEUE * queue_sec + seen_sec, MIN_DEFAULT_WATCH, MAX_STAGE);
        stages.push(level(base, self.watch.unwrap_or(by_queue)));
        RateProfile::Stages(stages)
    }

    /// True if a search finds the rate.
    pub const fn is_searched(&self) -> bool {
        self.rate_per_sec.is_none()
    }

    /// How long an overload by this factor has to be held so that a queue shows; `None` if it is held for so long, or if goodput
    /// has no limit of latency.
    pub fn longer_hold(&self, factor: f64, slo: &Slo) -> Option<Duration> {
        let needed = least_hold(factor, slo.tail_limit()?.limit_ms / 1e3);
        (self.hold < needed).then_some(needed)
    }

    /// The longest time of all steps together.
    pub fn longest(&self, rate_per_sec: f64) -> Duration {
        self.profiles(rate_per_sec).iter().filter_map(RateProfile::duration).sum()
    }
}

/// How long an overload by this factor is held at least, in whole seconds, so that its second half shows a queue.
pub(crate) fn least_hold(factor: f64, limit_sec: f64) -> Duration {
    let sec = HOLD_PER_LATE * limit_sec / (factor - 1.0);
    // What arithmetic of floating point adds is no second.
    bounded((sec - 1e-6).ceil().max(0.0), Duration::ZERO, MAX_STAGE)
}

/// How long a load of this rate, requests per second, is held at least so that enough requests fall due in its second half.
pub fn hold_for_requests(rate_per_sec: f64) -> Duration {
    bounded((2.0 * EXPECTED_DUE / rate_per_sec).ceil(), Duration::ZERO, MAX_STAGE)
}

/// A time of so many seconds within bounds.
pub(crate) fn bounded(sec: f64, least: Duration, most: Duration) -> Duration {
    Duration::try_from_secs_f64(sec).map_or(most, |time| time.clamp(least, most))
}

fn level(rate_per_sec: f64, duration: Duration) -> Stage {
    Stage { from_per_sec: rate_per_sec, to_per_sec: rate_per_sec, duration }
}

/// How long one of the [`BACK_WINDOWS`] is at this base, in seconds.
pub fn window_sec(base_per_sec: f64) -> f64 {
    (WINDOW_REQUESTS / base_per_sec).clamp(MIN_WINDOW_SEC, MAX_WINDOW_SEC)
}

/// How long after these stages a queue of all requests beyond `capacity_per_sec` would be gone, in seconds, if the target went
/// on to serve at that rate while `base_per_sec` are offered: Σ max(0, λ − c)·t / (c − b). What is still down long after that is
/// kept down by something else than a queue of what was offered.
pub fn queue_gone_sec(stages: &[Stage], capacity_per_sec: f64, base_per_sec: f64) -> f64 {
    stages.iter().map(|stage| excess(stage, capacity_per_sec)).sum::<f64>()
        / (capacity_per_sec - base_per_sec)
}

/// The requests of a stage beyond a rate.
fn excess(stage: &Stage, capacity_per_sec: f64) -> f64 {
    let low = stage.from_per_sec.min(stage.to_per_sec);
    let high = stage.from_per_sec.max(stage.to_per_sec);
    let sec = stage.duration.as_secs_f64();
    match () {
        () if high <= capacity_per_sec => 0.0,
        () if low >= capacity_per_sec => ((low + high) / 2.0 - capacity_per_sec) * sec,
        () => (high - capacity_per_sec).powi(2) / (2.0 * (high - low)) * sec,
    }
}

/// What becomes of a service under overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverloadClass {
    /// It goes on to serve nearly as much as at its best.
    Graceful,
    /// It serves less the more is offered, and does not break down.
    Degrades,
    /// Little of what it does is of use.
    Collapses,
    /// It collapses, and stays down after the overload has ended.
    Metastable,
    /// It kept up with all that was offered.
    NotOverloaded,
    Unknown,
}

impl OverloadClass {
    /// Every class.
    pub const ALL: [Self; 6] = [
        Self::Graceful,
        Self::Degrades,
        Self::Collapses,
        Self::Metastable,
        Self::NotOverloaded,
        Self::Unknown,
    ];

    /// The word for it in JSON and in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graceful => "graceful",
            Self::Degrades => "degrades",
            Self::Collapses => "collapses",
            Self::Metastable => "metastable",
            Self::NotOverloaded => "not_overloaded",
            Self::Unknown => "unknown",
        }
    }

    /// The class of this name; `None` if no class has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// What a ramp to the highest overload changes, compared with a jump to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RampEffect {
    None,
    /// In the ramp the target answers nearly all of the load, which it does not after the jump.
    KeepsUp,
    /// More goodput is left after a ramp.
    Helps,
    /// Less is.
    Hurts,
}

impl RampEffect {
    /// Every effect.
    pub const ALL: [Self; 4] = [Self::None, Self::KeepsUp, Self::Helps, Self::Hurts];

    /// The word for it in JSON and in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::KeepsUp => "keeps_up",
            Self::Helps => "helps",
            Self::Hurts => "hurts",
        }
    }

    /// The effect of this name; `None` if no effect has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.name() == name)
    }
}

/// A program that can protect a service from overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protector {
    Nginx,
    Envoy,
    Haproxy,
    Resilience4j,
    Grpc,
}

impl Protector {
    /// Every program.
    pub const ALL: [Self; 5] = [Self::Nginx, Self::Envoy, Self::Haproxy, Self::Resilience4j, Self::Grpc];

    /// Its name, as flags and plan files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Envoy => "envoy",
            Self::Haproxy => "haproxy",
            Self::Resilience4j => "resilience4j",
            Self::Grpc => "grpc",
        }
    }

    /// The program of this name; `None` if none has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protector| protector.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_the_excess_is_gone_once_spare_capacity_has_served_it() {
        let hold = Duration::from_secs(10);
        let jump = [level(2000.0, hold)];
        assert_eq!(queue_gone_sec(&jump, 1000.0, 750.0), 40.0);
        let ramp = [Stage { from_per_sec: 0.0, to_per_sec: 2000.0, duration: hold }];
        assert_eq!(queue_gone_sec(&ramp, 1000.0, 750.0), 10.0, "only what is beyond the capacity queues");
        assert_eq!(queue_gone_sec(&[level(900.0, hold)], 1000.0, 750.0), 0.0);
    }

    #[test]
    fn every_class_and_every_effect_is_found_by_its_name() {
        for class in OverloadClass::ALL {
            assert_eq!(OverloadClass::from_name(class.name()), Some(class));
        }
        assert_eq!(OverloadClass::from_name("melts"), None);
        for effect in RampEffect::ALL {
            assert_eq!(RampEffect::from_name(effect.name()), Some(effect));
        }
    }
}
