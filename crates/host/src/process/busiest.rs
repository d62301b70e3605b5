//! Selects which of many threads or processes to report, by the time that they ran.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A candidate replaces a reported entry only if it ran this many times as much, so that the selection among equally busy ones is stable.
const CLEARLY: u64 = 2;

/// The reported threads or processes, by id. A reported one stays until it ends, so that its counters can be followed. If there is no
/// room left, one that ran clearly more replaces the one that ran least.
#[derive(Debug)]
pub(crate) struct Busiest {
    /// The most entries added per read.
    most: usize,
    /// The most entries reported.
    room: usize,
    /// An entry that ran less than this replaces no other.
    noticeable: u64,
    /// The time that each ran, halved at each read: one that pauses briefly is not idle.
    reported: BTreeMap<u32, u64>,
}

impl Busiest {
    pub(crate) fn new(most: usize, room: usize, noticeable: u64) -> Self {
        Self { most, room, noticeable, reported: BTreeMap::new() }
    }

    /// Returns the ids of the reported entries.
    pub(crate) fn reported(&self) -> impl Iterator<Item = u32> {
        self.reported.keys().copied()
    }

    /// Updates the selection. `all` holds every living entry once, with the time that it ran since the last read.
    pub(crate) fn choose(&mut self, all: impl Iterator<Item = (u32, u64)>) {
        let before = std::mem::take(&mut self.reported);
        let mut busiest: Vec<(Reverse<u64>, u32)> = Vec::new();
        for (id, ran) in all {
            self.reported.extend(before.get(&id).map(|earlier| (id, (earlier / 2).saturating_add(ran))));
            if ran > 0 {
                busiest.push((Reverse(ran), id));
            }
        }
        busiest.sort_unstable();
        for (Reverse(ran), id) in busiest.into_iter().take(self.most) {
            if !self.reported.contains_key(&id) && self.has_room(ran) {
                self.reported.insert(id, ran);
            }
        }
    }

    /// Whether there is room for an entry that ran this much. If necessary, makes room by removing the entry that ran least.
    fn has_room(&mut self, ran: u64) -> bool {
        if self.reported.len() < self.room {
            return true;
        }
        let least = self.reported.iter().map(|(id, ran)| (*ran, *id)).min();
        let is_clear = |least: u64| ran >= self.noticeable.max(least.saturating_mul(CLEARLY));
        let idle = least.filter(|(least, _)| is_clear(*least)).map(|(_, id)| id);
        idle.is_some_and(|id| self.reported.remove(&id).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(busiest: &mut Busiest, all: &[(u32, u64)]) -> Vec<u32> {
        busiest.choose(all.iter().copied());
        busiest.reported().collect()
    }

    #[test]
    fn the_busiest_are_added_and_stay_until_they_end() {
        let mut busiest = Busiest::new(2, 9, 10);
        assert_eq!(choose(&mut busiest, &[(1, 1), (2, 0), (3, 3), (4, 2)]), [3, 4]);
        assert_eq!(
            choose(&mut busiest, &[(1, 1), (2, 0), (3, 0), (4, 0)]),
            [1, 3, 4],
            "although two are idle"
        );
        assert_eq!(choose(&mut busiest, &[(1, 0), (2, 0), (4, 0)]), [1, 4]);
    }

    #[test]
    fn one_that_runs_clearly_more_takes_the_place_of_the_one_that_ran_least() {
        let mut busiest = Busiest::new(9, 2, 10);
        assert_eq!(choose(&mut busiest, &[(1, 100), (2, 50), (3, 0)]), [1, 2]);
        assert_eq!(choose(&mut busiest, &[(1, 100), (2, 50), (3, 99)]), [1, 2], "not even twice as much");
        assert_eq!(choose(&mut busiest, &[(1, 100), (2, 0), (3, 70)]), [1, 2], "it has just run");
        assert_eq!(choose(&mut busiest, &[(1, 100), (2, 0), (3, 70)]), [1, 3]);
    }

    #[test]
    fn one_that_hardly_runs_takes_no_place() {
        let mut busiest = Busiest::new(9, 1, 10);
        assert_eq!(choose(&mut busiest, &[(1, 1), (2, 0)]), [1]);
        assert_eq!(choose(&mut busiest, &[(1, 0), (2, 9)]), [1]);
        assert_eq!(choose(&mut busiest, &[(1, 0), (2, 10)]), [2]);
    }
}
