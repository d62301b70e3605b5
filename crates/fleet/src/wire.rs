//! The messages between the conductor and its agents, and their subjects.
//!
//! Commands and signs of life go over plain NATS: each carries the complete state of its direction and is repeated, so a lost one
//! costs half a second. Messages of agents go over JetStream in numbered batches.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plimsoll_conductor::peers::Command;
use plimsoll_units::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::wall_clock::MachineClocks;

/// How often an agent sends its sign of life, and its conductor the state of the run.
pub(crate) const REPEAT: Duration = Duration::from_millis(500);
/// Room for the headers of a message within the broker's largest message.
pub(crate) const HEADERS_BYTES: usize = 1024;
/// Number of hexadecimal digits in the name of a run.
pub(crate) const RUN_DIGITS: usize = 16;
/// The largest unpacked message. A fleet sends no larger one; a larger one is damaged or an attack.
const MAX_UNPACKED_BYTES: u64 = 1 << 28;
/// Shorter texts, such as signs of life, are sent uncompressed: deflating one takes longer than all other work on it.
const DEFLATED_FROM_BYTES: usize = 1024;
/// The first byte of packed data says how it is encoded.
const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// The sign of life of an agent, sent each half second and after each command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Alive {
    pub(crate) agent: String,
    /// Drawn at random by each process: the same name with another incarnation is a restarted agent.
    pub(crate) incarnation: u64,
    pub(crate) version: String,
    /// The run it takes part in.
    pub(crate) run: Option<String>,
    /// Number of commands of that run received without a gap.
    pub(crate) commands: u64,
    /// Why it refused the last invitation.
    pub(crate) refusal: Option<Refusal>,
    /// The last message that the agent did not obey.
    pub(crate) distrusted: Option<Refusal>,
    /// The run whose messages the agent holds: the one it takes part in, or one whose conductor is gone.
    pub(crate) held: Option<Held>,
}

/// The position of an agent in the run whose messages it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) run: String,
    /// Term of the conductor that it obeys.
    pub(crate) term: u64,
    /// Time since that conductor was last heard.
    pub(crate) silent: Duration,
    /// Number of its first message that is not known to be in the run file.
    pub(crate) first: u64,
    /// Number of commands received without a gap.
    pub(crate) commands: u64,
}

/// Why an agent does not take part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) run: String,
    pub(crate) why: String,
}

/// A message of the conductor to one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToAgent {
    /// Take part in a run. Repeated until the agent says that it does.
    Join(Invitation),
    State(State),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invitation {
    pub(crate) run: String,
    /// Incarnation of the invited agent.
    pub(crate) incarnation: u64,
    pub(crate) version: String,
    /// The frozen plan as JSON.
    pub(crate) plan: String,
    /// The plan's CSV file, in base64.
    pub(crate) csv: Option<String>,
    /// How long frames wait for others, to be handed over in one batch.
    pub(crate) gather: Duration,
}

/// The complete state of the run for one agent, sent each half second and with each command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) run: String,
    pub(crate) incarnation: u64,
    /// Term of the conductor. One that takes over a run has a higher term than all before it, and is obeyed instead of them.
    pub(crate) term: u64,
    /// When it was sent, by the conductor's clock. A state that is no later than the last one is a replay.
    pub(crate) sent: Instant,
    /// The number of the first of `commands`.
    pub(crate) first: u64,
    /// Commands that the agent has not confirmed.
    pub(crate) commands: Vec<Command>,
    /// How many messages of the agent have arrived without a gap.
    pub(crate) received: u64,
    /// How many of them are safe in the run file.
    pub(crate) kept: u64,
    /// The run has ended.
    pub(crate) over: bool,
}

/// A conductor's answer to a request for its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClockAnswer {
    /// Term of the conductor that answers; each conductor has its own clock.
    pub(crate) term: u64,
    pub(crate) received: Instant,
    pub(crate) answered: Instant,
    /// The clocks of the conductor's machine.
    pub(crate) clocks: MachineClocks,
}

/// The subjects of one fleet: several may share a broker.
#[derive(Debug, Clone)]
pub(crate) struct Subjects {
    fleet: String,
}

impl Subjects {
    pub(crate) fn new(fleet: &str) -> Self {
        Self { fleet: fleet.to_owned() }
    }

    pub(crate) fn alive(&self, agent: &str) -> String {
        format!("plimsoll.{}.alive.{agent}", self.fleet)
    }

    pub(crate) fn to(&self, agent: &str) -> String {
        format!("plimsoll.{}.to.{agent}", self.fleet)
    }

    pub(crate) fn clock(&self, run: &str) -> String {
        format!("plimsoll.{}.clock.{run}", self.fleet)
    }

    pub(crate) fn frames(&self, run: &str, agent: &str) -> String {
        format!("plimsoll.{}.frames.{run}.{agent}", self.fleet)
    }

    /// Subject prefix for the replies to an agent; no other agent may subscribe to it.
    pub(crate) fn inbox(&self, agent: &str) -> String {
        format!("plimsoll.{}.inbox.{agent}", self.fleet)
    }

    /// The name of the stream that holds the frames of a run.
    pub(crate) fn stream(&self, run: &str) -> String {
        format!("plimsoll-{}-{run}", self.fleet)
    }
}

/// Whether a text can be a part of a subject: letters, digits, `-` and `_`, at most 64 of them.
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(fits)
}

/// Returns the sign of life in a message; `None` if it is not from the agent that may publish on this subject.
pub(crate) fn sign_of(message: &async_nats::Message) -> Option<Alive> {
    unpack(&message.payload).ok().filter(|alive: &Alive| is_of(&message.subject, &alive.agent))
}

fn is_of(subject: &str, agent: &str) -> bool {
    subject.rsplit('.').next() == Some(agent)
}

/// Encodes a value as JSON, deflated if it is long.
pub(crate) fn pack(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(value)?;
    if json.len() < DEFLATED_FROM_BYTES {
        return Ok([&[PLAIN], json.as_slice()].concat());
    }
    let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::fast());
    encoder.write_all(&json)?;
    encoder.finish()
}

/// Decodes a value that [`pack`] encoded.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    unpack_within(MAX_UNPACKED_BYTES, bytes)
}

/// Like [`unpack`], but reads at most `most` bytes of inflated JSON.
pub(crate) fn unpack_within<T: DeserializeOwned>(most: u64, bytes: &[u8]) -> io::Result<T> {
    match bytes.split_first() {
        Some((&PLAIN, json)) => Ok(serde_json::from_slice(json)?),
        Some((&DEFLATED, deflated)) => {
            let mut json = Vec::new();
            DeflateDecoder::new(deflated).take(most).read_to_end(&mut json)?;
            Ok(serde_json::from_slice(&json)?)
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is neither JSON nor deflated")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let alive = Alive {
            agent: "a-1".to_owned(),
            incarnation: u64::MAX,
            version: "1".to_owned(),
            run: None,
            commands: 3,
            refusal: Some(Refusal { run: "r".to_owned(), why: "it is \"closed\"".to_owned() }),
            distrusted: None,
            held: Some(Held {
                run: "r".to_owned(),
                term: 1 << 40,
                silent: Duration::from_millis(1_500),
                first: 7,
                commands: 2,
            }),
        };
        assert_eq!(unpack::<Alive>(&pack(&alive).unwrap()).unwrap(), alive);
        let long = "of many frames".repeat(1000);
        let packed = pack(&long).unwrap();
        assert!(packed.len() < long.len() / 10, "{}", packed.len());
        assert_eq!(unpack::<String>(&packed).unwrap(), long);
        for unreadable in [b"".as_slice(), b"\0not JSON", b"\x01not deflated", b"{}"] {
            assert!(unpack::<Alive>(unreadable).is_err());
        }
    }

    #[test]
    fn an_agent_speaks_for_itself_only() {
        let subject = Subjects::new("f").alive("rack-1");
        assert!(is_of(&subject, "rack-1"));
        assert!(!is_of(&subject, "rack-2") && !is_of(&subject, "1") && !is_of(&subject, ""));
    }

    #[test]
    fn names_are_parts_of_subjects() {
        for good in ["a", "agent-7", "A_b"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a.b", "a b", "*", ">", "ä", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
