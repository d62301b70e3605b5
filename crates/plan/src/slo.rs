//! A service level objective: limits for latency, failures and throughput.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::PlanError;

/// The most limits of latency in one objective.
const MAX_LIMITS: usize = 16;
/// The minimum of [`Slo::settling_sec`]: the time to open connections.
pub(crate) const MIN_SETTLING_SEC: f64 = 1.0;

/// A limit of one percentile of latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyLimit {
    /// The percentile: above 0 and at most 100. 100 is the longest time.
    pub percent: f64,
    /// The highest allowed value of the percentile, in milliseconds.
    pub limit_ms: f64,
}

impl LatencyLimit {
    /// A limit of the 99th percentile, in milliseconds.
    pub const fn p99(limit_ms: f64) -> Self {
        Self { percent: 99.0, limit_ms }
    }

    /// The share of the responses that may take longer.
    pub fn late_ratio(&self) -> f64 {
        (100.0 - self.percent) / 100.0
    }

    /// `p99`, `p99.9`, or `max` for the longest time.
    pub fn name(&self) -> String {
        if self.percent >= 100.0 { "max".to_owned() } else { format!("p{}", self.percent) }
    }

    /// The limit in nanoseconds.
    pub fn limit_ns(&self) -> f64 {
        self.limit_ms * 1e6
    }
}

/// A service level objective. Each part is optional, and a part that is not given is not judged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "StoredSlo", into = "StoredSlo")]
pub struct Slo {
    /// Limits of latency, by rising percentile; no percentile has two.
    pub latency: Vec<LatencyLimit>,
    /// The lowest allowed ratio of successful responses over all requests that ended.
    pub success_ratio: Option<f64>,
    /// The lowest allowed throughput, in requests per second.
    pub throughput_per_sec: Option<f64>,
}

/// An objective in its JSON form: each limit of latency under its own name, such as `p99_ms`.
#[derive(Serialize, Deserialize)]
struct StoredSlo {
    success_ratio: Option<f64>,
    throughput_per_sec: Option<f64>,
    #[serde(flatten)]
    latency: BTreeMap<String, Option<f64>>,
}

impl From<Slo> for StoredSlo {
    fn from(slo: Slo) -> Self {
        Self {
            success_ratio: slo.success_ratio,
            throughput_per_sec: slo.throughput_per_sec,
            latency: slo
                .latency
                .iter()
                .map(|limit| (format!("{}_ms", limit.name()), Some(limit.limit_ms)))
                .collect(),
        }
    }
}

impl TryFrom<StoredSlo> for Slo {
    type Error = String;

    fn try_from(stored: StoredSlo) -> Result<Self, String> {
        let limit = |(name, limit_ms): (&String, &Option<f64>)| {
            let percent = name.strip_suffix("_ms").and_then(percent_of);
            let percent = percent.ok_or_else(|| format!("`{name}` is no condition"));
            limit_ms.map(|limit_ms| percent.map(|percent| LatencyLimit { percent, limit_ms }))
        };
        let latency = stored.latency.iter().filter_map(limit).collect::<Result<Vec<_>, _>>()?;
        let (success_ratio, throughput_per_sec) = (stored.success_ratio, stored.throughput_per_sec);
        let slo = Self { latency, success_ratio, throughput_per_sec }.sorted();
        slo.check().map_err(|error| error.to_string())?;
        Ok(slo)
    }
}

/// Parses a name such as `p99.9` or `max` to its percentile.
pub(crate) fn percent_of(name: &str) -> Option<f64> {
    if name == "max" {
        return Some(100.0);
    }
    let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent)
}

impl Slo {
    /// The defaults of `plimsoll URL` for conditions that are not given: p99 of 500 ms, 99.95 % success.
    pub fn reference() -> Self {
        Self {
            latency: vec![LatencyLimit::p99(500.0)],
            success_ratio: Some(Self::REFERENCE_SUCCESS),
            throughput_per_sec: None,
        }
    }

    /// The success ratio of [`Slo::reference`].
    pub const REFERENCE_SUCCESS: f64 = 0.9995;

    /// True if no condition is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The limit of this percentile, in milliseconds; `None` if it has none.
    pub fn limit_ms(&self, percent: f64) -> Option<f64> {
        self.latency.iter().find(|limit| limit.percent == percent).map(|limit| limit.limit_ms)
    }

    /// The limit of the highest percentile that has one.
    pub fn highest_limit(&self) -> Option<LatencyLimit> {
        self.latency.last().copied()
    }

    /// The limit of p99; without one the limit of the highest percentile below 100, or else of the longest time. A request within
    /// it counts as a good answer: limits of rarer percentiles are longer, and would say less.
    pub fn tail_limit(&self) -> Option<LatencyLimit> {
        let of = |is: fn(f64) -> bool| self.latency.iter().rfind(|limit| is(limit.percent)).copied();
        of(|percent| percent == 99.0)
            .or_else(|| of(|percent| percent < 100.0))
            .or_else(|| self.highest_limit())
    }

    /// The time after the start of an open-loop load that shows nothing about queues, in seconds: until the limit of
    /// [`Slo::tail_limit`] has passed, all requests that fell due may be under way. At least 1 s.
    pub fn settling_sec(&self) -> f64 {
        self.tail_limit().map_or(0.0, |limit| limit.limit_ms / 1e3).max(MIN_SETTLING_SEC)
    }

    /// The smallest limit over all percentiles, in milliseconds.
    pub fn shortest_limit_ms(&self) -> Option<f64> {
        self.latency.iter().map(|limit| limit.limit_ms).reduce(f64::min)
    }

    /// This objective, with the parts that it leaves open taken from `other`; each percentile is one part.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let mut latency = self.latency;
        let is_open = |latency: &[LatencyLimit], limit: &LatencyLimit| {
            latency.iter().all(|own| own.percent != limit.percent)
        };
        for limit in &other.latency {
            if is_open(&latency, limit) {
                latency.push(*limit);
            }
        }
        Self {
            latency,
            success_ratio: self.success_ratio.or(other.success_ratio),
            throughput_per_sec: self.throughput_per_sec.or(other.throughput_per_sec),
        }
        .sorted()
    }

    /// This objective; [`Slo::reference`] gives the limit of latency if there is none, and likewise the success ratio.
    #[must_use]
    pub fn or_reference(self) -> Self {
        let Self { latency, success_ratio, .. } = Self::reference();
        Self {
            latency: if self.latency.is_empty() { latency } else { self.latency },
            success_ratio: self.success_ratio.or(success_ratio),
            throughput_per_sec: self.throughput_per_sec,
        }
    }

    pub(crate) fn sorted(mut self) -> Self {
        self.latency.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        self
    }

    /// Checks that every part is within its range, and that no percentile has two limits.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        if let Some(ratio) = self.success_ratio
            && !(0.0..=1.0).contains(&ratio)
        {
            return Err(PlanError::range("the success ratio", ratio, "from 0 to 1, or from 0 % to 100 %"));
        }
        if self.latency.len() > MAX_LIMITS {
            let expected = format!("at most {MAX_LIMITS}");
            return Err(PlanError::range("the number of latency limits", self.latency.len(), expected));
        }
        let is_wrong = |limit: &&LatencyLimit| limit.limit_ms.is_nan() || limit.limit_ms <= 0.0;
        if let Some(limit) = self.latency.iter().find(is_wrong) {
            return Err(PlanError::range("the limit of a percentile", limit.limit_ms, "above 0"));
        }
        match self.latency.windows(2).find(|pair| pair[0].percent == pair[1].percent) {
            Some(pair) => Err(PlanError::TwoLimits { name: pair[0].name() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(limits: &[(f64, f64)]) -> Slo {
        let limit = |&(percent, limit_ms): &(f64, f64)| LatencyLimit { percent, limit_ms };
        Slo { latency: limits.iter().map(limit).collect(), ..Slo::default() }
    }

    #[test]
    fn an_objective_survives_its_json() {
        let slo = Slo { success_ratio: Some(0.99), ..limits(&[(50.0, 20.0), (99.9, 500.0), (100.0, 1e3)]) };
        let json = serde_json::to_string(&slo).unwrap();
        assert!(json.contains(r#""p99.9_ms":500.0"#) && json.contains(r#""max_ms":1000.0"#), "{json}");
        assert_eq!(serde_json::from_str::<Slo>(&json).unwrap(), slo);
    }

    #[test]
    fn the_limit_of_p99_is_that_of_the_tail_also_where_rarer_responses_have_one() {
        let tail = |given: &[(f64, f64)]| limits(given).tail_limit().map(|limit| limit.limit_ms);
        assert_eq!(tail(&[(50.0, 20.0), (99.0, 200.0), (99.9, 1e3), (100.0, 1e4)]), Some(200.0));
        assert_eq!(tail(&[(50.0, 20.0), (99.9, 1e3), (100.0, 1e4)]), Some(1e3));
        assert_eq!(tail(&[(100.0, 1e4)]), Some(1e4));
        assert_eq!(tail(&[]), None);
    }

    #[test]
    fn a_load_settles_for_as_long_as_the_tail_may_take_and_a_second_at_least() {
        let sec = |given: &[(f64, f64)]| limits(given).settling_sec();
        assert_eq!(
            [sec(&[]), sec(&[(99.0, 200.0)]), sec(&[(99.0, 1e3)]), sec(&[(99.0, 8e3)])],
            [1.0, 1.0, 1.0, 8.0]
        );
        assert_eq!(sec(&[(99.0, 200.0), (100.0, 30e3)]), 1.0, "one response may take longer");
    }

    #[test]
    fn json_that_is_no_objective_is_refused() {
        for json in [
            r#"{"p0_ms": 5.0}"#,
            r#"{"p101_ms": 5.0}"#,
            r#"{"p99_ms": -1.0}"#,
            r#"{"p99_ms": 5.0, "p99.0_ms": 6.0}"#,
            r#"{"success_ratio": 7.0}"#,
            r#"{"mean_ms": 5.0}"#,
        ] {
            assert!(serde_json::from_str::<Slo>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn what_an_objective_leaves_open_is_taken_from_another() {
        let own = limits(&[(99.0, 100.0)]);
        let file = Slo { success_ratio: Some(0.9), ..limits(&[(50.0, 20.0), (99.0, 500.0)]) };
        let both = own.clone().or(&file);
        assert_eq!(both, Slo { success_ratio: Some(0.9), ..limits(&[(50.0, 20.0), (99.0, 100.0)]) });
        let median = limits(&[(50.0, 20.0)]).or_reference();
        assert_eq!((median.limit_ms(99.0), median.success_ratio), (None, Some(Slo::REFERENCE_SUCCESS)));
        assert_eq!(Slo::default().or_reference(), Slo::reference());
    }
}
