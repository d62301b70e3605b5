//! Why a component could not be read.

use std::io;

use super::exchange::DEADLINE;
use crate::collector::Missing;

/// What went wrong, where, and what to do. `place` names the component and its address: `redis at 127.0.0.1:6379`.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComponentError {
    /// No connection to it could be opened.
    #[error("could not connect to {place} ({reason}); see that it runs and listens there")]
    Unreachable {
        /// The component and its address.
        place: String,
        /// What the system said.
        reason: io::Error,
    },
    /// It did not answer in time.
    #[error("{place} did not answer within {} ms; it may be overloaded, or the route to it blocked", DEADLINE.as_millis())]
    Late {
        /// The component and its address.
        place: String,
    },
    /// The connection ended or failed within an exchange.
    #[error("{place} broke off its answer ({reason}); see its log")]
    Broken {
        /// The component and its address.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// It answered with a refusal.
    #[error("{place} refused to answer ({reason}); {advice}")]
    Refused {
        /// The component and its address.
        place: String,
        /// In its own words.
        reason: String,
        /// What to change.
        advice: &'static str,
    },
    /// Something else answered.
    #[error("{place} answered `{answer}`, which is not {expected}; see that the address is right")]
    Unexpected {
        /// The component and its address.
        place: String,
        /// The beginning of the answer.
        answer: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A file of this machine could not be read.
    #[error("could not read {what} ({reason}); {advice}")]
    Unreadable {
        /// The file, and what it describes.
        what: String,
        /// What is wrong with it.
        reason: String,
        /// What to change.
        advice: &'static str,
    },
}

/// Characters shown of an answer that is not understood.
const SHOWN_CHARS: usize = 60;

impl ComponentError {
    /// An answer that is not what was expected.
    pub(super) fn unexpected(place: &str, answer: &str, expected: &'static str) -> Self {
        let line = answer.lines().next().unwrap_or_default();
        let answer = line.chars().filter(|letter| !letter.is_control()).take(SHOWN_CHARS).collect();
        Self::Unexpected { place: place.to_owned(), answer, expected }
    }

    /// A server that requires a password, or another one.
    pub(super) fn refused_password(place: &str, reason: &str) -> Self {
        let advice = "give its password, as in redis://:password@host:6379";
        Self::Refused { place: place.to_owned(), reason: reason.to_owned(), advice }
    }

    /// An error of the system within an exchange.
    pub(super) fn broken(place: &str, reason: &io::Error) -> Self {
        let place = place.to_owned();
        match reason.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Late { place },
            io::ErrorKind::UnexpectedEof => Self::Broken { place, reason: "connection closed".to_owned() },
            _ => Self::Broken { place, reason: reason.to_string() },
        }
    }
}

impl From<ComponentError> for Missing {
    fn from(error: ComponentError) -> Self {
        Self::Failed(error.to_string())
    }
}
