//! How often equal things are found to differ, and different ones not, when they are compared in rounds:
//! `cargo run --release -p plimsoll-stats --example rounds`
//!
//! Each row is 1,000 comparisons that end as soon as the interval is within ±1 % or a tenth of the difference, and at the latest
//! with the rounds of their budget. A round has one load of each side. The logarithm of what a load gives has four parts: the
//! side; a drift of the machine, a random walk of 0.3 % a load; noise of 1 % or 3 %; and in one load of twenty a disturbance,
//! which takes up to a quarter away. Six figures are judged together, as in a closed loop, and share half of the noise.
//! `t at every fourth round` is the usual practice for comparison: Student's t at 5 % after every fourth round until something differs.

#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use plimsoll_stats::rounds::{Centre, Difference, Rounds};
use plimsoll_stats::{mean, t_quantile, variance};
use plimsoll_testkit::Noise;

const COMPARISONS: u64 = 1_000;
const FIGURES: usize = 6;
const DRIFT: f64 = 0.003;
const DISTURBED: f64 = 0.05;

struct World {
    noise: Noise,
    spread: f64,
    slower: f64,
    drift: f64,
}

impl World {
    /// The logarithms of what one load gives, one for each figure.
    fn load(&mut self, is_b: bool) -> Vec<f64> {
        self.drift += DRIFT * self.noise.normal();
        let disturbed = self.noise.uniform() < DISTURBED;
        let disturbance = if disturbed { 0.25 * self.noise.uniform() } else { 0.0 };
        let side = if is_b { (1.0 - self.slower).ln() } else { 0.0 };
        let common = side + self.drift - disturbance + self.spread * self.noise.normal() / 2_f64.sqrt();
        let mut own = || common + self.spread * self.noise.normal() / 2_f64.sqrt();
        (0..FIGURES).map(|_| own()).collect()
    }

    /// The differences of a round.
    fn round(&mut self) -> Vec<f64> {
        let b_first = self.noise.uniform() < 0.5;
        let (first, second) = (self.load(b_first), self.load(!b_first));
        let (a, b) = if b_first { (second, first) } else { (first, second) };
        a.iter().zip(&b).map(|(a, b)| b - a).collect()
    }
}

/// What became of one comparison.
#[derive(Default)]
struct Ended {
    /// Any figure differs.
    alarm: bool,
    /// The main figure is worse.
    found: bool,
    /// It is worse by more than 5 %.
    beyond: bool,
    /// It is not.
    within: bool,
    rounds: usize,
    /// Student's t found a difference at one of its looks.
    usual: bool,
}

fn compared(spread: f64, slower: f64, rounds_max: usize, seed: u64) -> Ended {
    let mut world = World { noise: Noise::new(seed), spread, slower, drift: 0.0 };
    let mut figures: Vec<Vec<Difference>> = vec![Vec::new(); FIGURES];
    let elapsed: Vec<f64> = (1..=rounds_max).map(|round| round as f64 / rounds_max as f64).collect();
    let mut ended = Ended::default();
    for round in 0..rounds_max {
        for (figure, value) in figures.iter_mut().zip(world.round()) {
            figure.push(Difference { round, value });
        }
        let rounds = Rounds { figures: &figures, elapsed: &elapsed[..=round], precision: 0.01 };
        let is_last = round + 1 == rounds_max;
        ended.usual |= (round + 1) % 4 == 0 && differs_by_t(&figures[0]);
        if !is_last && !rounds.is_look() {
            continue;
        }
        let outcome = rounds.outcome();
        if is_last || outcome.enough {
            ended.rounds = round + 1;
            ended.alarm = outcome.centres.iter().flatten().any(|centre| centre.differs);
            let main = outcome.centres[0].and_then(|centre: Centre| centre.interval);
            ended.found = main.is_some_and(|(_, high)| high < 0.0);
            ended.beyond = main.is_some_and(|(_, high)| high.exp() < 0.95);
            ended.within = main.is_some_and(|(low, _)| low.exp() >= 0.95);
            return ended;
        }
    }
    ended
}

fn differs_by_t(figure: &[Difference]) -> bool {
    let values: Vec<f64> = figure.iter().map(|one| one.value).collect();
    let error = (variance(&values) / values.len() as f64).sqrt();
    mean(&values).abs() > t_quantile(values.len() as f64 - 1.0) * error
}

fn main() {
    println!(
        "| noise | B slower by | rounds | any figure differs | B worse | beyond 5 % | within 5 % | rounds on average | t at every fourth round |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for spread in [0.01, 0.03] {
        for slower in [0.0, 0.03, 0.05, 0.1] {
            for rounds_max in [24, 96] {
                let all: Vec<Ended> =
                    (0..COMPARISONS).map(|seed| compared(spread, slower, rounds_max, seed)).collect();
                let share = |is: fn(&Ended) -> bool| {
                    let count = all.iter().filter(|ended| is(ended)).count();
                    format!("{:.1} %", 100.0 * count as f64 / all.len() as f64)
                };
                let rounds = all.iter().map(|ended| ended.rounds).sum::<usize>() as f64 / all.len() as f64;
                println!(
                    "| {:.0} % | {:.0} % | {rounds_max} | {} | {} | {} | {} | {rounds:.0} | {} |",
                    100.0 * spread,
                    100.0 * slower,
                    share(|ended| ended.alarm),
                    share(|ended| ended.found),
                    share(|ended| ended.beyond),
                    share(|ended| ended.within),
                    share(|ended| ended.usual),
                );
            }
        }
    }
}
