//! When requests fall due in an open loop: a pure function of the plan and a seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// How the gaps between arrivals are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalProcess {
    /// All gaps are equal.
    #[default]
    Constant,
    /// Gaps are exponential and independent, as from many users who know nothing of each other.
    Poisson,
}

/// One worker's part of a whole that several workers share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// This worker, from 0.
    pub index: u32,
    /// How many workers there are.
    pub of: u32,
}

impl Shard {
    /// This worker's part of `whole` things: the remainder is dealt out to the first workers, one each.
    pub fn part_of(self, whole: u32) -> u32 {
        whole / self.of + u32::from(self.index < whole % self.of)
    }
}

/// The instants at which one worker's requests fall due, in nanoseconds since the step began, without end.
///
/// Constant arrivals are dealt out in turn: of the whole sequence `n / rate`, worker `i` of `w` takes
/// `n = i, i + w, i + 2w, …`, so all workers together keep the rate exactly, whatever their number.
/// For Poisson arrivals each worker draws its own process at `rate / w`; the sum of independent Poisson
/// processes is the Poisson process of the summed rate.
#[derive(Debug, Clone)]
pub struct Arrivals(Pace);

#[derive(Debug, Clone)]
enum Pace {
    Constant { next: u64, stride: u64, gap_ns: f64 },
    Poisson { at_ns: f64, mean_gap_ns: f64, random: Box<Xoshiro256PlusPlus> },
}

impl Arrivals {
    /// The arrivals of one worker at `rate_per_sec` over all workers.
    pub fn new(process: ArrivalProcess, rate_per_sec: f64, shard: Shard, seed: u64) -> Self {
        let gap_ns = 1e9 / rate_per_sec;
        Self(match process {
            ArrivalProcess::Constant => {
                Pace::Constant { next: u64::from(shard.index), stride: u64::from(shard.of), gap_ns }
            }
            ArrivalProcess::Poisson => Pace::Poisson {
                at_ns: 0.0,
                mean_gap_ns: gap_ns * f64::from(shard.of),
                random: Box::new(Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(shard.index) << 32))),
            },
        })
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(match &mut self.0 {
            Pace::Constant { next, stride, gap_ns } => {
                let at_ns = *next as f64 * *gap_ns;
                *next += *stride;
                at_ns as u64
            }
            Pace::Poisson { at_ns, mean_gap_ns, random } => {
                // 53 random bits make a number in [0, 1); 1 minus it is never zero, so the logarithm is finite.
                let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                *at_ns -= *mean_gap_ns * (1.0 - uniform).ln();
                *at_ns as u64
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(process: ArrivalProcess, rate: f64, workers: u32, until_ns: u64) -> Vec<u64> {
        let shard = |index| Arrivals::new(process, rate, Shard { index, of: workers }, 7);
        let mut due: Vec<u64> =
            (0..workers).flat_map(|index| shard(index).take_while(|at| *at < until_ns)).collect();
        due.sort_unstable();
        due
    }

    #[test]
    fn constant_arrivals_are_the_same_however_many_workers_share_them() {
        let alone = all(ArrivalProcess::Constant, 2000.0, 1, 1_000_000_000);
        assert_eq!(alone.len(), 2000);
        assert_eq!(alone[1999], 999_500_000);
        for workers in [2, 3, 7] {
            assert_eq!(all(ArrivalProcess::Constant, 2000.0, workers, 1_000_000_000), alone);
        }
    }

    #[test]
    fn poisson_arrivals_keep_the_rate_and_scatter_like_exponentials() {
        let due = all(ArrivalProcess::Poisson, 1000.0, 3, 100_000_000_000);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean gap {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "coefficient of variation");
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_another_does_not() {
        let take = |seed| {
            let shard = Shard { index: 0, of: 1 };
            Arrivals::new(ArrivalProcess::Poisson, 10.0, shard, seed).take(20).collect::<Vec<_>>()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    #[test]
    fn remainders_are_dealt_out_not_dropped() {
        let parts: Vec<u32> = (0..12).map(|index| Shard { index, of: 12 }.part_of(400)).collect();
        assert_eq!(parts.iter().sum::<u32>(), 400);
        assert!(parts.iter().all(|part| (33..=34).contains(part)));
    }
}
