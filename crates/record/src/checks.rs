//! How many responses failed each check.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tally::Tally;

/// How many responses failed each check, by the check's index in the plan.
///
/// A response that fails several checks is counted at each of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckCounts(Tally);

impl CheckCounts {
    /// The most checks of one plan: the failed ones of a response are the bits of a `u32`.
    pub const MOST: usize = 32;

    /// Counts that never allocate again.
    pub fn with_room() -> Self {
        Self(Tally::with_room(Self::MOST))
    }

    /// Counts a response that failed these checks: bit `n` stands for the check with index `n`.
    #[inline]
    pub fn count(&mut self, failed: u32) {
        let mut rest = failed;
        while rest != 0 {
            self.0.add(rest.trailing_zeros() as u16, 1);
            rest &= rest - 1;
        }
    }

    /// Adds `count` responses that failed the check with this index.
    pub fn add(&mut self, check: u16, count: u64) {
        self.0.add(check, count);
    }

    /// How many responses failed the check with this index.
    pub fn of(&self, check: u16) -> u64 {
        self.0.of(check)
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// Sets every count to zero, keeping the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The checks that failed, by index, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter()
    }
}

/// Check counts as a sparse map from index to count, the form in which they are stored: `{"0": 12}`.
impl Serialize for CheckCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for CheckCounts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (check, count) in BTreeMap::<u16, u64>::deserialize(deserializer)? {
            counts.add(check, count);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_counted_at_every_check_that_it_failed() {
        let mut counts = CheckCounts::with_room();
        [0b101, 0b100, 1 << 31].into_iter().for_each(|failed| counts.count(failed));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(0, 1), (2, 2), (31, 1)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, r#"{"0":1,"2":2,"31":1}"#);
        assert_eq!(serde_json::from_str::<CheckCounts>(&text).unwrap(), counts);
        counts.clear();
        assert_eq!(counts, CheckCounts::default());
    }
}
