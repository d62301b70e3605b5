//! What is watched for over several steps.

use plimsoll_record::{FailureCounts, FailureKind, FailureRow};

use crate::outage::OutageDetector;

/// What has been seen in the steps so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) outage: OutageDetector,
    pub(crate) hints: FailureHints,
}

/// Selects each kind of failure once, when it is first seen.
#[derive(Debug, Default)]
pub(crate) struct FailureHints {
    seen: Vec<FailureKind>,
}

impl FailureHints {
    /// The kinds among `failed` that were not seen before.
    ///
    /// A request that was still unanswered when the run ended is none of them: there is nothing to be done about
    /// it any more, and its run says why it ended.
    pub(crate) fn first_seen(&mut self, failed: &FailureCounts) -> Vec<&'static FailureRow> {
        let kinds = failed.iter().map(|(kind, _)| kind);
        let new: Vec<FailureKind> =
            kinds.filter(|kind| *kind != FailureKind::Unanswered && !self.seen.contains(kind)).collect();
        self.seen.extend(&new);
        new.into_iter().map(FailureKind::row).collect()
    }
}

/// A failure in words: its name, its meaning, and after an arrow the remedy.
pub(crate) fn first_seen(row: &FailureRow, unix_socket: bool) -> String {
    format!("{}: {} → {}", row.name, row.meaning, row.remedy_over(unix_socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kinds: &[FailureKind]) -> FailureCounts {
        let mut counts = FailureCounts::default();
        kinds.iter().for_each(|kind| counts.add(*kind, 3));
        counts
    }

    #[test]
    fn each_kind_is_selected_once_and_unanswered_never() {
        let mut hints = FailureHints::default();
        let mut seen = |kinds: &[FailureKind]| -> Vec<&str> {
            hints.first_seen(&failed(kinds)).into_iter().map(|row| row.name).collect()
        };
        assert_eq!(seen(&[FailureKind::TimedOut]), ["timed_out"]);
        assert_eq!(seen(&[FailureKind::TimedOut, FailureKind::ConnectRefused]), ["connect_refused"]);
        assert!(seen(&[FailureKind::ConnectRefused, FailureKind::Unanswered]).is_empty());
    }

    #[test]
    fn the_remedy_stands_after_the_arrow() {
        let over_unix = first_seen(FailureKind::ConnectRefused.row(), true);
        assert!(over_unix.contains("this socket") && !over_unix.contains("port"), "{over_unix}");
        let over_tcp = first_seen(FailureKind::ConnectRefused.row(), false);
        let (what, remedy) = over_tcp.split_once(" → ").unwrap();
        assert_eq!(what, "connect_refused: the target refused the connection");
        assert!(remedy.contains("is the server up"), "{remedy}");
    }
}
