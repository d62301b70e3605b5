//! Quantiles of latency of both sides in each round, and their differences.

use plimsoll_record::{CorruptHistogram, Histogram, latency_histogram};
use plimsoll_stats::quantile::min_samples;
use plimsoll_stats::{SignedRanks, median};

use super::load::{AbLoad, rounds};
use crate::Estimate;
use crate::load::percentile::percentile;

/// The quantiles whose differences are drawn, in per cent of the requests.
const DRAWN: [f64; 16] =
    [5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.8, 99.9];

/// The error of each drawn interval by itself.
const ALPHA: f64 = 0.05;

/// A quantile of latency of both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileDifference {
    /// From 0 to 100.
    pub percentile: f64,
    /// The median over rounds, in nanoseconds.
    pub a_ns: f64,
    pub b_ns: f64,
    /// B minus A, with the interval of this quantile alone, in nanoseconds.
    pub difference_ns: Estimate,
}

/// A quantile of both sides, from the same rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QuantilePair {
    /// The last of the rounds that it was computed from, from 0.
    pub(super) round: usize,
    pub(super) a_ns: f64,
    pub(super) b_ns: f64,
}

/// Computes a quantile. Rounds with too few requests for it are merged with the next ones until there are enough.
struct Collector {
    p: f64,
    a: Histogram,
    b: Histogram,
    pairs: Vec<QuantilePair>,
}

impl Collector {
    fn new(p: f64) -> Self {
        Self { p, a: latency_histogram(), b: latency_histogram(), pairs: Vec::new() }
    }

    fn add(&mut self, round: usize, (a, b): (&AbLoad, &AbLoad)) -> Result<(), CorruptHistogram> {
        a.latency.add_to(&mut self.a)?;
        b.latency.add_to(&mut self.b)?;
        if self.a.len().min(self.b.len()) < min_samples(self.p) {
            return Ok(());
        }
        let value = |histogram: &Histogram| percentile(histogram, self.p).ns;
        if let Some((a_ns, b_ns)) = value(&self.a).zip(value(&self.b)) {
            self.pairs.push(QuantilePair { round, a_ns, b_ns });
        }
        self.a.reset();
        self.b.reset();
        Ok(())
    }
}

/// Returns a quantile of both sides for each round, or group of merged rounds, in which it is known.
pub(super) fn pairs(rounds: &[(&AbLoad, &AbLoad)], p: f64) -> Result<Vec<QuantilePair>, CorruptHistogram> {
    let mut collector = Collector::new(p);
    for (round, loads) in rounds.iter().enumerate() {
        collector.add(round, *loads)?;
    }
    Ok(collector.pairs)
}

/// The differences of latency quantiles over the whole distribution. Quantiles known in too few rounds are left out.
///
/// # Errors
/// When a histogram cannot be read.
pub fn quantile_differences(loads: &[AbLoad]) -> Result<Vec<QuantileDifference>, CorruptHistogram> {
    let rounds = rounds(loads);
    let mut differences = Vec::new();
    for percentile in DRAWN {
        differences.extend(difference(percentile, &pairs(&rounds, percentile / 100.0)?));
    }
    Ok(differences)
}

fn difference(percentile: f64, pairs: &[QuantilePair]) -> Option<QuantileDifference> {
    let ranks = SignedRanks::new(&pairs.iter().map(|pair| pair.b_ns - pair.a_ns).collect::<Vec<_>>())?;
    let interval = Some(ranks.interval(ALPHA)?);
    let middle = |value: fn(&QuantilePair) -> f64| median(pairs.iter().map(value).collect());
    Some(QuantileDifference {
        percentile,
        a_ns: middle(|pair| pair.a_ns)?,
        b_ns: middle(|pair| pair.b_ns)?,
        difference_ns: Estimate { value: ranks.centre(), interval },
    })
}
