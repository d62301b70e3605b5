//! The highest rates of two searches side by side.

use crate::{Findings, RateSearch};

/// The result of a search, in requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateBracket {
    /// The highest rate that kept the conditions.
    pub held_per_sec: Option<f64>,
    /// The lowest rate above it that broke them.
    pub broken_per_sec: Option<f64>,
}

/// The highest rates of two searches within the same conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HighestRates {
    pub candidate: RateBracket,
    pub reference: RateBracket,
}

impl HighestRates {
    /// True if the lowest rate that the candidate did not hold is below (1 − margin) of the highest that the reference held.
    pub fn is_worse(&self, margin: f64) -> bool {
        let ends = self.candidate.broken_per_sec.zip(self.reference.held_per_sec);
        ends.is_some_and(|(broken, held)| broken < (1.0 - margin) * held)
    }
}

/// The highest rates of two runs; `None` unless both searched within the same conditions and at least one found a rate.
pub fn highest_rates(candidate: &Findings, reference: &Findings) -> Option<HighestRates> {
    let conditions =
        |findings: &Findings| (findings.plan.slo.latency.clone(), findings.plan.slo.success_ratio);
    if conditions(candidate) != conditions(reference) {
        return None;
    }
    let bracket = |search: &RateSearch| RateBracket {
        held_per_sec: search.held_per_sec,
        broken_per_sec: search.broken_per_sec,
    };
    let of = |findings: &Findings| findings.search.as_ref().map(bracket);
    let (candidate, reference) = (of(candidate)?, of(reference)?);
    let is_known = |one: &RateBracket| one.held_per_sec.or(one.broken_per_sec).is_some();
    [candidate, reference].iter().any(is_known).then_some(HighestRates { candidate, reference })
}
