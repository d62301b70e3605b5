//! Recorded values and how often each occurred, with the figures that scripts ask for.

use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods};

/// A distribution: latencies in microseconds, or requests per second of a thread.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pairs: Vec<(u64, u64)>,
    count: u64,
}

impl Samples {
    /// A distribution of `(value, count)` pairs, in any order; the counts of equal values are added.
    #[must_use]
    pub fn new(mut pairs: Vec<(u64, u64)>) -> Self {
        pairs.retain(|(_, count)| *count > 0);
        pairs.sort_unstable();
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let count = pairs.iter().map(|(_, count)| count).sum();
        Self { pairs, count }
    }

    /// How many values there are, equal ones included.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many different values there are.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.pairs.len()
    }

    /// The smallest value; 0 if there is none.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.pairs.first().map_or(0, |(value, _)| *value)
    }

    /// The largest value; 0 if there is none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.pairs.last().map_or(0, |(value, _)| *value)
    }

    /// The arithmetic mean; 0 if there is no value.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.total(|value| value) / count as f64,
        }
    }

    /// The sample standard deviation, √(Σ(x − mean)² / (n − 1)); 0 of fewer than two values.
    #[must_use]
    pub fn stdev(&self) -> f64 {
        let mean = self.mean();
        match self.count {
            0 | 1 => 0.0,
            count => (self.total(|value| (value - mean).powi(2)) / (count - 1) as f64).sqrt(),
        }
    }

    /// The value at rank round(p / 100 · n + 0.5), wrk's definition; 0 if there is no value.
    ///
    /// The rank is held to n. wrk does not do so, and answers 0 for the 100th percentile.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.count as f64 + 0.5).round().min(self.count as f64);
        let mut seen = 0;
        let at_rank = self.pairs.iter().find(|(_, count)| {
            seen += count;
            seen as f64 >= rank
        });
        at_rank.map_or(0, |(value, _)| *value)
    }

    /// The `index`-th different value, counted from 1, and how often it occurred.
    ///
    /// Beyond the last it is 0 and the number of different values, as in wrk.
    #[must_use]
    pub fn value_at(&self, index: usize) -> (u64, u64) {
        let pair = index.checked_sub(1).and_then(|index| self.pairs.get(index));
        pair.copied().unwrap_or((0, self.pairs.len() as u64))
    }

    fn total(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.pairs.iter().map(|(value, count)| of(*value as f64) * *count as f64).sum()
    }
}

impl UserData for Samples {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, samples| Ok(samples.min()));
        fields.add_field_method_get("max", |_, samples| Ok(samples.max()));
        fields.add_field_method_get("mean", |_, samples| Ok(samples.mean()));
        fields.add_field_method_get("stdev", |_, samples| Ok(samples.stdev()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, samples, percent: f64| Ok(samples.percentile(percent)));
        methods
            .add_meta_method(MetaMethod::Call, |_, samples, index: f64| Ok(samples.value_at(index as usize)));
        methods.add_meta_method(MetaMethod::Len, |_, samples, ()| Ok(samples.distinct()));
    }
}
