//! Connections that a server closes or leaves silent, on a simulated clock.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::Level;
use plimsoll_record::FailureKind;
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};

use super::simulated_tests::SimClock;
use super::tests::{Ran, Thinking, open_loop, run, spec};
use crate::driver::{Driver, Event, Payload, Received};
use crate::requests::{FixedRequest, RequestMeta, Traffic};
use crate::step_spec::StepSpec;

const MS: Duration = Duration::from_millis(1);
/// The time that a socket takes to connect, and that a server takes for the requests that come together.
const CONNECT: Duration = Duration::from_millis(20);
const SERVICE: Duration = Duration::from_millis(5);

/// What happens to the one socket.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Connected,
    Answer,
    Close,
}

/// When things happen to the socket of slot 0.
struct Timeline<'a> {
    clock: &'a SimClock,
    next: BinaryHeap<Reverse<(Instant, Happens)>>,
    ready: Vec<Happens>,
}

impl<'a> Timeline<'a> {
    fn new(clock: &'a SimClock) -> Self {
        Self { clock, next: BinaryHeap::new(), ready: Vec::new() }
    }

    fn after(&mut self, span: Duration, what: Happens) {
        self.next.push(Reverse((self.clock.now() + span, what)));
    }

    /// The socket is gone.
    fn clear(&mut self) {
        self.next.clear();
        self.ready.clear();
    }

    /// Moves the clock to what happens next, or to the end of the wait.
    fn wait(&mut self, longest: Duration) -> Instant {
        let ends = self.clock.now() + longest;
        let until = self.next.peek().map_or(ends, |Reverse((at, _))| ends.min(*at));
        self.clock.advance(until.since(self.clock.now()));
        while let Some(&Reverse((at, what))) = self.next.peek()
            && at <= until
        {
            self.next.pop();
            self.ready.insert(0, what);
        }
        until
    }

    fn event(&mut self) -> Option<(Happens, Event)> {
        let what = self.ready.pop()?;
        let writable = what == Happens::Connected;
        Some((what, Event { slot: 0, readable: !writable, writable, closing: false }))
    }
}

/// How a server of HTTP/1.1 closes its connections.
#[derive(Clone, Copy, PartialEq)]
enum Closes {
    /// At the request that follows this number of responses.
    AtRequest(usize),
    /// With this response, which says so.
    WithResponse(usize),
    /// As soon as it has accepted.
    AtOnce,
    /// As soon as it has accepted, and it accepts only one.
    ForGood,
}

struct Closing<'a> {
    timeline: Timeline<'a>,
    closes: Closes,
    request_bytes: usize,
    /// Requests that wait for an answer, and responses on this socket.
    waiting: usize,
    answered: usize,
    arrived: Vec<u8>,
    closed: bool,
    /// It has accepted a connection.
    accepted: bool,
}

impl<'a> Closing<'a> {
    fn new(clock: &'a SimClock, closes: Closes, request_bytes: usize) -> Self {
        Self {
            timeline: Timeline::new(clock),
            closes,
            request_bytes,
            waiting: 0,
            answered: 0,
            arrived: Vec::new(),
            closed: false,
            accepted: false,
        }
    }

    /// Answers what waits, as far as the connection goes.
    fn answer(&mut self) {
        self.arrived.clear();
        while self.waiting > 0 && self.closes != Closes::WithResponse(self.answered) {
            self.waiting -= 1;
            self.answered += 1;
            let closes = self.closes == Closes::WithResponse(self.answered);
            let field = if closes { "Connection: close\r\n" } else { "" };
            let response = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 2\r\n\r\nok");
            self.arrived.extend_from_slice(response.as_bytes());
        }
    }
}

impl Driver for Closing<'_> {
    fn open(&mut self, _slot: usize, _route: &Route) -> io::Result<()> {
        (self.waiting, self.answered, self.closed) = (0, 0, false);
        if std::mem::replace(&mut self.accepted, true) && self.closes == Closes::ForGood {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        self.timeline.after(CONNECT, Happens::Connected);
        if matches!(self.closes, Closes::AtOnce | Closes::ForGood) {
            self.timeline.after(CONNECT + MS, Happens::Close);
        }
        Ok(())
    }

    fn connected(&self, _slot: usize) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, _slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let Payload::Fixed(range) = payload else { return Err(io::ErrorKind::Unsupported.into()) };
        self.waiting += range.len() / self.request_bytes;
        match self.closes == Closes::AtRequest(self.answered) {
            true => self.timeline.after(Duration::ZERO, Happens::Close),
            false => self.timeline.after(SERVICE, Happens::Answer),
        }
        Ok(range.len())
    }

    fn receive(&mut self, _slot: usize, _discardable_bytes: u64) -> io::Result<Received<'_>> {
        match self.closed {
            true => self.arrived.clear(),
            false => self.answer(),
        }
        Ok(Received::Bytes { bytes: &mut self.arrived, more: false })
    }

    fn close(&mut self, _slot: usize) {
        self.timeline.clear();
    }

    fn wait<C: Clock>(&mut self, longest: Duration, _clock: &C) -> io::Result<Instant> {
        Ok(self.timeline.wait(longest))
    }

    fn next_event(&mut self) -> Option<Event> {
        let (what, event) = self.timeline.event()?;
        self.closed = what == Happens::Close;
        Some(event)
    }
}

/// Runs a closed loop with one connection on a server that closes its connections.
fn run_closing(closes: Closes, depth: u16, change: impl FnOnce(&mut StepSpec)) -> Ran {
    let clock = SimClock::default();
    let level = Level::Closed { connections: 1, depth };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    (spec.origin, spec.depth, spec.interval) = ((&clock).now(), depth, Duration::from_secs(1));
    let request_bytes = match &spec.traffic {
        Traffic::Fixed(request) => request.bytes.len(),
        Traffic::Generated(_) => unreachable!("it is fixed so far"),
    };
    change(&mut spec);
    run(spec, Closing::new(&clock, closes, request_bytes), &clock)
}

/// How many latencies are at most so many milliseconds, which are exact to three digits.
fn within_ms(ran: &Ran, ms: u64) -> u64 {
    ran.latency.count_between(0, ms * 1_001_000)
}

#[test]
fn the_request_after_one_that_was_sent_again_is_not_charged_for_the_reconnect() {
    let ran = run_closing(Closes::AtRequest(1), 1, |spec| spec.requests_max = Some(10));
    assert_eq!((ran.counts.completed, ran.counts.reconnects), (10, 9));
    // The first is answered on its first socket. Each other one is sent, connects and is sent again.
    assert_eq!((within_ms(&ran, 5), within_ms(&ran, 25)), (1, 10));
}

#[test]
fn a_batch_of_a_pipeline_is_due_when_all_of_the_last_is_answered() {
    let ran = run_closing(Closes::WithResponse(3), 4, |spec| spec.requests_max = Some(8));
    assert_eq!((ran.counts.completed, ran.counts.reconnects), (8, 2));
    // Three of the first batch and two of the second get their answers before the server closes.
    assert_eq!((within_ms(&ran, 5), within_ms(&ran, 30)), (5, 8));
}

#[test]
fn a_connection_that_was_free_when_it_was_closed_charges_the_reconnect_to_its_next_request() {
    let ran = run_closing(Closes::WithResponse(1), 1, |spec| spec.requests_max = Some(10));
    assert_eq!((ran.counts.completed, ran.counts.reconnects), (10, 0));
    assert_eq!((within_ms(&ran, 5), within_ms(&ran, 25)), (1, 10));
}

const HOUR: Duration = Duration::from_secs(3600);

fn thinking(think_time: Duration) -> Traffic {
    Traffic::Generated(Arc::new(Thinking(think_time)))
}

#[test]
fn a_server_that_closes_at_once_in_think_time_is_not_flooded_with_connections() {
    let ran = run_closing(Closes::AtOnce, 1, |spec| spec.traffic = thinking(HOUR));
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (0, 0));
    // One in 121 ms, of which 100 ms are a pause.
    assert!((400..=500).contains(&ran.counts.reconnects), "{}", ran.counts.reconnects);
}

#[test]
fn a_connection_that_is_refused_in_think_time_fails_no_request() {
    let ran = run_closing(Closes::ForGood, 1, |spec| spec.traffic = thinking(HOUR));
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (0, 0));
}

#[test]
fn a_request_that_is_refused_is_followed_by_a_think_time() {
    let ran = run_closing(Closes::ForGood, 1, |spec| spec.traffic = thinking(1000 * MS));
    let refused = ran.counts.failed.of(FailureKind::ConnectRefused);
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (refused, refused));
    // A think time begins with an attempt to connect, and ends up to 100 ms before one.
    assert!((50..=60).contains(&refused), "{refused}");
}

/// The length of the header block of a request to [`Http2`].
const HEAD_BYTES: usize = 10;
/// What a client sends first, as long as the preface of RFC 9113, section 3.4.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;

/// Changes no setting.
const SETTINGS: [u8; FRAME_HEAD_BYTES] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// No request was or will be processed.
const GO_AWAY: [u8; FRAME_HEAD_BYTES + 8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Widens the window of the connection by a byte.
const WINDOW_UPDATE: [u8; FRAME_HEAD_BYTES + 4] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// How a server of HTTP/2 ends its connections.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// The first one dies after one answer.
    Silently,
    /// It turns each away as soon as it has accepted.
    TurnedAway,
    /// It closes each after an answer, with a frame that needs no reply.
    WithFrame,
}

struct Http2<'a> {
    timeline: Timeline<'a>,
    ends: Ends,
    opened: &'a Cell<u32>,
    received: Vec<u8>,
    /// What it sends with its next answer.
    response: Vec<u8>,
    arrived: Vec<u8>,
    closed: bool,
}

impl<'a> Http2<'a> {
    fn new(clock: &'a SimClock, ends: Ends, opened: &'a Cell<u32>) -> Self {
        let (received, response, arrived) = (Vec::new(), Vec::new(), Vec::new());
        Self { timeline: Timeline::new(clock), ends, opened, received, response, arrived, closed: false }
    }

    /// The streams of the requests that have come since the last call.
    fn requests(&mut self) -> Vec<u8> {
        let mut streams = Vec::new();
        while let Some(head) = self.received.first_chunk::<FRAME_HEAD_BYTES>() {
            let length = FRAME_HEAD_BYTES + usize::from(head[1]) * 256 + usize::from(head[2]);
            if head[3] == HEADERS {
                streams.push(head[8]);
            }
            self.received.drain(..length);
        }
        streams
    }
}

impl Driver for Http2<'_> {
    fn open(&mut self, _slot: usize, _route: &Route) -> io::Result<()> {
        self.opened.set(self.opened.get() + 1);
        (self.response, self.closed) = (SETTINGS.to_vec(), false);
        self.received.clear();
        self.timeline.after(CONNECT, Happens::Connected);
        if self.ends == Ends::TurnedAway {
            self.response.extend(GO_AWAY);
            self.timeline.after(CONNECT + MS, Happens::Answer);
        }
        Ok(())
    }

    fn connected(&self, _slot: usize) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, _slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let Payload::Borrowed(bytes) = payload else { return Err(io::ErrorKind::Unsupported.into()) };
        if self.closed {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.received.extend_from_slice(bytes);
        if self.received.starts_with(b"PRI") {
            self.received.drain(..PREFACE_BYTES);
        }
        for stream in self.requests() {
            let dies = self.ends == Ends::Silently && self.opened.get() == 1;
            if self.ends == Ends::WithFrame {
                self.timeline.after(SERVICE + 50 * MS, Happens::Close);
            }
            if !dies || stream == 1 {
                // The head of a response with status 200, which ends its stream.
                self.response.extend([0, 0, 1, 1, 0x5, 0, 0, 0, stream, 0x88]);
                self.timeline.after(if dies { 500 * MS } else { SERVICE }, Happens::Answer);
            }
        }
        Ok(bytes.len())
    }

    fn receive(&mut self, _slot: usize, _discardable_bytes: u64) -> io::Result<Received<'_>> {
        if self.response.is_empty() && !self.closed {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.arrived = std::mem::take(&mut self.response);
        Ok(Received::Bytes { bytes: &mut self.arrived, more: false })
    }

    fn close(&mut self, _slot: usize) {
        self.timeline.clear();
    }

    fn wait<C: Clock>(&mut self, longest: Duration, _clock: &C) -> io::Result<Instant> {
        Ok(self.timeline.wait(longest))
    }

    fn next_event(&mut self) -> Option<Event> {
        let (what, event) = self.timeline.event()?;
        if what != Happens::Close {
            return Some(event);
        }
        self.response.extend(WINDOW_UPDATE);
        self.closed = true;
        Some(Event { closing: true, ..event })
    }
}

/// A request to [`Http2`].
fn on_stream(method: &str) -> Traffic {
    let meta = RequestMeta { head_bytes: HEAD_BYTES as u32, ..RequestMeta::for_method(method) };
    Traffic::Fixed(FixedRequest { bytes: vec![0; HEAD_BYTES].into(), meta })
}

#[test]
fn an_http2_connection_on_which_nothing_arrives_any_more_is_replaced() {
    let (clock, opened) = (SimClock::default(), Cell::new(0));
    let level = Level::Closed { connections: 1, depth: 2 };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    (spec.origin, spec.depth, spec.streams) = ((&clock).now(), 2, true);
    (spec.timeout, spec.requests_max) = (1000 * MS, Some(50));
    spec.traffic = on_stream("GET");
    let ran = run(spec, Http2::new(&clock, Ends::Silently, &opened), &clock);
    // The second stream times out first. Those that followed do when nothing has come for a second.
    assert_eq!((opened.get(), ran.counts.failed.of(FailureKind::TimedOut)), (2, 3));
    assert_eq!(ran.counts.completed, 47);
}

#[test]
fn a_server_of_http2_that_turns_connections_away_in_think_time_is_not_flooded_with_them() {
    let (clock, opened) = (SimClock::default(), Cell::new(0));
    let level = Level::Closed { connections: 1, depth: 1 };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    (spec.origin, spec.streams, spec.traffic) = ((&clock).now(), true, thinking(HOUR));
    let ran = run(spec, Http2::new(&clock, Ends::TurnedAway, &opened), &clock);
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (0, 0));
    // One in 121 ms, of which 100 ms are a pause.
    assert!((400..=500).contains(&opened.get()), "{}", opened.get());
}

#[test]
fn a_connection_that_is_closed_while_idle_with_a_last_frame_gets_no_further_request() {
    let (clock, opened) = (SimClock::default(), Cell::new(0));
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), open_loop(5.0, 1), Duration::from_secs(60));
    (spec.origin, spec.streams, spec.connections_max) = ((&clock).now(), true, 1);
    spec.traffic = on_stream("POST");
    let ran = run(spec, Http2::new(&clock, Ends::WithFrame, &opened), &clock);
    assert_eq!((ran.counts.completed, ran.counts.failed.total()), (300, 0));
    assert_eq!(opened.get(), 300);
}
