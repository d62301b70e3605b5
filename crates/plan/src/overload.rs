//! Overloads: load beyond the highest rate within the conditions, and the outcomes that a plan file can expect.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{RateProfile, Slo, Stage};

/// The base is held before each overload for as long as the overload, within these bounds, plus the settling time of a slow service.
const MIN_LEAD: Duration = Duration::from_secs(2);
const MAX_LEAD: Duration = Duration::from_secs(5);
/// The time watched after an overload, as a multiple of the time after which a queue of all the excess would be gone.
const WATCH_PER_QUEUE: f64 = 1.5;
const MIN_DEFAULT_WATCH: Duration = Duration::from_secs(10);
/// Goodput has recovered once it was back in this many windows in a row,
pub const BACK_WINDOWS: usize = 3;
/// each long enough for this many requests at the base rate, within these bounds in seconds.
const WINDOW_REQUESTS: f64 = 50.0;
/// The shortest window, in seconds.
pub const MIN_WINDOW_SEC: f64 = 1.0;
const MAX_WINDOW_SEC: f64 = 5.0;
/// A queue grows by f − 1 seconds of work per second, so answers are later than the limit L after L/(f − 1). An overload held for
/// this many times that long shows it in its second half.
const HOLD_PER_LATE: f64 = 2.0;
/// Fewer requests due in the judged half of an overload are too few: the goodput of 100 Poisson arrivals is known to ± 20 %.
pub const MIN_DUE: u64 = 100;
/// If this many requests are expected in that half, fewer than [`MIN_DUE`] fall due in one of three hundred cases.
const EXPECTED_DUE: f64 = 130.0;
/// The longest stage of an overload.
pub(crate) const MAX_STAGE: Duration = Duration::from_secs(3600);

/// Overloads that follow the load of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverloadOrder {
    /// The highest rate within the conditions, requests per second; `None` takes what the search of the run finds.
    pub rate_per_sec: Option<f64>,
    /// The base load before and after an overload, as a part of that rate.
    pub base: f64,
    /// The overloads, as multiples of that rate, lowest first.
    pub factors: Vec<f64>,
    pub hold: Duration,
    /// How long a load settles beyond its first second: a slow service may not answer before the limit of latency has passed.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub settle: Duration,
    /// The longest time for which the base is watched after an overload; `None` derives it from the size of the overload.
    pub watch: Option<Duration>,
}

/// How an overload begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onset {
    Jump,
    Ramp,
}

impl OverloadOrder {
    /// The steps of the overloads, in order: the rate itself, a jump to each multiple of it, a ramp to the highest multiple.
    pub fn profiles(&self, rate_per_sec: f64) -> Vec<RateProfile> {
        let jumps = self.factors.iter().map(|factor| self.overload(rate_per_sec, *factor, Onset::Jump));
        let highest = self.factors.last().map(|factor| self.overload(rate_per_sec, *factor, Onset::Ramp));
        std::iter::once(self.reference(rate_per_sec)).chain(jumps).chain(highest).collect()
    }

    fn lead(&self) -> Duration {
        self.hold.clamp(MIN_LEAD, MAX_LEAD) + self.settle
    }

    /// The base, then the rate itself.
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
        // Goodput that recovers within a window counts from the next window on.
        let seen_sec = (BACK_WINDOWS + 1) as f64 * window_sec(base);
        let by_queue = bounded(WATCH_PER_QUEUE * queue_sec + seen_sec, MIN_DEFAULT_WATCH, MAX_STAGE);
        stages.push(level(base, self.watch.unwrap_or(by_queue)));
        RateProfile::Stages(stages)
    }

    /// True if the rate comes from a search.
    pub const fn is_searched(&self) -> bool {
        self.rate_per_sec.is_none()
    }

    /// How long an overload by this factor has to be held to show a queue; `None` if [`Self::hold`] is long enough, or if goodput
    /// has no limit of latency.
    pub fn longer_hold(&self, factor: f64, slo: &Slo) -> Option<Duration> {
        let needed = least_hold(factor, slo.tail_limit()?.limit_ms / 1e3);
        (self.hold < needed).then_some(needed)
    }

    /// The total time of all steps, if none ends early.
    pub fn longest(&self, rate_per_sec: f64) -> Duration {
        self.profiles(rate_per_sec).iter().filter_map(RateProfile::duration).sum()
    }
}

/// The shortest time, in whole seconds, for which an overload by this factor shows a queue in its second half.
pub(crate) fn least_hold(factor: f64, limit_sec: f64) -> Duration {
    let sec = HOLD_PER_LATE * limit_sec / (factor - 1.0);
    // Rounding errors of floating point must not add a second.
    bounded((sec - 1e-6).ceil().max(0.0), Duration::ZERO, MAX_STAGE)
}

/// The shortest time for which enough requests of a load with this rate fall due in its second half.
pub fn hold_for_requests(rate_per_sec: f64) -> Duration {
    bounded((2.0 * EXPECTED_DUE / rate_per_sec).ceil(), Duration::ZERO, MAX_STAGE)
}

/// Converts seconds to a duration within bounds.
pub(crate) fn bounded(sec: f64, least: Duration, most: Duration) -> Duration {
    Duration::try_from_secs_f64(sec).map_or(most, |time| time.clamp(least, most))
}

fn level(rate_per_sec: f64, duration: Duration) -> Stage {
    Stage { from_per_sec: rate_per_sec, to_per_sec: rate_per_sec, duration }
}

/// The length of one of the [`BACK_WINDOWS`] at this base rate, in seconds.
pub fn window_sec(base_per_sec: f64) -> f64 {
    (WINDOW_REQUESTS / base_per_sec).clamp(MIN_WINDOW_SEC, MAX_WINDOW_SEC)
}

/// How long after these stages a queue of all requests beyond `capacity_per_sec` would be gone, in seconds, if the target
/// served at that rate while `base_per_sec` is offered: Σ max(0, λ − c)·t / (c − b). If goodput is still down long after that,
/// the cause is not a queue of the offered requests.
pub fn queue_gone_sec(stages: &[Stage], capacity_per_sec: f64, base_per_sec: f64) -> f64 {
    stages.iter().map(|stage| excess(stage, capacity_per_sec)).sum::<f64>()
        / (capacity_per_sec - base_per_sec)
}

/// The requests of a stage in excess of a rate.
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

/// How a service behaves under overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverloadClass {
    /// It still serves nearly as much as at its best.
    Graceful,
    /// It serves less the more is offered, but does not collapse.
    Degrades,
    /// Little of its work is of use.
    Collapses,
    /// It collapses, and stays down after the overload has ended.
    Metastable,
    /// It kept up with all that was offered.
    NotOverloaded,
    Unknown,
}

impl OverloadClass {
    /// All classes, in the order of their declaration.
    pub const ALL: [Self; 6] = [
        Self::Graceful,
        Self::Degrades,
        Self::Collapses,
        Self::Metastable,
        Self::NotOverloaded,
        Self::Unknown,
    ];

    /// The name in JSON and plan files.
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

    /// The class with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// The effect of a ramp to the highest overload, compared with a jump to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RampEffect {
    None,
    /// During the ramp the target answers nearly all of the load; after the jump it does not.
    KeepsUp,
    /// Goodput is higher after a ramp.
    Helps,
    /// Goodput is lower after a ramp.
    Hurts,
}

impl RampEffect {
    /// All effects, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::None, Self::KeepsUp, Self::Helps, Self::Hurts];

    /// The name in JSON and plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::KeepsUp => "keeps_up",
            Self::Helps => "helps",
            Self::Hurts => "hurts",
        }
    }

    /// The effect with this name; `None` if there is none.
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
    /// All programs, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Nginx, Self::Envoy, Self::Haproxy, Self::Resilience4j, Self::Grpc];

    /// The name in flags and plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Envoy => "envoy",
            Self::Haproxy => "haproxy",
            Self::Resilience4j => "resilience4j",
            Self::Grpc => "grpc",
        }
    }

    /// The program with this name; `None` if there is none.
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
