//! What limits each row of a table, and what the rows say together.

use super::break_even::{self, BreakEven};
use super::conclusion::Conclusion;
use super::row::{Pair, RowFinding, TableRow};
use super::{conclusions, law, rules};
use crate::findings::LawBreach;

/// What was found in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFindings {
    /// The rows, in their order.
    pub rows: Vec<RowFinding>,
    /// What rows say together.
    pub conclusions: Vec<Conclusion>,
    /// Where a tier in front begins to stop those behind it.
    pub break_evens: Vec<BreakEven>,
    /// Cases that cannot be compared with what their hosts carry alone, for these were not pushed to their end.
    pub uncompared: Vec<String>,
}

/// What limits each row of a table, and what the rows say together.
pub fn explain_table(rows: &[TableRow]) -> TableFindings {
    let breaches: Vec<Option<LawBreach>> = rows.iter().map(law::breach).collect();
    let lawful: Vec<&TableRow> =
        rows.iter().zip(&breaches).filter(|(_, breach)| breach.is_none()).map(|(row, _)| row).collect();
    let table = rules::Table { rows: &lawful };
    let found: Vec<RowFinding> = rows
        .iter()
        .zip(breaches)
        .map(|(row, breach)| RowFinding {
            label: row.label.clone(),
            verdict: breach
                .as_ref()
                .map_or_else(|| rules::verdict(&table, row), |breach| law::verdict(row, breach)),
            breach,
        })
        .collect();
    concluded(rows, found)
}

/// What rows say together of which each is judged.
pub(super) fn concluded(rows: &[TableRow], found: Vec<RowFinding>) -> TableFindings {
    let pairs: Vec<Pair<'_>> =
        rows.iter().zip(&found).filter(|(_, finding)| finding.breach.is_none()).collect();
    let break_evens = break_even::of(&pairs);
    let conclusions = conclusions::of(&pairs);
    TableFindings { rows: found, conclusions, break_evens, uncompared: Vec::new() }
}
