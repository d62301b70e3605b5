//! What rows say together.

use plimsoll_units::grouped;

use super::break_even::BreakEven;
use super::{Pair, alike, apart, front, growth};
use crate::Limit;
use crate::verdict::joined;

/// The sentences that hold over the rows.
pub(super) fn of(pairs: &[Pair<'_>], break_evens: &[BreakEven]) -> Vec<String> {
    let mut sentences = growth::of(pairs);
    sentences.extend(front::ceilings(pairs));
    sentences.extend(front::doublings(pairs));
    sentences.extend(pools(pairs));
    sentences.extend(break_evens.iter().flat_map(BreakEven::sentences));
    sentences
}

/// Whose pool it is that limits a row: that of each tier that was measured alone, if it is one of these.
fn owner((row, finding): &Pair<'_>) -> String {
    let alone: Vec<String> = front::alone(row).map(|tier| tier.name.clone()).collect();
    let place = finding.verdict.host();
    match alone.len() > 1 && alone.iter().any(|name| name == place) {
        true => format!("Each of {}", joined(&alone)),
        false => place.to_owned(),
    }
}

/// Pools that were found in several rows.
fn pools(pairs: &[Pair<'_>]) -> Vec<String> {
    let mut owners: Vec<(String, Vec<Pair<'_>>)> = Vec::new();
    for pair in pairs.iter().filter(|(_, finding)| finding.verdict.limit == Limit::Pool) {
        let name = owner(pair);
        match owners.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(*pair),
            None => owners.push((name, vec![*pair])),
        }
    }
    owners.iter().filter_map(|(name, rows)| pool(name, rows)).collect()
}

fn pool(owner: &str, rows: &[Pair<'_>]) -> Option<String> {
    let size = |(_, finding): &Pair<'_>| finding.verdict.size.map(|size| size.value);
    let sizes: Vec<f64> = rows.iter().filter_map(size).collect();
    let (least, most) = (sizes.iter().copied().reduce(f64::min)?, sizes.iter().copied().reduce(f64::max)?);
    let workers = |size: f64| grouped(size.ceil() as u64);
    let about =
        if alike(least, most) { workers(most) } else { format!("{} to {}", workers(least), workers(most)) };
    let held: Vec<f64> = rows.iter().filter_map(|(row, _)| row.held_sec).collect();
    let differ = held.iter().any(|held_sec| apart(*held_sec, held[0]));
    let count = rows.len();
    match (count, differ && alike(least, most)) {
        (_, true) => Some(format!(
            "{owner} has a pool of about {about} workers: the same size in {count} rows that hold their requests for \
             different times."
        )),
        (1, _) => None,
        _ => Some(format!("{owner} has a pool of about {about} workers, which limits {count} rows.")),
    }
}
