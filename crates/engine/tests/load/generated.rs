//! Requests generated one by one, and responses inspected.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_engine::{
    CheckResult, EngineError, RequestMeta, RequestSource, ResponseInterest, ResponseView, RunningStep,
    SourceFactory, SourceFault, StepEvent, Traffic,
};
use plimsoll_plan::Shard;
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::measured::{Measured, closed, open, order};

/// Counts its requests, and does what a test asks for.
#[derive(Clone)]
struct Counting {
    made: Arc<AtomicU64>,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    interest: ResponseInterest,
    think_time: Duration,
    batch: u16,
    stop_after: u64,
    fail_after: u64,
}

impl Counting {
    fn new() -> Self {
        Self {
            made: Arc::default(),
            bodies: Arc::default(),
            interest: ResponseInterest::None,
            think_time: Duration::ZERO,
            batch: 1,
            stop_after: u64::MAX,
            fail_after: u64::MAX,
        }
    }

    fn made(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }
}

impl SourceFactory for Counting {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }
}

/// Has no source for the second worker.
struct ForOne;

impl SourceFactory for ForOne {
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        if shard.index == 0 { Ok(Box::new(Counting::new())) } else { Err(io::Error::other("no room")) }
    }
}

#[test]
fn a_step_of_which_a_worker_cannot_start_ends_with_the_reason() {
    let mut order = order(plimsoll_testkit::refused_address(), closed(2));
    (order.workers, order.traffic) = (2, Traffic::Generated(Arc::new(ForOne)));
    assert!(matches!(RunningStep::start(&order), Err(EngineError::Start { worker: 1, .. })));
}

impl RequestSource for Counting {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        if number >= self.fail_after {
            return Err(SourceFault("no more ideas".to_owned()));
        }
        for _ in 0..self.batch {
            out.extend_from_slice(format!("GET /?n={number} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        }
        Ok(RequestMeta::for_method("GET"))
    }

    fn batch(&self) -> u16 {
        self.batch
    }

    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        Ok(self.think_time)
    }

    fn interest(&self) -> ResponseInterest {
        self.interest
    }

    fn inspect(&mut self, _request: u16, answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        let mut bodies = self.bodies.lock().unwrap();
        bodies.push(answer.body.to_vec());
        let known = answer.fields.iter().any(|field| field.name.eq_ignore_ascii_case("content-length"));
        Ok(if known && bodies.len().is_multiple_of(2) { CheckResult::Passed } else { CheckResult::Failed(1) })
    }

    fn stopped(&self) -> bool {
        self.made() >= self.stop_after
    }
}

#[test]
fn every_request_is_generated_anew_and_sources_end_with_their_workers() {
    let nginx = Nginx::start().unwrap();
    let factory = Counting::new();
    let mut order = order(nginx.address(), closed(4));
    order.workers = 2;
    order.traffic = Traffic::Generated(Arc::new(factory.clone()));
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.sent, factory.made());
    drop(order);
    assert_eq!(Arc::strong_count(&factory.made), 1, "no source is left");
}

#[test]
fn an_inspecting_source_gets_whole_bodies_and_its_results_count() {
    let server = BadServer::start(Script::Correct { body: b"a body".to_vec() });
    let factory = Counting { interest: ResponseInterest::Full, ..Counting::new() };
    let mut order = order(server.address(), closed(3));
    order.requests_max = Some(100);
    order.duration = Duration::from_secs(60);
    order.traffic = Traffic::Generated(Arc::new(factory.clone()));
    let measured = Measured::new(&order);
    let bodies = factory.bodies.lock().unwrap();
    assert_eq!(bodies.len(), 100);
    assert!(bodies.iter().all(|body| body == b"a body"));
    assert_eq!((measured.counts.completed, measured.counts.ok), (100, 50));
}

#[test]
fn a_source_that_stops_ends_the_load_before_its_time() {
    let nginx = Nginx::start().unwrap();
    let factory = Counting { stop_after: 50, ..Counting::new() };
    let mut order = order(nginx.address(), closed(4));
    order.duration = Duration::from_secs(600);
    order.traffic = Traffic::Generated(Arc::new(factory.clone()));
    let measured = Measured::new(&order);
    assert_eq!((measured.counts.completed, factory.made()), (50, 50));
}

#[test]
fn a_source_that_fails_says_why_and_loses_nothing() {
    let nginx = Nginx::start().unwrap();
    let factory = Counting { fail_after: 50, ..Counting::new() };
    let mut order = order(nginx.address(), closed(4));
    order.duration = Duration::from_secs(600);
    order.traffic = Traffic::Generated(Arc::new(factory));
    let mut running = RunningStep::start(&order).unwrap();
    let mut completed = 0;
    while let StepEvent::Frame(frame) = running.next(Duration::from_secs(60)).unwrap() {
        completed += frame.head.counts.completed;
    }
    assert_eq!(running.fault().map(ToString::to_string), Some("no more ideas".to_owned()));
    assert_eq!(completed, 50);
}

/// Does not return from its first request before it is released.
struct Blocked {
    /// Gone when the worker has ended.
    _alive: Sender<()>,
    entered: Sender<()>,
    released: Arc<Mutex<Receiver<()>>>,
}

impl SourceFactory for Blocked {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(Blocking { entered: self.entered.clone(), released: Arc::clone(&self.released) }))
    }
}

struct Blocking {
    entered: Sender<()>,
    released: Arc<Mutex<Receiver<()>>>,
}

impl RequestSource for Blocking {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        self.entered.send(()).unwrap_or_default();
        self.released.lock().unwrap().recv().unwrap_or_default();
        Ok(RequestMeta::for_method("GET"))
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

#[test]
fn what_a_worker_that_was_left_hands_over_later_is_dropped() {
    let server = BadServer::start(Script::Correct { body: b"ok".to_vec() });
    let [(alive, ended), (entered, has_entered), (release, released)] = [channel(), channel(), channel()];
    let factory = Blocked { _alive: alive, entered, released: Arc::new(Mutex::new(released)) };
    let mut order = order(server.address(), closed(1));
    order.traffic = Traffic::Generated(Arc::new(factory));
    let mut running = RunningStep::start(&order).unwrap();
    drop(order);
    has_entered.recv().unwrap();
    assert_eq!(running.leave(), [0]);
    // The worker ends after all, and hands over its last frame before that.
    release.send(()).unwrap();
    assert!(ended.recv().is_err());
    while let event = running.next(Duration::ZERO).unwrap()
        && !matches!(event, StepEvent::Ended)
    {
        assert!(matches!(event, StepEvent::Timeout), "{event:?}");
    }
}

#[test]
fn think_times_pace_a_connection_and_are_not_latency() {
    let nginx = Nginx::start().unwrap();
    let factory = Counting { think_time: Duration::from_millis(40), ..Counting::new() };
    let mut order = order(nginx.address(), closed(2));
    order.traffic = Traffic::Generated(Arc::new(factory));
    order.requests_max = Some(10);
    let measured = Measured::new(&order);
    assert_eq!((measured.counts.completed, measured.failures()), (10, vec![]));
    // One of the two connections makes five requests or more, with a pause of 40 ms between each two.
    let (first, last) = (&measured.frames[0].head, &measured.frames.last().unwrap().head);
    let span_ns = last.ended_ns - first.began_ns;
    assert!(span_ns >= 4 * 40_000_000, "{span_ns} ns");
    assert!(measured.latency.min() < 40_000_000);
}

#[test]
fn a_batch_of_requests_is_sent_together() {
    let nginx = Nginx::start().unwrap();
    let factory = Counting { batch: 8, ..Counting::new() };
    for level in [closed(2), open(500.0, 2)] {
        let mut order = order(nginx.address(), level);
        order.depth = 8;
        order.requests_max = Some(240);
        order.duration = Duration::from_secs(60);
        order.traffic = Traffic::Generated(Arc::new(factory.clone()));
        let measured = Measured::new(&order);
        assert_eq!(measured.failures(), [""; 0]);
        assert_eq!((measured.counts.intended, measured.counts.completed), (240, 240));
    }
    assert_eq!(factory.made(), 60);
}
