//! The worker's own promise: after the warm-up its loop takes no memory.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use allocation_counter::AllocationInfo;
use plimsoll_plan::{ArrivalProcess, DriverKind, Level, RateProfile, Shard, Target};
use plimsoll_record::{Counts, FailureKind};
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant, RealClock};

use super::Worker;
use crate::control::Control;
use crate::drive::epoll::Epoll;
use crate::drive::uring::Uring;
use crate::drive::{Driver, Event, Payload, Received};
use crate::order::StepOrder;
use crate::recorder::{Exchange, LiveFrame, Recorder};
use crate::traffic::{
    Answer, FixedRequest, Judgement, Note, RequestMaker, RequestSource, SourceFault, Traffic,
};

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
fn order(address: SocketAddr, level: Level, duration: Duration) -> StepOrder {
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    StepOrder {
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
        company: None,
        timeout: Duration::from_secs(10),
        connections_max: 4,
        interval: Duration::from_millis(10),
        seed: 1,
        driver: None,
        origin: RealClock.now(),
    }
}

/// Runs a worker on this thread; gives what it counted, and the allocations made by this thread.
fn run<D: Driver>(order: StepOrder, driver: D) -> (Counts, AllocationInfo) {
    let origin = order.origin;
    let control =
        Arc::new(Control::new(origin + order.duration, Duration::from_secs(10), order.requests_max));
    let (full, frames) = sync_channel::<Box<LiveFrame>>(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    let taker = thread::spawn(move || {
        let mut counts = Counts::default();
        while let Ok(frame) = frames.recv() {
            frame.seal().for_each(|frame| counts.merge(&frame.head.counts));
            give_back.try_send(frame).unwrap_or_default();
        }
        counts
    });
    let shard = Shard { index: 0, of: 1 };
    let recorder = Recorder::new(0, shard, 1, Exchange { full, empty }, origin);
    let source = order.source(shard).unwrap();
    let worker = Worker::new(order, shard, origin, control, driver, (source, recorder));
    let made = allocation_counter::measure(|| drop(worker.run()));
    (taker.join().unwrap(), made)
}

/// As [`run`], with a driver of this kind.
fn run_by(kind: DriverKind, order: StepOrder) -> (Counts, AllocationInfo) {
    let fixed = order.fixed_bytes();
    match kind {
        DriverKind::Epoll => run(order, Epoll::new(fixed).unwrap()),
        DriverKind::IoUring => run(order, Uring::new(fixed).unwrap()),
    }
}

/// The requests completed and the allocations made by a worker.
fn allocations(level: Level, duration: Duration, driver: DriverKind) -> (u64, u64) {
    let (counts, made) = run_by(driver, order(echo_server(), level, duration));
    (counts.completed, made.count_total)
}

fn allocates_nothing_per_request(level: Level) {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let (few, short) = allocations(level.clone(), Duration::from_millis(50), driver);
        let (many, long) = allocations(level.clone(), Duration::from_millis(500), driver);
        assert!(many > few, "{few} and {many} requests by {}", driver.name());
        assert_eq!(short, long, "allocations of {few} and of {many} requests by {}", driver.name());
    }
}

#[test]
fn a_closed_loop_takes_no_memory_after_its_warm_up() {
    allocates_nothing_per_request(Level::Closed { connections: 4, depth: 1 });
}

#[test]
fn an_open_loop_takes_no_memory_after_its_warm_up() {
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

    fn receive(&mut self, slot: usize, unwanted_bytes: u64) -> io::Result<Received<'_>> {
        self.0.receive(slot, unwanted_bytes)
    }

    fn close(&mut self, slot: usize) {
        self.0.close(slot);
    }

    fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.wait(longest)
    }

    fn next_event(&mut self) -> Option<Event> {
        self.0.next_event()
    }
}

fn open_loop(rate_per_sec: f64, connections: u32) -> Level {
    let (profile, arrivals) = (RateProfile::Constant(rate_per_sec), ArrivalProcess::Constant);
    Level::Open { profile, arrivals, connections, depth: 1 }
}

#[test]
fn an_open_loop_that_has_sent_its_number_of_requests_sleeps_while_it_waits_for_answers() {
    // Connections are taken in, and nothing is read from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut order = order(address, open_loop(1000.0, 4), Duration::from_secs(600));
    order.requests_max = Some(4);
    order.timeout = Duration::from_millis(400);
    let waits = Arc::new(AtomicU64::new(0));
    let driver = Counted(Epoll::new(order.fixed_bytes()).unwrap(), Arc::clone(&waits));
    let (counts, _) = run(order, driver);
    assert_eq!((counts.intended, counts.failed.of(FailureKind::TimedOut)), (4, 4));
    // Deadlines are looked at every 20 ms and frames end every 10 ms; a loop that spins turns many thousand times.
    let waits = waits.load(Ordering::Relaxed);
    assert!((20..500).contains(&waits), "{waits} turns");
}

#[test]
fn connections_not_opened_before_the_load_ended_serve_what_is_still_due() {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        // The whole load is over before the worker begins.
        let mut order = order(echo_server(), open_loop(1000.0, 4), Duration::from_millis(10));
        order.origin = Instant::from_nanos(order.origin.as_nanos() - 20_000_000);
        let (counts, _) = run_by(driver, order);
        assert_eq!((counts.intended, counts.completed), (10, 10), "{counts:?} by {}", driver.name());
    }
}

/// Makes requests of a hundred kilobytes.
struct Long;

impl RequestMaker for Long {
    fn source(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Self))
    }

    fn give_back(&self, _shard: Shard, _source: Box<dyn RequestSource>) {}
}

impl RequestSource for Long {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Note, SourceFault> {
        out.extend_from_slice(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
        out.resize(out.len() + 100_000, b'x');
        Ok(Note::of_method("POST"))
    }

    fn answered(&mut self, _request: u16, _answer: &Answer<'_>) -> Result<Judgement, SourceFault> {
        Ok(Judgement::ByStatus)
    }
}

#[test]
fn a_deep_pipeline_of_long_requests_is_not_held_in_memory() {
    // Connections are taken in, and nothing is read from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let level = Level::Closed { connections: 1, depth: 1000 };
        let mut order = order(listener.local_addr().unwrap(), level, Duration::from_millis(200));
        order.traffic = Traffic::Made(Arc::new(Long));
        order.depth = 1000;
        order.timeout = Duration::from_millis(100);
        let (counts, made) = run_by(driver, order);
        assert!(counts.sent >= 2, "{counts:?}");
        assert!(made.bytes_max < 4_000_000, "{} bytes by {}", made.bytes_max, driver.name());
    }
}
