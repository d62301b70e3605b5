//! How often, and after how long, rules decide rightly whether the p99 of a queue is within its limit:
//! `cargo run --release -p plimsoll-stats --example sequential`
//!
//! The queue has one worker of 2000 requests a second and random arrivals (M/M/1), where P(latency > t) = exp(−(μ − λ)·t). Its
//! p99 is 50 ms at λ* = μ − ln(100)/50 ms = 1908 a second. Each row is 400 queues that begin empty and get a part of λ* for up
//! to 60 seconds; the rules are asked every tenth of a second from the third second on. The rows `search` have the settings of a
//! search: the fine one while there is time, and the coarse one once at the end of its shortest and of its longest trial.

#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use plimsoll_stats::sequential::{Precision, Side, Tally, side};
use plimsoll_testkit::Noise;
use statrs::distribution::{Binomial, DiscreteCDF};

const SERVED_PER_SEC: f64 = 2000.0;
const LIMIT_SEC: f64 = 0.05;
const ALLOWED: f64 = 0.01;
const PRECISION: Precision = Precision { factor: 2.0, error: 0.05 };
/// Those of `Judge` in the crate analyze.
const FINE: Precision = Precision { factor: 1.5, error: 0.05 };
const COARSE: Precision = Precision { factor: 2.0, error: 0.1 };
const QUEUES: u64 = 400;

/// The responses of each tenth of a second.
struct Queue {
    noise: Noise,
    arrivals_per_sec: f64,
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
            self.waits_sec = (self.waits_sec - gap_sec).max(0.0) - self.noise.uniform().ln() / SERVED_PER_SEC;
            tally.trials += 1;
            tally.hits += u64::from(self.waits_sec > LIMIT_SEC);
            tally.near += u64::from(self.waits_sec > LIMIT_SEC / 2.0);
        }
    }
}

type Rule = fn(&[Tally]) -> Option<Side>;

/// How one row of the table decides.
struct Procedure {
    name: &'static str,
    rule: Rule,
    /// Asked once, when the time is over.
    last: Rule,
    tenths: u32,
}

const PROCEDURES: [Procedure; 5] = [
    Procedure { name: "search, 8 s", rule: fine, last: coarse, tenths: 80 },
    Procedure { name: "search, 60 s", rule: fine, last: coarse, tenths: 600 },
    Procedure { name: "batches", rule: ours, last: ours, tenths: 600 },
    Procedure { name: "independent", rule: independent, last: independent, tenths: 600 },
    Procedure { name: "early stopping", rule: early_stopping, last: early_stopping, tenths: 600 },
];

fn fine(tallies: &[Tally]) -> Option<Side> {
    side(tallies, ALLOWED, FINE)
}

fn coarse(tallies: &[Tally]) -> Option<Side> {
    side(tallies, ALLOWED, COARSE)
}

/// The test of this crate.
fn ours(tallies: &[Tally]) -> Option<Side> {
    side(tallies, ALLOWED, PRECISION)
}

/// The same with trials taken to be independent: all in one batch.
fn independent(tallies: &[Tally]) -> Option<Side> {
    let all = sum(tallies);
    let ratio = all.hits as f64 * 4_f64.ln() + (all.trials - all.hits) as f64 * (0.98_f64 / 0.995).ln();
    decide(ratio >= 19_f64.ln(), ratio <= -19_f64.ln())
}

/// Early stopping as MLPerf's load generator has it: once so few late responses would be seen in one case of a hundred if the
/// share were as allowed. The other side is its mirror image.
fn early_stopping(tallies: &[Tally]) -> Option<Side> {
    let all = sum(tallies);
    let binomial = Binomial::new(ALLOWED, all.trials).ok()?;
    decide(
        1.0 - binomial.cdf(all.hits.saturating_sub(1)) <= 0.01 && all.hits > 0,
        binomial.cdf(all.hits) <= 0.01,
    )
}

fn decide(above: bool, below: bool) -> Option<Side> {
    if above { Some(Side::Above) } else { below.then_some(Side::Below) }
}

fn sum(tallies: &[Tally]) -> Tally {
    tallies.iter().fold(Tally::default(), |sum, tally| Tally {
        trials: sum.trials + tally.trials,
        hits: sum.hits + tally.hits,
        near: sum.near + tally.near,
    })
}

fn decided(procedure: &Procedure, load: f64, seed: u64) -> (Option<Side>, f64) {
    let most_per_sec = SERVED_PER_SEC - (1.0 / ALLOWED).ln() / LIMIT_SEC;
    let mut queue = Queue { noise: Noise::new(seed), arrivals_per_sec: load * most_per_sec, waits_sec: 0.0 };
    let mut tallies = Vec::new();
    for tenths in 1..=procedure.tenths {
        tallies.push(queue.interval());
        if tenths >= 30
            && let Some(side) = (procedure.rule)(&tallies)
        {
            return (Some(side), f64::from(tenths) / 10.0);
        }
    }
    ((procedure.last)(&tallies), f64::from(procedure.tenths) / 10.0)
}

fn main() {
    println!("| load | rule | below | above | open | mean time |\n| --- | --- | --- | --- | --- | --- |");
    for load in [0.9, 0.95, 0.97, 0.98, 0.99, 1.01, 1.02, 1.03, 1.05, 1.1] {
        for procedure in &PROCEDURES {
            let all: Vec<_> = (0..QUEUES).map(|seed| decided(procedure, load, seed)).collect();
            let share = |which: Option<Side>| {
                let count = all.iter().filter(|(side, _)| *side == which).count();
                format!("{:.1} %", 100.0 * count as f64 / QUEUES as f64)
            };
            let mean_sec = all.iter().map(|(_, sec)| sec).sum::<f64>() / QUEUES as f64;
            println!(
                "| {load:.2} λ* | {} | {} | {} | {} | {mean_sec:.1} s |",
                procedure.name,
                share(Some(Side::Below)),
                share(Some(Side::Above)),
                share(None)
            );
        }
    }
}
