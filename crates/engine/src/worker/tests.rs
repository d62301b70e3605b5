//! The worker's loop: no allocation after the warm-up, no spinning, and a simulated clock.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use allocation_counter::AllocationInfo;
use plimsoll_plan::{ArrivalProcess, DriverKind, Level, RateProfile, Shard, Target};
use plimsoll_record::{Counts, FailureKind, Histogram, latency_histogram};
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant, RealClock};

use super::{Parts, Worker};
use crate::control::Control;
use crate::driver::epoll::Epoll;
use crate::driver::uring::Uring;
use crate::driver::{Driver, Event, Payload, Received};
use crate::frame_recorder::{FrameChannel, FrameRecorder, LiveFrame};
use crate::requests::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseView, Source, SourceFactory, SourceFault,
    Traffic,
};
use crate::step_spec::StepSpec;

/// Answers every request on every connection, one thread each, until the client closes.
fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().take(16) {
            let stream = stream.unwrap();
            thread::spawn(move || answer_all(stream));
        }
    });
    address
}

fn answer_all(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

/// A step for `address`, closed loop or open; tests change what they are about.
pub(super) fn spec(address: SocketAddr, level: Level, duration: Duration) -> StepSpec {
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    StepSpec {
        step: 0,
        level,
        duration,
        destinations: vec![address.into()],
        sources: Vec::new(),
        traffic: Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method)),
        requests: 1,
        depth: 1,
        requests_max: None,
        streams: false,
        tls: None,
        workers: 1,
        group: None,
        timeout: Duration::from_secs(10),
        connections_max: 4,
        interval: Duration::from_millis(10),
        seed: 1,
        driver: None,
        origin: RealClock.now(),
    }
}

/// What a worker recorded, and what it allocated.
pub(super) struct Ran {
    pub(super) counts: Counts,
    pub(super) latency: Histogram,
    pub(super) service: Histogram,
    pub(super) stalled_ns: u64,
    pub(super) frames: u64,
    allocated: AllocationInfo,
}

/// The control of a step that waits 10 s for its last responses.
pub(super) fn control(spec: &StepSpec) -> Arc<Control> {
    Arc::new(Control::new(spec.origin + spec.duration, Duration::from_secs(10), spec.requests_max))
}

/// Runs a worker on this thread; `origin` is when its load begins.
pub(super) fn run<D: Driver, C: Clock>(spec: StepSpec, driver: D, clock: C) -> Ran {
    run_under(control(&spec), spec, driver, clock)
}

/// The same under a control that a test changes meanwhile.
pub(super) fn run_under<D: Driver, C: Clock>(
    control: Arc<Control>,
    spec: StepSpec,
    driver: D,
    clock: C,
) -> Ran {
    let (full, frames) = sync_channel::<Box<LiveFrame>>(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    let taker = thread::spawn(move || {
        let (mut counts, mut latency, mut service) =
            (Counts::default(), latency_histogram(), latency_histogram());
        let (mut stalled_ns, mut frames_taken) = (0, 0);
        while let Ok(live) = frames.recv() {
            for frame in live.seal() {
                counts.merge(&frame.head.counts);
                stalled_ns += frame.head.time.stalled_ns;
                frames_taken += 1;
                frame.latency.add_to(&mut latency).unwrap();
                frame.service_times().add_to(&mut service).unwrap();
            }
            give_back.try_send(live).unwrap_or_default();
        }
        (counts, latency, service, stalled_ns, frames_taken)
    });
    let worker = worker(control, spec, driver, clock, FrameChannel { full, empty });
    let allocated = allocation_counter::measure(|| worker.run());
    let (counts, latency, service, stalled_ns, frames) = taker.join().unwrap();
    Ran { counts, latency, service, stalled_ns, frames, allocated }
}

/// The only worker of a step.
fn worker<D: Driver, C: Clock>(
    control: Arc<Control>,
    spec: StepSpec,
    driver: D,
    clock: C,
    channel: FrameChannel,
) -> Worker<D, C> {
    let (shard, origin) = (Shard { index: 0, of: 1 }, spec.origin);
    let recorder = FrameRecorder::new(0, shard, 1, channel, origin);
    let source = Source::new(&spec.traffic, shard).unwrap();
    Worker::new(spec, shard, origin, Parts { control, clock, driver, source, recorder })
}

/// As [`run`], with a driver of this kind.
fn run_by(kind: DriverKind, spec: StepSpec) -> Ran {
    let fixed = spec.fixed_bytes();
    match kind {
        DriverKind::Epoll => run(spec, Epoll::new(fixed).unwrap(), RealClock),
        DriverKind::IoUring => run(spec, Uring::new(fixed).unwrap(), RealClock),
    }
}

/// The requests completed and the allocations made by a worker.
fn allocations(level: Level, requests: u64, driver: DriverKind) -> (u64, u64) {
    let mut spec = spec(echo_server(), level, Duration::from_secs(60));
    spec.requests_max = Some(requests);
    let ran = run_by(driver, spec);
    (ran.counts.completed, ran.allocated.count_total)
}

fn allocates_nothing_per_request(level: Level) {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let (few, short) = allocations(level.clone(), 100, driver);
        let (many, long) = allocations(level.clone(), 1000, driver);
        assert_eq!((few, many), (100, 1000), "requests by {}", driver.name());
        assert_eq!(short, long, "allocations of {few} and of {many} requests by {}", driver.name());
    }
}

#[test]
fn a_closed_loop_allocates_nothing_after_its_warm_up() {
    allocates_nothing_per_request(Level::Closed { connections: 4, depth: 1 });
}

#[test]
fn an_open_loop_allocates_nothing_after_its_warm_up() {
    let (profile, arrivals) = (RateProfile::Constant(2000.0), ArrivalProcess::Poisson);
    allocates_nothing_per_request(Level::Open { profile, arrivals, connections: 4, depth: 1 });
}

/// Counts how often a worker waits.
struct Counted(Epoll, Arc<AtomicU64>);

impl Driver for Counted {
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()> {
        self.0.open(slot, route)
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        self.0.connected(slot)
    }

    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        self.0.send(slot, payload)
    }

    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>> {
        self.0.receive(slot, discardable_bytes)
    }

    fn close(&mut self, slot: usize) {
        self.0.close(slot);
    }

    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.wait(longest, clock)
    }

    fn next_event(&mut self) -> Option<Event> {
        self.0.next_event()
    }
}

pub(super) fn open_loop(rate_per_sec: f64, connections: u32) -> Level {
    let (profile, arrivals) = (RateProfile::Constant(rate_per_sec), ArrivalProcess::Constant);
    Level::Open { profile, arrivals, connections, depth: 1 }
}

#[test]
fn an_open_loop_that_has_sent_its_number_of_requests_sleeps_while_it_waits_for_answers() {
    // Connections are taken in, and nothing is read from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut spec = spec(address, open_loop(1000.0, 4), Duration::from_secs(600));
    spec.requests_max = Some(4);
    spec.timeout = Duration::from_millis(400);
    let waits = Arc::new(AtomicU64::new(0));
    let driver = Counted(Epoll::new(spec.fixed_bytes()).unwrap(), Arc::clone(&waits));
    let counts = run(spec, driver, RealClock).counts;
    assert_eq!((counts.intended, counts.failed.of(FailureKind::TimedOut)), (4, 4));
    // Deadlines are scanned every 20 ms and frames end every 10 ms; a loop that spins turns many thousand times.
    let waits = waits.load(Ordering::Relaxed);
    assert!((4..500).contains(&waits), "{waits} turns");
}

#[test]
fn a_worker_whose_frames_do_not_come_back_sleeps_while_it_waits_for_answers() {
    // Connections are taken in, and nothing is read from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let level = Level::Closed { connections: 4, depth: 1 };
    let mut spec = spec(listener.local_addr().unwrap(), level, Duration::from_secs(1));
    // The answers are waited for as long again as the load lasts.
    spec.timeout = Duration::from_secs(2);
    let waits = Arc::new(AtomicU64::new(0));
    let driver = Counted(Epoll::new(spec.fixed_bytes()).unwrap(), Arc::clone(&waits));
    let (full, frames) = sync_channel::<Box<LiveFrame>>(2);
    let (give_back, empty) = sync_channel(1);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    worker(control(&spec), spec, driver, RealClock, FrameChannel { full, empty }).run();
    let mut counts = Counts::default();
    for live in frames {
        live.seal().for_each(|frame| counts.merge(&frame.head.counts));
    }
    assert_eq!((counts.intended, counts.failed.of(FailureKind::TimedOut)), (4, 4));
    // A loop that spins turns many thousand times.
    let waits = waits.load(Ordering::Relaxed);
    assert!(waits < 500, "{waits} turns");
}

#[test]
fn connections_not_opened_before_the_load_ended_serve_what_is_still_due() {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        // The whole load is over before the worker begins.
        let mut spec = spec(echo_server(), open_loop(1000.0, 4), Duration::from_millis(10));
        spec.origin = Instant::from_nanos(spec.origin.as_nanos() - 20_000_000);
        // One for each request, so that none waits for a server that is slow to answer another.
        spec.connections_max = 10;
        let counts = run_by(driver, spec).counts;
        assert_eq!((counts.intended, counts.completed), (10, 10), "{counts:?} by {}", driver.name());
    }
}

/// Makes GET requests, and thinks this long before each.
pub(super) struct Thinking(pub(super) Duration);

impl SourceFactory for Thinking {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Self(self.0)))
    }
}

impl RequestSource for Thinking {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        Ok(RequestMeta::for_method("GET"))
    }

    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        Ok(self.0)
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

/// Makes requests of a hundred kilobytes.
struct Long;

impl SourceFactory for Long {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Self))
    }
}

impl RequestSource for Long {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
        out.resize(out.len() + 100_000, b'x');
        Ok(RequestMeta::for_method("POST"))
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

#[test]
fn a_deep_pipeline_of_long_requests_is_not_held_in_memory() {
    // Connections are taken in, and nothing is read from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let level = Level::Closed { connections: 1, depth: 1000 };
        let mut spec = spec(listener.local_addr().unwrap(), level, Duration::from_secs(1));
        spec.traffic = Traffic::Generated(Arc::new(Long));
        spec.depth = 1000;
        spec.timeout = Duration::from_millis(100);
        let Ran { counts, allocated, .. } = run_by(driver, spec);
        assert!(counts.sent >= 2, "{counts:?}");
        assert!(allocated.bytes_max < 4_000_000, "{} bytes by {}", allocated.bytes_max, driver.name());
    }
}
