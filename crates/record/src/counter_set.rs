//! Counters of one subject while they are collected.

use crate::{Metric, Source, Text};

/// The name of a counter: that of a metric, which takes no memory, or one that is only known at the time of the read.
#[derive(Debug, Clone)]
pub(crate) enum Name {
    Known(&'static str),
    Made(Text),
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Made(name) => name,
        }
    }
}

impl From<Metric> for Name {
    fn from(metric: Metric) -> Self {
        Self::Known(metric.name)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

/// The counters of one subject while they are collected; they become [`Counters`](crate::Counters). An unknown value is left out:
/// a missing value is never zero.
#[derive(Debug, Clone, Default)]
pub struct CounterSet {
    known: Vec<(Metric, u64)>,
    /// Counters whose names are only known at the time of the read.
    made: Vec<(Text, u64)>,
}

impl CounterSet {
    /// Sets a value, unless it is `None`. A later value replaces an earlier one.
    pub fn put(&mut self, metric: Metric, value: impl Into<Option<u64>>) {
        if let Some(value) = value.into() {
            match self.known.iter_mut().find(|(known, _)| *known == metric) {
                Some((_, old)) => *old = value,
                None => self.known.push((metric, value)),
            }
        }
    }

    /// Adds to a value, which starts at zero. The sum saturates, because a server may report anything.
    pub fn add(&mut self, metric: Metric, value: u64) {
        self.put(metric, self.get(metric).unwrap_or(0).saturating_add(value));
    }

    /// Adds a counter whose name is only known at the time of the read; only some sources have these ([`Source::made_names`]).
    pub fn put_made(&mut self, name: impl Into<Text>, value: u64) {
        self.made.push((name.into(), value));
    }

    /// Returns the value of a metric.
    pub fn get(&self, metric: Metric) -> Option<u64> {
        self.known.iter().find(|(known, _)| *known == metric).map(|(_, value)| *value)
    }

    /// Removes a metric.
    pub fn remove(&mut self, metric: Metric) {
        self.known.retain(|(known, _)| *known != metric);
    }

    /// Adds all counters of another set, whose values replace those in this one.
    pub fn merge(&mut self, other: Self) {
        self.extend(other.known);
        self.made.extend(other.made);
    }

    /// True if there is no counter.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.made.is_empty()
    }

    /// Whether a source may report these counters: all metrics must be its own, and other names are allowed only if it has made names.
    pub fn belongs_to(&self, source: Source) -> bool {
        let made = self.made.is_empty() || source.made_names().is_some();
        made && self.known.iter().all(|(metric, _)| metric.source == source)
    }

    /// Returns the counters sorted by name. Of several counters with one name, the last one added is kept.
    pub(crate) fn sorted(self) -> Vec<(Name, u64)> {
        let known = self.known.into_iter().map(|(metric, value)| (metric.into(), value));
        let made = self.made.into_iter().map(|(name, value)| (Name::Made(name), value));
        let mut all: Vec<(Name, u64)> = known.chain(made).collect();
        all.sort_by(|one, other| one.0.as_str().cmp(other.0.as_str()));
        all.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 = later.1;
            }
            same
        });
        all
    }
}

impl<V: Into<Option<u64>>> Extend<(Metric, V)> for CounterSet {
    fn extend<T: IntoIterator<Item = (Metric, V)>>(&mut self, counters: T) {
        counters.into_iter().for_each(|(metric, value)| self.put(metric, value));
    }
}

impl<V: Into<Option<u64>>> FromIterator<(Metric, V)> for CounterSet {
    fn from_iter<T: IntoIterator<Item = (Metric, V)>>(counters: T) -> Self {
        let mut set = Self::default();
        set.extend(counters);
        set
    }
}

impl<V: Into<Option<u64>>, const N: usize> From<[(Metric, V); N]> for CounterSet {
    fn from(counters: [(Metric, V); N]) -> Self {
        counters.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{cpu, prometheus};

    #[test]
    fn what_is_not_known_is_left_out_and_a_later_value_replaces_an_earlier_one() {
        let mut set = CounterSet::from([(cpu::USER_MS, Some(5)), (cpu::NICE_MS, None)]);
        set.put(cpu::USER_MS, 7);
        set.add(cpu::CORES, 1);
        set.add(cpu::CORES, 1);
        set.put_made("nice_ms", 1);
        set.put_made("nice_ms", 2);
        let sorted = set.sorted();
        let sorted: Vec<(&str, u64)> = sorted.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(sorted, [("cores", 2), ("nice_ms", 2), ("user_ms", 7)]);
    }

    #[test]
    fn a_sum_that_is_too_large_is_the_largest_number() {
        let mut set = CounterSet::from([(cpu::USER_MS, u64::MAX)]);
        set.add(cpu::USER_MS, 1);
        assert_eq!(set.get(cpu::USER_MS), Some(u64::MAX));
    }

    #[test]
    fn a_source_reports_only_its_own_metrics() {
        let set = CounterSet::from([(cpu::USER_MS, 5)]);
        assert!(set.belongs_to(Source::Cpu) && !set.belongs_to(Source::Core));
        let mut made = CounterSet::from([(prometheus::ROWS_LEFT_OUT, 5)]);
        made.put_made("up", 1);
        assert!(made.belongs_to(Source::Prometheus));
        made.remove(prometheus::ROWS_LEFT_OUT);
        assert!(!made.belongs_to(Source::Cpu) && !made.is_empty());
    }
}
