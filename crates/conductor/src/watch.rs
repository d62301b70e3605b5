//! What is watched for over all steps of a run.

use plimsoll_record::{FailureCounts, FailureKind, FailureRow};

use crate::lost::LossWatch;

/// What has been seen so far in the run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether the target is still there.
    pub(crate) loss: LossWatch,
    /// Which failures were told, with what helps against them.
    pub(crate) remedies: Remedies,
}

/// Tells each kind of failure once a run, when it is first seen.
#[derive(Debug, Default)]
pub(crate) struct Remedies {
    told: Vec<FailureKind>,
}

impl Remedies {
    /// The kinds among `failed` that were not seen before.
    ///
    /// A request that was still unanswered when the run ended is none of them: there is nothing to be done about
    /// it any more, and its run says why it ended.
    pub(crate) fn news(&mut self, failed: &FailureCounts) -> Vec<&'static FailureRow> {
        let seen = failed.iter().map(|(kind, _)| kind);
        let fresh: Vec<FailureKind> =
            seen.filter(|kind| *kind != FailureKind::Unanswered && !self.told.contains(kind)).collect();
        self.told.extend(&fresh);
        fresh.into_iter().map(FailureKind::row).collect()
    }
}

/// A failure in words: its name, what it means, and after an arrow what helps.
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
    fn each_kind_is_told_once_and_unanswered_never() {
        let mut remedies = Remedies::default();
        let mut news = |kinds: &[FailureKind]| -> Vec<&str> {
            remedies.news(&failed(kinds)).into_iter().map(|row| row.name).collect()
        };
        assert_eq!(news(&[FailureKind::TimedOut]), ["timed_out"]);
        assert_eq!(news(&[FailureKind::TimedOut, FailureKind::ConnectRefused]), ["connect_refused"]);
        assert!(news(&[FailureKind::ConnectRefused, FailureKind::Unanswered]).is_empty());
    }

    #[test]
    fn what_helps_stands_after_the_arrow() {
        let over_unix = first_seen(FailureKind::ConnectRefused.row(), true);
        assert!(over_unix.contains("this socket") && !over_unix.contains("port"), "{over_unix}");
        let told = first_seen(FailureKind::ConnectRefused.row(), false);
        let (what, remedy) = told.split_once(" → ").unwrap();
        assert_eq!(what, "connect_refused: the target refused the connection");
        assert!(remedy.contains("is the server up"), "{remedy}");
    }
}
