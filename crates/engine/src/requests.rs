//! The requests of a step: one fixed request, or requests generated one by one by a source for each worker.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_http::{Expect, Field, asks_to_close};
use plimsoll_plan::Shard;
use plimsoll_record::TraceId;

/// Properties of a request that the engine needs besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestMeta {
    /// Index of the request in the plan.
    pub request: u16,
    /// How its response is framed.
    pub expect: Expect,
    /// True if it may be sent again after the server closed the connection before any response (RFC 9110, section 9.2.2).
    pub idempotent: bool,
    /// True if it asks to close the connection after its response. Nothing may be sent on the connection after it, whether
    /// the server closes it or not (RFC 9112, section 9.6).
    pub closes: bool,
    /// Length of the head, which the body follows. Only HTTP/2 needs it; there the head is a header block.
    pub head_bytes: u32,
    /// The number of the trace that it carries, from 1; 0 if it carries none. Its source maps the number to an id.
    pub trace: u32,
}

impl RequestMeta {
    /// Properties of an HTTP/1.1 request with this method and these bytes; index 0 in the plan.
    #[must_use]
    pub fn for_text(method: &str, text: &[u8]) -> Self {
        Self { closes: text_asks_to_close(text), ..Self::for_method(method) }
    }

    /// Properties of a request with this method; index 0 in the plan.
    #[must_use]
    pub fn for_method(method: &str) -> Self {
        let idempotent = matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE");
        let expect = if method == "HEAD" { Expect::NoBody } else { Expect::Body };
        Self { request: 0, expect, idempotent, closes: false, head_bytes: 0, trace: 0 }
    }
}

/// True if the request's head has a `Connection` field with the option `close`.
fn text_asks_to_close(text: &[u8]) -> bool {
    const NAME: &[u8] = b"connection:";
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let is_field = |line: &&[u8]| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    lines
        .take_while(|line| !line.trim_ascii().is_empty())
        .filter(is_field)
        .any(|line| asks_to_close(&line[NAME.len()..]))
}

/// One request that is sent unchanged each time.
#[derive(Debug, Clone)]
pub struct FixedRequest {
    /// The bytes on the wire; for HTTP/2 the header block followed by the body.
    pub bytes: Arc<[u8]>,
    pub meta: RequestMeta,
}

impl FixedRequest {
    /// Creates a request from its method and its complete HTTP/1.1 bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>, method: &str) -> Self {
        let meta = RequestMeta::for_text(method, &bytes);
        Self { bytes: bytes.into(), meta }
    }
}

/// The requests of a step.
#[derive(Clone)]
pub enum Traffic {
    /// The same request each time. The driver gets its bytes in advance, so generating it costs nothing.
    Fixed(FixedRequest),
    /// Generated one by one.
    Generated(Arc<dyn SourceFactory>),
}

impl std::fmt::Debug for Traffic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(request) => f.debug_tuple("Fixed").field(request).finish(),
            Self::Generated(_) => f.write_str("Generated(..)"),
        }
    }
}

/// A complete response, as a source sees it.
#[derive(Debug)]
pub struct ResponseView<'a> {
    /// Status code, from 200 to 999: interim responses are not passed on.
    pub status: u16,
    /// The header fields in the order of arrival; empty unless the interest is [`ResponseInterest::Full`].
    pub fields: &'a [Field<'a>],
    /// The body without its framing, cut off at [`MAX_KEPT_BODY_BYTES`], or earlier if tiny chunks fill the buffer with framing.
    pub body: &'a [u8],
    /// The body's full length.
    pub body_bytes: u64,
    /// True if the server keeps the connection open for further requests.
    pub keep_alive: bool,
}

/// Maximum length of a body that is kept for inspection.
pub const MAX_KEPT_BODY_BYTES: usize = 1024 * 1024;

/// The parts of each response that a source inspects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResponseInterest {
    /// Nothing: bodies may be discarded unseen.
    None,
    /// Status and length. Bodies may be discarded unseen.
    Outcome,
    /// Everything: fields and bodies are kept.
    Full,
}

/// The result of checking a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    /// Nothing was checked: the status decides.
    ByStatus,
    /// The response is right, whatever its status.
    Passed,
    /// The response failed checks: bit `n` stands for the check with index `n` in the plan.
    Failed(u32),
}

/// Why a source failed, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceFault(pub String);

/// Generates the requests of one worker. It is dropped when the worker ends.
pub trait RequestSource: Send {
    /// Appends the next request to `out`.
    ///
    /// # Errors
    /// When it cannot be generated. The worker's load ends then.
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault>;

    /// How many requests one call of [`RequestSource::write`] appends. They are sent together; the next batch follows when
    /// all of them are answered.
    fn batch(&self) -> u16 {
        1
    }

    /// Returns the think time of a connection before its next request. Called once for each request.
    ///
    /// # Errors
    /// When it cannot be determined. The worker's load ends then.
    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        Ok(Duration::ZERO)
    }

    /// The parts of each response that it inspects.
    fn interest(&self) -> ResponseInterest {
        ResponseInterest::None
    }

    /// Inspects the response to the request with index `request` in the plan. Called unless the interest is
    /// [`ResponseInterest::None`].
    ///
    /// # Errors
    /// When inspecting itself fails. The worker's load ends then; a wrong response is a [`CheckResult`].
    fn inspect(&mut self, request: u16, response: &ResponseView<'_>) -> Result<CheckResult, SourceFault>;

    /// Returns the id of the trace with this number; `None` if its requests carry no traces.
    fn trace_id(&self, _number: u32) -> Option<TraceId> {
        None
    }

    /// True once it will generate no more requests.
    fn stopped(&self) -> bool {
        false
    }
}

/// Creates the sources of a step, one for each worker.
pub trait SourceFactory: Send + Sync {
    /// Creates the source of one worker.
    ///
    /// # Errors
    /// When it cannot be created.
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>>;
}

/// The requests of one worker.
pub(crate) enum Requests {
    Fixed(FixedRequest),
    Generated(Box<dyn RequestSource>),
}

/// The source of one worker, with its state.
pub(crate) struct Source {
    pub(crate) requests: Requests,
    batch: u16,
    stopped: bool,
    fault: Option<SourceFault>,
}

impl Source {
    /// Creates the source of one worker.
    pub(crate) fn new(traffic: &Traffic, shard: Shard) -> io::Result<Self> {
        let requests = match traffic {
            Traffic::Fixed(request) => Requests::Fixed(request.clone()),
            Traffic::Generated(factory) => Requests::Generated(factory.create(shard)?),
        };
        let batch = match &requests {
            Requests::Fixed(_) => 1,
            Requests::Generated(source) => source.batch().max(1),
        };
        Ok(Self { requests, batch, stopped: false, fault: None })
    }

    pub(crate) fn interest(&self) -> ResponseInterest {
        match &self.requests {
            Requests::Fixed(_) => ResponseInterest::None,
            Requests::Generated(source) => source.interest(),
        }
    }

    /// The length of the request, if it is fixed.
    #[inline]
    pub(crate) fn fixed_bytes(&self) -> Option<usize> {
        match &self.requests {
            Requests::Fixed(request) => Some(request.bytes.len()),
            Requests::Generated(_) => None,
        }
    }

    /// The number of requests that are sent together.
    #[inline]
    pub(crate) fn batch(&self) -> u16 {
        self.batch
    }

    /// True if it generates no more requests, because it is done or because it failed.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the next request and appends its bytes to `out` unless it is fixed; `None` if there are no more.
    #[inline]
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> Option<RequestMeta> {
        match &mut self.requests {
            Requests::Fixed(request) => Some(request.meta),
            Requests::Generated(source) => {
                let written = source.write(out);
                self.note(written)
            }
        }
    }

    /// The think time before the next request.
    pub(crate) fn think_time(&mut self) -> Duration {
        let Requests::Generated(source) = &mut self.requests else { return Duration::ZERO };
        let think_time = source.think_time();
        self.note(think_time).unwrap_or_default()
    }

    /// The id of the trace with this number.
    pub(crate) fn trace_id(&self, number: u32) -> Option<TraceId> {
        match &self.requests {
            Requests::Fixed(_) => None,
            Requests::Generated(source) => source.trace_id(number),
        }
    }

    pub(crate) fn inspect(&mut self, request: u16, response: &ResponseView<'_>) -> CheckResult {
        let Requests::Generated(source) = &mut self.requests else { return CheckResult::ByStatus };
        let result = source.inspect(request, response);
        self.note(result).unwrap_or(CheckResult::ByStatus)
    }

    /// Updates the state after a call of a generating source: failed or stopped.
    fn note<T>(&mut self, result: Result<T, SourceFault>) -> Option<T> {
        if let Requests::Generated(source) = &self.requests {
            self.stopped |= source.stopped() || result.is_err();
        }
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }

    /// Why the source failed; `None` if it did not.
    pub(crate) fn into_fault(self) -> Option<SourceFault> {
        self.fault
    }
}
