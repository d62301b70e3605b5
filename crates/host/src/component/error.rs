//! Why a server could not be asked, and how its counters become a read.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use plimsoll_record::{CounterSet, Source, Subject};

use crate::collector::{Collector, Missing, Read};

/// How long a server may take to answer, connecting included. A server under load answers late, and a sample that is half
/// a second old describes another moment than the rest.
pub(super) const DEADLINE: Duration = Duration::from_millis(500);

/// Characters shown of an answer that is not understood.
const SHOWN_CHARS: usize = 100;

/// Why a server could not be asked.
#[derive(Debug)]
pub(super) enum ServerError {
    /// No connection to it could be opened.
    Unreachable(io::Error),
    /// It did not answer within [`DEADLINE`].
    Late,
    /// The connection ended or failed within an exchange.
    Broken(String),
    /// It answered with a refusal, in its own words.
    Refused { reason: String, advice: &'static str },
    /// Something else answered, which began so.
    Unexpected { answer: String, expected: &'static str },
    /// An answer of the right kind that cannot be read, which began so.
    Malformed { answer: String, expected: &'static str, reason: String },
}

impl ServerError {
    /// An answer that is not what was expected.
    pub(super) fn unexpected(answer: &str, expected: &'static str) -> Self {
        Self::Unexpected { answer: beginning(answer), expected }
    }

    /// An answer that could not be parsed, for the reason that the parser gives.
    pub(super) fn malformed(answer: &str, expected: &'static str, reason: &impl Display) -> Self {
        Self::Malformed { answer: beginning(answer), expected, reason: reason.to_string() }
    }

    /// What went wrong, where, and what to do. `place` names the server and its address: `redis at 127.0.0.1:6379`.
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

/// What is shown of an answer: its first line, cut and without control characters.
pub(super) fn beginning(answer: &str) -> String {
    let line = answer.lines().next().unwrap_or_default();
    line.chars().filter(|letter| !letter.is_control()).take(SHOWN_CHARS).collect()
}

/// An error of the system within an exchange.
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

/// A collector of the server at `place`, whose address is the subject of its samples.
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

/// Seconds with a fraction, as decimal text, in whole microseconds.
pub(super) fn seconds_to_us(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1e6).round() as u64)
}
