//! The requests in flight on one connection: the order of their responses, and the effect of received bytes or of the end of
//! the connection on each of them.
//!
//! This module handles HTTP/1.1, whose responses come in the order of the requests; `streams` adds HTTP/2.

use plimsoll_http::{Finish, Response, ResponseParser};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::ledger::{Ledger, Request, Shared};
use crate::failure::malformed_failure;

/// The effect of received bytes on the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// A response is incomplete.
    Incomplete,
    /// At least one request was answered, and the connection can carry more.
    Answered,
    /// At least one request was answered, and the connection carries no more.
    Retired,
    /// The oldest request failed, and the connection with it.
    RequestFailed(FailureKind),
    /// The connection failed, and with it every request in flight.
    Failed(FailureKind),
    /// Bytes arrived while no request was in flight.
    Unrequested,
}

impl ReadOutcome {
    /// True if the connection stays open.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Incomplete | Self::Answered)
    }

    /// Combines this outcome with that of the next bytes. The first outcome that ends the connection stands.
    pub(super) fn then(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Incomplete => next(),
            Self::Answered => match next() {
                Self::Incomplete => Self::Answered,
                later => later,
            },
            ended => ended,
        }
    }
}

/// How the peer ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseKind {
    /// It closed the connection in an orderly way.
    Orderly,
    /// The connection was reset or broke.
    Reset,
}

impl CloseKind {
    /// The failure kind of a request whose response had not begun.
    pub(super) fn before_response(self) -> FailureKind {
        match self {
            Self::Orderly => FailureKind::ClosedBeforeResponse,
            Self::Reset => FailureKind::ResetBeforeResponse,
        }
    }

    fn within_response(self) -> FailureKind {
        match self {
            Self::Orderly => FailureKind::ClosedWithinResponse,
            Self::Reset => FailureKind::ResetWithinResponse,
        }
    }
}

/// The requests in flight on one connection, the oldest first. Each has an entry, a number below `depth`.
#[derive(Debug)]
pub(super) struct InFlight {
    /// The position of entry 0 in the ledger.
    first_position: usize,
    count: u16,
    depth: u16,
    order: Order,
    parser: ResponseParser,
    /// True if at least one response came over the current socket.
    pub(super) answered_before: bool,
}

/// The entries of the requests in flight.
#[derive(Debug)]
enum Order {
    /// Responses come in order: entries form a ring that begins at `first`, the entry of the oldest request.
    Pipeline { first: u16 },
    /// Responses come in any order.
    Streams(Box<StreamOrder>),
}

#[derive(Debug)]
struct StreamOrder {
    /// Entries in use, the oldest request first.
    active: Vec<u16>,
    free: Vec<u16>,
    /// Active entries that have no stream, because the server refused them or no stream was free. They are sent again when a
    /// stream is available.
    refused: Vec<u16>,
}

impl Order {
    fn streams(depth: u16) -> Self {
        let active = Vec::with_capacity(usize::from(depth));
        Self::Streams(Box::new(StreamOrder { active, free: (0..depth).rev().collect(), refused: Vec::new() }))
    }
}

impl InFlight {
    pub(super) fn new(shared: &mut Shared) -> Self {
        let depth = shared.ledger.depth();
        Self {
            first_position: shared.add_positions(),
            count: 0,
            depth,
            order: if shared.ledger.uses_streams() {
                Order::streams(depth)
            } else {
                Order::Pipeline { first: 0 }
            },
            parser: ResponseParser::default(),
            answered_before: false,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u16 {
        self.count
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many more requests fit on the connection.
    #[inline]
    pub(super) fn room(&self) -> u16 {
        self.depth - self.count
    }

    /// The position of an entry in the ledger.
    #[inline]
    pub(super) fn position(&self, entry: u16) -> usize {
        self.first_position + usize::from(entry)
    }

    /// The entry of request number `index`; the oldest request has index 0.
    #[inline]
    pub(super) fn entry(&self, index: u16) -> u16 {
        match &self.order {
            Order::Pipeline { first } => (*first + index) % self.depth,
            Order::Streams(streams) => streams.active[usize::from(index)],
        }
    }

    #[inline]
    fn position_of(&self, index: u16) -> usize {
        self.position(self.entry(index))
    }

    /// The index of the request with this entry; `None` if there is none, or if responses come in order.
    pub(super) fn index_of(&self, entry: u16) -> Option<u16> {
        match &self.order {
            Order::Pipeline { .. } => None,
            Order::Streams(streams) => {
                streams.active.iter().position(|active| *active == entry).map(|index| index as u16)
            }
        }
    }

    /// Marks the request with this entry as having no stream for now.
    pub(super) fn mark_refused(&mut self, entry: u16) {
        if let Order::Streams(streams) = &mut self.order
            && !streams.refused.contains(&entry)
        {
            streams.refused.push(entry);
        }
    }

    /// The entries of requests without a stream, in the order of their refusal.
    pub(super) fn refused(&self) -> &[u16] {
        match &self.order {
            Order::Pipeline { .. } => &[],
            Order::Streams(streams) => &streams.refused,
        }
    }

    /// True if request number `index` has no stream.
    pub(super) fn is_refused(&self, index: u16) -> bool {
        !self.refused().is_empty() && self.refused().contains(&self.entry(index))
    }

    pub(super) fn request<'a>(&self, index: u16, ledger: &'a Ledger) -> &'a Request {
        ledger.request(self.position_of(index))
    }

    pub(super) fn request_mut<'a>(&self, index: u16, ledger: &'a mut Ledger) -> &'a mut Request {
        ledger.request_mut(self.position_of(index))
    }

    /// Adds a request as the newest; returns its entry.
    #[inline]
    pub(super) fn push(&mut self, request: Request, ledger: &mut Ledger) -> u16 {
        if self.count == 0 {
            self.parser.reset(request.meta.expect);
        }
        let entry = match &mut self.order {
            Order::Pipeline { first } => (*first + self.count) % self.depth,
            Order::Streams(streams) => {
                let entry = streams.free.pop().unwrap_or_default();
                streams.active.push(entry);
                entry
            }
        };
        self.count += 1;
        ledger.enter(self.position(entry), request);
        entry
    }

    /// Removes request number `index`; in a pipeline this must be the oldest.
    #[inline]
    pub(super) fn remove(&mut self, index: u16, ledger: &mut Ledger) {
        ledger.leave(self.position_of(index));
        self.count -= 1;
        match &mut self.order {
            Order::Pipeline { first } => {
                *first = (*first + 1) % self.depth;
                if self.count > 0 {
                    self.parser.reset(self.request(0, ledger).meta.expect);
                }
            }
            Order::Streams(streams) => {
                let entry = streams.active.remove(usize::from(index));
                streams.refused.retain(|refused| *refused != entry);
                streams.free.push(entry);
            }
        }
    }

    /// Records the response to request number `index` and removes it.
    #[inline]
    pub(super) fn complete(&mut self, index: u16, response: Response, now: Instant, ledger: &mut Ledger) {
        ledger.record_completed(self.position_of(index), response, now);
        self.answered_before = true;
        self.remove(index, ledger);
    }

    /// Records the failure of request number `index` and removes it.
    pub(super) fn fail(&mut self, index: u16, kind: FailureKind, ledger: &mut Ledger) {
        ledger.record_failed(self.position_of(index), kind);
        self.remove(index, ledger);
    }

    /// Records the failure of all requests and removes them.
    pub(super) fn fail_all(&mut self, kind: FailureKind, ledger: &mut Ledger) {
        while !self.is_empty() {
            self.fail(0, kind, ledger);
        }
    }

    /// Gives up the oldest request: it is recorded in the histograms at its current age.
    pub(super) fn give_up_oldest(&mut self, kind: FailureKind, now: Instant, ledger: &mut Ledger) {
        ledger.record_given_up(self.position_of(0), kind, now);
        self.remove(0, ledger);
    }

    /// Settles the requests in flight when none of their responses had begun. If the server closed the connection between two
    /// requests (`between_requests`), requests that may be sent again stay; the others fail. This cannot repeat for ever, because
    /// a connection that answered nothing was not closed between requests. Requests that the server refused stay in either
    /// case, up to `MAX_REFUSALS`.
    pub(super) fn settle_unanswered(
        &mut self,
        kind: FailureKind,
        between_requests: bool,
        ledger: &mut Ledger,
    ) {
        for _ in 0..self.count {
            let request = *self.request(0, ledger);
            if self.is_refused(0) {
                self.requeue(0, !between_requests, ledger);
                continue;
            }
            self.remove(0, ledger);
            if between_requests && request.meta.idempotent {
                self.push(request, ledger);
            } else {
                ledger.record_failure(&request, kind, None);
            }
        }
        ledger.recorder.counts(0).reconnects += u64::from(!self.is_empty());
    }

    /// Number of bytes still to come of the oldest response's body that may be discarded unseen.
    pub(super) fn discardable_bytes(&self) -> u64 {
        if self.is_empty() { 0 } else { self.parser.unseen_bytes() }
    }

    /// Reads bytes of HTTP/1.1 responses. `sending` is true while the newest request is not completely written.
    #[inline]
    pub(super) fn read_http1(
        &mut self,
        mut bytes: &[u8],
        sending: bool,
        now: Instant,
        shared: &mut Shared,
    ) -> ReadOutcome {
        let Shared { ledger, parser: memory, .. } = shared;
        let mut outcome = ReadOutcome::Incomplete;
        while !bytes.is_empty() {
            if self.is_empty() {
                return ReadOutcome::Unrequested;
            }
            let advance = match self.parser.advance(bytes, memory) {
                Ok(advance) => advance,
                Err(malformed) => return ReadOutcome::RequestFailed(malformed_failure(malformed)),
            };
            let consumed = if advance.response.is_some() { advance.consumed } else { bytes.len() };
            if ledger.inspector.wants_bytes() {
                ledger.inspector.keep(self.position_of(0), &bytes[..consumed]);
            }
            bytes = &bytes[consumed..];
            let Some(response) = advance.response else { break };
            if self.count == 1 && !bytes.is_empty() {
                return ReadOutcome::RequestFailed(FailureKind::BytesAfterResponse);
            }
            outcome = self.answered_in_order(response, sending, now, ledger);
            if outcome == ReadOutcome::Retired {
                break;
            }
        }
        outcome
    }

    /// Accounts for discarded bytes of the oldest response's body.
    pub(super) fn skip(
        &mut self,
        count: u64,
        sending: bool,
        now: Instant,
        ledger: &mut Ledger,
    ) -> ReadOutcome {
        if self.is_empty() {
            return ReadOutcome::Unrequested;
        }
        match self.parser.skip(count) {
            None => ReadOutcome::Incomplete,
            Some(response) => self.answered_in_order(response, sending, now, ledger),
        }
    }

    /// Completes the oldest request. If it is not completely written when its response ends, the server does not read the rest,
    /// so the connection cannot be used again. With several requests in flight, the unwritten bytes belong to later ones.
    #[inline]
    fn answered_in_order(
        &mut self,
        response: Response,
        sending: bool,
        now: Instant,
        ledger: &mut Ledger,
    ) -> ReadOutcome {
        let unread = self.count == 1 && sending;
        let closes = self.request(0, ledger).meta.closes;
        self.complete(0, response, now, ledger);
        if response.keep_alive && !unread && !closes { ReadOutcome::Answered } else { ReadOutcome::Retired }
    }

    /// Settles the requests in flight when an HTTP/1.1 connection ended. `truncated` is true if TLS did not end properly.
    pub(super) fn close_http1(
        &mut self,
        close: CloseKind,
        (sending, truncated): (bool, bool),
        now: Instant,
        ledger: &mut Ledger,
    ) {
        match (self.parser.finish(), close) {
            (Finish::Complete(response), CloseKind::Orderly) if !truncated => {
                self.complete(0, response, now, ledger);
            }
            (Finish::Complete(_), CloseKind::Orderly) => self.fail(0, FailureKind::TlsRecord, ledger),
            (Finish::Complete(_) | Finish::Within, _) => self.fail(0, close.within_response(), ledger),
            (Finish::Before, _) => {
                let kind = if sending { FailureKind::SendReset } else { close.before_response() };
                return self.settle_unanswered(kind, self.answered_before, ledger);
            }
        }
        self.settle_unanswered(FailureKind::ClosedBeforeResponse, true, ledger);
    }
}
