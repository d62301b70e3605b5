//! Counters by name, stored compactly: a run of an hour holds hundreds of thousands of them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::counter_set::{CounterSet, Name};
use crate::{Metric, Text};

/// Counters sorted by name. Names and values are stored separately, so that all reads of one subject can share the names (see
/// [`Sharing`](crate::Sharing)).
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, u64>")]
pub struct Counters {
    names: Arc<[Name]>,
    values: Arc<[u64]>,
}

impl Counters {
    /// Returns the value of a metric.
    pub fn get(&self, metric: Metric) -> Option<u64> {
        self.named(metric.name)
    }

    /// Returns the value of a counter by its name, also of one that is not a metric of this version.
    pub fn named(&self, name: &str) -> Option<u64> {
        let at = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        self.values.get(at).copied()
    }

    /// Iterates over names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names().zip(self.values.iter().copied())
    }

    /// Iterates over the names in ascending order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(Name::as_str)
    }

    /// Returns the number of counters.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there is no counter.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns these counters, sharing the memory of equal names and equal values with `other`.
    pub(crate) fn shared_with(self, other: &Self) -> Self {
        let Self { mut names, mut values } = self;
        if names == other.names {
            names = Arc::clone(&other.names);
        }
        if values == other.values {
            values = Arc::clone(&other.values);
        }
        Self { names, values }
    }

    /// Returns these counters with each name that is not a metric's replaced by the result of `text`.
    pub(crate) fn with_texts(self, mut text: impl FnMut(Text) -> Text) -> Self {
        let names = self.names.iter().cloned().map(|name| match name {
            Name::Made(made) => Name::Made(text(made)),
            known @ Name::Known(_) => known,
        });
        Self { names: names.collect(), ..self }
    }

    #[cfg(test)]
    pub(crate) fn shares(&self, other: &Self) -> (bool, bool) {
        (Arc::ptr_eq(&self.names, &other.names), Arc::ptr_eq(&self.values, &other.values))
    }
}

impl Default for Counters {
    fn default() -> Self {
        CounterSet::default().into()
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Panics if there is no such counter, like the index of a map.
impl Index<Metric> for Counters {
    type Output = u64;

    fn index(&self, metric: Metric) -> &u64 {
        let at = self.names.partition_point(|known| known.as_str() < metric.name);
        assert!(
            self.names.get(at).is_some_and(|known| known.as_str() == metric.name),
            "there is no counter `{}`: {self:?}",
            metric.name
        );
        &self.values[at]
    }
}

impl From<CounterSet> for Counters {
    fn from(set: CounterSet) -> Self {
        let sorted = set.sorted();
        let values = sorted.iter().map(|(_, value)| *value).collect();
        Self { names: sorted.into_iter().map(|(name, _)| name).collect(), values }
    }
}

impl<const N: usize> From<[(Metric, u64); N]> for Counters {
    fn from(counters: [(Metric, u64); N]) -> Self {
        CounterSet::from_iter(counters).into()
    }
}

/// Converts counters with the names that a file or a stream contains, which this version may not know.
impl From<BTreeMap<String, u64>> for Counters {
    fn from(counters: BTreeMap<String, u64>) -> Self {
        let values = counters.values().copied().collect();
        Self { names: counters.into_keys().map(|name| Name::Made(name.into())).collect(), values }
    }
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::cpu;

    #[test]
    fn counters_are_read_by_metric_and_in_the_order_of_names() {
        let counters = Counters::from([(cpu::USER_MS, 2), (cpu::IDLE_MS, 1), (cpu::IRQ_MS, 3)]);
        assert_eq!((counters.get(cpu::IRQ_MS), counters.get(cpu::NICE_MS)), (Some(3), None));
        assert_eq!((counters[cpu::USER_MS], counters.named("idle_ms")), (2, Some(1)));
        assert_eq!(counters.iter().collect::<Vec<_>>(), [("idle_ms", 1), ("irq_ms", 3), ("user_ms", 2)]);
        assert_eq!(format!("{counters:?}"), r#"{"idle_ms": 1, "irq_ms": 3, "user_ms": 2}"#);
        assert_eq!((Counters::default().len(), Counters::default().is_empty()), (0, true));
    }

    #[test]
    fn counters_are_written_and_read_as_a_json_object_and_unknown_names_are_kept() {
        let text = r#"{"of_a_newer_version":3,"user_ms":18446744073709551615}"#;
        let counters: Counters = serde_json::from_str(text).unwrap();
        assert_eq!((counters[cpu::USER_MS], counters.named("of_a_newer_version")), (u64::MAX, Some(3)));
        assert_eq!(serde_json::to_string(&counters).unwrap(), text);
    }
}
