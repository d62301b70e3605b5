//! The worker on a simulated clock: its figures are exact, and an hour of load takes no time.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::Level;
use plimsoll_record::FailureKind;
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};

use super::tests::{Ran, Thinking, control, open_loop, run, run_under, spec};
use crate::control::Control;
use crate::driver::{Driver, Event, Payload, Received};
use crate::requests::{FixedRequest, RequestMeta, Traffic};
use crate::step_spec::StepSpec;

const MS: Duration = Duration::from_millis(1);

/// A clock that stands still until a test moves it.
#[derive(Default)]
pub(super) struct SimClock(Cell<Instant>);

impl SimClock {
    pub(super) fn advance(&self, span: Duration) {
        self.0.set(self.0.get() + span);
    }
}

impl Clock for &SimClock {
    fn now(&self) -> Instant {
        self.0.get()
    }
}

fn writable(slot: usize) -> Event {
    Event { slot, readable: false, writable: true, closing: false }
}

fn readable(slot: usize) -> Event {
    Event { slot, readable: true, writable: false, closing: false }
}

/// A network without delay and a server that answers each request after the same time.
struct Simulated<'a> {
    clock: &'a SimClock,
    service_time: Duration,
    /// How long the worker takes to send.
    send_time: Duration,
    /// When each slot is answered next.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    ready: VecDeque<Event>,
    response: Vec<u8>,
    /// At this instant the worker is stopped for as long.
    stop: Option<(Instant, Duration)>,
    /// At this instant the load ends, and nothing is waited for.
    abandon: Option<(Instant, Arc<Control>)>,
}

impl<'a> Simulated<'a> {
    fn new(clock: &'a SimClock, service_time: Duration) -> Self {
        Self {
            clock,
            service_time,
            send_time: Duration::ZERO,
            due: BinaryHeap::new(),
            ready: VecDeque::new(),
            response: Vec::new(),
            stop: None,
            abandon: None,
        }
    }
}

impl Driver for Simulated<'_> {
    fn open(&mut self, slot: usize, _route: &Route) -> io::Result<()> {
        self.ready.push_back(writable(slot));
        Ok(())
    }

    fn connected(&self, _slot: usize) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        self.clock.advance(self.send_time);
        self.due.push(Reverse((self.clock.now() + self.service_time, slot)));
        Ok(match payload {
            Payload::Fixed(range) => range.len(),
            Payload::Borrowed(bytes) => bytes.len(),
        })
    }

    fn receive(&mut self, _slot: usize, _discardable_bytes: u64) -> io::Result<Received<'_>> {
        self.response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
        Ok(Received::Bytes { bytes: &mut self.response, more: false })
    }

    fn close(&mut self, slot: usize) {
        self.due.retain(|Reverse((_, due))| *due != slot);
    }

    /// Moves the clock to the next response, or to the end of the wait.
    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        if self.ready.is_empty() {
            let ends = self.clock.now() + longest;
            let next = self.due.peek().map_or(ends, |Reverse((at, _))| ends.min(*at));
            self.clock.advance(next.since(self.clock.now()));
        }
        if let Some((_, span)) = self.stop.take_if(|(at, _)| *at <= self.clock.now()) {
            self.clock.advance(span);
        }
        if let Some((at, control)) = self.abandon.take_if(|(at, _)| *at <= self.clock.now()) {
            control.end_drain(at);
        }
        while let Some(&Reverse((at, slot))) = self.due.peek()
            && at <= self.clock.now()
        {
            self.due.pop();
            self.ready.push_back(readable(slot));
        }
        Ok(clock.now())
    }

    fn next_event(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }
}

/// Runs a step of 60 simulated seconds against a server that takes this long for each request.
fn simulate(level: Level, service_time: Duration, change: impl FnOnce(&mut StepSpec)) -> Ran {
    let clock = SimClock::default();
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    spec.origin = (&clock).now();
    spec.interval = Duration::from_secs(1);
    change(&mut spec);
    run(spec, Simulated::new(&clock, service_time), &clock)
}

#[test]
fn a_closed_loop_completes_one_request_per_service_time_and_connection() {
    let ran = simulate(Level::Closed { connections: 4, depth: 1 }, 5 * MS, |_| {});
    // One request of each connection is under way when the load ends.
    assert_eq!((ran.counts.completed, ran.counts.failed.total()), (4 * 60 * 200, 0));
    // Three digits are exact in a histogram.
    assert_eq!((ran.latency.min().div_ceil(10_000), ran.latency.max() / 10_000), (500, 500));
}

#[test]
fn an_open_loop_sends_when_requests_are_due_and_its_backlog_is_latency() {
    let ran = simulate(open_loop(500.0, 4), 5 * MS, |_| {});
    assert_eq!((ran.counts.intended, ran.counts.completed), (30_000, 30_000));
    assert_eq!(ran.latency.max() / 10_000, 500);
    // Four connections serve 800 requests in a second: at the end of the minute a fifth of all wait.
    let ran = simulate(open_loop(1000.0, 4), 5 * MS, |_| {});
    assert_eq!(ran.counts.intended, 60_000);
    assert_eq!(
        ran.latency.max() / 100_000_000,
        122,
        "what is due at 48.8 s is not sent when the grace ends at 61 s"
    );
}

#[test]
fn requests_of_think_times_that_end_together_have_each_its_own_service_time() {
    let clock = SimClock::default();
    let level = Level::Closed { connections: 50, depth: 1 };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    (spec.origin, spec.requests_max) = ((&clock).now(), Some(50));
    spec.traffic = Traffic::Generated(Arc::new(Thinking(1000 * MS)));
    let mut driver = Simulated::new(&clock, 200 * MS);
    driver.send_time = MS;
    let ran = run(spec, driver, &clock);
    assert_eq!((ran.counts.completed, ran.counts.failed.total()), (50, 0));
    // Sending and the answer take 201 ms, and each waits until those before it are sent. Three digits are exact.
    let rounded_ms = |ns: u64| (ns + 500_000) / 1_000_000;
    assert_eq!((rounded_ms(ran.service.min()), rounded_ms(ran.service.max())), (201, 201));
    assert_eq!((rounded_ms(ran.latency.min()), rounded_ms(ran.latency.max())), (201, 250));
}

#[test]
fn requests_that_are_never_answered_time_out_at_their_time() {
    let never = Duration::from_secs(3600);
    let ran =
        simulate(Level::Closed { connections: 2, depth: 1 }, never, |spec| spec.timeout = 10 * 1000 * MS);
    let timed_out = ran.counts.failed.of(FailureKind::TimedOut);
    assert_eq!((timed_out, ran.counts.completed), (2 * 6, 0));
    // A scan every 100 ms finds them.
    assert!((10_000_000_000..10_110_000_000).contains(&ran.latency.max()), "{}", ran.latency.max());
}

#[test]
fn a_worker_that_was_stopped_counts_the_time_that_it_did_not_run() {
    let ran = |stop_ms: u32| {
        let clock = SimClock::default();
        let level = Level::Closed { connections: 4, depth: 1 };
        let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
        spec.origin = (&clock).now();
        let mut driver = Simulated::new(&clock, 5 * MS);
        driver.stop = Some((spec.origin + Duration::from_secs(30), stop_ms * MS));
        run(spec, driver, &clock)
    };
    assert_eq!(ran(50).stalled_ns, 0, "short gaps are the scheduler's");
    let stopped = ran(3000);
    // The worker's own CPU time is real, and less than what it simulates.
    assert!((2_900_000_000..=3_005_000_000).contains(&stopped.stalled_ns), "{}", stopped.stalled_ns);
    assert!(stopped.counts.completed <= 4 * 57 * 200 + 4, "{}", stopped.counts.completed);
}

#[test]
fn a_huge_backlog_is_accounted_for_at_once_when_the_load_is_abandoned() {
    let clock = SimClock::default();
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), open_loop(100_000.0, 4), Duration::from_secs(60));
    (spec.origin, spec.timeout) = ((&clock).now(), Duration::from_secs(600));
    let (control, mut driver) = (control(&spec), Simulated::new(&clock, Duration::from_secs(3600)));
    driver.abandon = Some((spec.origin + 2000 * MS, Arc::clone(&control)));
    let ran = run_under(control, spec, driver, &clock);
    let failed = |kind| ran.counts.failed.of(kind);
    assert_eq!((ran.counts.intended, ran.counts.failed.total()), (200_000, 200_000));
    assert_eq!((failed(FailureKind::Unanswered), failed(FailureKind::Unsent)), (4, 199_996));
    assert_eq!(ran.latency.len(), 200_000);
    let rounded_ms = |quantile| (ran.latency.value_at_quantile(quantile) + 5_000_000) / 10_000_000 * 10;
    assert_eq!([0.25, 0.5, 0.75, 1.0].map(rounded_ms), [500, 1000, 1500, 2000]);
}

#[test]
fn a_day_of_load_is_exact_and_takes_no_more_frames_than_a_few_hours() {
    let day_sec = 24 * 60 * 60;
    let ran = simulate(Level::Closed { connections: 4, depth: 1 }, 1000 * MS, |spec| {
        spec.duration = Duration::from_secs(day_sec);
    });
    assert_eq!((ran.counts.completed, ran.counts.failed.total()), (4 * day_sec, 0));
    assert_eq!(ran.latency.len(), 4 * day_sec);
    assert_eq!((ran.latency.min().div_ceil(1_000_000), ran.latency.max() / 1_000_000), (1000, 1000));
    // With a frame a second it would be 86,400. They are fewer where the taker does not keep up with the simulated day.
    assert!(ran.frames < 12_000, "{}", ran.frames);
}

/// The length of the header block of a request to [`Hasty`].
const HEAD_BYTES: usize = 1000;

/// How much a socket takes.
#[derive(PartialEq)]
enum Socket {
    /// Some bytes of a first request.
    Empty,
    Full,
    /// The rest of that request.
    Drained,
    Open,
}

/// A server of HTTP/2 that answers requests as soon as their first bytes are there. The first answer comes while the socket is
/// full, and is read when that has room again.
struct Hasty<'a> {
    clock: &'a SimClock,
    socket: Socket,
    answered: u8,
    /// What the server sent, and the part of it that the worker reads.
    response: Vec<u8>,
    arrived: Vec<u8>,
    ready: VecDeque<Event>,
}

impl<'a> Hasty<'a> {
    fn new(clock: &'a SimClock) -> Self {
        // A frame of settings, which changes none.
        let response = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
        let socket = Socket::Empty;
        Self { clock, socket, answered: 0, response, arrived: Vec::new(), ready: VecDeque::new() }
    }

    /// Sends the head of a response with status 200, which ends its stream.
    fn answer_next(&mut self, slot: usize) {
        self.response.extend([0, 0, 1, 1, 0x5, 0, 0, 0, 2 * self.answered + 1, 0x88]);
        self.answered += 1;
        self.ready.push_back(readable(slot));
    }
}

impl Driver for Hasty<'_> {
    fn open(&mut self, slot: usize, _route: &Route) -> io::Result<()> {
        self.ready.push_back(writable(slot));
        Ok(())
    }

    fn connected(&self, _slot: usize) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let Payload::Borrowed(bytes) = payload else { return Err(io::ErrorKind::Unsupported.into()) };
        let (taken, next) = match self.socket {
            Socket::Empty => (10, Socket::Full),
            Socket::Full => return Ok(0),
            Socket::Drained | Socket::Open => (bytes.len(), Socket::Open),
        };
        // What is shorter than the head of a request only resets a stream that was answered early.
        if self.socket != Socket::Drained && bytes.len() > HEAD_BYTES {
            self.answer_next(slot);
        }
        self.socket = next;
        Ok(taken)
    }

    fn receive(&mut self, _slot: usize, _discardable_bytes: u64) -> io::Result<Received<'_>> {
        if self.response.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if self.socket == Socket::Full {
            self.socket = Socket::Drained;
        }
        self.arrived = std::mem::take(&mut self.response);
        Ok(Received::Bytes { bytes: &mut self.arrived, more: false })
    }

    fn close(&mut self, _slot: usize) {}

    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        if self.ready.is_empty() {
            self.clock.advance(longest);
        }
        Ok(clock.now())
    }

    fn next_event(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }
}

#[test]
fn a_connection_whose_socket_was_full_goes_on_when_room_comes_with_a_response() {
    let clock = SimClock::default();
    let level = Level::Closed { connections: 1, depth: 1 };
    let mut spec = spec("127.0.0.1:1".parse().unwrap(), level, Duration::from_secs(60));
    spec.origin = (&clock).now();
    (spec.streams, spec.requests_max) = (true, Some(4));
    let meta = RequestMeta { head_bytes: HEAD_BYTES as u32, ..RequestMeta::for_method("POST") };
    spec.traffic = Traffic::Fixed(FixedRequest { bytes: vec![0; 100_000].into(), meta });
    let ran = run(spec, Hasty::new(&clock), &clock);
    assert_eq!((ran.counts.completed, ran.counts.failed.total()), (4, 0));
}
