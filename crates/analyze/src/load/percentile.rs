//! Percentiles of a histogram with intervals by order statistics.

use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_record::Histogram;
use plimsoll_stats::quantile::{interval_ranks, min_samples, rank};

use crate::{Percentile, TimeSummary};

/// The upper end of the bucket that holds the sample of this rank, from 1.
///
/// The library takes a quantile and rounds it up to a rank; half a rank less keeps a product such as
/// 0.9·n, which floating point may place just above a whole number, from becoming the next rank.
fn value_at_rank(histogram: &Histogram, rank: u64) -> u64 {
    histogram.value_at_quantile((rank as f64 - 0.5) / histogram.len() as f64)
}

/// The quantile `p` by nearest rank, in nanoseconds: the smallest time that at least the ratio `p` of all samples do not exceed, as
/// the upper end of its bucket (at most 0.1 % above the true value, never below).
///
/// `None` with too few samples for an upper bound.
pub(crate) fn quantile_ns(histogram: &Histogram, p: f64) -> Option<f64> {
    let n = histogram.len();
    (n >= min_samples(p)).then(|| value_at_rank(histogram, rank(n, p)) as f64)
}

/// The quantile `p` with its interval, whose exact ranks take far longer to compute than the quantile.
pub fn percentile(histogram: &Histogram, p: f64) -> Percentile {
    let ns = quantile_ns(histogram, p);
    let interval_ns = ns.map(|_| {
        let (low, high) = interval_ranks(histogram.len(), p);
        let lower = histogram.lowest_equivalent(value_at_rank(histogram, low));
        (lower as f64, value_at_rank(histogram, high) as f64)
    });
    Percentile { ns, interval_ns }
}

/// The percentiles that have a limit, in the order of the SLO's limits. The longest time is exact, and its interval a single point.
pub(crate) fn limited(histogram: &Histogram, slo: &Slo) -> Vec<Percentile> {
    let longest = || {
        let ns = (!histogram.is_empty()).then(|| histogram.max() as f64);
        Percentile { ns, interval_ns: ns.map(|ns| (ns, ns)) }
    };
    let of = |limit: &LatencyLimit| match limit.percent {
        100.0 => longest(),
        percent => percentile(histogram, percent / 100.0),
    };
    slo.latency.iter().map(of).collect()
}

/// Summarises the distribution; all zeros for an empty histogram.
pub(crate) fn summary(histogram: &Histogram) -> TimeSummary {
    if histogram.is_empty() {
        return TimeSummary::default();
    }
    TimeSummary {
        count: histogram.len(),
        mean_ns: histogram.mean(),
        stdev_ns: histogram.stdev(),
        min_ns: histogram.min() as f64,
        max_ns: histogram.max() as f64,
        p50: percentile(histogram, 0.5),
        p75: percentile(histogram, 0.75),
        p90: percentile(histogram, 0.9),
        p95: percentile(histogram, 0.95),
        p99: percentile(histogram, 0.99),
        p999: percentile(histogram, 0.999),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::latency_histogram;
    use plimsoll_testkit::Noise;
    use proptest::prelude::*;

    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = latency_histogram();
        values.into_iter().for_each(|value| histogram.saturating_record(value));
        histogram
    }

    #[test]
    fn a_percentile_with_too_few_samples_is_not_known() {
        for (p, fewest) in [(0.5, 5), (0.75, 11), (0.9, 29), (0.95, 59), (0.99, 299), (0.999, 2995)] {
            assert_eq!(percentile(&histogram(1..fewest), p), Percentile::default(), "{p}");
            let enough = percentile(&histogram(1..=fewest), p);
            let (_, upper) = enough.interval_ns.unwrap();
            assert!(enough.ns.is_some() && upper >= fewest as f64, "{p}");
        }
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        // Below 2048 each value has its own bucket, so ranks and values can be compared exactly.
        let thousand = histogram(1..=1000);
        for (p, value) in [(0.5, 500.0), (0.9, 900.0), (0.95, 950.0), (0.99, 990.0)] {
            assert_eq!(percentile(&thousand, p).ns, Some(value));
        }
        assert_eq!(percentile(&histogram(1..=1001), 0.5).ns, Some(501.0));
    }

    #[test]
    fn the_interval_covers_the_true_p99_about_as_often_as_it_says() {
        let truth = -1e6 * 0.01_f64.ln();
        let covers = |seed| {
            let mut noise = Noise::new(seed);
            let values = (0..3000).map(|_| (-1e6 * noise.uniform().ln()) as u64);
            let (low, high) = percentile(&histogram(values.collect::<Vec<_>>()), 0.99).interval_ns.unwrap();
            low <= truth && truth <= high
        };
        let covered = (0..200).filter(|seed| covers(*seed)).count();
        assert!((182..=200).contains(&covered), "{covered} of 200");
    }

    proptest! {
        #[test]
        fn percentiles_rise_and_lie_within_their_intervals(values in prop::collection::vec(1_u64..10_000_000_000, 300..600)) {
            let times = summary(&histogram(values));
            let mut before = times.min_ns;
            for percentile in [times.p50, times.p75, times.p90, times.p95, times.p99] {
                let (value, (low, high)) = (percentile.ns.unwrap(), percentile.interval_ns.unwrap());
                prop_assert!(low <= value && value <= high);
                prop_assert!(before <= value && value <= times.max_ns);
                before = value;
            }
        }
    }
}
