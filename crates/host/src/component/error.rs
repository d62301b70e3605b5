//! Errors of querying a server, and how its counters become a read.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use plimsoll_record::{CounterSet, Source, Subject};

use crate::collector::{Collector, Missing, Read};

/// The time a server has to answer, connecting included. A server under load answers late, and a sample half a second old
/// describes another moment than the others.
pub(super) const DEADLINE: Duration = Duration::from_millis(500);

/// The number of characters shown of an answer that cannot be parsed.
const SHOWN_CHARS: usize = 100;

/// Why a server could not be queried.
#[derive(Debug)]
pub(super) enum ServerError {
    /// No connection could be opened.
    Unreachable(io::Error),
    /// The server did not answer within [`DEADLINE`].
    Late,
    /// The connection closed or failed during an exchange.
    Broken(String),
    /// The server refused, with this reason.
    Refused { reason: String, advice: &'static str },
    /// The answer is of another kind; `answer` is its beginning.
    Unexpected { answer: String, expected: &'static str },
    /// The answer is of the right kind but cannot be parsed; `answer` is its beginning.
    Malformed { answer: String, expected: &'static str, reason: String },
}

impl ServerError {
    /// Returns the error for an answer of another kind.
    pub(super) fn unexpected(answer: &str, expected: &'static str) -> Self {
        Self::Unexpected { answer: beginning(answer), expected }
    }

    /// Returns the error for an answer that could not be parsed, with the parser's reason.
    pub(super) fn malformed(answer: &str, expected: &'static str, reason: &impl Display) -> Self {
        Self::Malformed { answer: beginning(answer), expected, reason: reason.to_string() }
    }

    /// Returns the failure as a message with its place and advice. `place` names the server and its address: `redis at 127.0.0.1:6379`.
    pub(super) fn at(self, place: &str) -> Missing {
        Missing::Failed(match self {
            Self::Unreachable(reason) => {
                format!("could not connect to {place} ({reason}); see that it runs and listens there")
            }
            Self::Late => format!(
                "{place} did not answer within {} ms; it may be overloaded, or the route to it blocked",
                DEADLINE.as_millis()
            ),
            Self::Broken(reason) => format!("{place} broke off its answer ({reason}); see its log"),
            Self::Refused { reason, advice } => format!("{place} refused to answer ({reason}); {advice}"),
            Self::Unexpected { answer, expected } => {
                format!("{place} answered `{answer}`, which is not {expected}; see that the address is right")
            }
            Self::Malformed { answer, expected, reason } => format!(
                "{place} answered `{answer}`, which is not {expected} ({reason}); see that the address is right"
            ),
        })
    }
}

/// Returns the first line of an answer, without control characters and cut to [`SHOWN_CHARS`].
pub(super) fn beginning(answer: &str) -> String {
    let line = answer.lines().next().unwrap_or_default();
    line.chars().filter(|letter| !letter.is_control()).take(SHOWN_CHARS).collect()
}

/// An I/O error during an exchange.
impl From<&io::Error> for ServerError {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Late,
            io::ErrorKind::UnexpectedEof => Self::Broken("connection closed".to_owned()),
            _ => Self::Broken(error.to_string()),
        }
    }
}

impl From<io::Error> for ServerError {
    fn from(error: io::Error) -> Self {
        Self::from(&error)
    }
}

/// Returns a collector of the server at `place`. The subject of its samples is `address`.
pub(super) fn collector(
    source: Source,
    place: String,
    address: String,
    mut counters: impl FnMut() -> Result<CounterSet, ServerError> + Send + 'static,
) -> Collector {
    Collector::new(move || {
        let counters = counters().map_err(|error| error.at(&place));
        vec![Read::new(source, Subject::Named(&address), counters)]
    })
}

/// Converts decimal seconds, such as `1.25`, to whole microseconds; `None` if negative or not a number.
pub(super) fn seconds_to_us(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1e6).round() as u64)
}
