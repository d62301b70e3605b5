//! Counts of requests and their outcomes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::{FailureKind, Tally};

/// The maximum of checks in a plan: the failed checks of a response are the bits of a `u32`.
const MAX_CHECKS: usize = 32;

/// The number of responses by status. Statuses from 100 to 599 are counted one by one, all others at 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(transparent)]
pub struct StatusCounts(Tally);

impl StatusCounts {
    /// Creates empty counts that never allocate again, whatever statuses occur.
    pub fn with_room() -> Self {
        Self(Tally::with_room(501))
    }

    /// Counts one response with this status.
    #[inline]
    pub fn count(&mut self, status: u16) {
        self.add(status, 1);
    }

    /// Adds `count` responses with this status.
    #[inline]
    pub fn add(&mut self, status: u16, count: u64) {
        self.0.add(if (100..600).contains(&status) { status } else { 0 }, count);
    }

    /// Iterates over the statuses that occurred and their counts, in ascending order. Statuses outside 100..=599 come last as 0.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        let outside = Some((0, self.0.get(0))).filter(|(_, count)| *count > 0);
        self.0.iter().filter(|(status, _)| *status > 0).chain(outside)
    }
}

/// Serializes to a sparse map, as stored in run files: `{"200": 12}`.
impl Serialize for StatusCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The number of failed requests by kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<FailureKind, u64>")]
pub struct FailureCounts([u64; FailureKind::COUNT]);

impl Default for FailureCounts {
    fn default() -> Self {
        Self([0; FailureKind::COUNT])
    }
}

impl FailureCounts {
    /// Adds `count` failures of this kind.
    pub fn add(&mut self, kind: FailureKind, count: u64) {
        self.0[kind as usize] += count;
    }

    /// Returns the number of failures of this kind.
    pub fn of(&self, kind: FailureKind) -> u64 {
        self.0[kind as usize]
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Returns the number of all failures.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Iterates over the kinds that occurred and their counts, in the order of the table of failures.
    pub fn iter(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        crate::FAILURES.iter().map(|row| (row.kind, self.of(row.kind))).filter(|(_, count)| *count > 0)
    }
}

impl From<BTreeMap<FailureKind, u64>> for FailureCounts {
    fn from(counts: BTreeMap<FailureKind, u64>) -> Self {
        let mut sum = Self::default();
        counts.into_iter().for_each(|(kind, count)| sum.add(kind, count));
        sum
    }
}

/// Serializes to a sparse map, as stored in run files: `{"timed_out": 3}`.
impl Serialize for FailureCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The outcomes of the requests in an interval.
///
/// Over a whole step `intended = completed + failed`: every request that was due is accounted for. Within one frame the two sides
/// differ by the requests in flight at its beginning and end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that became due: by the schedule, or because a connection was free for the next one.
    pub intended: u64,
    /// Requests whose first byte was passed to the system.
    pub sent: u64,
    /// Complete, well-formed responses, with any status.
    pub completed: u64,
    /// Completed responses that passed every check. Unless a check is about the status, it must also be 200 to 399.
    pub ok: u64,
    /// Bytes received, including headers.
    pub bytes_in: u64,
    /// Bytes sent, including headers.
    pub bytes_out: u64,
    /// Connections reopened after the server had closed them between two requests.
    pub reconnects: u64,
    /// Connections opened, both first ones and replacements.
    pub connects: u64,
    /// Completed TLS handshakes, including resumed ones.
    pub handshakes: u64,
    /// TLS handshakes that resumed an earlier session.
    pub resumed: u64,
    pub status: StatusCounts,
    /// Completed responses that failed a check, by the check's index in the plan. A response that fails several checks is counted for
    /// each. These responses are neither ok nor failed requests.
    pub checks: Tally,
    pub failed: FailureCounts,
}

impl Counts {
    /// Creates empty counts that never allocate again.
    pub fn with_room() -> Self {
        Self { status: StatusCounts::with_room(), checks: Tally::with_room(MAX_CHECKS), ..Self::default() }
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.intended += other.intended;
        self.sent += other.sent;
        self.completed += other.completed;
        self.ok += other.ok;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.reconnects += other.reconnects;
        self.connects += other.connects;
        self.handshakes += other.handshakes;
        self.resumed += other.resumed;
        self.status.0.merge(&other.status.0);
        self.checks.merge(&other.checks);
        self.failed.merge(&other.failed);
    }

    /// Sets all counts to zero, keeping the memory.
    pub fn clear(&mut self) {
        let (mut status, mut checks) = (std::mem::take(&mut self.status), std::mem::take(&mut self.checks));
        status.0.clear();
        checks.clear();
        *self = Self { status, checks, ..Self::default() };
    }

    /// Returns the number of responses and failures together: the denominator of the success ratio.
    pub fn ended(&self) -> u64 {
        self.completed + self.failed.total()
    }

    /// Returns the ratio of successful responses to all requests that ended; `None` if none ended.
    pub fn success_ratio(&self) -> Option<f64> {
        let ended = self.ended();
        (ended > 0).then(|| self.ok as f64 / ended as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_counts_is_adding_them() {
        let mut one = Counts { intended: 3, completed: 2, ok: 2, ..Counts::default() };
        one.status.count(200);
        one.failed.add(FailureKind::TimedOut, 1);
        let mut sum = one.clone();
        sum.merge(&one);
        assert_eq!((sum.intended, sum.ended()), (6, 6));
        assert_eq!(sum.status.iter().collect::<Vec<_>>(), [(200, 2)]);
        sum.clear();
        assert_eq!(sum, Counts::default());
    }

    #[test]
    fn strange_statuses_are_counted_too() {
        let mut counts = StatusCounts::default();
        [99, 100, 599, 600, 999].into_iter().for_each(|status| counts.count(status));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(100, 1), (599, 1), (0, 3)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(serde_json::from_str::<StatusCounts>(&text).unwrap(), counts);
    }

    #[test]
    fn failures_are_in_the_denominator() {
        let mut counts = Counts { completed: 9, ok: 8, ..Counts::default() };
        counts.failed.add(FailureKind::Unanswered, 1);
        assert_eq!(counts.success_ratio(), Some(0.8));
        assert_eq!(Counts::default().success_ratio(), None);
    }
}
