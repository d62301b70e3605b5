//! When requests fall due in an open loop: a pure function of the plan and a seed.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::{Dealt, Portion, RateProfile, Stage};

/// How the gaps between arrivals are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalProcess {
    /// All gaps are equal.
    #[default]
    Constant,
    /// Gaps are exponential and independent, as from many independent users.
    Poisson,
}

/// The instants at which one worker's requests fall due, in nanoseconds since the step began. Endless at a constant rate; with
/// stages, as many as fall due within them.
///
/// Both processes are made by inverting the integral of the rate, Λ(t) = ∫₀ᵗ λ(s) ds, the number of requests due by
/// t (Çinlar, *Introduction to Stochastic Processes*, 1975, chapter 4.7; Lewis and Shedler 1979 call it time-scale
/// transformation). It is exact for any rate and rejects nothing.
///
/// Constant arrivals fall due at Λ⁻¹(n) for n = 0, 1, 2 … They are dealt out ([`Dealt`]): of `w` equal workers, worker `i`
/// takes n = i, i + w, i + 2w, …, so all workers together keep the rate exactly, whatever their number. For
/// Poisson arrivals each worker draws its own process at its part `p` of the rate: if s₁ < s₂ < … is a Poisson process of rate
/// `p`, then Λ⁻¹(s₁), Λ⁻¹(s₂), … is one of rate `p λ`, and the sum of independent ones has the sum of their rates.
#[derive(Debug, Clone)]
pub struct Arrivals {
    count: Count,
    clock: Clock,
}

/// The number of requests due when this worker's next one is: a point on the axis of Λ.
#[derive(Debug, Clone)]
enum Count {
    Constant(Dealt),
    Poisson { sum: f64, mean: f64, random: Box<Xoshiro256PlusPlus> },
}

impl Count {
    #[inline]
    fn advance(&mut self) -> f64 {
        match self {
            // There is always another one.
            Self::Constant(dealt) => dealt.next().unwrap_or(u64::MAX) as f64,
            Self::Poisson { sum, mean, random } => {
                // 53 random bits make a number in [0, 1); 1 minus it is never zero, so the logarithm is finite.
                let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                *sum -= *mean * (1.0 - uniform).ln();
                *sum
            }
        }
    }
}

/// Λ⁻¹: the time at which a given number of requests is due.
#[derive(Debug, Clone)]
enum Clock {
    Steady { gap_ns: f64 },
    Staged { stages: Arc<[Placed]>, current: usize },
}

/// A stage with its start on the axes of time and of Λ.
#[derive(Debug, Clone, Copy)]
struct Placed {
    stage: Stage,
    /// Seconds between the start of the step and the start of the stage.
    began_sec: f64,
    /// Requests that fall due before the stage.
    before: f64,
}

impl Clock {
    /// The time at which `count` requests are due, in nanoseconds; `None` if never so many fall due. `count` must not
    /// decrease from call to call.
    #[inline]
    fn at_ns(&mut self, count: f64) -> Option<u64> {
        match self {
            Self::Steady { gap_ns } => Some(whole_ns(count * *gap_ns)),
            Self::Staged { stages, current } => {
                let ends = |placed: &Placed| placed.before + placed.stage.requests();
                while stages.get(*current).is_some_and(|placed| count >= ends(placed)) {
                    *current += 1;
                }
                stages.get(*current).map(|placed| placed.at_ns(count))
            }
        }
    }
}

fn placed(stages: &[Stage]) -> Arc<[Placed]> {
    let (mut began_sec, mut before) = (0.0, 0.0);
    let place = |stage: &Stage| {
        let placed = Placed { stage: *stage, began_sec, before };
        began_sec += stage.duration.as_secs_f64();
        before += stage.requests();
        placed
    };
    stages.iter().map(place).collect()
}

/// Rounds a non-negative time to the nearest whole nanosecond.
fn whole_ns(ns: f64) -> u64 {
    (ns + 0.5) as u64
}

impl Placed {
    /// Within a stage that goes from a to b in the time d, Λ(t) = a·t + k·t²/2 with k = (b − a)/d. Of the two forms of
    /// its solution, t = 2n / (a + √(a² + 2kn)) subtracts nothing and so holds for k = 0 and for a = 0 too.
    #[inline]
    fn at_ns(&self, count: f64) -> u64 {
        let due = count - self.before;
        if due <= 0.0 {
            return whole_ns(self.began_sec * 1e9);
        }
        let from = self.stage.from_per_sec;
        let slope = (self.stage.to_per_sec - from) / self.stage.duration.as_secs_f64();
        // On the way down to 0, rounding may make the root's argument slightly negative.
        let root = (from * from + 2.0 * slope * due).max(0.0).sqrt();
        whole_ns((self.began_sec + 2.0 * due / (from + root)) * 1e9)
    }
}

impl Arrivals {
    /// The arrivals of one worker, where `profile` is the rate over all workers.
    pub fn new(
        process: ArrivalProcess,
        profile: &RateProfile,
        portion: impl Into<Portion>,
        seed: u64,
    ) -> Self {
        let portion = portion.into();
        let count = match process {
            ArrivalProcess::Constant => Count::Constant(portion.dealt()),
            ArrivalProcess::Poisson => {
                let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(portion.worker()) << 32));
                Count::Poisson { sum: 0.0, mean: portion.whole(), random: Box::new(random) }
            }
        };
        let clock = match profile {
            RateProfile::Constant(rate) => Clock::Steady { gap_ns: 1e9 / rate },
            RateProfile::Stages(stages) => Clock::Staged { stages: placed(stages), current: 0 },
        };
        Self { count, clock }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let count = self.count.advance();
        self.clock.at_ns(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shard, Shares};

    fn all_of(process: ArrivalProcess, profile: &RateProfile, workers: u32, until_ns: u64) -> Vec<u64> {
        let shard = |index| Arrivals::new(process, profile, Shard { index, of: workers }, 7);
        let mut due: Vec<u64> =
            (0..workers).flat_map(|index| shard(index).take_while(|at| *at < until_ns)).collect();
        due.sort_unstable();
        due
    }

    fn all(process: ArrivalProcess, rate: f64, workers: u32, until_ns: u64) -> Vec<u64> {
        all_of(process, &RateProfile::Constant(rate), workers, until_ns)
    }

    /// Everything that a staged profile holds.
    fn whole(process: ArrivalProcess, text: &str, workers: u32) -> Vec<u64> {
        all_of(process, &text.parse().unwrap(), workers, u64::MAX)
    }

    fn within(due: &[u64], from_ms: u64, to_ms: u64) -> usize {
        due.iter().filter(|at| (from_ms * 1_000_000..to_ms * 1_000_000).contains(*at)).count()
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
    fn a_ramp_holds_as_many_requests_as_the_area_under_it() {
        let due = whole(ArrivalProcess::Constant, "ramp(0,1k,10s)", 1);
        assert_eq!(due.len(), 5000);
        assert_eq!(due[1250], 5_000_000_000, "a quarter of the area lies in the first half of the time");
        for second in 0..10 {
            let seen = within(&due, second * 1000, (second + 1) * 1000);
            let area = 50 + 100 * second as usize;
            assert!(seen.abs_diff(area) <= 1, "{seen} requests in second {second} for {area}");
        }
        for workers in [2, 3, 7] {
            assert_eq!(whole(ArrivalProcess::Constant, "ramp(0,1k,10s)", workers), due);
        }
    }

    #[test]
    fn stages_follow_each_other_without_a_gap_or_a_burst() {
        let due =
            whole(ArrivalProcess::Constant, "const(100,1s) const(0,2s) ramp(200,0,1s) step(50,150,50,1s)", 3);
        assert_eq!(due.len(), 100 + 100 + 300);
        assert_eq!((within(&due, 0, 1000), within(&due, 1000, 3000)), (100, 0));
        assert_eq!((within(&due, 3000, 3500), within(&due, 3500, 4000)), (75, 25));
        assert_eq!((within(&due, 4000, 5000), within(&due, 6000, 7000)), (50, 150));
        assert!(due.windows(2).all(|pair| pair[0] < pair[1]), "no two at the same instant");
    }

    #[test]
    fn a_constant_stage_is_the_same_as_a_constant_rate() {
        let staged = whole(ArrivalProcess::Constant, "const(2k,1s)", 2);
        assert_eq!(staged, all(ArrivalProcess::Constant, 2000.0, 2, 1_000_000_000));
    }

    #[test]
    fn poisson_arrivals_follow_a_ramp() {
        let due = whole(ArrivalProcess::Poisson, "ramp(0,2k,100s)", 3);
        let spread = |expected: f64| 4.0 * expected.sqrt();
        assert!((due.len() as f64 - 100_000.0).abs() < spread(100_000.0), "{}", due.len());
        for tenth in 0..10 {
            let expected = 1000.0 + 2000.0 * tenth as f64;
            let seen = within(&due, tenth * 10_000, (tenth + 1) * 10_000) as f64;
            assert!((seen - expected).abs() < spread(expected), "{seen} in tenth {tenth} for {expected}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_another_does_not() {
        let take = |seed| {
            let shard = Shard { index: 0, of: 1 };
            Arrivals::new(ArrivalProcess::Poisson, &RateProfile::Constant(10.0), shard, seed)
                .take(20)
                .collect::<Vec<_>>()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    #[test]
    fn workers_of_different_weights_keep_the_rate_together() {
        let shares = Shares::by_ceiling(&[(1, Some(30_000)), (2, Some(100_000)), (1, None)]);
        let of_all = |process, profile: &RateProfile| {
            let of_worker = |worker| Arrivals::new(process, profile, shares.portion(worker), 7);
            let due = |worker| of_worker(worker).take_while(|at| *at < 100_000_000_000).collect::<Vec<_>>();
            (0..4).map(due).collect::<Vec<_>>()
        };
        let profile = RateProfile::Constant(1_000.0);
        let mut due = of_all(ArrivalProcess::Constant, &profile).concat();
        due.sort_unstable();
        assert_eq!(due, all(ArrivalProcess::Constant, 1_000.0, 1, 100_000_000_000));
        let poisson = of_all(ArrivalProcess::Poisson, &profile);
        for (worker, due) in (0..).zip(poisson) {
            let expected = 100_000.0 * shares.ratio(worker, 1);
            let spread = 4.0 * expected.sqrt();
            assert!((due.len() as f64 - expected).abs() < spread, "{} for {expected}", due.len());
        }
    }
}
