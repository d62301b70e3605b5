//! Counts by number, where few numbers occur.

/// Counts by number, lowest first; numbers that do not occur take no memory.
///
/// Counting allocates only where a number is new and the room is used up, so a tally made
/// [`with_room`](Self::with_room) for every number there is never allocates again. A clone holds no spare room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tally(Vec<(u16, u64)>);

impl Tally {
    /// An empty tally with room for this many different numbers.
    pub(crate) fn with_room(numbers: usize) -> Self {
        Self(Vec::with_capacity(numbers))
    }

    /// Adds `count` to that of `number`. Adding nothing leaves the tally as it is.
    #[inline]
    pub(crate) fn add(&mut self, number: u16, count: u64) {
        // Almost always the number is the only one there is.
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

    /// The count of `number`.
    pub(crate) fn of(&self, number: u16) -> u64 {
        self.0.iter().find(|(known, _)| *known == number).map_or(0, |(_, count)| *count)
    }

    /// Adds all counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(number, count)| self.add(number, count));
    }

    /// Removes every count and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The numbers seen, with their counts, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter().copied()
    }
}
