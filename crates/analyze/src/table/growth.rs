//! What throughput follows from row to row: the cores, the size of responses, or neither.

use super::conclusion::{Conclusion, RowEnds, RowPoint};
use super::front::is_stopped;
use super::ladder::PROPORTIONAL;
use super::row::{Pair, TableRow, TableTier, alike, apart};
use crate::findings::Limit;
use crate::groups::grouped;

/// Growth is more than linear above this exponent, as far above 1 as [`PROPORTIONAL`] is below, by ratio.
const OVERPROPORTIONAL: f64 = 1.0 / PROPORTIONAL;
/// Throughput does not follow a figure if the exponent is smaller than this.
const INDIFFERENT: f64 = 0.1;

/// A figure of a row.
type Figure = fn(&TableRow) -> Option<f64>;

const CORES: Figure = |row| row.cores;
const BYTES: Figure = |row| row.response_bytes;

/// Draws the conclusions about what throughput follows.
pub(super) fn growth(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let mut all = with_full_cpu(pairs);
    all.extend(with_full_link(pairs));
    all.extend(with_neither(pairs));
    all.extend(by_size(pairs));
    all
}

/// The exponent with which throughput follows a figure from one row to another.
fn exponent(a: &TableRow, b: &TableRow, of: Figure) -> Option<f64> {
    let (x, y) = (of(a)?, of(b)?);
    (x > 0.0 && x != y).then(|| (b.throughput_per_sec / a.throughput_per_sec).ln() / (y / x).ln())
}

/// True for figures that are equal within 5 %, and for two unknown ones.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => alike(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The rows with the least and the most of one figure, among rows with the same other figure, if they differ enough to determine a
/// law.
fn ends<'a>(
    pairs: &[Pair<'a>],
    limited: impl Fn(&Pair<'a>) -> bool,
    of: Figure,
    other: Figure,
) -> Vec<(Pair<'a>, Pair<'a>)> {
    let limited = pairs.iter().copied().filter(|pair| limited(pair) && of(pair.0).is_some());
    let groups = grouped(limited, |(a, _), (b, _)| a.group == b.group && same(other(a), other(b)));
    let by = |a: &&Pair<'a>, b: &&Pair<'a>| of(a.0).unwrap_or(0.0).total_cmp(&of(b.0).unwrap_or(0.0));
    let end = |group: &Vec<Pair<'a>>| Some((*group.iter().min_by(by)?, *group.iter().max_by(by)?));
    let differ = |(a, b): &(Pair<'a>, Pair<'a>)| of(a.0).zip(of(b.0)).is_some_and(|(a, b)| apart(a, b));
    groups.iter().filter_map(end).filter(differ).collect()
}

/// Of the rows with this limit, those with the fewest and the most cores.
fn of_limit<'a>(pairs: &[Pair<'a>], limit: Limit) -> Vec<(Pair<'a>, Pair<'a>)> {
    ends(pairs, move |(_, found)| found.verdict.limit == limit, CORES, BYTES)
}

fn follows_cores((few, many): &(Pair<'_>, Pair<'_>), exponents: std::ops::Range<f64>) -> bool {
    exponent(few.0, many.0, CORES).is_some_and(|exponent| exponents.contains(&exponent))
}

fn with_full_cpu(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let grown = of_limit(pairs, Limit::Cpu).into_iter();
    let grown = grown.filter(|ends| follows_cores(ends, PROPORTIONAL..f64::INFINITY));
    grown
        .map(|ends| Conclusion::CoresHelp {
            more_than_linear: follows_cores(&ends, OVERPROPORTIONAL..f64::INFINITY),
            ends: points(&ends),
        })
        .collect()
}

fn with_full_link(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let level = of_limit(pairs, Limit::Bandwidth).into_iter();
    let level = level.filter(|ends| follows_cores(ends, -INDIFFERENT..INDIFFERENT));
    level.map(|ends| Conclusion::LinkIsFull { ends: points(&ends) }).collect()
}

fn with_neither(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let level = ends(pairs, is_within, CORES, BYTES).into_iter();
    let level = level.filter(|ends| follows_cores(ends, -INDIFFERENT..INDIFFERENT));
    level.map(|ends| Conclusion::LimitIsWithin { ends: points(&ends), limit: limit_of_both(&ends) }).collect()
}

fn points((low, high): &(Pair<'_>, Pair<'_>)) -> RowEnds {
    let point = |row: &TableRow| RowPoint {
        group: row.group.clone(),
        per_sec: row.throughput_per_sec,
        cores: row.cores,
        response_bytes: row.response_bytes,
    };
    RowEnds { low: point(low.0), high: point(high.0) }
}

/// True where the limit is neither a CPU nor a link: by its name, or because it is unknown although CPU use was recorded.
fn is_within((row, finding): &Pair<'_>) -> bool {
    let seen = || {
        let is_observed = |tier: &TableTier| tier.cpu_ratio.or(tier.core_ratio).is_some();
        row.tiers.iter().any(is_observed)
    };
    match finding.verdict.limit {
        Limit::Pool | Limit::Lock | Limit::Dependency | Limit::Disk | Limit::Connections => true,
        Limit::Unknown => seen() && !is_stopped(row, finding),
        _ => false,
    }
}

/// The limit of both rows, if it is the same and known.
fn limit_of_both(((_, few), (_, many)): &(Pair<'_>, Pair<'_>)) -> Option<(Limit, String)> {
    let (a, b) = (&few.verdict, &many.verdict);
    let is_same = a.limit != Limit::Unknown && (a.limit, a.host()) == (b.limit, b.host());
    is_same.then(|| (a.limit, a.host().to_owned()))
}

fn by_size(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let full = |(_, found): &Pair<'_>| found.verdict.limit == Limit::Bandwidth;
    let falls = |(small, large): &(Pair<'_>, Pair<'_>)| {
        exponent(small.0, large.0, BYTES).is_some_and(|exponent| exponent <= -PROPORTIONAL)
    };
    let fallen = ends(pairs, full, BYTES, CORES).into_iter().filter(falls);
    fallen.map(|ends| Conclusion::LargerResponses { ends: points(&ends) }).collect()
}
