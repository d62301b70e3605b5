//! The worker's own promise: after the warm-up its loop takes no memory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Level, Shard, Target};
use plimsoll_units::{Clock, RealClock};

use super::Worker;
use crate::control::Control;
use crate::drive::Driver;
use crate::drive::epoll::Epoll;
use crate::drive::uring::Uring;
use crate::order::StepOrder;
use crate::recorder::{Exchange, LiveFrame, Recorder};

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
fn allocations<D: Driver>(
    make: impl Fn(Arc<[u8]>) -> std::io::Result<D>,
    level: Level,
    duration: Duration,
) -> (u64, u64) {
    let address = echo_server();
    let origin = RealClock.now();
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    let order = StepOrder {
        step: 0,
        level,
        duration,
        address,
        request: target.encode().unwrap().into(),
        method: target.method,
        workers: 1,
        timeout: Duration::from_secs(10),
        connections_max: 4,
        interval: Duration::from_millis(10),
        seed: 1,
        driver: None,
        origin,
    };
    let control = Arc::new(Control::new(origin + duration, Duration::from_secs(10)));
    let (full, frames) = sync_channel::<Box<LiveFrame>>(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0)).unwrap();
    let taker = thread::spawn(move || {
        let mut completed = 0;
        while let Ok(frame) = frames.recv() {
            completed += frame.head.counts.completed;
            give_back.try_send(frame).unwrap_or_default();
        }
        completed
    });
    let shard = Shard { index: 0, of: 1 };
    let recorder = Recorder::new(0, shard, Exchange { full, empty }, origin);
    let driver = make(Arc::clone(&order.request)).unwrap();
    let worker = Worker::new(order, shard, origin, control, driver, recorder);
    let made = allocation_counter::measure(|| worker.run());
    (taker.join().unwrap(), made.count_total)
}

fn allocates_nothing_per_request<D: Driver>(make: fn(Arc<[u8]>) -> std::io::Result<D>, level: Level) {
    let (few, short) = allocations(make, level, Duration::from_millis(50));
    let (many, long) = allocations(make, level, Duration::from_millis(500));
    assert!(many > few, "{few} and {many} requests");
    assert_eq!(short, long, "allocations of {few} and of {many} requests");
}

const CLOSED: Level = Level::Closed { connections: 4 };
const OPEN: Level = Level::Open { rate_per_sec: 2000.0, arrivals: ArrivalProcess::Poisson, connections: 4 };

#[test]
fn a_closed_loop_takes_no_memory_after_its_warm_up() {
    allocates_nothing_per_request(Epoll::new, CLOSED);
}

#[test]
fn a_closed_loop_on_a_ring_takes_no_memory_after_its_warm_up() {
    allocates_nothing_per_request(Uring::new, CLOSED);
}

#[test]
fn an_open_loop_takes_no_memory_after_its_warm_up() {
    allocates_nothing_per_request(Epoll::new, OPEN);
}

#[test]
fn an_open_loop_on_a_ring_takes_no_memory_after_its_warm_up() {
    allocates_nothing_per_request(Uring::new, OPEN);
}
