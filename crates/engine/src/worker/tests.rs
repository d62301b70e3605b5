//! The worker's own promise: after the warm-up its loop takes no memory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, DriverKind, Level, RateProfile, Shard, Target};
use plimsoll_units::{Clock, RealClock};

use super::Worker;
use crate::control::Control;
use crate::drive::epoll::Epoll;
use crate::drive::uring::Uring;
use crate::order::StepOrder;
use crate::recorder::{Exchange, LiveFrame, Recorder};
use crate::traffic::{FixedRequest, Traffic};

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

/// Runs a worker on this thread; gives the requests completed and the allocations made by this thread.
fn allocations(level: Level, duration: Duration, driver: DriverKind) -> (u64, u64) {
    let address = echo_server();
    let origin = RealClock.now();
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    let order = StepOrder {
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
        timeout: Duration::from_secs(10),
        connections_max: 4,
        interval: Duration::from_millis(10),
        seed: 1,
        driver: Some(driver),
        origin,
    };
    let control = Arc::new(Control::new(origin + duration, Duration::from_secs(10), None));
    let (full, frames) = sync_channel::<Box<LiveFrame>>(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    let taker = thread::spawn(move || {
        let mut completed = 0;
        while let Ok(frame) = frames.recv() {
            completed += frame.seal().map(|frame| frame.head.counts.completed).sum::<u64>();
            give_back.try_send(frame).unwrap_or_default();
        }
        completed
    });
    let shard = Shard { index: 0, of: 1 };
    let recorder = Recorder::new(0, shard, 1, Exchange { full, empty }, origin);
    let source = order.source(shard).unwrap();
    let fixed = order.fixed_bytes();
    let parts = (source, recorder);
    let made = match driver {
        DriverKind::Epoll => {
            let worker = Worker::new(order, shard, origin, control, Epoll::new(fixed).unwrap(), parts);
            allocation_counter::measure(|| drop(worker.run()))
        }
        DriverKind::IoUring => {
            let worker = Worker::new(order, shard, origin, control, Uring::new(fixed).unwrap(), parts);
            allocation_counter::measure(|| drop(worker.run()))
        }
    };
    (taker.join().unwrap(), made.count_total)
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
