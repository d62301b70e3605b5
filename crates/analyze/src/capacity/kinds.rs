//! Runs of the same requests together: how throughput follows machines is computed only from those.

use crate::Findings;
use crate::groups::grouped;

/// A run's name with its findings.
pub(crate) type NamedRun<'a> = (&'a str, &'a Findings);

/// Requests, and the runs that were made of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKind {
    /// The group that the plan file names, or the first request.
    pub name: String,
    pub runs: Vec<String>,
}

/// Runs of the same requests together, in the order of the first of each.
pub(crate) fn by_requests<'a>(runs: &[NamedRun<'a>]) -> Vec<Vec<NamedRun<'a>>> {
    grouped(runs.iter().copied(), |(_, one), (_, other)| one.plan.is_of_same_requests(&other.plan))
}

/// The requests that runs were made of, in the order of the first run of each.
pub fn request_kinds(runs: &[(&str, &Findings)]) -> Vec<RequestKind> {
    let kind = |runs: &Vec<NamedRun<'_>>| RequestKind {
        name: runs[0].1.plan.requests_name(),
        runs: runs.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    by_requests(runs).iter().map(kind).collect()
}
