//! Requests made one by one, and a look into their answers.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_engine::{
    Answer, Curiosity, Judgement, Note, RequestMaker, RequestSource, Running, SourceFault, Traffic, Turn,
};
use plimsoll_plan::Shard;
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::measured::{Measured, closed, open, order};

/// Counts its requests, and does what a test asks for.
#[derive(Clone)]
struct Counting {
    made: Arc<AtomicU64>,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    given_back: Arc<AtomicU64>,
    curiosity: Curiosity,
    pause: Duration,
    batch: u16,
    stop_after: u64,
    fail_after: u64,
}

impl Counting {
    fn new() -> Self {
        Self {
            made: Arc::default(),
            bodies: Arc::default(),
            given_back: Arc::default(),
            curiosity: Curiosity::Nothing,
            pause: Duration::ZERO,
            batch: 1,
            stop_after: u64::MAX,
            fail_after: u64::MAX,
        }
    }

    fn made(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }
}

impl RequestMaker for Counting {
    fn source(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }

    fn give_back(&self, _shard: Shard, _source: Box<dyn RequestSource>) {
        self.given_back.fetch_add(1, Ordering::SeqCst);
    }
}

impl RequestSource for Counting {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Note, SourceFault> {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        if number >= self.fail_after {
            return Err(SourceFault("no more ideas".to_owned()));
        }
        for _ in 0..self.batch {
            out.extend_from_slice(format!("GET /?n={number} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        }
        Ok(Note::of_method("GET"))
    }

    fn batch(&self) -> u16 {
        self.batch
    }

    fn pause(&mut self) -> Result<Duration, SourceFault> {
        Ok(self.pause)
    }

    fn curiosity(&self) -> Curiosity {
        self.curiosity
    }

    fn answered(&mut self, _request: u16, answer: &Answer<'_>) -> Result<Judgement, SourceFault> {
        let mut bodies = self.bodies.lock().unwrap();
        bodies.push(answer.body.to_vec());
        let known = answer.fields.iter().any(|field| field.name.eq_ignore_ascii_case("content-length"));
        Ok(if known && bodies.len().is_multiple_of(2) { Judgement::Passed } else { Judgement::Failed(1) })
    }

    fn stopped(&self) -> bool {
        self.made() >= self.stop_after
    }
}

#[test]
fn every_request_is_made_anew_and_its_source_comes_back() {
    let nginx = Nginx::start().unwrap();
    let maker = Counting::new();
    let mut order = order(nginx.address(), closed(4));
    order.workers = 2;
    order.traffic = Traffic::Made(Arc::new(maker.clone()));
    let measured = Measured::of(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.sent, maker.made());
    assert_eq!(maker.given_back.load(Ordering::SeqCst), 2);
}

#[test]
fn a_curious_source_sees_whole_bodies_and_judges_them() {
    let server = BadServer::start(Script::Correct { body: b"a body".to_vec() });
    let maker = Counting { curiosity: Curiosity::Everything, ..Counting::new() };
    let mut order = order(server.address(), closed(3));
    order.requests_max = Some(100);
    order.traffic = Traffic::Made(Arc::new(maker.clone()));
    let measured = Measured::of(&order);
    let bodies = maker.bodies.lock().unwrap();
    assert_eq!(bodies.len(), 100);
    assert!(bodies.iter().all(|body| body == b"a body"));
    assert_eq!((measured.counts.completed, measured.counts.ok), (100, 50));
}

#[test]
fn a_source_that_stops_ends_the_load_before_its_time() {
    let nginx = Nginx::start().unwrap();
    let maker = Counting { stop_after: 50, ..Counting::new() };
    let mut order = order(nginx.address(), closed(4));
    order.duration = Duration::from_secs(600);
    order.traffic = Traffic::Made(Arc::new(maker.clone()));
    let measured = Measured::of(&order);
    assert_eq!((measured.counts.completed, maker.made()), (50, 50));
}

#[test]
fn a_source_that_fails_says_why_and_loses_nothing() {
    let nginx = Nginx::start().unwrap();
    let maker = Counting { fail_after: 50, ..Counting::new() };
    let mut order = order(nginx.address(), closed(4));
    order.duration = Duration::from_secs(600);
    order.traffic = Traffic::Made(Arc::new(maker));
    let mut running = Running::start(&order).unwrap();
    let mut completed = 0;
    while let Turn::Frame(frame) = running.next(Duration::from_secs(60)).unwrap() {
        completed += frame.head.counts.completed;
    }
    assert_eq!(running.fault().map(ToString::to_string), Some("no more ideas".to_owned()));
    assert_eq!(completed, 50);
}

#[test]
fn pauses_pace_a_connection_and_are_not_latency() {
    let nginx = Nginx::start().unwrap();
    let maker = Counting { pause: Duration::from_millis(40), ..Counting::new() };
    let mut order = order(nginx.address(), closed(2));
    order.traffic = Traffic::Made(Arc::new(maker));
    let measured = Measured::of(&order);
    assert!((2..=2 * 300 / 40).contains(&measured.counts.completed), "{:?}", measured.counts);
    assert_eq!(measured.failures(), [""; 0]);
    assert!(measured.latency.min() < 40_000_000);
}

#[test]
fn requests_made_together_are_sent_together() {
    let nginx = Nginx::start().unwrap();
    let maker = Counting { batch: 8, ..Counting::new() };
    for level in [closed(2), open(500.0, 2)] {
        let mut order = order(nginx.address(), level);
        order.depth = 8;
        order.requests_max = Some(240);
        order.traffic = Traffic::Made(Arc::new(maker.clone()));
        let measured = Measured::of(&order);
        assert_eq!(measured.failures(), [""; 0]);
        assert_eq!((measured.counts.intended, measured.counts.completed), (240, 240));
    }
    assert_eq!(maker.made(), 60);
}
