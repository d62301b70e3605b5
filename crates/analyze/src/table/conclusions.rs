//! What rows say together.

use plimsoll_units::{bytes_text, count_text, grouped, significant};

use super::{RowFinding, TableRow};
use crate::Limit;
use crate::verdict::TIE;

/// Throughput that follows something by this exponent or more follows it in proportion, nearly.
const PROPORTIONAL: f64 = 0.8;
/// Throughput that follows something by less than this exponent does not follow it.
const INDIFFERENT: f64 = 0.1;

type Pair<'a> = (&'a TableRow, &'a RowFinding);

/// The sentences that hold over the rows.
pub(super) fn of(rows: &[TableRow], found: &[RowFinding]) -> Vec<String> {
    let pairs: Vec<Pair<'_>> =
        rows.iter().zip(found).filter(|(_, finding)| finding.breach.is_none()).collect();
    let mut sentences = Vec::new();
    sentences.extend(by_cores(&pairs));
    sentences.extend(by_size(&pairs));
    sentences.extend(ceiling(&pairs));
    sentences.extend(pools(&pairs));
    sentences
}

/// The exponent by which throughput follows something between two rows.
fn exponent(a: &TableRow, b: &TableRow, of: fn(&TableRow) -> Option<f64>) -> Option<f64> {
    let (x, y) = (of(a)?, of(b)?);
    (x > 0.0 && x != y).then(|| (b.throughput_per_sec / a.throughput_per_sec).ln() / (y / x).ln())
}

/// The rows of one limit and the same other figure, the least and the most of one figure.
fn ends<'a>(
    pairs: &[Pair<'a>],
    limit: Limit,
    of: fn(&TableRow) -> Option<f64>,
    same: fn(&TableRow) -> Option<f64>,
) -> Vec<(&'a TableRow, &'a TableRow)> {
    let mut groups: Vec<(Option<f64>, Vec<&'a TableRow>)> = Vec::new();
    for (row, _) in pairs.iter().filter(|(row, finding)| finding.verdict.limit == limit && of(row).is_some())
    {
        match groups.iter_mut().find(|(key, _)| *key == same(row)) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((same(row), vec![row])),
        }
    }
    let by = |a: &&&TableRow, b: &&&TableRow| of(a).unwrap_or(0.0).total_cmp(&of(b).unwrap_or(0.0));
    let end = |(_, rows): &(Option<f64>, Vec<&'a TableRow>)| {
        Some((*rows.iter().min_by(by)?, *rows.iter().max_by(by)?))
    };
    groups.iter().filter_map(end).filter(|(a, b)| of(a) != of(b)).collect()
}

fn by_cores(pairs: &[Pair<'_>]) -> Vec<String> {
    let cores = |row: &TableRow| row.cores;
    let bytes = |row: &TableRow| row.response_bytes;
    let mut sentences = Vec::new();
    for (few, many) in ends(pairs, Limit::Cpu, cores, bytes) {
        if exponent(few, many, cores).is_some_and(|exponent| exponent >= PROPORTIONAL) {
            sentences.push(format!(
                "Where the CPU is full and the link is not, throughput grows with the cores, nearly in proportion: {}.",
                from_to(few, many, cores, "cores")
            ));
        }
    }
    for (few, many) in ends(pairs, Limit::Bandwidth, cores, bytes) {
        if exponent(few, many, cores).is_some_and(|exponent| exponent.abs() < INDIFFERENT) {
            sentences.push(format!(
                "Where the link is full, more cores do not raise throughput: {}.",
                from_to(few, many, cores, "cores")
            ));
        }
    }
    for (few, many) in ends(pairs, Limit::Unknown, cores, bytes) {
        if exponent(few, many, cores).is_some_and(|exponent| exponent.abs() < INDIFFERENT) {
            sentences.push(format!(
                "More cores do not raise throughput though neither CPU nor link is full ({}): the limit is in the API, a \
                 database, a cache or the code.",
                from_to(few, many, cores, "cores")
            ));
        }
    }
    sentences
}

fn from_to(a: &TableRow, b: &TableRow, of: fn(&TableRow) -> Option<f64>, unit: &str) -> String {
    format!(
        "{} requests/s with {} {unit}, {} with {}",
        count_text(a.throughput_per_sec),
        significant(of(a).unwrap_or_default()),
        count_text(b.throughput_per_sec),
        significant(of(b).unwrap_or_default())
    )
}

fn by_size(pairs: &[Pair<'_>]) -> Vec<String> {
    let bytes = |row: &TableRow| row.response_bytes;
    let cores = |row: &TableRow| row.cores;
    let falls = |(small, large): &(&TableRow, &TableRow)| {
        exponent(small, large, bytes).is_some_and(|exponent| exponent <= -PROPORTIONAL)
    };
    let sentence = |(small, large): (&TableRow, &TableRow)| {
        format!(
            "Where the link is full, larger responses lower throughput in proportion: {} requests/s of {}, {} of {}.",
            count_text(small.throughput_per_sec),
            bytes_text(small.response_bytes.unwrap_or_default()),
            count_text(large.throughput_per_sec),
            bytes_text(large.response_bytes.unwrap_or_default())
        )
    };
    ends(pairs, Limit::Bandwidth, bytes, cores).into_iter().filter(falls).map(sentence).collect()
}

/// Rows that one tier in front stops at the same throughput, whatever is behind it.
fn ceiling(pairs: &[Pair<'_>]) -> Option<String> {
    let stopped: Vec<&Pair<'_>> = pairs
        .iter()
        .filter(|(row, finding)| {
            let measured_alone = row.tiers.iter().any(|tier| tier.alone_per_sec.is_some());
            finding.verdict.limit == Limit::Unknown
                && measured_alone
                && !row.tiers.iter().any(|tier| tier.name == finding.verdict.place)
        })
        .collect();
    let throughputs: Vec<f64> = stopped.iter().map(|(row, _)| row.throughput_per_sec).collect();
    let (least, most) =
        (throughputs.iter().copied().reduce(f64::min)?, throughputs.iter().copied().reduce(f64::max)?);
    let together = throughputs.len() > 1 && most <= (1.0 + TIE) * least;
    together.then(|| {
        format!(
            "{} carries about {} requests/s, whatever stands behind it ({} to {} in {} rows).",
            stopped[0].1.verdict.place,
            count_text(throughputs.iter().sum::<f64>() / throughputs.len() as f64),
            count_text(least),
            count_text(most),
            throughputs.len()
        )
    })
}

fn pools(pairs: &[Pair<'_>]) -> Option<String> {
    let rows: Vec<&Pair<'_>> =
        pairs.iter().filter(|(_, finding)| finding.verdict.limit == Limit::Pool).collect();
    let sizes = rows.iter().filter_map(|(_, finding)| finding.verdict.size).map(|size| size.value);
    let most = sizes.reduce(f64::max)?;
    Some(format!(
        "{} has a pool of about {} workers: throughput × the time that a request is held is the same in {} rows.",
        rows[0].1.verdict.place,
        grouped(most.ceil() as u64),
        rows.len()
    ))
}
