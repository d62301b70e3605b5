//! What throughput follows from row to row: the cores, the size of responses, or neither.

use plimsoll_units::{bytes_text, count_text};

use super::front::is_stopped;
use super::{Pair, TableRow, alike, apart};
use crate::Limit;

/// Throughput that follows something by this exponent or more follows it in proportion, nearly.
const PROPORTIONAL: f64 = 0.8;
/// By more than this exponent, as far from 1 the other way, it follows it more than in proportion.
const OVERPROPORTIONAL: f64 = 1.0 / PROPORTIONAL;
/// Throughput that follows something by less than this exponent does not follow it.
const INDIFFERENT: f64 = 0.1;

/// A figure of a row.
type Figure = fn(&TableRow) -> Option<f64>;

const CORES: Figure = |row| row.cores;
const BYTES: Figure = |row| row.response_bytes;

/// The sentences about growth.
pub(super) fn of(pairs: &[Pair<'_>]) -> Vec<String> {
    let mut sentences = by_cores(pairs);
    sentences.extend(by_size(pairs));
    sentences
}

/// The exponent by which throughput follows something between two rows.
fn exponent(a: &TableRow, b: &TableRow, of: Figure) -> Option<f64> {
    let (x, y) = (of(a)?, of(b)?);
    (x > 0.0 && x != y).then(|| (b.throughput_per_sec / a.throughput_per_sec).ln() / (y / x).ln())
}

/// Two figures that are not known are the same as well.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => alike(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The row with the least and that with the most of one figure, of rows whose other figure is the same and that differ
/// enough to tell a law.
fn ends<'a>(
    pairs: &[Pair<'a>],
    limited: impl Fn(&Pair<'a>) -> bool,
    of: Figure,
    other: Figure,
) -> Vec<(Pair<'a>, Pair<'a>)> {
    let mut groups: Vec<Vec<Pair<'a>>> = Vec::new();
    for pair in pairs.iter().filter(|pair| limited(pair) && of(pair.0).is_some()) {
        let of_group = |first: &TableRow| first.group == pair.0.group && same(other(first), other(pair.0));
        match groups.iter_mut().find(|group| of_group(group[0].0)) {
            Some(group) => group.push(*pair),
            None => groups.push(vec![*pair]),
        }
    }
    let by = |a: &&Pair<'a>, b: &&Pair<'a>| of(a.0).unwrap_or(0.0).total_cmp(&of(b.0).unwrap_or(0.0));
    let end = |group: &Vec<Pair<'a>>| Some((*group.iter().min_by(by)?, *group.iter().max_by(by)?));
    let differ = |(a, b): &(Pair<'a>, Pair<'a>)| of(a.0).zip(of(b.0)).is_some_and(|(a, b)| apart(a, b));
    groups.iter().filter_map(end).filter(differ).collect()
}

fn by_cores(pairs: &[Pair<'_>]) -> Vec<String> {
    let follows = |(few, many): &(Pair<'_>, Pair<'_>), least: f64, most: f64| {
        exponent(few.0, many.0, CORES).is_some_and(|exponent| (least..most).contains(&exponent))
    };
    let of_limit = |limit: Limit| ends(pairs, move |(_, found)| found.verdict.limit == limit, CORES, BYTES);
    let mut sentences = Vec::new();
    for ends in of_limit(Limit::Cpu).iter().filter(|ends| follows(ends, PROPORTIONAL, f64::INFINITY)) {
        let how = if follows(ends, OVERPROPORTIONAL, f64::INFINITY) { "more than" } else { "nearly" };
        sentences.push(format!(
            "Where the CPU is full and the link is not, throughput grows with the cores, {how} in proportion: {}.",
            from_to(ends)
        ));
    }
    for ends in of_limit(Limit::Bandwidth).iter().filter(|ends| follows(ends, -INDIFFERENT, INDIFFERENT)) {
        sentences
            .push(format!("Where the link is full, more cores do not raise throughput: {}.", from_to(ends)));
    }
    for ends in
        ends(pairs, is_within, CORES, BYTES).iter().filter(|ends| follows(ends, -INDIFFERENT, INDIFFERENT))
    {
        sentences.push(format!(
            "More cores do not raise throughput though neither CPU nor link is full ({}): {}.",
            from_to(ends),
            within(ends)
        ));
    }
    sentences
}

/// True where what limits is neither a CPU nor a link: by name, or because both were seen and had room.
fn is_within((row, finding): &Pair<'_>) -> bool {
    let seen = || {
        let looked_at = |tier: &super::TableTier| tier.cpu_ratio.or(tier.core_ratio).is_some();
        row.tiers.iter().any(looked_at)
    };
    match finding.verdict.limit {
        Limit::Pool | Limit::Lock | Limit::Dependency | Limit::Disk | Limit::Connections => true,
        Limit::Unknown => seen() && !is_stopped(row, finding),
        _ => false,
    }
}

/// What limits two rows that neither CPU nor link does.
fn within(((_, few), (_, many)): &(Pair<'_>, Pair<'_>)) -> String {
    let (a, b) = (&few.verdict, &many.verdict);
    if a.limit == Limit::Unknown || (a.limit, a.host()) != (b.limit, b.host()) {
        return "the limit is in the API, a database, a cache or the code".to_owned();
    }
    format!("the limit is {} @ {}", a.limit.name(), a.host())
}

fn cores_text(cores: f64) -> String {
    if cores == 1.0 { "1 core".to_owned() } else { format!("{cores} cores") }
}

fn from_to(((few, _), (many, _)): &(Pair<'_>, Pair<'_>)) -> String {
    let bytes = few.response_bytes.map(|bytes| format!("responses of {}", bytes_text(bytes)));
    let which: Vec<String> = few.group.clone().into_iter().chain(bytes).collect();
    let which = if which.is_empty() { String::new() } else { format!(", {}", which.join(", ")) };
    format!(
        "{} requests/s with {}, {} with {}{which}",
        count_text(few.throughput_per_sec),
        cores_text(few.cores.unwrap_or_default()),
        count_text(many.throughput_per_sec),
        cores_text(many.cores.unwrap_or_default())
    )
}

fn by_size(pairs: &[Pair<'_>]) -> Vec<String> {
    let full = |(_, found): &Pair<'_>| found.verdict.limit == Limit::Bandwidth;
    let falls = |(small, large): &(Pair<'_>, Pair<'_>)| {
        exponent(small.0, large.0, BYTES).is_some_and(|exponent| exponent <= -PROPORTIONAL)
    };
    let sentence = |((small, _), (large, _)): (Pair<'_>, Pair<'_>)| {
        let with = small.cores.map_or_else(String::new, |cores| format!(", with {}", cores_text(cores)));
        format!(
            "Where the link is full, larger responses lower throughput in proportion: {} requests/s of {}, {} of {}{with}.",
            count_text(small.throughput_per_sec),
            bytes_text(small.response_bytes.unwrap_or_default()),
            count_text(large.throughput_per_sec),
            bytes_text(large.response_bytes.unwrap_or_default())
        )
    };
    ends(pairs, full, BYTES, CORES).into_iter().filter(falls).map(sentence).collect()
}
