//! How often three rules find a change where there is none, and how often, and how near, the one that there is:
//! `cargo run --release -p plimsoll-stats --example change_points`
//!
//! Each row is 400 series of a metric of 100 whose noise has a standard deviation of 1 %, 2 % or 3 %.

#![expect(clippy::print_stdout, reason = "a program that prints tables")]

use plimsoll_stats::change_points::{MIN_SEGMENT, change_points};
use plimsoll_stats::{mean, median};
use plimsoll_testkit::Noise;

const SERIES: u64 = 400;

/// How the values of one level scatter, with a standard deviation of 1.
#[derive(Clone, Copy)]
enum Scatter {
    Normal,
    /// Student's t with three degrees of freedom.
    HeavyTails,
    /// Normal, and one run of twenty is lower by five deviations.
    Outliers,
    /// Normal, each correlated with the one before.
    Correlated(f64),
}

const SCATTERS: [(&str, Scatter); 5] = [
    ("normal", Scatter::Normal),
    ("heavy tails (t, 3 degrees)", Scatter::HeavyTails),
    ("5 % of runs 5 σ lower", Scatter::Outliers),
    ("correlated, ρ = 0.3", Scatter::Correlated(0.3)),
    ("correlated, ρ = 0.5", Scatter::Correlated(0.5)),
];

fn heavy(noise: &mut Noise) -> f64 {
    let normal = noise.normal();
    let chi_square: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
    normal / (chi_square / 3.0).sqrt() / 3_f64.sqrt()
}

fn scatter(kind: Scatter, count: usize, noise: &mut Noise) -> Vec<f64> {
    let mut last = noise.normal();
    let mut next = || match kind {
        Scatter::Normal => noise.normal(),
        Scatter::HeavyTails => heavy(noise),
        Scatter::Outliers => {
            if noise.uniform() < 0.05 {
                -5.0
            } else {
                noise.normal()
            }
        }
        Scatter::Correlated(rho) => {
            last = rho * last + (1.0 - rho * rho).sqrt() * noise.normal();
            last
        }
    };
    (0..count).map(|_| next()).collect()
}

/// A rule: from a series to the indices of its changes.
type Rule = fn(&[f64]) -> Vec<usize>;

/// The rule of this crate.
fn e_divisive(series: &[f64]) -> Vec<usize> {
    change_points(series).iter().map(|change| change.at).collect()
}

/// PELT (Killick, Fearnhead and Eckley, JASA 107, 2012) for the mean of normal values, with a penalty of 3 ln n a change.
fn pelt(series: &[f64]) -> Vec<usize> {
    penalised(series, 3.0)
}

/// The same with the penalty times (1 + ρ)/(1 − ρ), ρ that of the residuals.
fn pelt_correlated(series: &[f64]) -> Vec<usize> {
    let ends: Vec<usize> = [0].into_iter().chain(penalised(series, 4.0)).chain([series.len()]).collect();
    let centred = |pair: &[usize]| {
        let part = &series[pair[0]..pair[1]];
        part.iter().map(|value| value - mean(part)).collect::<Vec<_>>()
    };
    let residuals = ends.windows(2).map(centred).collect::<Vec<_>>().concat();
    let rho = plimsoll_stats::autocorrelation(&residuals).clamp(0.0, 0.9);
    penalised(series, 4.0 * (1.0 + rho) / (1.0 - rho))
}

/// Optimal partitioning with pruning; the deviation of the noise is the median absolute deviation of differences.
fn penalised(series: &[f64], weight: f64) -> Vec<usize> {
    let count = series.len();
    let differences: Vec<f64> = series.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let centre = median(differences.clone()).unwrap_or_default();
    let spread = median(differences.iter().map(|value| (value - centre).abs()).collect()).unwrap_or_default();
    let variance = (1.4826 * spread).powi(2) / 2.0;
    let penalty = weight * (count as f64).ln();
    let sums = |power: i32| {
        let add = |sum: &mut f64, value: &f64| {
            *sum += value.powi(power);
            Some(*sum)
        };
        [0.0].into_iter().chain(series.iter().scan(0.0, add)).collect::<Vec<f64>>()
    };
    let (plain, squared) = (sums(1), sums(2));
    let cost = |from: usize, to: usize| {
        (squared[to] - squared[from] - (plain[to] - plain[from]).powi(2) / (to - from) as f64) / variance
    };
    let (mut least, mut last) = (vec![f64::INFINITY; count + 1], vec![0; count + 1]);
    least[0] = -penalty;
    let mut open = vec![0];
    for to in MIN_SEGMENT..=count {
        for &from in open.iter().filter(|from| **from + MIN_SEGMENT <= to) {
            let with = least[from] + cost(from, to) + penalty;
            if with < least[to] {
                (least[to], last[to]) = (with, from);
            }
        }
        open.retain(|&from| from + MIN_SEGMENT > to || least[from] + cost(from, to) <= least[to]);
        if to + 1 >= 2 * MIN_SEGMENT {
            open.push(to + 1 - MIN_SEGMENT);
        }
    }
    let ends = std::iter::successors(Some(last[count]), |end| Some(last[*end]).filter(|_| *end > 0));
    let mut changes: Vec<usize> = ends.filter(|end| *end > 0).collect();
    changes.reverse();
    changes
}

const RULES: [(&str, Rule); 3] =
    [("E-divisive", e_divisive), ("PELT", pelt), ("PELT, penalty by ρ", pelt_correlated)];

fn percent(count: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / SERIES as f64)
}

fn false_alarms() {
    println!("| noise | rule | 20 runs | 50 runs | 100 runs |\n| --- | --- | --- | --- | --- |");
    for (name, kind) in SCATTERS {
        for (rule_name, rule) in RULES {
            let alarms = [20, 50, 100].map(|count| {
                let alarm = |seed: &u64| !rule(&scatter(kind, count, &mut Noise::new(*seed))).is_empty();
                percent((0..SERIES).filter(alarm).count())
            });
            println!("| {name} | {rule_name} | {} |", alarms.join(" | "));
        }
    }
}

/// The series of a row: a step of this many per cent at the run `at`, over noise of this many per cent.
struct Stepped {
    kind: Scatter,
    count: usize,
    at: usize,
    step: f64,
    noise: f64,
}

impl Stepped {
    fn series(&self, seed: u64) -> Vec<f64> {
        let scatter = scatter(self.kind, self.count, &mut Noise::new(seed));
        let level = |index| if index < self.at { 100.0 } else { 100.0 - self.step };
        scatter.iter().enumerate().map(|(index, value)| level(index) + self.noise * value).collect()
    }

    /// Series whose change is found within two runs; the mean distance of those in runs; series with more changes than one.
    fn outcome(&self, rule: Rule) -> String {
        let all: Vec<Vec<usize>> = (0..SERIES).map(|seed| rule(&self.series(seed))).collect();
        let nearest = all.iter().filter_map(|found| found.iter().map(|at| at.abs_diff(self.at)).min());
        let near: Vec<f64> =
            nearest.filter(|distance| *distance <= 2).map(|distance| distance as f64).collect();
        let more = all.iter().filter(|found| found.len() > 1).count();
        format!("{}, {:.2}, {}", percent(near.len()), mean(&near), percent(more))
    }
}

fn detections() {
    println!("| runs | change at | step | noise | {} |", RULES.map(|(name, _)| name).join(" | "));
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (count, at) in [(20, 10), (20, 15), (50, 30), (100, 60), (100, 95)] {
        for (step, noise) in [(2.0, 1.0), (2.0, 2.0), (5.0, 1.0), (5.0, 2.0), (5.0, 3.0), (10.0, 3.0)] {
            let stepped = Stepped { kind: Scatter::HeavyTails, count, at, step, noise };
            let outcomes = RULES.map(|(_, rule)| stepped.outcome(rule));
            println!("| {count} | {at} | {step} % | {noise} % | {} |", outcomes.join(" | "));
        }
    }
}

fn main() {
    println!("A change found where there is none:\n");
    false_alarms();
    println!(
        "\nThe change found within two runs, its mean distance in runs, and more changes than there are:\n"
    );
    detections();
}
