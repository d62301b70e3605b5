//! Determines the limit of each row of a table, and the conclusions from several rows.

use super::break_even::{self, BreakEven};
use super::conclusion::{Conclusion, RowsPool};
use super::ladder::LadderOf;
use super::row::{Pair, RowFinding, TableRow, alike, apart};
use super::{front, growth, ladder};
use crate::findings::{
    Advice, At, Confidence, Evidence, LawBreach, Limit, Observation, Place, RowClaim, Verdict,
};
use crate::generator::health::LITTLE_ERROR;
use crate::groups::grouped;
use crate::observations::Observations;
use crate::verdict;

/// The findings from a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFindings {
    pub rows: Vec<RowFinding>,
    pub conclusions: Vec<Conclusion>,
    /// The hold times below which a front tier limits the tiers behind it.
    pub break_evens: Vec<BreakEven>,
    /// Cases that cannot be compared with what their hosts carry alone, because the hosts were not loaded to their limit.
    pub uncompared: Vec<String>,
}

/// Determines the limit of each row of a table, and the conclusions from several rows.
pub fn explain_table(rows: &[TableRow]) -> TableFindings {
    let impossible = |row: &TableRow| breach(row).filter(LawBreach::is_impossible);
    let lawful: Vec<&TableRow> = rows.iter().filter(|row| impossible(row).is_none()).collect();
    let mut judged =
        (0..lawful.len()).map(|row| verdict::of_row(&Observations::from_table(&lawful, row), row));
    let finding = |row: &TableRow| {
        let broken = impossible(row).map(|breach| unlawful(row, &breach));
        let verdict = broken.or_else(|| judged.next())?;
        Some(RowFinding { label: row.label.clone(), verdict, breach: breach(row) })
    };
    let mut found = concluded(rows, rows.iter().filter_map(finding).collect());
    // Conclusions about cores include the limit, so that they replace the ladder of cores.
    let are_cores_judged = found.conclusions.iter().any(Conclusion::is_of_cores);
    let mut ladders = ladder::ladders(&possible(rows, &found.rows));
    ladders.retain(|ladder| ladder.of != LadderOf::Cores || !are_cores_judged);
    found.conclusions.extend(ladders.into_iter().map(Conclusion::Ladder));
    found
}

/// The rows that are used to judge others.
fn possible<'a>(rows: &'a [TableRow], found: &'a [RowFinding]) -> Vec<Pair<'a>> {
    rows.iter().zip(found).filter(|(_, finding)| finding.is_possible()).collect()
}

/// Draws the conclusions from rows that are already judged.
pub(super) fn concluded(rows: &[TableRow], found: Vec<RowFinding>) -> TableFindings {
    let pairs = possible(rows, &found);
    let break_evens = break_even::break_evens(&pairs);
    let mut conclusions = growth::growth(&pairs);
    conclusions.extend(front::ceilings(&pairs).into_iter().map(Conclusion::Ceiling));
    conclusions.extend(front::doublings(&pairs).into_iter().map(Conclusion::Multiplied));
    conclusions.extend(pools(&pairs).into_iter().map(Conclusion::Pool));
    TableFindings { rows: found, conclusions, break_evens, uncompared: Vec::new() }
}

/// How a row breaks Little's law, N = X·(R + Z), where Z is think time: if the requests under way by the law differ from its connections
/// by more than 5 %. Rows without connections or response time cannot be checked.
fn breach(row: &TableRow) -> Option<LawBreach> {
    let connections = row.connections.filter(|connections| *connections > 0.0)?;
    let under_way = row.throughput_per_sec * (row.response_sec? + row.think_sec.unwrap_or(0.0));
    let is_kept = (under_way / connections - 1.0).abs() <= LITTLE_ERROR;
    (!is_kept).then_some(LawBreach { under_way, connections })
}

/// The verdict on such a row, from which nothing is concluded.
fn unlawful(row: &TableRow, breach: &LawBreach) -> Verdict {
    let at = At::Row(row.label.clone());
    Verdict {
        evidence: vec![Evidence::new(Observation::UnderWay, breach.under_way, Some(breach.connections), at)],
        advice: vec![Advice::MeasureRowAgain],
        claim: Some(RowClaim::Unlawful(*breach, row.throughput_per_sec).into()),
        ..Verdict::new(Limit::Unknown, Place::Nowhere, Confidence::Unknown)
    }
}

/// The owners of the pool that limits a row: all tiers that were measured alone, if the limit is at one of these.
fn owners((row, finding): &Pair<'_>) -> Vec<String> {
    let alone: Vec<String> = front::alone(row).map(|tier| tier.name.clone()).collect();
    let place = finding.verdict.host();
    if alone.len() > 1 && alone.iter().any(|name| name == place) { alone } else { vec![place.to_owned()] }
}

/// The pools that were found in several rows.
fn pools(pairs: &[Pair<'_>]) -> Vec<RowsPool> {
    let limited = pairs.iter().copied().filter(|(_, finding)| finding.verdict.limit == Limit::Pool);
    let found = grouped(limited, |a, b| owners(a) == owners(b));
    found.iter().filter_map(|rows| pool(owners(&rows[0]), rows)).collect()
}

/// The pool of some rows: one whose size several hold times agree on, or that limits more than one row.
fn pool(owners: Vec<String>, rows: &[Pair<'_>]) -> Option<RowsPool> {
    let size = |(_, finding): &Pair<'_>| finding.verdict.size.map(|size| size.value);
    let sizes: Vec<f64> = rows.iter().filter_map(size).collect();
    let (least, most) = (sizes.iter().copied().reduce(f64::min)?, sizes.iter().copied().reduce(f64::max)?);
    let held: Vec<f64> = rows.iter().filter_map(|(row, _)| row.held_sec).collect();
    let differ = held.iter().any(|held_sec| apart(*held_sec, held[0]));
    let at_all_times = differ && alike(least, most);
    let rows = rows.len();
    (at_all_times || rows > 1).then_some(RowsPool { owners, least, most, rows, at_all_times })
}
