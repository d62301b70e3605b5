//! What came of the plan of a lab file, whether it could be run or not.

use plimsoll_analyze::RowRun;
use plimsoll_plan::Expect;
use plimsoll_report::json::CaseDocument;

use super::file::Case;
use super::found::{Judged, expected_document};
use super::table::Row;
use crate::terminal::with_causes;

/// What came of one plan.
#[derive(Debug)]
pub(super) enum Outcome {
    Judged(Box<Judged>),
    /// It could not be run: its name, what it expects, and why.
    Failed(String, Option<Expect>, String),
}

impl Outcome {
    pub(super) fn failed(case: &Case<'_>, error: &anyhow::Error) -> Self {
        Self::Failed(case.name.clone(), case.file.expect.clone(), with_causes(error))
    }

    pub(super) fn row(&self) -> Row<'_> {
        match self {
            Self::Judged(judged) => Row::Judged(judged),
            Self::Failed(name, _, why) => Row::Failed { name, why },
        }
    }

    /// What it is in the table of its file, if that makes one.
    pub(super) fn row_run(&self) -> Option<&RowRun> {
        match self {
            Self::Judged(judged) => judged.row.as_ref(),
            Self::Failed(..) => None,
        }
    }

    /// Whether it is what was expected. One that could not be run is not.
    pub(super) fn right(&self) -> Option<bool> {
        match self {
            Self::Judged(judged) => judged.right(),
            Self::Failed(..) => Some(false),
        }
    }

    /// True if something was expected of it.
    pub(super) fn expects(&self) -> bool {
        match self {
            Self::Judged(judged) => judged.expected.is_some(),
            Self::Failed(_, expected, _) => expected.is_some(),
        }
    }

    pub(super) fn document(&self) -> CaseDocument {
        match self {
            Self::Judged(judged) => judged.document(),
            Self::Failed(name, expected, why) => CaseDocument {
                name: name.clone(),
                expected: expected.as_ref().map(expected_document),
                found: None,
                also: Vec::new(),
                confidence: None,
                right: Some(false),
                text: why.clone(),
                throughput_per_sec: None,
                connections: None,
                p99_ms: None,
                file: None,
            },
        }
    }
}
