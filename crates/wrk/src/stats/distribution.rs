//! Whole numbers with their counts, and wrk's statistics over them.

use std::collections::BTreeMap;

use plimsoll_record::Histogram;

/// Values with their counts, in wrk's sense: each is a whole number that was really measured. There is no correction
/// for coordinated omission.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    /// In rising order, each value once; no count is 0.
    pairs: Vec<(u64, u64)>,
    count: u64,
}

impl FromIterator<(u64, u64)> for Distribution {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(pairs: I) -> Self {
        let mut sums = BTreeMap::new();
        for (value, count) in pairs.into_iter().filter(|(_, count)| *count > 0) {
            *sums.entry(value).or_insert(0) += count;
        }
        Self { count: sums.values().sum(), pairs: sums.into_iter().collect() }
    }
}

impl FromIterator<u64> for Distribution {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        values.into_iter().map(|value| (value, 1)).collect()
    }
}

impl Distribution {
    /// Converts a histogram in nanoseconds to whole microseconds, truncated as in wrk. A bucket counts with its middle
    /// value.
    pub fn from_histogram_ns(histogram: &Histogram) -> Self {
        let microseconds = |ns: u64| histogram.median_equivalent(ns) / 1000;
        histogram
            .iter_recorded()
            .map(|bucket| (microseconds(bucket.value_iterated_to()), bucket.count_at_value()))
            .collect()
    }

    /// Returns the distinct values in rising order, each with its count.
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.pairs
    }

    /// The number of values, equal ones included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value; 0 if there is none.
    pub fn min(&self) -> u64 {
        self.pairs.first().map_or(0, |(value, _)| *value)
    }

    /// The largest value; 0 if there is none.
    pub fn max(&self) -> u64 {
        self.pairs.last().map_or(0, |(value, _)| *value)
    }

    /// The mean; 0 if there is no value.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.pairs.iter().map(|(value, count)| *value as f64 * *count as f64).sum();
        if self.count == 0 { 0.0 } else { sum / self.count as f64 }
    }

    /// The standard deviation of a sample, √(Σ(x − mean)² / (n − 1)); 0 for fewer than two values.
    pub fn stdev(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.square_sum() / (self.count - 1) as f64).sqrt() }
    }

    /// The standard deviation of a population, √(Σ(x − mean)² / n), as in HdrHistogram; 0 if there is no value.
    pub fn stdev_of_whole(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.square_sum() / self.count as f64).sqrt() }
    }

    /// The percentage of the values that are at most `stdev` away from the mean; NaN if there is no value.
    pub fn percent_within(&self, stdev: f64) -> f64 {
        let mean = self.mean();
        let near = |value: u64| (mean - stdev..=mean + stdev).contains(&(value as f64));
        let sum: u64 = self.pairs.iter().filter(|(value, _)| near(*value)).map(|(_, count)| count).sum();
        sum as f64 / self.count as f64 * 100.0
    }

    /// The value at a percentile from 0 to 100; 0 if there is no value.
    ///
    /// The rank is wrk's, p/100·n + 0.5 rounded, but at most n: wrk's own `percentile(100)` finds no value and returns 0.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = ((percent / 100.0 * self.count as f64 + 0.5).round() as u64).min(self.count);
        let mut passed = 0;
        let at_rank = self.pairs.iter().find(|(_, count)| {
            passed += count;
            passed >= rank
        });
        at_rank.map_or(0, |(value, _)| *value)
    }

    fn square_sum(&self) -> f64 {
        let mean = self.mean();
        self.pairs.iter().map(|(value, count)| (*value as f64 - mean).powi(2) * *count as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::latency_histogram;

    #[test]
    fn the_statistics_are_those_of_the_values() {
        let values: Distribution = [2, 4, 4, 4, 5, 5, 7, 9].into_iter().collect();
        assert_eq!((values.count(), values.min(), values.max()), (8, 2, 9));
        assert_eq!((values.mean(), values.stdev_of_whole()), (5.0, 2.0));
        assert_eq!(values.stdev(), (32.0_f64 / 7.0).sqrt());
        // 2 and 9 are further than 2.14 from 5, and the bounds belong to it.
        assert_eq!(values.percent_within(values.stdev()), 75.0);
        assert_eq!(values.percent_within(2.0), 75.0);
        assert_eq!(values.pairs(), [(2, 1), (4, 3), (5, 2), (7, 1), (9, 1)]);
    }

    #[test]
    fn percentiles_have_the_rank_that_wrk_gives_them() {
        let values: Distribution = (1..=100u64).collect();
        // round(0.5·100 + 0.5) = 51, one above the nearest rank.
        assert_eq!([50.0, 75.0, 90.0, 99.0].map(|percent| values.percentile(percent)), [51, 76, 91, 100]);
        assert_eq!((values.percentile(0.0), values.percentile(100.0)), (1, 100));
    }

    #[test]
    fn nothing_measured_has_no_share_near_its_mean() {
        let nothing = Distribution::default();
        assert_eq!((nothing.mean(), nothing.stdev(), nothing.percentile(50.0)), (0.0, 0.0, 0));
        assert!(nothing.percent_within(0.0).is_nan());
        assert_eq!([7_u64].into_iter().collect::<Distribution>().stdev(), 0.0);
    }

    #[test]
    fn slow_answers_stay_as_measured_and_nothing_is_made_up_between() {
        let mut histogram = latency_histogram();
        histogram.saturating_record_n(250_900, 99);
        histogram.saturating_record(30_000_000_000);
        let latency = Distribution::from_histogram_ns(&histogram);
        assert_eq!((latency.count(), latency.pairs().len()), (100, 2));
        assert_eq!((latency.min(), latency.percentile(98.0)), (250, 250));
        assert!(latency.max().abs_diff(30_000_000) < 15_000, "{}", latency.max());
    }
}
