//! How the latency of two runs differs, percentile by percentile, at a load that both had.

use crate::{Estimate, Findings, Percentile, StepSummary, TimeSummary};

/// Offered rates that differ by less than this are one load.
const SAME_RATE: f64 = 0.01;

/// A load at which both runs have a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SharedLoad {
    /// A closed loop of this many connections.
    Connections(u32),
    /// An open loop of this rate, requests per second.
    Rate(f64),
}

/// One percentile of latency in both runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileDifference {
    /// From 0 to 100.
    pub percentile: f64,
    pub candidate_ns: f64,
    pub reference_ns: f64,
    /// The candidate's minus the reference's.
    pub difference_ns: Estimate,
}

/// The percentiles of latency of two runs at one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyDifferences {
    pub load: SharedLoad,
    /// The percentiles for which both runs have enough requests, the lowest first.
    pub percentiles: Vec<PercentileDifference>,
}

/// Compares latency at the shared load at which the reference has the highest throughput. `None` if no load is shared, or no percentile
/// of it is known.
pub fn latency_differences(candidate: &Findings, reference: &Findings) -> Option<LatencyDifferences> {
    let partner =
        |step: &StepSummary| candidate.steps.iter().find(|other| load_of_both(step, other).is_some());
    let pairs = reference.steps.iter().filter_map(|step| Some((partner(step)?, step)));
    let busiest = |(_, a): &(_, &StepSummary), (_, b): &(_, &StepSummary)| {
        a.throughput.value.total_cmp(&b.throughput.value)
    };
    let (new, old) = pairs.max_by(busiest)?;
    let percentiles = differences(&new.latency, &old.latency);
    (!percentiles.is_empty()).then_some(LatencyDifferences { load: load_of_both(old, new)?, percentiles })
}

fn load_of_both(a: &StepSummary, b: &StepSummary) -> Option<SharedLoad> {
    match (a.rate_per_sec, b.rate_per_sec) {
        (None, None) => ((a.connections, a.depth) == (b.connections, b.depth))
            .then_some(SharedLoad::Connections(a.connections)),
        (Some(of_a), Some(of_b)) => {
            ((of_a - of_b).abs() <= SAME_RATE * of_a).then_some(SharedLoad::Rate(of_a))
        }
        _ => None,
    }
}

fn differences(candidate: &TimeSummary, reference: &TimeSummary) -> Vec<PercentileDifference> {
    let both = candidate.percentiles().into_iter().zip(reference.percentiles());
    both.filter_map(|((percentile, new), (_, old))| {
        Some(PercentileDifference {
            percentile,
            candidate_ns: new.ns?,
            reference_ns: old.ns?,
            difference_ns: difference(new, old)?,
        })
    })
    .collect()
}

/// The difference of two independent estimates, from their own intervals, which need not be symmetric (MOVER: Zou and Donner,
/// Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008).
fn difference(a: Percentile, b: Percentile) -> Option<Estimate> {
    let (value_a, value_b) = (a.ns?, b.ns?);
    let value = value_a - value_b;
    let interval = a.interval_ns.zip(b.interval_ns).map(|((low_a, high_a), (low_b, high_b))| {
        let below = (value_a - low_a).hypot(high_b - value_b);
        let above = (high_a - value_a).hypot(value_b - low_b);
        (value - below, value + above)
    });
    Some(Estimate { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ns: f64, low: f64, high: f64) -> Percentile {
        Percentile { ns: Some(ns), interval_ns: Some((low, high)) }
    }

    #[test]
    fn each_end_of_a_difference_takes_the_ends_that_move_it_there() {
        let estimate = difference(known(100.0, 97.0, 112.0), known(60.0, 55.0, 64.0)).unwrap();
        assert_eq!(estimate.value, 40.0);
        // Down: 3 below one, 4 above the other. Up: 12 and 5.
        assert_eq!(estimate.interval, Some((35.0, 53.0)));
    }

    #[test]
    fn what_one_run_does_not_know_has_no_difference() {
        let few = TimeSummary { p50: known(1.0, 1.0, 1.0), ..TimeSummary::default() };
        let many = TimeSummary { p99: known(9.0, 8.0, 10.0), ..few };
        let rows = differences(&many, &few);
        assert_eq!(rows.iter().map(|row| row.percentile).collect::<Vec<_>>(), [50.0]);
    }
}
