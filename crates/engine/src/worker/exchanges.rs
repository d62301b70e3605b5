//! The requests under way on all connections, and what becomes of them. No I/O happens here.

use plimsoll_http::{Expect, ParserMemory, Response};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::observer::Observer;
use super::source::Source;
use crate::connection::{Connection, End, Ending, Outcome};
use crate::recorder::{self, Recorder};
use crate::traffic::{Judgement, Note};

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// When it was due.
    pub(super) intended: Instant,
    /// When it was sent, the last time if it was sent twice.
    pub(super) sent: Instant,
    pub(super) note: Note,
}

impl Exchange {
    const NONE: Self = Self {
        intended: Instant::from_nanos(0),
        sent: Instant::from_nanos(0),
        note: Note { request: 0, expect: Expect::Body, idempotent: false, head_bytes: 0 },
    };
}

/// What the bytes that came mean for the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// A response goes on.
    Going,
    /// Something was answered, and the connection can carry more.
    Free,
    /// Something was answered, and the connection can carry nothing more.
    Spent,
    /// The oldest request failed, and the connection with it.
    Broken(FailureKind),
    /// Bytes came that nobody asked for.
    Gone,
}

pub(super) struct Exchanges {
    pub(super) connections: Vec<Connection>,
    pub(super) recorder: Recorder,
    pub(super) source: Source,
    /// The most requests under way on one connection.
    pub(super) depth: u16,
    /// Requests sent and not ended.
    pub(super) in_flight: u64,
    /// `depth` places for each connection.
    places: Vec<Exchange>,
    memory: ParserMemory,
    observer: Observer,
}

impl Exchanges {
    pub(super) fn new(recorder: Recorder, source: Source, connections: usize, depth: u16) -> Self {
        let mut exchanges = Self {
            connections: Vec::with_capacity(connections),
            recorder,
            observer: Observer::new(source.curiosity()),
            source,
            depth,
            in_flight: 0,
            places: Vec::with_capacity(connections * usize::from(depth)),
            memory: ParserMemory::new(),
        };
        (0..connections).for_each(|_| exchanges.add_connection());
        exchanges
    }

    pub(super) fn add_connection(&mut self) {
        self.connections.push(Connection::new());
        self.places.resize(self.connections.len() * usize::from(self.depth), Exchange::NONE);
    }

    /// How many more requests a connection can take now.
    pub(super) fn room(&self, slot: usize) -> u16 {
        let connection = &self.connections[slot];
        if connection.writable() { self.depth - connection.pending } else { 0 }
    }

    fn place(&self, slot: usize, index: u16) -> usize {
        slot * usize::from(self.depth) + usize::from(self.connections[slot].place(index, self.depth))
    }

    /// The request that is number `index` among those under way on a connection, the oldest being 0.
    pub(super) fn of(&mut self, slot: usize, index: u16) -> &mut Exchange {
        let place = self.place(slot, index);
        &mut self.places[place]
    }

    /// A request is about to be sent.
    #[inline]
    pub(super) fn begin(&mut self, slot: usize, intended: Instant, now: Instant, note: Note) {
        let place = self.connections[slot].push(self.depth, note.expect);
        self.places[slot * usize::from(self.depth) + usize::from(place)] =
            Exchange { intended, sent: now, note };
        self.recorder.counts(note.request).sent += 1;
        self.in_flight += 1;
    }

    /// Bytes that are to come on a connection and that nobody wants to see.
    #[inline]
    pub(super) fn unseen_bytes(&self, slot: usize) -> u64 {
        if self.observer.wants_bytes() { 0 } else { self.connections[slot].unseen_bytes() }
    }

    /// Bytes came.
    #[inline]
    pub(super) fn take(&mut self, slot: usize, mut bytes: &[u8], now: Instant) -> Course {
        let mut course = Course::Going;
        while !bytes.is_empty() {
            let outcome = self.connections[slot].take(bytes, &mut self.memory);
            let consumed = match outcome {
                Outcome::Answered { consumed, .. } => consumed,
                Outcome::Pending | Outcome::Failed(_) | Outcome::Gone => bytes.len(),
            };
            if self.observer.wants_bytes() {
                self.observer.keep(slot, &bytes[..consumed]);
            }
            bytes = &bytes[consumed..];
            match self.settle(slot, outcome, now) {
                Course::Free => course = Course::Free,
                Course::Going => break,
                ended => return ended,
            }
        }
        course
    }

    /// So many bytes that nobody has to see came.
    pub(super) fn skip(&mut self, slot: usize, count: u64, now: Instant) -> Course {
        let outcome = self.connections[slot].skip(count);
        self.settle(slot, outcome, now)
    }

    #[inline]
    fn settle(&mut self, slot: usize, outcome: Outcome, now: Instant) -> Course {
        match outcome {
            Outcome::Pending => Course::Going,
            Outcome::Answered { response, reusable, .. } => {
                self.complete(slot, response, now);
                if reusable { Course::Free } else { Course::Spent }
            }
            Outcome::Failed(kind) => Course::Broken(kind),
            Outcome::Gone => Course::Gone,
        }
    }

    /// The oldest request of a connection is answered.
    #[inline]
    fn complete(&mut self, slot: usize, response: Response, now: Instant) {
        let Exchange { intended, sent, note, .. } = *self.of(slot, 0);
        let judgement = match self.observer.wants_outcome() {
            true => self.judge(slot, note.request, response),
            false => Judgement::ByStatus,
        };
        let answer = recorder::Answer {
            status: response.status,
            judgement,
            latency_ns: now.nanos_since(intended),
            service_ns: now.nanos_since(sent),
        };
        self.recorder.completed(note.request, answer);
        self.pop(slot);
    }

    fn judge(&mut self, slot: usize, request: u16, response: Response) -> Judgement {
        let Self { observer, source, .. } = self;
        observer.show(slot, response, |answer| source.answered(request, answer))
    }

    fn pop(&mut self, slot: usize) {
        self.observer.forget(slot);
        self.connections[slot].pop(self.depth);
        self.in_flight -= 1;
        if self.connections[slot].pending > 0 {
            let expect = self.of(slot, 0).note.expect;
            self.connections[slot].expect(expect);
        }
    }

    /// The oldest request of a connection failed.
    pub(super) fn fail(&mut self, slot: usize, kind: FailureKind) {
        let request = self.of(slot, 0).note.request;
        self.recorder.failed(request, kind, 1);
        self.pop(slot);
    }

    /// The oldest request of a connection is given up: it goes into the histograms at the age it has now.
    pub(super) fn give_up(&mut self, slot: usize, kind: FailureKind, now: Instant) {
        let Exchange { intended, sent, note, .. } = *self.of(slot, 0);
        self.recorder.ended_after(note.request, now.nanos_since(intended), now.nanos_since(sent));
        self.fail(slot, kind);
    }

    /// The connection ended: settles what it carried. Requests that may be sent again stay on it; says whether
    /// there was anything under way.
    pub(super) fn end(&mut self, slot: usize, end: End, now: Instant) -> bool {
        match self.connections[slot].end(end) {
            Ending::Idle => return false,
            Ending::Answered(response) => {
                self.complete(slot, response, now);
                self.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
            }
            Ending::Within(kind) => {
                self.fail(slot, kind);
                self.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
            }
            Ending::Before { kind, given_up } => self.leave_rest(slot, kind, given_up),
        }
        true
    }

    /// The requests under way got not a byte of an answer. If the server had `given_up` the connection between
    /// two requests, those that may be sent again stay; the others failed as this kind. That ends some day, for a
    /// connection that answered nothing was not given up.
    pub(super) fn leave_rest(&mut self, slot: usize, kind: FailureKind, given_up: bool) {
        for _ in 0..self.connections[slot].pending {
            let exchange = *self.of(slot, 0);
            self.pop(slot);
            if given_up && exchange.note.idempotent {
                self.keep(slot, exchange);
            } else {
                self.recorder.failed(exchange.note.request, kind, 1);
            }
        }
        self.recorder.counts(0).reconnects += u64::from(self.connections[slot].pending > 0);
    }

    fn keep(&mut self, slot: usize, exchange: Exchange) {
        let place = self.connections[slot].push(self.depth, exchange.note.expect);
        self.places[slot * usize::from(self.depth) + usize::from(place)] = exchange;
        self.in_flight += 1;
    }
}
