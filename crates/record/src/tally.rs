//! Counts by number, for cases in which few different numbers occur.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

/// Counts by number, in ascending order; numbers that do not occur take no memory. Serialized as a sparse map: `{"0": 12}`.
///
/// Counting allocates only if a number is new and the capacity is exhausted. So a tally created [`with_room`](Self::with_room) for all
/// possible numbers never allocates again. A clone has no spare capacity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "BTreeMap<u16, u64>")]
pub struct Tally(Vec<(u16, u64)>);

impl Tally {
    /// Creates an empty tally with room for this many different numbers.
    pub fn with_room(numbers: usize) -> Self {
        Self(Vec::with_capacity(numbers))
    }

    /// Adds `count` to the count of `number`. Adding zero has no effect.
    #[inline]
    pub fn add(&mut self, number: u16, count: u64) {
        // Usually there is only this one number.
        match self.0.iter_mut().find(|(known, _)| *known >= number) {
            Some((known, sum)) if *known == number => *sum += count,
            _ => self.insert(number, count),
        }
    }

    #[cold]
    fn insert(&mut self, number: u16, count: u64) {
        if count > 0 {
            let place = self.0.partition_point(|(known, _)| *known < number);
            self.0.insert(place, (number, count));
        }
    }

    /// Adds one to the count of each bit that is set; the lowest bit is number 0.
    #[inline]
    pub fn add_bits(&mut self, bits: u32) {
        let mut rest = bits;
        while rest != 0 {
            self.add(rest.trailing_zeros() as u16, 1);
            rest &= rest - 1;
        }
    }

    /// Returns the count of `number`.
    pub fn get(&self, number: u16) -> u64 {
        self.0.iter().find(|(known, _)| *known == number).map_or(0, |(_, count)| *count)
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(number, count)| self.add(number, count));
    }

    /// Removes all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Iterates over the numbers that occurred and their counts, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter().copied()
    }
}

impl From<BTreeMap<u16, u64>> for Tally {
    fn from(counts: BTreeMap<u16, u64>) -> Self {
        Self(counts.into_iter().filter(|(_, count)| *count > 0).collect())
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_counted_by_its_number_and_stored_as_a_sparse_map() {
        let mut tally = Tally::with_room(32);
        [0b101, 0b100, 1 << 31].into_iter().for_each(|bits| tally.add_bits(bits));
        assert_eq!(tally.iter().collect::<Vec<_>>(), [(0, 1), (2, 2), (31, 1)]);
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(text, r#"{"0":1,"2":2,"31":1}"#);
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
        tally.clear();
        assert_eq!(tally, Tally::default());
    }
}
