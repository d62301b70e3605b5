//! Connections that a server closes or leaves silent, on a simulated clock.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{Level, Shard};
use plimsoll_record::FailureKind;
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};

use super::simulated_tests::SimClock;
use super::tests::{Ran, run, spec};
use crate::driver::{Driver, Event, Payload, Received};
use crate::requests::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseView, SourceFactory, SourceFault, Traffic,
};
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
}

impl<'a> Closing<'a> {
    fn new(clock: &'a SimClock, closes: Closes, request_bytes: usize) -> Self {
        let timeline = Timeline::new(clock);
        Self { timeline, closes, request_bytes, waiting: 0, answered: 0, arrived: Vec::new(), closed: false }
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
        self.timeline.after(CONNECT, Happens::Connected);
        if self.closes == Closes::AtOnce {
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

/// Thinks for an hour before its first request.
struct Thinking;

impl SourceFactory for Thinking {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Self))
    }
}

impl RequestSource for Thinking {
    fn write(&mut self, _out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        Ok(RequestMeta::for_method("GET"))
    }

    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        Ok(Duration::from_secs(3600))
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

#[test]
fn a_server_that_closes_at_once_in_think_time_is_not_flooded_with_connections() {
    let ran = run_closing(Closes::AtOnce, 1, |spec| spec.traffic = Traffic::Generated(Arc::new(Thinking)));
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (0, 0));
    // One in 121 ms, of which 100 ms are a pause.
    assert!((400..=500).contains(&ran.counts.reconnects), "{}", ran.counts.reconnects);
}

/// The length of the header block of a request to [`Silent`].
const HEAD_BYTES: usize = 10;
/// What a client sends first, as long as the preface of RFC 9113, section 3.4.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;

/// A server of HTTP/2 whose first connection dies after one answer.
struct Silent<'a> {
    timeline: Timeline<'a>,
    opened: &'a Cell<u32>,
    received: Vec<u8>,
    /// What it sends with its next answer.
    response: Vec<u8>,
    arrived: Vec<u8>,
}

impl<'a> Silent<'a> {
    fn new(clock: &'a SimClock, opened: &'a Cell<u32>) -> Self {
        let (received, response, arrived) = (Vec::new(), Vec::new(), Vec::new());
        Self { timeline: Timeline::new(clock), opened, received, response, arrived }
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

impl Driver for Silent<'_> {
    fn open(&mut self, _slot: usize, _route: &Route) -> io::Result<()> {
        self.opened.set(self.opened.get() + 1);
        // A frame of settings, which changes none.
        self.response = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
        self.received.clear();
        self.timeline.after(CONNECT, Happens::Connected);
        Ok(())
    }

    fn connected(&self, _slot: usize) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, _slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let Payload::Borrowed(bytes) = payload else { return Err(io::ErrorKind::Unsupported.into()) };
        self.received.extend_from_slice(bytes);
        if self.received.starts_with(b"PRI") {
            self.received.drain(..PREFACE_BYTES);
        }
        for stream in self.requests() {
            let dies = self.opened.get() == 1;
            if !dies || stream == 1 {
                // The head of a response with status 200, which ends its stream.
                self.response.extend([0, 0, 1, 1, 0x5, 0, 0, 0, stream, 0x88]);
                self.timeline.after(if dies { 500 * MS } else { SERVICE }, Happens::Answer);
            }
        }
        Ok(bytes.len())
    }

    fn receive(&mut self, _slot: usize, _discardable_bytes: u64) -> io::Result<Received<'_>> {
        if self.response.is_empty() {
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
        self.timeline.event().map(|(_, event)| event)
    }
}

#[test]
fn an_http2_connection_on_which_nothing_arrives_any_more_is_replaced() {
    let (clock, opened) = (SimClock::default(), Cell::new(0));
    let level = Level::Closed { connections: 1, depth: 2 };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    (spec.origin, spec.depth, spec.streams) = ((&clock).now(), 2, true);
    (spec.timeout, spec.requests_max) = (1000 * MS, Some(50));
    let meta = RequestMeta { head_bytes: HEAD_BYTES as u32, ..RequestMeta::for_method("GET") };
    spec.traffic = Traffic::Fixed(FixedRequest { bytes: vec![0; HEAD_BYTES].into(), meta });
    let ran = run(spec, Silent::new(&clock, &opened), &clock);
    // The second stream times out first. Those that followed do when nothing has come for a second.
    assert_eq!((opened.get(), ran.counts.failed.of(FailureKind::TimedOut)), (2, 3));
    assert_eq!(ran.counts.completed, 47);
}
