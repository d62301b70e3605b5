//! What the requests of a step are, and who makes them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_http::{Expect, Field};
use plimsoll_plan::Shard;

/// What the engine has to know about a request beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// Which of the plan's requests it is.
    pub request: u16,
    /// How its response is framed.
    pub expect: Expect,
    /// It may be sent again if a connection was given up before any answer (RFC 9110, section 9.2.2).
    pub idempotent: bool,
    /// Of its bytes, those of the head; the body follows. Only HTTP/2 asks, where the head is a header block.
    pub head_bytes: u32,
}

impl Note {
    /// The note of one request of this method, the plan's first.
    #[must_use]
    pub fn of_method(method: &str) -> Self {
        let idempotent = matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE");
        let expect = if method == "HEAD" { Expect::NoBody } else { Expect::Body };
        Self { request: 0, expect, idempotent, head_bytes: 0 }
    }
}

/// One request that is the same each time.
#[derive(Debug, Clone)]
pub struct FixedRequest {
    /// The request as it goes over the wire; for HTTP/2 its header block and then its body.
    pub bytes: Arc<[u8]>,
    /// What to know about it.
    pub note: Note,
}

impl FixedRequest {
    /// A request of this method, complete as it goes over the wire in HTTP/1.1.
    #[must_use]
    pub fn new(bytes: Vec<u8>, method: &str) -> Self {
        Self { bytes: bytes.into(), note: Note::of_method(method) }
    }
}

/// The requests of a step.
#[derive(Clone)]
pub enum Traffic {
    /// The same each time, which costs nothing.
    Fixed(FixedRequest),
    /// Made one by one.
    Made(Arc<dyn RequestMaker>),
}

impl std::fmt::Debug for Traffic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(request) => f.debug_tuple("Fixed").field(request).finish(),
            Self::Made(_) => f.write_str("Made(..)"),
        }
    }
}

/// A response, for those who look into it.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The header fields in the order they came; none if nobody wants to see them.
    pub fields: &'a [Field<'a>],
    /// The body without its framing; cut off if it is longer than [`BODY_KEPT_MOST_BYTES`].
    pub body: &'a [u8],
    /// The body's true length.
    pub body_bytes: u64,
}

/// The longest response that is kept for those who look into it, in bytes.
pub const BODY_KEPT_MOST_BYTES: usize = 1024 * 1024;

/// How much of the responses a source wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Curiosity {
    /// Nothing: bodies may be thrown away unseen.
    Nothing,
    /// Status and length, which cost nothing either.
    Outcome,
    /// Everything.
    Everything,
}

/// What a source thinks of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It leaves that to the status.
    ByStatus,
    /// It is as it should be, whatever its status.
    Passed,
    /// It fails checks: bit `n` stands for the check with index `n` in the plan.
    Failed(u32),
}

/// Why a request could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceFault(pub String);

/// Makes the requests of one worker.
pub trait RequestSource: Send {
    /// Appends the next request to `out`.
    ///
    /// # Errors
    /// When it cannot be made: the worker's load ends then.
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Note, SourceFault>;

    /// How many requests one call of [`RequestSource::write`] makes: they are sent together, and the next
    /// ones once all of them are answered.
    fn batch(&self) -> u16 {
        1
    }

    /// The pause before a connection's next request, asked for before each.
    ///
    /// # Errors
    /// When it cannot be told: the worker's load ends then.
    fn pause(&mut self) -> Result<Duration, SourceFault> {
        Ok(Duration::ZERO)
    }

    /// How much of the responses it wants to see.
    fn curiosity(&self) -> Curiosity {
        Curiosity::Nothing
    }

    /// Looks at the response to the plan's request of this index; called if it is curious.
    ///
    /// # Errors
    /// Failing at it ends the worker's load; a response that is not as it should be is a [`Judgement`].
    fn answered(&mut self, request: u16, answer: &Answer<'_>) -> Result<Judgement, SourceFault>;

    /// True once it wants no more requests to be made.
    fn stopped(&self) -> bool {
        false
    }
}

/// Makes the sources of a step, one for each worker.
pub trait RequestMaker: Send + Sync {
    /// The source of this worker.
    ///
    /// # Errors
    /// When it cannot be made.
    fn source(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>>;

    /// Takes a source back when its worker has ended.
    fn give_back(&self, shard: Shard, source: Box<dyn RequestSource>);
}
