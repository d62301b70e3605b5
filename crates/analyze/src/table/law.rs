//! Little's law on a row: N = X·R.

use plimsoll_units::{count_text, significant};

use super::{TableRow, evidence};
use crate::generator::bounds::LITTLE_ERROR;
use crate::{Confidence, Limit, Verdict};

/// How a row breaks Little's law (Little 1961).
#[derive(Debug, Clone, PartialEq)]
pub struct LawBreach {
    /// X·R: the requests under way by the law.
    pub under_way: f64,
    /// N, as the table has it.
    pub connections: f64,
    /// What that means.
    pub meaning: String,
}

/// The breach of a row, if what is under way by the law differs from its connections by more than 5 %. Rows without
/// connections or response time cannot be checked.
pub(super) fn breach(row: &TableRow) -> Option<LawBreach> {
    let connections = row.connections.filter(|connections| *connections > 0.0)?;
    let under_way = row.throughput_per_sec * row.response_sec?;
    if (under_way / connections - 1.0).abs() <= LITTLE_ERROR {
        return None;
    }
    let meaning = if under_way < connections {
        "fewer requests were under way than connections were open: the client waited between requests or did not keep \
         its connections busy, or the mean leaves slow requests out"
    } else {
        "more requests would have been under way than connections were open, which cannot be: the response time is no \
         mean of these requests, or throughput and time are of different stretches"
    };
    Some(LawBreach { under_way, connections, meaning: meaning.to_owned() })
}

/// Nothing is concluded from such a row.
pub(super) fn verdict(row: &TableRow, breach: &LawBreach) -> Verdict {
    let text = format!(
        "this row breaks Little's law and is not used: {} requests/s × the response time are {} under way, against {} \
         connections; {}.",
        count_text(row.throughput_per_sec),
        significant(breach.under_way),
        significant(breach.connections),
        breach.meaning
    );
    let what = "requests under way by Little's law, against connections".to_owned();
    Verdict {
        evidence: vec![evidence(row, what, breach.under_way, Some(breach.connections))],
        advice: vec!["measure it again with a client that tells the mean of all requests and keeps its connections busy".to_owned()],
        text,
        ..Verdict::new(Limit::Unknown, "", Confidence::Unknown)
    }
}
