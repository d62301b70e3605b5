//! Groups runs by their requests: throughput over machines is computed only from runs of the same requests.

use crate::Findings;
use crate::groups::grouped;

/// A run's name with its findings.
pub(crate) type NamedRun<'a> = (&'a str, &'a Findings);

/// One kind of requests, and the runs that sent them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKind {
    /// The group that the plan file names; without one, the first request.
    pub name: String,
    pub runs: Vec<String>,
}

/// Groups runs by their requests, in the order of each group's first run.
pub(crate) fn by_requests<'a>(runs: &[NamedRun<'a>]) -> Vec<Vec<NamedRun<'a>>> {
    grouped(runs.iter().copied(), |(_, one), (_, other)| one.plan.is_of_same_requests(&other.plan))
}

/// Returns the kinds of requests of these runs, in the order of each kind's first run.
pub fn request_kinds(runs: &[(&str, &Findings)]) -> Vec<RequestKind> {
    let kind = |runs: &Vec<NamedRun<'_>>| RequestKind {
        name: runs[0].1.plan.requests_name(),
        runs: runs.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    by_requests(runs).iter().map(kind).collect()
}
