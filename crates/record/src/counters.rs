//! Counters by name, kept small: a run of an hour holds hundreds of thousands of them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Text;

/// Counters by name, in the order of their names. The names are apart from the values, so that all reads of one thing
/// can share them (see [`Sharing`](crate::Sharing)).
#[derive(Clone, PartialEq, Eq)]
pub struct Counters {
    names: Arc<[Text]>,
    values: Arc<[u64]>,
}

impl Counters {
    /// The value of a counter.
    pub fn get(&self, name: &str) -> Option<&u64> {
        let at = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        self.values.get(at)
    }

    /// Whether there is a counter of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// All names and values, in the order of names.
    pub fn iter(&self) -> Iter<'_> {
        Iter { names: self.names.iter(), values: self.values.iter() }
    }

    /// All names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(Text::as_str)
    }

    /// How many counters there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same counters, kept together with these wherever they are equal.
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

    /// The same counters with these words in place of equal ones.
    pub(crate) fn with_names(self, mut word: impl FnMut(Text) -> Text) -> Self {
        Self { names: self.names.iter().cloned().map(&mut word).collect(), ..self }
    }

    #[cfg(test)]
    pub(crate) fn shares(&self, other: &Self) -> (bool, bool) {
        (Arc::ptr_eq(&self.names, &other.names), Arc::ptr_eq(&self.values, &other.values))
    }
}

/// Names and values of counters.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    names: std::slice::Iter<'a, Text>,
    values: std::slice::Iter<'a, u64>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a u64);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.names.next()?.as_str(), self.values.next()?))
    }
}

impl<'a> IntoIterator for &'a Counters {
    type Item = (&'a str, &'a u64);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Default for Counters {
    fn default() -> Self {
        BTreeMap::new().into()
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl Index<&str> for Counters {
    type Output = u64;

    /// As that of a map: for those who know that the counter is there.
    fn index(&self, name: &str) -> &u64 {
        let at = self.names.partition_point(|known| known.as_str() < name);
        assert!(
            self.names.get(at).is_some_and(|known| known == name),
            "there is no counter `{name}`: {self:?}"
        );
        &self.values[at]
    }
}

impl From<BTreeMap<String, u64>> for Counters {
    fn from(counters: BTreeMap<String, u64>) -> Self {
        let values = counters.values().copied().collect();
        Self { names: counters.into_keys().map(Text::from).collect(), values }
    }
}

impl FromIterator<(String, u64)> for Counters {
    fn from_iter<T: IntoIterator<Item = (String, u64)>>(counters: T) -> Self {
        counters.into_iter().collect::<BTreeMap<String, u64>>().into()
    }
}

impl<const N: usize> From<[(String, u64); N]> for Counters {
    fn from(counters: [(String, u64); N]) -> Self {
        counters.into_iter().collect()
    }
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::<String, u64>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_read_as_a_map_of_them_does() {
        let map = BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1), ("aa".to_owned(), 3)]);
        let counters = Counters::from(map.clone());
        assert_eq!((counters.get("aa"), counters.get("ab"), counters["b"]), (Some(&3), None, 2));
        assert!(counters.contains_key("a") && !counters.contains_key(""));
        assert_eq!(counters.iter().collect::<Vec<_>>(), [("a", &1), ("aa", &3), ("b", &2)]);
        assert_eq!(format!("{counters:?}"), format!("{map:?}"));
        assert_eq!((Counters::default().len(), Counters::default().is_empty()), (0, true));
    }

    #[test]
    fn counters_are_written_and_read_as_a_json_object() {
        let text = r#"{"aa":3,"b":18446744073709551615}"#;
        let counters: Counters = serde_json::from_str(text).unwrap();
        assert_eq!(counters["b"], u64::MAX);
        assert_eq!(serde_json::to_string(&counters).unwrap(), text);
    }
}
