//! The break-even of a front tier: the hold time of requests at which the tiers behind it carry together as much as the front.
//!
//! A tier that serves N requests at once, each for the hold time h that the test sets plus an overhead s, carries N/(h + s) by
//! Little's law (1961), up to its other limits. The front carries C whatever h is. If h is shorter than where the sum over the tiers is
//! C, the front is the limit; if h is longer, the tiers behind it are, and adding one of them increases throughput.

use super::conclusion::RowName;
use super::front::{UNNAMED, alone, is_stopped, is_whole, kinds, name_of};
use super::row::{Pair, TableTier, alike, apart};
use crate::findings::Estimate;
use crate::hosts::utilisation::TIE;

/// Steps of the bisection for the break-even: beyond the resolution of an `f64`.
const HALVINGS: u32 = 80;

/// A tier that was measured alone at several hold times, described as a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledTier {
    pub name: String,
    /// N: the number of requests that it serves at once.
    pub at_once: f64,
    /// s: the time of each request in addition to the hold time, in seconds.
    pub overhead_sec: f64,
    /// Throughput alone where something other than the pool limits it, requests per second; infinite if that was not observed.
    pub most_per_sec: f64,
    /// The number of machines that take part.
    pub count: f64,
}

/// A row near the break-even that was not used to predict it.
#[derive(Debug, Clone, PartialEq)]
pub struct TriedRow {
    pub name: RowName,
    /// The hold time of its requests, in seconds.
    pub held_sec: f64,
    /// The predicted throughput, requests per second: the smaller of what the tiers behind the front carry at this hold time, ± 5 %, and
    /// of what the front carries.
    pub predicted_per_sec: Estimate,
    pub throughput_per_sec: f64,
}

/// The hold time below which a front tier limits the tiers behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven {
    pub front: String,
    /// Throughput of the front, requests per second: the mean of the rows that it limits. The interval contains all of them, and at least
    /// ± 5 %, the difference at which limits are distinguished.
    pub front_per_sec: Estimate,
    pub behind: Vec<PooledTier>,
    /// The break-even hold time in seconds; at shorter times the front limits. Within the interval the front and the tiers behind it
    /// carry about the same, so that the limit cannot be decided.
    pub held_sec: Estimate,
    /// Throughput of each machine behind the front at the break-even, requests per second.
    pub each_per_sec: f64,
    pub trials: Vec<TriedRow>,
}

impl TriedRow {
    /// True if the measured throughput is within the predicted interval.
    pub fn agrees(&self) -> bool {
        let interval = self.predicted_per_sec.interval;
        interval.is_some_and(|(low, high)| (low..=high).contains(&self.throughput_per_sec))
    }
}

/// A hold time with the throughput at it.
#[derive(Debug, Clone, Copy)]
struct Point {
    held_sec: f64,
    per_sec: f64,
    /// The most requests that could be under way.
    connections: f64,
    /// True if a resource was full or may have been.
    full: bool,
}

impl PooledTier {
    /// Fits the law to as many points as it fits within 5 %, from the longest hold time downwards. Left out are points with another limit,
    /// which carry less than the pool allows; points at which a resource was full; and points as fast as the fastest, if there are
    /// several. `None` for fewer than two hold times, and where the pool is as large as the load, which then determines its size.
    fn new(tier: &TableTier, mut points: Vec<Point>) -> Option<Self> {
        points.sort_by(|a, b| b.held_sec.total_cmp(&a.held_sec));
        let fastest = points.iter().map(|point| point.per_sec).fold(0.0, f64::max);
        let slower = points.iter().take_while(|point| !alike(point.per_sec, fastest)).count();
        let most = if slower + 1 < points.len() { slower } else { points.len() };
        let most = most.min(points.iter().take_while(|point| !point.full).count());
        let through = |count: usize| {
            let (fitted, others) = points.split_at(count);
            let (at_once, overhead_sec) = fit(fitted)?;
            let is_load = |point: &Point| at_once >= (1.0 - TIE) * point.connections;
            let off = |point: &Point| point.per_sec * (point.held_sec + overhead_sec) / at_once - 1.0;
            let law = Self {
                name: tier.name.clone(),
                at_once,
                overhead_sec,
                most_per_sec: others
                    .iter()
                    .map(|point| point.per_sec)
                    .reduce(f64::max)
                    .unwrap_or(f64::INFINITY),
                count: tier.count(),
            };
            let holds = fitted.iter().all(|point| off(point).abs() <= TIE && !is_load(point));
            (holds && others.iter().all(|point| off(point) <= TIE)).then_some(law)
        };
        (2..=most).rev().find_map(through)
    }

    /// Throughput of all machines at a hold time.
    fn carries_per_sec(&self, held_sec: f64) -> f64 {
        self.count * (self.at_once / (held_sec + self.overhead_sec)).min(self.most_per_sec)
    }
}

/// Fits N and s by least squares of the relative errors: X·h/N + X·s/N = 1 is linear in 1/N and s/N. A negative s is noise and set to
/// 0. `None` if the hold times do not differ enough.
fn fit(points: &[Point]) -> Option<(f64, f64)> {
    let (longest, shortest) = (points.first()?, points.last()?);
    if !apart(longest.held_sec, shortest.held_sec) {
        return None;
    }
    let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>();
    let held = |point: &Point| point.per_sec * point.held_sec;
    let (hh, hx) = (sum(&|point| held(point).powi(2)), sum(&|point| held(point) * point.per_sec));
    let (xx, h, x) = (sum(&|point| point.per_sec.powi(2)), sum(&held), sum(&|point| point.per_sec));
    let determinant = hh * xx - hx * hx;
    let (per_one, overhead) = ((h * xx - x * hx) / determinant, (x * hh - h * hx) / determinant);
    let (per_one, overhead) = if overhead >= 0.0 { (per_one, overhead) } else { (h / hh, 0.0) };
    let known = per_one.is_finite() && overhead.is_finite() && per_one > 0.0;
    known.then(|| (1.0 / per_one, overhead / per_one))
}

/// The break-evens of rows with the same front and the same tiers behind it.
pub(super) fn break_evens(pairs: &[Pair<'_>]) -> Vec<BreakEven> {
    let usable =
        |pair: &Pair<'_>| pair.0.held_sec.is_some() && alone(pair.0).next().is_some() && is_whole(pair);
    let kinds = kinds(pairs.iter().copied().filter(usable));
    kinds.iter().filter_map(|kind| tried(&with_trials(kind, pairs))).collect()
}

/// Adds to the rows of a kind the rows with the same front in which no tier was measured alone: they test the prediction from the
/// others.
fn with_trials<'a>(kind: &[Pair<'a>], pairs: &[Pair<'a>]) -> Vec<Pair<'a>> {
    let Some((first, _)) = kind.first() else { return Vec::new() };
    let is_trial = |pair: &&Pair<'_>| {
        let (row, _) = pair;
        let same = row.group == first.group && row.front == first.front && row.front.is_some();
        same && row.held_sec.is_some() && alone(row).next().is_none() && is_whole(pair)
    };
    kind.iter().chain(pairs.iter().filter(is_trial)).copied().collect()
}

/// The break-even predicted without the rows near it, with these rows as trials; computed from all rows where the others do not suffice.
fn tried(rows: &[Pair<'_>]) -> Option<BreakEven> {
    let whole = predicted(rows)?;
    let is_near =
        |(row, _): &Pair<'_>| row.held_sec.is_some_and(|held_sec| !apart(held_sec, whole.held_sec.value));
    let (near, far): (Vec<Pair<'_>>, Vec<Pair<'_>>) = rows.iter().copied().partition(is_near);
    let Some(early) = predicted(&far).filter(|_| !near.is_empty()) else { return Some(whole) };
    let trials = near.iter().filter_map(|(row, _)| {
        let held_sec = row.held_sec?;
        let behind_per_sec = carried_per_sec(&early.behind, held_sec);
        Some(TriedRow {
            name: name_of(row),
            held_sec,
            predicted_per_sec: least(
                tied(behind_per_sec, behind_per_sec, behind_per_sec),
                early.front_per_sec,
            ),
            throughput_per_sec: row.throughput_per_sec,
        })
    });
    Some(BreakEven { trials: trials.collect(), ..early })
}

/// A figure that was observed from `least` to `most`, with an interval of at least ± 5 %.
fn tied(value: f64, least: f64, most: f64) -> Estimate {
    Estimate { value, interval: Some((least.min(value / (1.0 + TIE)), most.max(value * (1.0 + TIE)))) }
}

/// The smaller of two estimates, with the interval of the minimum.
fn least(a: Estimate, b: Estimate) -> Estimate {
    let interval = a.interval.zip(b.interval).map(|(a, b)| (a.0.min(b.0), a.1.min(b.1)));
    Estimate { value: a.value.min(b.value), interval }
}

/// True if a row in which no tier was measured alone is limited by the front that it names.
fn is_stopped_trial((row, found): &Pair<'_>) -> bool {
    alone(row).next().is_none() && row.front.as_deref() == Some(found.verdict.host())
}

fn carried_per_sec(behind: &[PooledTier], held_sec: f64) -> f64 {
    behind.iter().map(|tier| tier.carries_per_sec(held_sec)).sum()
}

fn predicted(rows: &[Pair<'_>]) -> Option<BreakEven> {
    let stopped = rows.iter().filter(|pair| is_stopped(pair.0, pair.1) || is_stopped_trial(pair));
    let front: Vec<f64> = stopped.map(|(row, _)| row.throughput_per_sec).collect();
    let (slowest, fastest) =
        (front.iter().copied().reduce(f64::min)?, front.iter().copied().reduce(f64::max)?);
    let front_per_sec = tied(front.iter().sum::<f64>() / front.len() as f64, slowest, fastest);
    let (first, _) = rows.first()?;
    let behind = alone(first)
        .map(|tier| PooledTier::new(tier, points_of(rows, &tier.name)))
        .collect::<Option<Vec<_>>>()?;
    let times: Vec<f64> = rows.iter().filter_map(|(row, _)| row.held_sec).collect();
    let range = (times.iter().copied().reduce(f64::min)?, times.iter().copied().reduce(f64::max)?);
    let at = |per_sec: f64| meeting(&behind, per_sec, range);
    let interval = front_per_sec.interval.and_then(|(low, high)| at(high).zip(at(low)));
    let held_sec = Estimate { value: at(front_per_sec.value)?, interval };
    let count: f64 = behind.iter().map(|tier| tier.count).sum();
    Some(BreakEven {
        front: first.front.clone().unwrap_or_else(|| UNNAMED.to_owned()),
        front_per_sec,
        behind,
        held_sec,
        each_per_sec: front_per_sec.value / count,
        trials: Vec::new(),
    })
}

fn points_of(rows: &[Pair<'_>], name: &str) -> Vec<Point> {
    let point = |(row, _): &Pair<'_>| {
        let tier = row.tiers.iter().find(|tier| tier.name == name)?;
        Some(Point {
            held_sec: row.held_sec?,
            per_sec: tier.alone_per_sec.filter(|per_sec| *per_sec > 0.0)?,
            connections: tier.alone_connections.or(row.connections).unwrap_or(f64::INFINITY),
            full: tier.alone_full,
        })
    };
    rows.iter().filter_map(point).collect()
}

/// The hold time in the measured range at which the tiers behind carry `per_sec` together, by bisection; they carry less at longer hold
/// times.
fn meeting(behind: &[PooledTier], per_sec: f64, (mut short, mut long): (f64, f64)) -> Option<f64> {
    if carried_per_sec(behind, short) <= per_sec || carried_per_sec(behind, long) >= per_sec {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (short + long);
        if carried_per_sec(behind, middle) > per_sec { short = middle } else { long = middle }
    }
    Some(long)
}
