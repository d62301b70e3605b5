//! A sequential test of a proportion: decides from as few trials as possible whether the ratio of hits is below or above a limit.

use std::ops::Add;

use crate::batch_means::{BATCHES, split};

/// The precision of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// The test decides between the allowed ratio divided by this factor and multiplied by it; above 1.
    pub factor: f64,
    /// The error probability: of "above" at the lower ratio, and of "below" at the higher one. α = β, below 0.5.
    pub error: f64,
}

impl Precision {
    /// Returns the log likelihood ratio at which the test decides, ln((1 − α)/α).
    fn boundary(self) -> f64 {
        ((1.0 - self.error) / self.error).ln()
    }
}

/// The trials in a period of time, and how many of them were hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub trials: u64,
    pub hits: u64,
    /// Trials that were nearly or fully hits. They show bursts before there are hits.
    pub near: u64,
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            trials: self.trials + other.trials,
            hits: self.hits + other.hits,
            near: self.near + other.near,
        }
    }
}

/// The decision of a sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Below,
    Above,
}

/// Returns the side of `allowed` on which the ratio of hits lies; `None` while the test is undecided, and with fewer tallies than
/// [`BATCHES`].
///
/// This is Wald's test of p₀ = p/f against p₁ = f·p for the factor f (*Sequential Tests of Statistical Hypotheses*, 1945). p₁ is at
/// most 1 − (1 − p)/f, so that it stays below 1. The test ends when
///
///   h·ln(p₁/p₀) + (n − h)·ln((1 − p₁)/(1 − p₀))
///
/// leaves ±ln((1 − α)/α), for h hits in n trials. It assumes independent trials. Late responses come in bursts, so the sum is
/// divided by the dispersion φ ≥ 1 of ten batches, as in quasi-likelihood (McCullagh and Nelder, *Generalized Linear Models*, 1989,
/// section 4.5). φ is the larger one of the dispersions of hits and of near hits: before the first burst of hits, only near hits
/// show that there are bursts.
///
/// ```
/// # use plimsoll_stats::sequential::{Precision, Side, Tally, side};
/// let precision = Precision { factor: 2.0, error: 0.05 };
/// let clean = [Tally { trials: 100, hits: 0, near: 0 }; 10];
/// assert_eq!(side(&clean, 0.01, precision), Some(Side::Below));
/// let late = [Tally { trials: 100, hits: 5, near: 9 }; 10];
/// assert_eq!(side(&late, 0.01, precision), Some(Side::Above));
/// assert_eq!(side(&[Tally { trials: 10, hits: 0, near: 0 }; 10], 0.01, precision), None, "100 trials are too few");
/// ```
pub fn side(tallies: &[Tally], allowed: f64, precision: Precision) -> Option<Side> {
    if tallies.len() < BATCHES {
        return None;
    }
    let dispersion = dispersion(tallies, |tally| tally.hits).max(dispersion(tallies, |tally| tally.near));
    decide(log_likelihood_ratio(sum(tallies), allowed, precision) / dispersion, precision)
}

/// Like [`side`], but for independent trials; `None` while the test is undecided.
///
/// ```
/// # use plimsoll_stats::sequential::{Precision, Side, Tally, side_of_independent};
/// let precision = Precision { factor: 2.0, error: 0.05 };
/// let side = |trials, hits| side_of_independent(Tally { trials, hits, near: hits }, 0.01, precision);
/// assert_eq!([side(1000, 0), side(1000, 50), side(100, 1)], [Some(Side::Below), Some(Side::Above), None]);
/// ```
pub fn side_of_independent(all: Tally, allowed: f64, precision: Precision) -> Option<Side> {
    decide(log_likelihood_ratio(all, allowed, precision), precision)
}

/// Returns the log likelihood ratio of the higher to the lower ratio of hits.
fn log_likelihood_ratio(all: Tally, allowed: f64, precision: Precision) -> f64 {
    let (below, above) = hypotheses(allowed, precision.factor);
    let misses = all.trials.saturating_sub(all.hits);
    // If the higher ratio is 1, a miss is impossible there, and its term would be ln 0.
    let by_misses = if misses == 0 { 0.0 } else { misses as f64 * ((1.0 - above) / (1.0 - below)).ln() };
    all.hits as f64 * (above / below).ln() + by_misses
}

fn decide(ratio: f64, precision: Precision) -> Option<Side> {
    let boundary = precision.boundary();
    match () {
        () if ratio >= boundary => Some(Side::Above),
        () if ratio <= -boundary => Some(Side::Below),
        () => None,
    }
}

/// Returns the smallest number of trials, all without a hit, after which [`side`] returns [`Side::Below`].
///
/// ```
/// # use plimsoll_stats::sequential::{Precision, fewest_trials};
/// let precision = Precision { factor: 2.0, error: 0.05 };
/// assert_eq!([0.5, 0.01, 0.001].map(|allowed| fewest_trials(allowed, precision)), [3, 194, 1961]);
/// ```
pub fn fewest_trials(allowed: f64, precision: Precision) -> u64 {
    let (below, above) = hypotheses(allowed, precision.factor);
    (precision.boundary() / ((1.0 - below) / (1.0 - above)).ln()).ceil() as u64
}

/// Returns the two ratios that the test decides between.
fn hypotheses(allowed: f64, factor: f64) -> (f64, f64) {
    (allowed / factor, (factor * allowed).min(1.0 - (1.0 - allowed) / factor))
}

fn sum(tallies: &[Tally]) -> Tally {
    tallies.iter().fold(Tally::default(), |sum, tally| sum + *tally)
}

/// Returns the dispersion of a count between ten batches, compared with that of independent trials.
fn dispersion(tallies: &[Tally], counted: impl Fn(&Tally) -> u64) -> f64 {
    let batches: Vec<Tally> = split(tallies, BATCHES).map(sum).collect();
    crate::dispersion(batches.iter().map(|batch| (counted(batch), batch.trials)))
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    const PRECISION: Precision = Precision { factor: 2.0, error: 0.05 };

    /// The late responses of each tenth of a second of a server with one worker, to which requests come at random: response
    /// times T with P(T > t) = exp(−(μ − λ)·t), far from independent of each other.
    struct Queue {
        noise: Noise,
        arrivals_per_sec: f64,
        served_per_sec: f64,
        limit_sec: f64,
        waits_sec: f64,
    }

    impl Queue {
        fn interval(&mut self) -> Tally {
            let (mut tally, mut clock_sec) = (Tally::default(), 0.0);
            loop {
                let gap_sec = -self.noise.uniform().ln() / self.arrivals_per_sec;
                clock_sec += gap_sec;
                if clock_sec > 0.1 {
                    return tally;
                }
                self.waits_sec = (self.waits_sec - gap_sec).max(0.0);
                self.waits_sec += -self.noise.uniform().ln() / self.served_per_sec;
                tally.trials += 1;
                tally.hits += u64::from(self.waits_sec > self.limit_sec);
                tally.near += u64::from(self.waits_sec > self.limit_sec / 2.0);
            }
        }
    }

    /// Decides on a server of 2000 a second whose p99 is 50 ms at λ*, which gets `load`·λ*; the answer and its seconds.
    fn decided(load: f64, seed: u64) -> (Option<Side>, f64) {
        let (served_per_sec, limit_sec) = (2000.0, 0.05);
        let most_per_sec = served_per_sec - 100_f64.ln() / limit_sec;
        let mut queue = Queue {
            noise: Noise::new(seed),
            arrivals_per_sec: load * most_per_sec,
            served_per_sec,
            limit_sec,
            waits_sec: 0.0,
        };
        let mut tallies = Vec::new();
        for tenths in 1..=600 {
            tallies.push(queue.interval());
            if let Some(side) = side(&tallies, 0.01, PRECISION).filter(|_| tenths >= 20) {
                return (Some(side), f64::from(tenths) / 10.0);
            }
        }
        (None, 60.0)
    }

    fn wrong(load: f64, right: Side) -> usize {
        let is_wrong = |seed| decided(load, seed).0.is_some_and(|side| side != right);
        (0..100).filter(|seed| is_wrong(*seed)).count()
    }

    #[test]
    fn a_queue_near_its_limit_is_rarely_put_on_the_wrong_side() {
        let below = [0.9, 0.95].map(|load| wrong(load, Side::Below));
        let above = [1.1, 1.05].map(|load| wrong(load, Side::Above));
        assert!(below[0] == 0 && above[0] == 0, "a tenth away: {below:?} {above:?} of 100");
        assert!(below[1] <= 10 && above[1] <= 10, "a twentieth away: {below:?} {above:?} of 100");
    }

    #[test]
    fn hits_in_bursts_decide_less_than_as_many_that_are_spread() {
        let spread = [Tally { trials: 1000, hits: 25, near: 30 }; 20];
        assert_eq!(side(&spread, 0.01, PRECISION), Some(Side::Above));
        let mut bursts = [Tally { trials: 1000, ..Tally::default() }; 20];
        bursts[4] = Tally { trials: 1000, hits: 500, near: 600 };
        assert_eq!(side(&bursts, 0.01, PRECISION), None);
    }

    #[test]
    fn a_share_of_nothing_or_of_everything_is_a_share() {
        let all = |trials: u64, hits: u64| [Tally { trials, hits, near: hits }; 20];
        assert_eq!(side(&all(0, 0), 0.01, PRECISION), None);
        assert_eq!(side(&all(100, 100), 0.5, PRECISION), Some(Side::Above));
        assert_eq!(side(&all(1000, 0), 0.0005, PRECISION), Some(Side::Below));
        assert_eq!(side(&all(1000, 1000), 0.99, PRECISION), Some(Side::Above));
        assert!(log_likelihood_ratio(all(1000, 1000)[0], 1.0, PRECISION).is_finite());
        assert_eq!(side(&all(1000, 999), 1.0, PRECISION), Some(Side::Below), "not all of them");
    }
}
