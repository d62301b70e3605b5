//! How workers share one load: pure functions of their indices and weights, so that each process computes its own part.

use std::cmp::Reverse;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

/// The weight of the workers with the highest ceiling.
const MAX_WEIGHT: f64 = 1000.0;
/// In each round, multiples of the golden ratio in 2^32nds decide how a boundary between workers is rounded: any number of
/// successive rounds is close to the mean of all (Knuth, *The Art of Computer Programming*, volume 3, section 6.4).
const GOLDEN: u32 = 0x9E37_79B9;

/// One worker among those that make a load together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The index of this worker, from 0.
    pub index: u32,
    /// The number of workers.
    pub of: u32,
}

/// Consecutive workers of the same weight. Each of a thousand agents receives all groups, so a group is serialized as a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, NonZeroU16)", into = "(u32, NonZeroU16)")]
struct Group {
    workers: u32,
    weight: NonZeroU16,
}

impl From<(u32, NonZeroU16)> for Group {
    fn from((workers, weight): (u32, NonZeroU16)) -> Self {
        Self { workers, weight }
    }
}

impl From<Group> for (u32, NonZeroU16) {
    fn from(Group { workers, weight }: Group) -> Self {
        (workers, weight)
    }
}

impl Group {
    fn weight_of(self, workers: u32) -> u64 {
        u64::from(workers) * u64::from(self.weight.get())
    }
}

/// The weights of all workers that make a load together, in the order of their indices. The parts of any whole add up to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shares {
    groups: Vec<Group>,
}

impl Shares {
    /// Equal shares for this many workers.
    pub fn equal(workers: u32) -> Self {
        Self::by_ceiling(&[(workers, None)])
    }

    /// The shares of the workers of `generators`: for each generator its number of workers and the most requests per second
    /// that one of them can make. A worker's weight is its ceiling in per mille of the highest. A worker with an unknown
    /// ceiling gets the mean of the others.
    pub fn by_ceiling(generators: &[(u32, Option<u64>)]) -> Self {
        let known =
            || generators.iter().filter_map(|(workers, ceiling)| Some((*workers, (*ceiling)? as f64)));
        let most =
            known().filter(|(workers, _)| *workers > 0).map(|(_, ceiling)| ceiling).fold(1.0, f64::max);
        let workers: f64 = known().map(|(workers, _)| f64::from(workers)).sum();
        let sum: f64 = known().map(|(workers, ceiling)| f64::from(workers) * ceiling).sum();
        let mean = if workers > 0.0 { sum / workers } else { most };
        let mut shares = Self { groups: Vec::new() };
        for (workers, ceiling) in generators {
            let ceiling = ceiling.map_or(mean, |ceiling| ceiling as f64);
            let weight = (MAX_WEIGHT * ceiling / most).round().clamp(1.0, MAX_WEIGHT) as u16;
            shares.push(*workers, NonZeroU16::new(weight).unwrap_or(NonZeroU16::MIN));
        }
        shares
    }

    fn push(&mut self, workers: u32, weight: NonZeroU16) {
        match self.groups.last_mut() {
            Some(last) if last.weight == weight => last.workers = last.workers.saturating_add(workers),
            _ if workers > 0 => self.groups.push(Group { workers, weight }),
            _ => {}
        }
    }

    /// The number of workers.
    pub fn workers(&self) -> u32 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.workers))
    }

    /// The total weight of the first `workers` workers.
    fn weight_of_first(&self, workers: u32) -> u64 {
        let mut left = workers;
        let weight = |group: &Group| {
            let own = left.min(group.workers);
            left -= own;
            group.weight_of(own)
        };
        self.groups.iter().map(weight).sum()
    }

    /// The part of the load that the worker with this index makes.
    pub fn portion(&self, worker: u32) -> Portion {
        let (before, workers) = (self.weight_of_first(worker), self.workers());
        let own = self.weight_of_first(worker.saturating_add(1)) - before;
        match own {
            // The index is not one of these workers.
            0 => Shard { index: worker, of: workers.max(1) }.into(),
            _ => Portion { worker, workers, before, own, all: self.weight_of_first(u32::MAX) },
        }
    }

    /// The part of the load, 0 to 1, that `workers` consecutive workers from `first` on make.
    pub fn ratio(&self, first: u32, workers: u32) -> f64 {
        let own = self.weight_of_first(first.saturating_add(workers)) - self.weight_of_first(first);
        own as f64 / self.weight_of_first(u32::MAX).max(1) as f64
    }

    /// The requests out of `whole` that `workers` consecutive workers from `first` on make.
    pub fn requests(&self, first: u32, workers: u32, whole: u64) -> u64 {
        let all = u128::from(self.weight_of_first(u32::MAX).max(1));
        let up_to = |workers| {
            let weight = u128::from(self.weight_of_first(workers));
            (u128::from(whole) * weight / all) as u64
        };
        up_to(first.saturating_add(workers)) - up_to(first)
    }

    /// The connections out of `whole` that this worker opens: within one of its weight's part, unless that leaves a worker
    /// without one. If there is one for each worker, each has one, and the others divide the rest. Remainders go to the workers
    /// that miss most, among equals to the first.
    pub fn part(&self, worker: u32, whole: u32) -> u32 {
        self.parts_before(worker.saturating_add(1), whole) - self.parts_before(worker, whole)
    }

    /// The connections out of `whole` that all workers before this one open.
    pub fn parts_before(&self, worker: u32, whole: u32) -> u32 {
        let (mut before, mut first) = (0, 0);
        for (group, total) in self.groups.iter().zip(self.totals(whole)) {
            let workers = group.workers.max(1);
            let number = worker.saturating_sub(first).min(group.workers);
            before += number * (total / workers) + number.min(total % workers);
            first += group.workers;
        }
        before
    }

    /// The connections of each group, by the largest remainder method (Hamilton's method).
    fn totals(&self, whole: u32) -> Vec<u32> {
        let short = self.short_of_one(whole);
        let (left, weight) = self.left_to_others(whole, &short);
        let part = |(group, short): (&Group, &bool)| match short {
            true => (group.workers, 0),
            false => {
                let part = left * group.weight_of(1);
                ((part / weight) as u32 * group.workers, part % weight)
            }
        };
        let parts: Vec<(u32, u64)> = self.groups.iter().zip(&short).map(part).collect();
        let mut totals: Vec<u32> = parts.iter().map(|(total, _)| *total).collect();
        let mut rest = whole - totals.iter().sum::<u32>();
        let mut order: Vec<usize> = (0..parts.len()).filter(|index| !short[*index]).collect();
        order.sort_by_key(|index| Reverse(parts[*index].1));
        for index in order {
            let extra = rest.min(self.groups[index].workers);
            totals[index] += extra;
            rest -= extra;
        }
        totals
    }

    /// Marks the groups whose workers would have less than one connection. A worker without one makes no load, so each of
    /// these gets one. That leaves less for the others, which may then be short too.
    fn short_of_one(&self, whole: u32) -> Vec<bool> {
        let mut short = vec![false; self.groups.len()];
        while whole >= self.workers() {
            let (left, weight) = self.left_to_others(whole, &short);
            let more = |group: &Group, short: bool| short || left * group.weight_of(1) < weight;
            let next: Vec<bool> =
                self.groups.iter().zip(&short).map(|(group, short)| more(group, *short)).collect();
            if next == short {
                break;
            }
            short = next;
        }
        short
    }

    /// The connections left for the groups that are not short, and the total weight of these groups.
    fn left_to_others(&self, whole: u32, short: &[bool]) -> (u64, u64) {
        let (mut left, mut weight) = (u64::from(whole), 0);
        for (group, short) in self.groups.iter().zip(short) {
            match short {
                true => left -= u64::from(group.workers),
                false => weight += group.weight_of(group.workers),
            }
        }
        (left, weight.max(1))
    }
}

/// The part of a load that one worker makes: its weight among those of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    worker: u32,
    workers: u32,
    /// The total weight of the workers before this one.
    before: u64,
    own: u64,
    all: u64,
}

impl From<Shard> for Portion {
    /// The portion of one of several equal workers.
    fn from(Shard { index, of }: Shard) -> Self {
        Self { worker: index, workers: of, before: index.into(), own: 1, all: of.max(1).into() }
    }
}

impl Portion {
    pub(crate) fn worker(self) -> u32 {
        self.worker
    }

    /// The whole load in multiples of this portion.
    pub(crate) fn whole(self) -> f64 {
        self.all as f64 / self.own as f64
    }

    /// The numbers that this worker gets when numbers from 0 on are dealt out one by one to all workers.
    pub fn dealt(self) -> Dealt {
        let workers = u64::from(self.workers.max(1));
        let boundary = |weight: u64| {
            let at = u128::from(weight) * u128::from(workers);
            let (all, rest) = (u128::from(self.all), at % u128::from(self.all));
            Boundary { place: (at / all) as u64, until: (rest << 32).div_ceil(all) as u64 }
        };
        let (from, to) = (boundary(self.before), boundary(self.before + self.own));
        Dealt { from, to, workers, round: 0, next: from.in_round(0), end: to.in_round(0) }
    }
}

/// The numbers that one worker is dealt, from 0 on, without end.
///
/// A round has as many numbers as there are workers, and each worker has consecutive places in it: one if all workers are
/// equal. Otherwise the boundary between two workers may lie within a place. It is then rounded down or up, anew in each
/// round, so that it is right on average. Both workers compute the same boundary, so each number is dealt out once.
#[derive(Debug, Clone)]
pub struct Dealt {
    from: Boundary,
    to: Boundary,
    workers: u64,
    round: u64,
    next: u64,
    end: u64,
}

/// The boundary in a round between the places of one worker and those of the next.
#[derive(Debug, Clone, Copy)]
struct Boundary {
    place: u64,
    /// The boundary is one place further in rounds whose mixed number is less than this.
    until: u64,
}

impl Boundary {
    fn in_round(self, round: u64) -> u64 {
        let mixed = u64::from((round as u32).wrapping_mul(GOLDEN));
        self.place + u64::from(mixed < self.until)
    }
}

impl Iterator for Dealt {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.next == self.end {
            self.round += 1;
            let first = self.round * self.workers;
            self.next = first + self.from.in_round(self.round);
            self.end = first + self.to.in_round(self.round);
        }
        let number = self.next;
        self.next += 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Random;

    use super::*;

    fn parts(shares: &Shares, whole: u32) -> Vec<u32> {
        (0..shares.workers()).map(|worker| shares.part(worker, whole)).collect()
    }

    /// Up to eight generators of up to nine workers; of some the ceiling is not known.
    fn any_generators(random: &mut Random) -> Vec<(u32, Option<u64>)> {
        let mut generator = || {
            let ceiling = (!random.permille(200)).then(|| random.within(1_000..200_000));
            (random.within(0..10) as u32, ceiling)
        };
        let mut generators: Vec<_> = (0..7).map(|_| generator()).collect();
        generators.push((1, None));
        generators
    }

    #[test]
    fn workers_that_can_do_the_same_get_what_is_dealt_out_in_turn() {
        for ceilings in [[None; 3], [Some(70_000); 3], [None, Some(5), None]] {
            let generators: Vec<_> = [4, 1, 3].into_iter().zip(ceilings).collect();
            let shares = Shares::by_ceiling(&generators);
            assert_eq!(shares, Shares::equal(8));
            for whole in 0..100 {
                let in_turn = |worker| whole / 8 + u32::from(worker < whole % 8);
                assert_eq!(parts(&shares, whole), (0..8).map(in_turn).collect::<Vec<_>>(), "{whole}");
            }
            for worker in 0..8_u32 {
                assert_eq!(shares.portion(worker).whole(), 8.0);
                let numbers: Vec<u64> = shares.portion(worker).dealt().take(50).collect();
                assert_eq!(numbers, (0..50).map(|turn| u64::from(worker) + turn * 8).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn parts_of_connections_add_up_and_are_within_one_of_the_weights() {
        let random = &mut Random::new(1);
        for _ in 0..500 {
            let shares = Shares::by_ceiling(&any_generators(random));
            let whole = random.within(0..3_000) as u32;
            let parts = parts(&shares, whole);
            assert_eq!(parts.iter().sum::<u32>(), whole, "{shares:?}");
            let due = |worker| f64::from(whole) * shares.ratio(worker, 1);
            let all_have_one = (0..shares.workers()).all(|worker| due(worker) >= 1.0);
            for (worker, part) in (0..).zip(&parts) {
                let missed = (f64::from(*part) - due(worker)).abs();
                assert!(missed < 1.0 || !all_have_one, "{part} for {} of {shares:?}", due(worker));
                assert!(*part > 0 || whole < shares.workers(), "worker {worker} of {whole}: {shares:?}");
                assert_eq!(shares.parts_before(worker, whole), parts[..worker as usize].iter().sum::<u32>());
            }
        }
    }

    #[test]
    fn each_number_is_dealt_out_once_and_every_generator_keeps_close_to_its_weight() {
        let random = &mut Random::new(2);
        for _ in 0..40 {
            let generators = any_generators(random);
            let shares = Shares::by_ceiling(&generators);
            let (mut owners, count) = (vec![None; 8_000], 8_000_u64);
            for worker in 0..shares.workers() {
                for number in shares.portion(worker).dealt().take_while(|number| *number < count) {
                    assert_eq!(owners[number as usize].replace(worker), None, "{number}: {shares:?}");
                }
            }
            let mut first = 0;
            for (workers, _) in generators {
                let own = |owner: u32| (first..first + workers).contains(&owner);
                let mut have = 0.0;
                for (number, owner) in (1..).zip(&owners) {
                    have += f64::from(u8::from(own(owner.unwrap())));
                    let due = f64::from(number) * shares.ratio(first, workers);
                    // Workers of one generator have places in a round that follow each other.
                    let near = 6.0 + f64::from(workers);
                    assert!((have - due).abs() < near, "{have} of {number}, {due} due: {shares:?}");
                }
                first += workers;
            }
        }
    }

    #[test]
    fn requests_of_generators_add_up_and_are_within_one_of_the_weights() {
        let random = &mut Random::new(3);
        for _ in 0..500 {
            let generators = any_generators(random);
            let shares = Shares::by_ceiling(&generators);
            let whole = random.within(0..1_000_000_000);
            let (mut first, mut sum) = (0, 0);
            for (workers, _) in generators {
                let requests = shares.requests(first, workers, whole);
                let due = whole as f64 * shares.ratio(first, workers);
                assert!((requests as f64 - due).abs() < 1.001, "{requests} for {due}");
                (first, sum) = (first + workers, sum + requests);
            }
            assert_eq!(sum, whole);
        }
        let before = |whole: u64, workers: u64| whole * workers / 7;
        for whole in [5, 1_000, 1_003] {
            assert_eq!(Shares::equal(7).requests(2, 3, whole), before(whole, 5) - before(whole, 2));
        }
    }

    #[test]
    fn a_worker_that_can_do_twice_as_much_gets_twice_as_much() {
        let shares = Shares::by_ceiling(&[(1, Some(50_000)), (2, Some(100_000)), (1, None)]);
        // The last one counts as the mean: 83,333.
        assert_eq!(parts(&shares, 1_000), [150, 300, 300, 250]);
        assert_eq!(parts(&shares, 4), [1, 1, 1, 1], "each has a connection");
        assert_eq!(parts(&shares, 6), [1, 2, 2, 1]);
        assert_eq!([shares.requests(0, 1, 100), shares.requests(1, 2, 100)], [15, 60]);
    }

    #[test]
    fn shares_are_read_as_they_were_written() {
        let shares = Shares::by_ceiling(&[(3, Some(9)), (2, Some(5)), (0, None), (4, Some(5))]);
        let text = serde_json::to_string(&shares).unwrap();
        assert_eq!(text, "[[3,1000],[6,556]]");
        assert_eq!(serde_json::from_str::<Shares>(&text).unwrap(), shares);
    }
}
