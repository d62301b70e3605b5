//! What rows say together.

use super::conclusion::{Conclusion, RowsPool};
use super::row::{Pair, alike, apart};
use super::{front, growth};
use crate::findings::Limit;

/// What holds over the rows.
pub(super) fn of(pairs: &[Pair<'_>]) -> Vec<Conclusion> {
    let mut all = growth::of(pairs);
    all.extend(front::ceilings(pairs).into_iter().map(Conclusion::Ceiling));
    all.extend(front::doublings(pairs).into_iter().map(Conclusion::Multiplied));
    all.extend(pools(pairs).into_iter().map(Conclusion::Pool));
    all
}

/// Whose pool it is that limits a row: that of each tier that was measured alone, if it is one of these.
fn owners((row, finding): &Pair<'_>) -> Vec<String> {
    let alone: Vec<String> = front::alone(row).map(|tier| tier.name.clone()).collect();
    let place = finding.verdict.host();
    if alone.len() > 1 && alone.iter().any(|name| name == place) { alone } else { vec![place.to_owned()] }
}

/// Pools that were found in several rows.
fn pools(pairs: &[Pair<'_>]) -> Vec<RowsPool> {
    let mut found: Vec<(Vec<String>, Vec<Pair<'_>>)> = Vec::new();
    for pair in pairs.iter().filter(|(_, finding)| finding.verdict.limit == Limit::Pool) {
        let owners = owners(pair);
        match found.iter_mut().find(|(known, _)| *known == owners) {
            Some((_, rows)) => rows.push(*pair),
            None => found.push((owners, vec![*pair])),
        }
    }
    found.into_iter().filter_map(|(owners, rows)| pool(owners, &rows)).collect()
}

/// The pool of some rows: one that several times agree on, or that limits more than one row.
fn pool(owners: Vec<String>, rows: &[Pair<'_>]) -> Option<RowsPool> {
    let size = |(_, finding): &Pair<'_>| finding.verdict.size.map(|size| size.value);
    let sizes: Vec<f64> = rows.iter().filter_map(size).collect();
    let (least, most) = (sizes.iter().copied().reduce(f64::min)?, sizes.iter().copied().reduce(f64::max)?);
    let held: Vec<f64> = rows.iter().filter_map(|(row, _)| row.held_sec).collect();
    let differ = held.iter().any(|held_sec| apart(*held_sec, held[0]));
    let at_all_times = differ && alike(least, most);
    (at_all_times || rows.len() > 1).then_some(RowsPool {
        owners,
        least,
        most,
        rows: rows.len(),
        at_all_times,
    })
}
