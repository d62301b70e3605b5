//! The requests in flight on one connection: in which order they are answered, and what received bytes or the end of the
//! connection mean for each of them.
//!
//! This file knows HTTP/1.1, whose responses come in the order of the requests; `streams` adds HTTP/2.

use plimsoll_http::{Finish, Response, ResponseParser};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::ledger::{Ledger, Request, Shared};
use crate::failure::malformed_failure;

/// What received bytes mean for the connection.
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
    /// Bytes arrived while no request was under way.
    Unrequested,
}

impl ReadOutcome {
    /// True if the connection goes on.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Incomplete | Self::Answered)
    }

    /// The outcome of this piece of bytes and a next one. The first outcome that ends the connection stands.
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
    /// It closed in order.
    Orderly,
    /// The connection was reset, or broke.
    Reset,
}

impl CloseKind {
    /// The failure of a request that got no byte of a response.
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
    /// The ledger's position of entry 0.
    first_position: usize,
    count: u16,
    depth: u16,
    order: Order,
    parser: ResponseParser,
    /// At least one response came over the present socket.
    pub(super) answered_before: bool,
}

/// Which entries the requests in flight have.
#[derive(Debug)]
enum Order {
    /// Responses come in order: a ring that begins at the entry of the oldest.
    Pipeline { first: u16 },
    /// Responses come in any order.
    Streams(Box<StreamOrder>),
}

#[derive(Debug)]
struct StreamOrder {
    /// Entries under way, the oldest first.
    active: Vec<u16>,
    free: Vec<u16>,
    /// Of the active entries, those that no stream carries: the server refused them, or they found no stream. They are
    /// sent again when there is one.
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

    /// How many more requests may be under way.
    #[inline]
    pub(super) fn room(&self) -> u16 {
        self.depth - self.count
    }

    /// The ledger's position of an entry.
    #[inline]
    pub(super) fn position(&self, entry: u16) -> usize {
        self.first_position + usize::from(entry)
    }

    /// The entry of request number `index`, the oldest being 0.
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

    /// The number of the request with this entry; `None` if none has it, or responses come in order.
    pub(super) fn index_of(&self, entry: u16) -> Option<u16> {
        match &self.order {
            Order::Pipeline { .. } => None,
            Order::Streams(streams) => {
                streams.active.iter().position(|active| *active == entry).map(|index| index as u16)
            }
        }
    }

    /// No stream carries the request with this entry for now.
    pub(super) fn mark_refused(&mut self, entry: u16) {
        if let Order::Streams(streams) = &mut self.order
            && !streams.refused.contains(&entry)
        {
            streams.refused.push(entry);
        }
    }

    /// The entries that no stream carries, the one refused first coming first.
    pub(super) fn refused(&self) -> &[u16] {
        match &self.order {
            Order::Pipeline { .. } => &[],
            Order::Streams(streams) => &streams.refused,
        }
    }

    /// True if no stream carries request number `index`.
    pub(super) fn is_refused(&self, index: u16) -> bool {
        !self.refused().is_empty() && self.refused().contains(&self.entry(index))
    }

    pub(super) fn request<'a>(&self, index: u16, ledger: &'a Ledger) -> &'a Request {
        ledger.request(self.position_of(index))
    }

    pub(super) fn request_mut<'a>(&self, index: u16, ledger: &'a mut Ledger) -> &'a mut Request {
        ledger.request_mut(self.position_of(index))
    }

    /// Adds a request as the newest; gives its entry.
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

    /// Removes request number `index`; in a pipeline that is the oldest.
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

    /// Request number `index` is answered.
    #[inline]
    pub(super) fn complete(&mut self, index: u16, response: Response, now: Instant, ledger: &mut Ledger) {
        ledger.record_completed(self.position_of(index), response, now);
        self.answered_before = true;
        self.remove(index, ledger);
    }

    /// Request number `index` failed.
    pub(super) fn fail(&mut self, index: u16, kind: FailureKind, ledger: &mut Ledger) {
        ledger.record_failed(self.position_of(index), kind);
        self.remove(index, ledger);
    }

    /// All requests failed.
    pub(super) fn fail_all(&mut self, kind: FailureKind, ledger: &mut Ledger) {
        while !self.is_empty() {
            self.fail(0, kind, ledger);
        }
    }

    /// The oldest request is given up: it goes into the histograms at its present age.
    pub(super) fn give_up_oldest(&mut self, kind: FailureKind, now: Instant, ledger: &mut Ledger) {
        ledger.record_given_up(self.position_of(0), kind, now);
        self.remove(0, ledger);
    }

    /// The requests in flight got not a byte of a response. If the server closed the connection between two requests
    /// (`between_requests`), those that may be sent again stay; the others failed. That ends, because a connection that
    /// answered nothing was not closed between requests. Requests that the server refused stay in any case, but not for
    /// ever.
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

    /// Bytes of the oldest response's body that are still to come and that need not be seen.
    pub(super) fn discardable_bytes(&self) -> u64 {
        if self.is_empty() { 0 } else { self.parser.unseen_bytes() }
    }

    /// Bytes of HTTP/1.1 responses arrived. `sending` is true while the newest request is not written to its end.
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

    /// Bytes of the oldest response's body arrived and were discarded.
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

    /// The oldest request is answered. A response to a request that is not fully written leaves the rest of the request
    /// unread by the server, so that the connection cannot be used again. While several requests are under way, what is
    /// not written belongs to later ones.
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

    /// A connection of HTTP/1.1 ended while requests were under way. `truncated` says that TLS did not end in order.
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
