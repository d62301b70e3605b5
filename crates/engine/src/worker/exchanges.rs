//! The requests under way on all connections, and what becomes of them. No I/O happens here.

use plimsoll_http::{Expect, ParserMemory, Response, h2};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::observer::Observer;
use super::source::Source;
use crate::connection::{Connection, End, Ending, Outcome};
use crate::layers::{Agreed, Layers, Places, tls_failure};
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
    /// How often the server refused it and had nothing to show for that.
    pub(super) refusals: u8,
}

impl Exchange {
    const NONE: Self = Self {
        intended: Instant::from_nanos(0),
        sent: Instant::from_nanos(0),
        note: Note { request: 0, expect: Expect::Body, idempotent: false, head_bytes: 0 },
        refusals: 0,
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
    /// Every request under way failed, and the connection with them.
    Ruined(FailureKind),
    /// Bytes came that nobody asked for.
    Gone,
}

impl Course {
    /// What two pieces of bytes mean one after the other. What ends the connection stays its end.
    fn then(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Going => next(),
            Self::Free => match next() {
                Self::Going => Self::Free,
                later => later,
            },
            ended => ended,
        }
    }

    /// What else there is to be noticed, unless the connection has come to its end already.
    pub(super) fn unless_over(self, notice: impl FnOnce() -> Option<Self>) -> Self {
        match self {
            Self::Going | Self::Free => notice().unwrap_or(self),
            ended => ended,
        }
    }
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
    /// The bytes of the request in each place, where requests are made one by one and go over streams.
    pub(super) made: Vec<Vec<u8>>,
    memory: ParserMemory,
    /// What the HTTP/2 connections share; there if there are any.
    pub(super) streams: Option<Box<h2::Memory>>,
    pub(super) observer: Observer,
}

impl Exchanges {
    pub(super) fn new(
        recorder: Recorder,
        source: Source,
        connections: usize,
        (depth, streams): (u16, bool),
    ) -> Self {
        let mut exchanges = Self {
            connections: Vec::with_capacity(connections),
            recorder,
            observer: Observer::new(source.curiosity()),
            source,
            depth,
            in_flight: 0,
            places: Vec::with_capacity(connections * usize::from(depth)),
            made: Vec::new(),
            memory: ParserMemory::new(),
            streams: streams.then(Box::default),
        };
        (0..connections).for_each(|_| exchanges.add_connection());
        exchanges
    }

    pub(super) fn add_connection(&mut self) {
        let places = match self.streams {
            None => Places::InOrder { first: 0 },
            Some(_) => Places::in_any_order(self.depth),
        };
        self.connections.push(Connection::new(places));
        self.places.resize(self.connections.len() * usize::from(self.depth), Exchange::NONE);
        if self.keeps_made() {
            self.made.resize_with(self.places.len(), Vec::new);
        }
    }

    /// True if each request that was made can be sent again whatever came after it.
    fn keeps_made(&self) -> bool {
        self.streams.is_some() && self.source.fixed_bytes().is_none()
    }

    /// How many more requests a connection can take now.
    pub(super) fn room(&self, slot: usize) -> u16 {
        let connection = &self.connections[slot];
        if !connection.writable() {
            return 0;
        }
        let room = self.depth - connection.pending;
        match connection.layers.as_ref().and_then(|layers| layers.link.as_ref()) {
            None => room,
            // Those that wait for a stream have waited longer than any new one.
            Some(_) if !connection.places.held().is_empty() => 0,
            Some(link) => room.min(u16::try_from(link.capacity()).unwrap_or(u16::MAX)),
        }
    }

    /// Where a connection's place stands among those of all.
    pub(super) fn position(&self, slot: usize, place: u16) -> usize {
        slot * usize::from(self.depth) + usize::from(place)
    }

    fn place(&self, slot: usize, index: u16) -> usize {
        self.position(slot, self.connections[slot].place(index, self.depth))
    }

    /// The request that is number `index` among those under way on a connection, the oldest being 0.
    pub(super) fn of(&mut self, slot: usize, index: u16) -> &mut Exchange {
        let place = self.place(slot, index);
        &mut self.places[place]
    }

    /// The request in this place of a connection.
    pub(super) fn at(&self, slot: usize, place: u16) -> &Exchange {
        &self.places[self.position(slot, place)]
    }

    /// A request is about to be sent: the place it takes.
    #[inline]
    pub(super) fn begin(&mut self, slot: usize, intended: Instant, now: Instant, note: Note) -> u16 {
        self.recorder.counts(note.request).sent += 1;
        self.enter(slot, Exchange { intended, sent: now, note, refusals: 0 })
    }

    #[inline]
    pub(super) fn enter(&mut self, slot: usize, exchange: Exchange) -> u16 {
        let place = self.connections[slot].push(self.depth, exchange.note.expect);
        let position = self.position(slot, place);
        self.places[position] = exchange;
        self.in_flight += 1;
        place
    }

    /// Bytes that are to come on a connection and that nobody wants to see.
    #[inline]
    pub(super) fn unseen_bytes(&self, slot: usize) -> u64 {
        let connection = &self.connections[slot];
        if self.observer.wants_bytes() || connection.layers.is_some() { 0 } else { connection.unseen_bytes() }
    }

    /// Bytes came over the wire.
    #[inline]
    pub(super) fn receive(&mut self, slot: usize, bytes: &mut [u8], now: Instant) -> Course {
        match self.connections[slot].layers.take() {
            None => self.take(slot, bytes, now),
            Some(mut layers) => {
                let pending = self.connections[slot].pending;
                let course = self.receive_layered(slot, &mut layers, bytes, now);
                let ended = pending - self.connections[slot].pending;
                let course = course.unless_over(|| self.heed_refusals(slot, &mut layers, ended, now));
                self.connections[slot].put_back(layers);
                course
            }
        }
    }

    fn receive_layered(
        &mut self,
        slot: usize,
        layers: &mut Layers,
        bytes: &mut [u8],
        now: Instant,
    ) -> Course {
        let mut course = Course::Going;
        let heard = layers.hear(bytes, |link, plain, out| {
            course = course.then(|| match link {
                None => self.take(slot, plain, now),
                Some(link) => self.take_streams(slot, link, plain, out, now),
            });
        });
        match heard {
            Ok(()) => course,
            Err(failure) => course.then(|| Course::Ruined(tls_failure(&failure))),
        }
    }

    /// Bytes of a handshake came: what was agreed on, once that is known.
    pub(super) fn hear_handshake(
        &mut self,
        slot: usize,
        bytes: &mut [u8],
    ) -> Result<Option<Agreed>, FailureKind> {
        let Some(mut layers) = self.connections[slot].layers.take() else { return Ok(None) };
        let mut ruined = None;
        let heard = layers.hear(bytes, |link, plain, out| {
            // An HTTP/2 server may speak as soon as it can; there is nothing yet that it could answer.
            let course = link.map(|link| self.take_streams(slot, link, plain, out, Instant::default()));
            if let Some(Course::Ruined(kind)) = course {
                ruined = Some(kind);
            }
        });
        let agreed = if layers.is_securing() { None } else { layers.agreed() };
        self.connections[slot].put_back(layers);
        heard.map_err(|failure| tls_failure(&failure))?;
        ruined.map_or(Ok(agreed), Err)
    }

    /// Bytes of responses came.
    #[inline]
    fn take(&mut self, slot: usize, mut bytes: &[u8], now: Instant) -> Course {
        let mut course = Course::Going;
        while !bytes.is_empty() {
            let place = self.place(slot, 0);
            let outcome = self.connections[slot].take(bytes, &mut self.memory);
            let consumed = match outcome {
                Outcome::Answered { consumed, .. } => consumed,
                Outcome::Pending | Outcome::Failed(_) | Outcome::Gone => bytes.len(),
            };
            if self.observer.wants_bytes() {
                self.observer.keep(place, &bytes[..consumed]);
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
                self.complete(slot, 0, response, now);
                if reusable { Course::Free } else { Course::Spent }
            }
            Outcome::Failed(kind) => Course::Broken(kind),
            Outcome::Gone => Course::Gone,
        }
    }

    /// A connection's request number `index` is answered.
    #[inline]
    pub(super) fn complete(&mut self, slot: usize, index: u16, response: Response, now: Instant) {
        let Exchange { intended, sent, note, .. } = *self.of(slot, index);
        let judgement = match self.observer.wants_outcome() {
            true => self.judge(self.place(slot, index), note.request, response),
            false => Judgement::ByStatus,
        };
        let answer = recorder::Answer {
            status: response.status,
            judgement,
            latency_ns: now.nanos_since(intended),
            service_ns: now.nanos_since(sent),
        };
        self.recorder.completed(note.request, answer);
        self.connections[slot].prove();
        self.remove(slot, index);
    }

    fn judge(&mut self, place: usize, request: u16, response: Response) -> Judgement {
        let Self { observer, source, streams, .. } = self;
        observer.show(place, response, streams.is_some(), |answer| source.answered(request, answer))
    }

    /// A connection's request number `index` is not under way any more.
    pub(super) fn remove(&mut self, slot: usize, index: u16) {
        let place = self.place(slot, index);
        self.observer.forget(place);
        self.connections[slot].remove(index, self.depth);
        self.in_flight -= 1;
        if self.connections[slot].pending > 0 && self.streams.is_none() {
            let expect = self.of(slot, 0).note.expect;
            self.connections[slot].expect(expect);
        }
    }

    /// A connection's request number `index` failed.
    pub(super) fn fail(&mut self, slot: usize, index: u16, kind: FailureKind) {
        let request = self.of(slot, index).note.request;
        self.recorder.failed(request, kind, 1);
        self.remove(slot, index);
    }

    /// The oldest request of a connection is given up: it goes into the histograms at the age it has now.
    pub(super) fn give_up(&mut self, slot: usize, kind: FailureKind, now: Instant) {
        let Exchange { intended, sent, note, .. } = *self.of(slot, 0);
        self.recorder.ended_after(note.request, now.nanos_since(intended), now.nanos_since(sent));
        self.fail(slot, 0, kind);
    }

    /// The connection ended: settles what it carried. Requests that may be sent again stay on it; says whether
    /// there was anything under way.
    pub(super) fn end(&mut self, slot: usize, end: End, now: Instant) -> bool {
        if self.streams.is_some() {
            return self.end_streams(slot, end);
        }
        let cut_off = self.connections[slot].layers.as_ref().is_some_and(|layers| layers.cut_off());
        match self.connections[slot].end(end) {
            Ending::Idle => return false,
            Ending::Answered(_) if cut_off => {
                self.fail(slot, 0, FailureKind::TlsRecord);
                self.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
            }
            Ending::Answered(response) => {
                self.complete(slot, 0, response, now);
                self.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
            }
            Ending::Within(kind) => {
                self.fail(slot, 0, kind);
                self.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
            }
            Ending::Before { kind, given_up } => self.leave_rest(slot, kind, given_up),
        }
        true
    }

    /// The requests under way got not a byte of an answer. If the server had `given_up` the connection between
    /// two requests, those that may be sent again stay; the others failed as this kind. That ends some day, for a
    /// connection that answered nothing was not given up. What the server says it has not processed stays in any
    /// case, but not for ever.
    pub(super) fn leave_rest(&mut self, slot: usize, kind: FailureKind, given_up: bool) {
        for _ in 0..self.connections[slot].pending {
            let exchange = *self.of(slot, 0);
            let refused = self.is_held(slot, 0);
            if refused {
                self.send_later(slot, 0, !given_up);
            } else {
                self.remove(slot, 0);
                if given_up && exchange.note.idempotent {
                    self.enter(slot, exchange);
                } else {
                    self.recorder.failed(exchange.note.request, kind, 1);
                }
            }
        }
        self.recorder.counts(0).reconnects += u64::from(self.connections[slot].pending > 0);
    }

    /// All requests under way on a connection failed as this kind.
    pub(super) fn fail_all(&mut self, slot: usize, kind: FailureKind) {
        while self.connections[slot].pending > 0 {
            self.fail(slot, 0, kind);
        }
    }
}
