//! State that the connections of one worker share: the requests in flight, and the record of how they ended.

use std::sync::Arc;

use plimsoll_http::{Expect, ParserMemory, Response, h2};
use plimsoll_record::{FailureKind, Trace};
use plimsoll_units::Instant;

use super::inspector::Inspector;
use crate::control::FirstConnection;
use crate::frame_recorder::{Completed, FrameRecorder};
use crate::requests::{CheckResult, RequestMeta, Source};
use crate::step_spec::StepSpec;

/// A request in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// When the request was due.
    pub(crate) intended: Instant,
    /// When it was last sent.
    pub(crate) sent: Instant,
    pub(crate) meta: RequestMeta,
    /// Number of refusals that count towards `MAX_REFUSALS`.
    pub(crate) refusals: u8,
}

impl Request {
    const UNUSED: Self = Self {
        intended: Instant::from_nanos(0),
        sent: Instant::from_nanos(0),
        meta: RequestMeta {
            request: 0,
            expect: Expect::Body,
            idempotent: false,
            closes: false,
            head_bytes: 0,
            trace: 0,
        },
        refusals: 0,
    };

    pub(crate) fn new(intended: Instant, sent: Instant, meta: RequestMeta) -> Self {
        Self { intended, sent, meta, refusals: 0 }
    }
}

/// How a request that carried a trace id ended.
struct TraceEnd {
    latency_ns: Option<u64>,
    result: Result<Completed, FailureKind>,
}

/// The requests in flight on all connections of a worker, by position, and the record of all requests that ended.
///
/// Each connection has `depth` positions; only the connection knows which of them are in use.
pub(crate) struct Ledger {
    pub(crate) recorder: FrameRecorder,
    pub(crate) source: Source,
    pub(super) inspector: Inspector,
    requests: Vec<Request>,
    in_flight: u64,
    /// Maximum number of requests in flight on one connection.
    depth: u16,
    /// True if requests are streams of HTTP/2 connections.
    streams: bool,
}

impl Ledger {
    /// Number of requests that were sent and have not ended.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    #[inline]
    pub(super) fn depth(&self) -> u16 {
        self.depth
    }

    #[inline]
    pub(super) fn uses_streams(&self) -> bool {
        self.streams
    }

    pub(super) fn request(&self, position: usize) -> &Request {
        &self.requests[position]
    }

    pub(super) fn request_mut(&mut self, position: usize) -> &mut Request {
        &mut self.requests[position]
    }

    /// Stores a request in this position.
    #[inline]
    pub(super) fn enter(&mut self, position: usize, request: Request) {
        self.requests[position] = request;
        self.in_flight += 1;
    }

    /// Releases this position: its request has ended, or moves to another position.
    #[inline]
    pub(super) fn leave(&mut self, position: usize) {
        self.inspector.forget(position);
        self.in_flight -= 1;
    }

    /// Records a complete response to the request in this position.
    #[inline]
    pub(super) fn record_completed(&mut self, position: usize, response: Response, now: Instant) {
        let request = self.requests[position];
        let Request { intended, sent, meta, .. } = request;
        let check = match self.inspector.wants_outcome() {
            true => self.check(position, meta.request, response),
            false => CheckResult::ByStatus,
        };
        let completed = Completed {
            status: response.status,
            check,
            latency_ns: now.nanos_since(intended),
            service_ns: now.nanos_since(sent),
        };
        self.recorder.completed(meta.request, completed);
        if meta.trace != 0 {
            let end = TraceEnd { latency_ns: Some(completed.latency_ns), result: Ok(completed) };
            self.record_trace(&request, end);
        }
    }

    fn check(&mut self, position: usize, request: u16, response: Response) -> CheckResult {
        let Self { inspector, source, streams, .. } = self;
        inspector.show(position, response, *streams, |view| source.inspect(request, view))
    }

    pub(super) fn record_failed(&mut self, position: usize, kind: FailureKind) {
        let request = self.requests[position];
        self.record_failure(&request, kind, None);
    }

    /// Records that a request failed as `kind`; `latency_ns` is the time since it was due, if known.
    pub(super) fn record_failure(&mut self, request: &Request, kind: FailureKind, latency_ns: Option<u64>) {
        self.recorder.failed(request.meta.request, kind, 1);
        if request.meta.trace != 0 {
            self.record_trace(request, TraceEnd { latency_ns, result: Err(kind) });
        }
    }

    /// Records that a request is given up; its current age goes into the histograms.
    pub(super) fn record_given_up(&mut self, position: usize, kind: FailureKind, now: Instant) {
        let request = self.requests[position];
        let latency_ns = now.nanos_since(request.intended);
        self.recorder.ended_after(request.meta.request, latency_ns, now.nanos_since(request.sent));
        self.record_failure(&request, kind, Some(latency_ns));
    }

    /// Records the trace of a request that has ended.
    #[cold]
    fn record_trace(&mut self, request: &Request, end: TraceEnd) {
        let Some(id) = self.source.trace_id(request.meta.trace) else { return };
        let sent_ns = self.recorder.since_origin(request.sent);
        self.recorder.traced(Trace {
            id,
            request: request.meta.request,
            sent_ns,
            latency_ns: end.latency_ns,
            status: end.result.ok().map(|completed| completed.status),
            failure: end.result.err(),
            ok: end.result.is_ok_and(Completed::is_ok),
        });
    }
}

/// The ledger, and the memory that parsers and HTTP/2 connections share.
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    pub(super) parser: ParserMemory,
    /// `Some` if requests are HTTP/2 streams.
    pub(super) h2: Option<Box<h2::Memory>>,
    /// The bytes of the request in each position, kept for generated requests on streams: a refused one can be sent again
    /// whatever was generated after it.
    pub(super) generated: Vec<Vec<u8>>,
    pub(crate) first: Arc<FirstConnection>,
}

impl Shared {
    /// Creates the shared state of a worker, with room for `connections` connections.
    pub(crate) fn new(recorder: FrameRecorder, source: Source, spec: &StepSpec, connections: usize) -> Self {
        let StepSpec { depth, streams, .. } = *spec;
        let inspector = Inspector::new(source.interest());
        let requests = Vec::with_capacity(connections * usize::from(depth));
        let ledger = Ledger { recorder, source, inspector, requests, in_flight: 0, depth, streams };
        let h2 = streams.then(Box::default);
        Self { ledger, parser: ParserMemory::default(), h2, generated: Vec::new(), first: Arc::default() }
    }

    /// Adds the positions of one connection; returns the first.
    pub(super) fn add_positions(&mut self) -> usize {
        let requests = &mut self.ledger.requests;
        let first = requests.len();
        requests.resize(first + usize::from(self.ledger.depth), Request::UNUSED);
        if self.h2.is_some() && self.ledger.source.fixed_bytes().is_none() {
            self.generated.resize_with(requests.len(), Vec::new);
        }
        first
    }
}
