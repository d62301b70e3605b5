//! Detects, over several steps, new kinds of failure and the loss of the target.

use std::time::Duration;

use plimsoll_record::{FailureCounts, FailureKind, FrameHead};

/// A target that answers no request, holds no connection and refuses every new one for this long is lost. Shorter outages,
/// such as a restart, are failures of the requests they hit, and the run goes on.
const GONE_AFTER: Duration = Duration::from_secs(3);

#[derive(Debug, Default)]
pub(crate) struct Watch {
    seen: Vec<FailureKind>,
    /// The first frame with refusals since the target last accepted a connection.
    refused: Option<RefusedFrame>,
    alive_at_ns: u64,
}

/// The start and end of a frame with refusals, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy)]
struct RefusedFrame {
    began_ns: u64,
    ended_ns: u64,
}

impl Watch {
    /// Returns the kinds of failure in `failed` that did not occur before.
    ///
    /// It leaves out requests that were unanswered when the run ended: the user can do nothing about them, and the run records
    /// why it ended.
    pub(crate) fn first_seen(&mut self, failed: &FailureCounts) -> Vec<FailureKind> {
        let kinds = failed.iter().map(|(kind, _)| kind);
        let new: Vec<FailureKind> =
            kinds.filter(|kind| *kind != FailureKind::Unanswered && !self.seen.contains(kind)).collect();
        self.seen.extend(&new);
        new
    }

    /// Adds one frame; returns true once the target counts as lost. One frame, which may be longer than [`GONE_AFTER`], is not
    /// enough: a later one must have refusals too.
    pub(crate) fn gone(&mut self, head: &FrameHead) -> bool {
        let failed = |kind| head.counts.failed.of(kind);
        let is_refused =
            [FailureKind::ConnectRefused, FailureKind::ConnectReset, FailureKind::ConnectUnreachable]
                .into_iter()
                .any(|kind| failed(kind) > 0);
        if head.counts.completed > 0 || head.counts.connects > 0 || head.connections > 0 {
            self.alive_at_ns = self.alive_at_ns.max(head.ended_ns);
            self.refused = None;
            return false;
        }
        if !is_refused || head.began_ns < self.alive_at_ns {
            return false;
        }
        let FrameHead { began_ns, ended_ns, .. } = *head;
        let first = *self.refused.get_or_insert(RefusedFrame { began_ns, ended_ns });
        let lasts = Duration::from_nanos(ended_ns.saturating_sub(first.began_ns));
        began_ns >= first.ended_ns && lasts >= GONE_AFTER
    }

    /// The time since which every connection is refused, in nanoseconds since the run began; `None` if some are accepted.
    pub(crate) fn refused_since_ns(&self) -> Option<u64> {
        self.refused.map(|first| first.began_ns)
    }

    /// Notes that the target accepts connections again.
    pub(crate) fn is_back(&mut self) {
        self.refused = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{Counts, Phase, WorkerTime};

    const SEC: u64 = 1_000_000_000;

    fn frame(second: u64, completed: u64, refused: u64) -> FrameHead {
        let mut counts = Counts { completed, ..Counts::default() };
        counts.failed.add(FailureKind::ConnectRefused, refused);
        FrameHead {
            step: 0,
            worker: 0,
            request: 0,
            interval: second as u32,
            phase: Phase::Measure,
            began_ns: second * SEC,
            ended_ns: (second + 1) * SEC,
            counts,
            in_flight: 0,
            backlog: 0,
            connections: 0,
            time: WorkerTime::default(),
        }
    }

    fn gone_at(frames: &[(u64, u64)]) -> Option<usize> {
        let mut outage = Watch::default();
        let mut frames = frames.iter().enumerate();
        frames.position(|(second, (completed, refused))| {
            outage.gone(&frame(second as u64, *completed, *refused))
        })
    }

    #[test]
    fn three_seconds_of_refusals_are_the_end() {
        assert_eq!(gone_at(&[(100, 0), (0, 5), (0, 5), (0, 5), (0, 5)]), Some(3));
    }

    #[test]
    fn a_restart_is_not_the_end() {
        assert_eq!(gone_at(&[(100, 0), (0, 5), (0, 5), (80, 2), (100, 0), (0, 9), (0, 9)]), None);
    }

    #[test]
    fn a_target_that_takes_connections_again_is_not_gone_before_it_answers() {
        for taken in [(1, 0), (0, 1)] {
            let mut watch = Watch::default();
            let mut second_of = |second, refused, (connects, connections)| {
                let mut head = frame(second, 0, refused);
                (head.counts.connects, head.connections) = (connects, connections);
                watch.gone(&head)
            };
            assert!(!second_of(0, 5, (0, 0)));
            assert!(!second_of(1, 2, taken));
            // It is silent, and still starting.
            assert!((2..8).all(|second| !second_of(second, 0, (0, 0))), "{taken:?}");
            assert!(!second_of(8, 1, (0, 0)), "{taken:?}");
        }
    }

    #[test]
    fn one_long_frame_with_a_refusal_is_not_the_end() {
        let long = |number: u64, completed, refused| {
            let head = frame(0, completed, refused);
            FrameHead { began_ns: 4 * number * SEC, ended_ns: 4 * (number + 1) * SEC, ..head }
        };
        let mut watch = Watch::default();
        assert!(!watch.gone(&long(0, 0, 1)));
        assert!(!watch.gone(&long(1, 90, 0)));
        assert!(!watch.gone(&long(2, 0, 9)));
        assert!(watch.gone(&long(3, 0, 9)));
    }

    #[test]
    fn a_target_that_is_only_silent_is_not_gone() {
        assert_eq!(gone_at(&[(100, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]), None);
    }

    fn failed(kinds: &[FailureKind]) -> FailureCounts {
        let mut counts = FailureCounts::default();
        kinds.iter().for_each(|kind| counts.add(*kind, 3));
        counts
    }

    #[test]
    fn each_kind_is_selected_once_and_unanswered_never() {
        let mut watch = Watch::default();
        let mut seen = |kinds: &[FailureKind]| watch.first_seen(&failed(kinds));
        assert_eq!(seen(&[FailureKind::TimedOut]), [FailureKind::TimedOut]);
        let both = [FailureKind::TimedOut, FailureKind::ConnectRefused];
        assert_eq!(seen(&both), [FailureKind::ConnectRefused]);
        assert!(seen(&[FailureKind::ConnectRefused, FailureKind::Unanswered]).is_empty());
    }
}
