//! wrk's four counters of socket errors, from Plimsoll's names of failures.

use plimsoll_record::{FailureCounts, FailureKind, FailurePhase};

/// One of the counters in wrk's line `Socket errors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// No connection.
    Connect,
    /// The connection or the response broke.
    Read,
    /// The request could not be sent.
    Write,
    /// No complete response in time.
    Timeout,
}

impl Counter {
    /// The name in wrk's text and in a script's `summary.errors`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Read => "read",
            Self::Write => "write",
            Self::Timeout => "timeout",
        }
    }
}

/// The counter in which a user of wrk finds a failure of this name. The phase decides, except for three kinds.
///
/// `None` is for a request that was due and never sent, since no connection was free: no socket failed. It shows in
/// the latencies, and as fewer requests a second than asked for.
pub fn counter_of(kind: FailureKind) -> Option<Counter> {
    match (kind, kind.row().phase) {
        (FailureKind::Unsent, _) => None,
        (FailureKind::TimedOut | FailureKind::Unanswered, _) => Some(Counter::Timeout),
        (_, FailurePhase::Resolve | FailurePhase::Connect | FailurePhase::Handshake) => {
            Some(Counter::Connect)
        }
        (_, FailurePhase::Send) => Some(Counter::Write),
        (_, FailurePhase::FirstByte | FailurePhase::Read) => Some(Counter::Read),
    }
}

/// wrk's counters of socket errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// Connections that could not be made.
    pub connect: u64,
    /// Connections and responses that broke.
    pub read: u64,
    /// Requests that could not be sent.
    pub write: u64,
    /// Requests without a complete response in time.
    pub timeout: u64,
}

impl SocketErrors {
    /// Sorts failures into wrk's counters.
    pub fn from_failures(failures: &FailureCounts) -> Self {
        let mut errors = Self::default();
        for (kind, count) in failures.iter() {
            match counter_of(kind) {
                Some(Counter::Connect) => errors.connect += count,
                Some(Counter::Read) => errors.read += count,
                Some(Counter::Write) => errors.write += count,
                Some(Counter::Timeout) => errors.timeout += count,
                None => {}
            }
        }
        errors
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::FAILURES;

    #[test]
    fn failures_are_summed_in_the_counter_where_a_user_of_wrk_looks() {
        let mut failures = FailureCounts::default();
        for (kind, count) in [
            (FailureKind::ConnectRefused, 1),
            (FailureKind::NoPortsLeft, 2),
            (FailureKind::SendReset, 4),
            (FailureKind::ClosedBeforeResponse, 8),
            (FailureKind::MalformedHead, 16),
            (FailureKind::TimedOut, 32),
            (FailureKind::Unanswered, 64),
            (FailureKind::Unsent, 128),
        ] {
            failures.add(kind, count);
        }
        let errors = SocketErrors::from_failures(&failures);
        assert_eq!(errors, SocketErrors { connect: 3, read: 24, write: 4, timeout: 96 });
        assert!(SocketErrors::from_failures(&FailureCounts::default()).is_empty());
    }

    #[test]
    fn the_manual_has_the_same_table() {
        let manual = include_str!("../../../../docs/wrk.md");
        for row in FAILURES {
            let counter = counter_of(row.kind).map_or("–", Counter::name);
            let line = format!("| `{}` | {counter} |", row.name);
            assert!(manual.contains(&line), "docs/wrk.md should hold: {line}");
        }
    }
}
