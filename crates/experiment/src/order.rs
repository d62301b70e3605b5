//! Random orders of runs, drawn from a seed.

use plimsoll_units::unix_time;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of random orders, by the Fisher–Yates shuffle.
#[derive(Debug)]
pub(crate) struct Order(SplitMix64);

impl Order {
    /// Starts from `seed`; `None` takes a seed from the clock.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let clock = || unix_time().as_nanos() as u64;
        Self(SplitMix64::seed_from_u64(seed.unwrap_or_else(clock)))
    }

    /// Returns the indices 0 to `count` − 1 in a random order, with indices that are `alike` next to each other.
    pub(crate) fn draw(&mut self, count: usize, alike: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut shuffled: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            shuffled.swap(last, (self.0.next_u64() % (last as u64 + 1)) as usize);
        }
        let first_alike = shuffled.clone();
        shuffled.sort_by_key(|place| first_alike.iter().position(|other| alike(*other, *place)));
        shuffled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_place_once_and_keeps_those_of_one_lab_together() {
        let mut order = Order::new(Some(7));
        let (first, second) = (order.draw(8, |_, _| true), order.draw(8, |_, _| true));
        assert_ne!(first, second, "each round has an order of its own");
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        let grouped = order.draw(8, |a, b| a % 2 == b % 2);
        assert_eq!(grouped.chunk_by(|a, b| a % 2 == b % 2).count(), 2, "{grouped:?}");
        // A seed repeats its orders, and does so in every version.
        assert_eq!(first, [1, 4, 5, 2, 6, 0, 3, 7]);
    }
}
