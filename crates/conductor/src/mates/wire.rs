//! What the generators of one run say to each other: lines of JSON over a socket of their machine.
//!
//! Instants are of the monotonic clock, which all processes of a machine share.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use plimsoll_plan::Level;
use plimsoll_record::Frame;
use plimsoll_units::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A line may be this long, which is a hundred times the longest frame that was seen.
const LINE_BYTES_MAX: u64 = 1 << 24;

/// What the leader asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wish {
    /// Make your share of a step.
    Begin(StepShare),
    /// End the load; what is under way is still waited for.
    EndLoad,
    /// End the load and wait for nothing.
    Abandon,
}

/// A step as the leader wants it made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepWish {
    pub(crate) step: u32,
    pub(crate) level: Level,
    pub(crate) limit: Duration,
    /// Workers of all generators together that take part.
    pub(crate) workers: u32,
    pub(crate) begins: Instant,
    /// The longest interval of one frame.
    pub(crate) interval: Duration,
    /// When the run began.
    pub(crate) origin: Instant,
}

/// A mate's share of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StepShare {
    pub(super) step: StepWish,
    /// Workers of the generators before this one.
    pub(super) workers_before: u32,
    /// Workers of this one that take part.
    pub(super) own_workers: u32,
}

/// What a mate tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// It could begin, with so many workers.
    Ready {
        /// The version of the tool, which must be the leader's.
        version: String,
        /// Its worker threads.
        workers: u32,
    },
    /// Its workers stood ready this long after the load was to begin; zero if they were in time.
    Began {
        /// Nanoseconds.
        late_ns: u64,
    },
    /// A frame.
    Frame(Box<Frame>),
    /// Its share of the step is over, and what went wrong with it if something did.
    Ended {
        /// In words.
        fault: Option<String>,
    },
    /// It cannot go on.
    Failed {
        /// In words.
        why: String,
    },
}

/// Writes one line.
pub(super) fn say(mut to: &UnixStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads lines until the other side is gone, or says what is none of ours.
pub(super) struct Lines(BufReader<UnixStream>);

impl Lines {
    pub(super) fn of(stream: &UnixStream) -> io::Result<Self> {
        stream.try_clone().map(BufReader::new).map(Self)
    }

    /// The next line, which is waited for; `None` once the other side is gone.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 { Ok(None) } else { Ok(Some(serde_json::from_slice(&line)?)) }
    }
}
