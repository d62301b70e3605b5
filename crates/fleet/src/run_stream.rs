//! The stream of a run at the broker: what its agents have sent and is not in the run file yet.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind,
};
use async_nats::jetstream::stream::{self, Stream};
use async_nats::jetstream::{self, ErrorCode};
use futures_util::StreamExt as _;
use plimsoll_units::{best_effort, named, unix_time};

use crate::broker::Broker;
use crate::error::FleetError;
use crate::wire::{RUN_DIGITS, Subjects};

/// The largest size of a run's stream. The broker reserves it, also for a run whose conductor died. Without enough room a smaller
/// stream is made. What does not fit waits at its agent.
const BYTES_MAX: i64 = 8 << 30;
const BYTES_MIN: i64 = 128 << 20;
/// What a dead conductor has left in the stream expires after this time. The empty stream is removed once another run of the fleet
/// needs the room.
const AGE_MAX: Duration = Duration::from_secs(24 * 3600);
/// A second copy of a message is dropped within this time.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How many copies of a frame a cluster keeps, so that the loss of one node stops nothing.
const REPLICAS: usize = 3;
/// Error code for more than one replica on a server that is no cluster.
const NOT_CLUSTERED: ErrorCode = ErrorCode(10_074);
/// Error code if the server cannot reserve so many bytes.
const NO_ROOM: ErrorCode = ErrorCode(10_047);
/// Error code if no node of a cluster can take the stream, and the text that says it lacks storage.
const NO_NODE: ErrorCode = ErrorCode(10_005);
const FOR_STORAGE: &str = "insufficient storage";
/// Error code if the account may have no stream of so many bytes.
const TOO_LARGE: ErrorCode = ErrorCode::STREAM_MAX_STREAM_BYTES_EXCEEDED;
/// Error code if the account may have no more streams.
const TOO_MANY: ErrorCode = ErrorCode::MAXIMUM_STREAMS_LIMIT;

/// Finds, makes and removes the stream of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunStream {
    context: jetstream::Context,
    /// The broker as users know it.
    address: String,
    subjects: Subjects,
    run: String,
}

impl RunStream {
    pub(crate) fn new(client: &Client, broker: &Broker, run: &str) -> Self {
        let (context, address) = (jetstream::new(client.clone()), broker.address.to_string());
        Self { context, address, subjects: broker.subjects(), run: run.to_owned() }
    }

    fn name(&self) -> String {
        self.subjects.stream(&self.run)
    }

    /// Returns the stream and the number of batches it holds; `None` if it is gone or the broker does not answer.
    pub(crate) async fn left(&self) -> Option<(Stream, u64)> {
        let stream = self.context.get_stream(self.name()).await.ok()?;
        let batches = stream.get_info().await.ok()?.state.messages;
        Some((stream, batches))
    }

    /// Finds the stream; `None` if the broker has none.
    ///
    /// # Errors
    /// When the broker does not answer.
    pub(crate) async fn find(&self) -> Result<Option<Stream>, GetStreamError> {
        match self.context.get_stream(self.name()).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes the stream: on three nodes in a cluster, and as large as the broker has room for.
    pub(crate) async fn make(&self) -> Result<Stream, FleetError> {
        let (mut bytes, mut replicas, mut is_cleaned) = (BYTES_MAX, REPLICAS, false);
        loop {
            match self.context.create_stream(self.config(bytes, replicas)).await {
                Ok(stream) => return Ok(stream),
                Err(error) if is(&error, NOT_CLUSTERED) && replicas > 1 => replicas = 1,
                Err(error) if !is_cleaned && (has_no_room(&error) || is(&error, TOO_MANY)) => {
                    self.remove_forgotten().await;
                    is_cleaned = true;
                }
                Err(error) if bytes > BYTES_MIN && (has_no_room(&error) || is(&error, TOO_LARGE)) => {
                    bytes /= 2;
                }
                Err(error) => return Err(self.not_made(&error).await),
            }
        }
    }

    fn config(&self, max_bytes: i64, num_replicas: usize) -> stream::Config {
        stream::Config {
            name: self.name(),
            subjects: vec![self.subjects.frames(&self.run, "*")],
            storage: stream::StorageType::File,
            // A message that is in the run file is removed from the stream.
            retention: stream::RetentionPolicy::WorkQueue,
            discard: stream::DiscardPolicy::New,
            max_bytes,
            max_age: AGE_MAX,
            duplicate_window: DUPLICATE_WINDOW,
            num_replicas,
            ..stream::Config::default()
        }
    }

    async fn not_made(&self, error: &CreateStreamError) -> FleetError {
        use CreateStreamErrorKind::{JetStreamUnavailable, TimedOut};
        let why = error.to_string();
        if matches!(error.kind(), JetStreamUnavailable | TimedOut) {
            return FleetError::NoJetStream { address: self.address.clone(), why };
        }
        let others: Vec<String> = match has_no_room(error) || is(error, TOO_MANY) {
            true => self.others().await.into_iter().map(|other| other.name).collect(),
            false => Vec::new(),
        };
        match others.is_empty() {
            true => FleetError::Stream { why },
            false => FleetError::NoRoom { why, streams: named(&others) },
        }
    }

    /// Removes streams of the fleet that are empty and whose conductors died long ago.
    async fn remove_forgotten(&self) {
        let now_sec = unix_time().as_secs().cast_signed();
        for other in self.others().await.iter().filter(|other| other.is_forgotten(now_sec)) {
            best_effort(self.context.delete_stream(&other.name).await, "a smaller stream may still fit");
        }
    }

    /// The streams of other runs of this fleet, as far as the broker names them.
    async fn others(&self) -> Vec<OtherStream> {
        let (mut listed, mut others) = (self.context.streams(), Vec::new());
        while let Some(Ok(info)) = listed.next().await {
            if is_of_other_run(&info.config.name, &self.subjects, &self.run) {
                others.push(OtherStream {
                    name: info.config.name,
                    messages: info.state.messages,
                    created_sec: info.created.unix_timestamp(),
                    last_sec: info.state.last_timestamp.unix_timestamp(),
                });
            }
        }
        others
    }

    /// Removes the stream.
    pub(crate) async fn remove(&self) {
        best_effort(self.context.delete_stream(self.name()).await, "an empty stream is left at the broker");
    }
}

/// The stream of another run; its times are seconds since 1970 by the broker's clock.
#[derive(Debug, Clone)]
struct OtherStream {
    name: String,
    messages: u64,
    created_sec: i64,
    /// When the last message arrived; long before 1970 if none ever did.
    last_sec: i64,
}

impl OtherStream {
    /// True if the stream is of no more use: all that it held has expired or is in a file, and its run ended long ago.
    fn is_forgotten(&self, now_sec: i64) -> bool {
        let used_sec = self.created_sec.max(self.last_sec);
        self.messages == 0 && now_sec.saturating_sub(used_sec) > AGE_MAX.as_secs().cast_signed()
    }
}

/// True if a stream has the name of one of this fleet, and not of this run. The name of one fleet may be a prefix of another's.
fn is_of_other_run(name: &str, subjects: &Subjects, own: &str) -> bool {
    let is_run = |run: &str| run.len() == RUN_DIGITS && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.strip_prefix(&subjects.stream("")).is_some_and(|run| is_run(run) && run != own)
}

fn has_no_room(error: &CreateStreamError) -> bool {
    is(error, NO_ROOM) || is(error, NO_NODE) && error.to_string().contains(FOR_STORAGE)
}

fn is(error: &CreateStreamError, code: ErrorCode) -> bool {
    matches!(error.kind(), CreateStreamErrorKind::JetStream(answer) if answer.error_code() == code)
}

fn is_not_found(error: &GetStreamError) -> bool {
    let not_found = ErrorCode::STREAM_NOT_FOUND;
    matches!(error.kind(), GetStreamErrorKind::JetStream(answer) if answer.error_code() == not_found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_forgotten_once_it_is_empty_and_has_not_been_used_for_as_long_as_its_messages_last() {
        let day = AGE_MAX.as_secs().cast_signed();
        let unused = OtherStream { name: String::new(), messages: 0, created_sec: 1_000, last_sec: -day };
        assert!(!unused.is_forgotten(1_000 + day));
        assert!(unused.is_forgotten(1_001 + day));
        let used = OtherStream { last_sec: 2_000, ..unused.clone() };
        assert!(!used.is_forgotten(2_000 + day), "its run may go on");
        assert!(used.is_forgotten(2_001 + day));
        assert!(
            !OtherStream { messages: 1, ..unused }.is_forgotten(9 * day),
            "it holds what a resumption needs"
        );
    }

    #[test]
    fn only_streams_of_the_fleet_are_removed() {
        let (subjects, own) = (Subjects::new("a"), "00000000000000aa");
        let is_other = |name: &str| is_of_other_run(name, &subjects, own);
        assert!(is_other("plimsoll-a-00000000000000ab"));
        assert!(!is_other("plimsoll-a-00000000000000aa"), "of this run");
        assert!(!is_other("plimsoll-a-b-00000000000000ab"), "of fleet a-b");
        assert!(!is_other("plimsoll-b-00000000000000ab") && !is_other("orders") && !is_other("plimsoll-a-x"));
    }
}
