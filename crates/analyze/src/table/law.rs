//! Little's law on a row: N = X·R.

use super::row::TableRow;
use crate::findings::{
    Advice, At, Claim, Confidence, Evidence, LawBreach, Limit, Observation, Place, Verdict,
};
use crate::generator::health::LITTLE_ERROR;

/// The breach of a row, if what is under way by the law differs from its connections by more than 5 %. Rows without
/// connections or response time cannot be checked.
pub(super) fn breach(row: &TableRow) -> Option<LawBreach> {
    let connections = row.connections.filter(|connections| *connections > 0.0)?;
    let under_way = row.throughput_per_sec * row.response_sec?;
    let is_kept = (under_way / connections - 1.0).abs() <= LITTLE_ERROR;
    (!is_kept).then_some(LawBreach { under_way, connections })
}

/// Nothing is concluded from such a row.
pub(super) fn verdict(row: &TableRow, breach: &LawBreach) -> Verdict {
    let evidence = Evidence {
        observed: Observation::UnderWay,
        value: breach.under_way,
        of: Some(breach.connections),
        at: At::Row(row.label.clone()),
    };
    Verdict {
        evidence: vec![evidence],
        advice: vec![Advice::MeasureRowAgain],
        claim: Some(Claim::Unlawful(*breach, row.throughput_per_sec)),
        ..Verdict::new(Limit::Unknown, Place::Nowhere, Confidence::Unknown)
    }
}
