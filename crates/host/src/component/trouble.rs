//! Why a component told nothing.

use std::io;

use super::DEADLINE;

/// What went wrong, where, and what to do. `place` names the component and its address: `redis at 127.0.0.1:6379`.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// There is no way to it.
    #[error("could not connect to {place} ({reason}); see that it runs and listens there")]
    Unreachable {
        /// The component and its address.
        place: String,
        /// What the system said.
        reason: io::Error,
    },
    /// It did not answer in time.
    #[error("{place} did not answer within {} ms; it may be overloaded, or the way to it blocked", DEADLINE.as_millis())]
    Late {
        /// The component and its address.
        place: String,
    },
    /// The exchange broke off.
    #[error("{place} broke off its answer ({reason}); see its log")]
    Broken {
        /// The component and its address.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// It answers, but it does not tell.
    #[error("{place} refused to tell ({reason}); {advice}")]
    Refused {
        /// The component and its address.
        place: String,
        /// In its own words.
        reason: String,
        /// What to change.
        advice: &'static str,
    },
    /// What answers is something else.
    #[error("{place} answered `{answer}`, which is not {wanted}; see that the address is right")]
    Strange {
        /// The component and its address.
        place: String,
        /// The beginning of what came.
        answer: String,
        /// What was expected.
        wanted: &'static str,
    },
    /// A file of this machine does not tell.
    #[error("could not read {what} ({reason}); {advice}")]
    Unreadable {
        /// The file, and of what it tells.
        what: String,
        /// What is wrong with it.
        reason: String,
        /// What to change.
        advice: &'static str,
    },
}

/// So much of an answer that is not understood is shown.
const SHOWN: usize = 60;

impl Trouble {
    /// An answer that was not understood.
    pub(super) fn strange(place: &str, answer: &str, wanted: &'static str) -> Self {
        let line = answer.lines().next().unwrap_or_default();
        let answer = line.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
        Self::Strange { place: place.to_owned(), answer, wanted }
    }

    /// A server that wants a password, or another one.
    pub(super) fn refused_password(place: &str, reason: &str) -> Self {
        let advice = "give its password, as in redis://:password@host:6379";
        Self::Refused { place: place.to_owned(), reason: reason.to_owned(), advice }
    }

    /// What an error of an exchange under way means.
    pub(super) fn broken(place: &str, reason: &io::Error) -> Self {
        let place = place.to_owned();
        match reason.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Late { place },
            io::ErrorKind::UnexpectedEof => Self::Broken { place, reason: "connection closed".to_owned() },
            _ => Self::Broken { place, reason: reason.to_string() },
        }
    }
}
