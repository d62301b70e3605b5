//! Connections that are replaced need no descriptors besides those of the open ones. In a process of its own, whose limit
//! it lowers.
#![expect(clippy::unwrap_used, reason = "in tests, a failed step is the failure")]

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_engine::{
    CheckResult, RequestMeta, RequestSource, ResponseInterest, ResponseView, RunningStep, SourceFactory,
    SourceFault, StepEvent, StepSpec, Traffic,
};
use plimsoll_plan::{DriverKind, Level, Shard};
use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, RealClock};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CONNECTIONS: u32 = 50;
/// Descriptors for what a worker opens in passing: far fewer than it receives responses in one turn.
const SPARE: usize = 6;

/// A source that holds its worker up at the first response until it is released.
struct Held(Mutex<Option<Receiver<()>>>);

struct HeldSource(Option<Receiver<()>>);

impl SourceFactory for Held {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(HeldSource(self.0.lock().unwrap().take())))
    }
}

impl RequestSource for HeldSource {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        Ok(RequestMeta::for_method("GET"))
    }

    fn interest(&self) -> ResponseInterest {
        ResponseInterest::Outcome
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        if let Some(release) = self.0.take() {
            release.recv().unwrap();
        }
        Ok(CheckResult::ByStatus)
    }
}

fn spec(address: SocketAddr, source: Held, driver: DriverKind) -> StepSpec {
    StepSpec {
        step: 0,
        level: Level::Closed { connections: CONNECTIONS, depth: 1 },
        duration: Duration::from_secs(600),
        destinations: vec![address.into()],
        sources: Vec::new(),
        traffic: Traffic::Generated(Arc::new(source)),
        requests: 1,
        depth: 1,
        requests_max: None,
        streams: false,
        tls: None,
        workers: 1,
        group: None,
        timeout: Duration::from_secs(60),
        connections_max: CONNECTIONS,
        interval: Duration::from_millis(20),
        seed: 1,
        driver: Some(driver),
        origin: RealClock.now(),
    }
}

/// Takes a connection in, with its first request.
fn accept(listener: &TcpListener) -> TcpStream {
    let mut stream = listener.accept().unwrap().0;
    let (mut request, mut piece) = (Vec::new(), [0; 256]);
    while !request.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "a request was cut off");
        request.extend_from_slice(&piece[..count]);
    }
    stream
}

/// Leaves so few descriptors free, whatever numbers this process has inherited.
fn lower_limit() {
    let names = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().file_name());
    let open: BTreeSet<u64> = names.map(|name| name.to_str().unwrap().parse().unwrap()).collect();
    let current = (0..).filter(|number| !open.contains(number)).nth(SPARE);
    setrlimit(Resource::Nofile, Rlimit { current, maximum: getrlimit(Resource::Nofile).maximum }).unwrap();
}

fn restore_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// Answers all connections at once, each for the last time, and lets the worker read the answers after that.
fn answer_all(streams: &mut [TcpStream], release: &Sender<()>) {
    for stream in streams {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
    }
    release.send(()).unwrap();
}

#[test]
fn connections_that_are_replaced_together_take_no_descriptors_beyond_their_number() {
    for driver in [DriverKind::Epoll, DriverKind::IoUring] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (release, released) = channel();
        let source = Held(Mutex::new(Some(released)));
        let spec = spec(listener.local_addr().unwrap(), source, driver);
        let mut running = RunningStep::start(&spec).unwrap();
        let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| accept(&listener)).collect();
        lower_limit();
        answer_all(&mut streams, &release);
        // The new connections wait in the backlog, where they take no descriptors of this process.
        let (mut connects, mut without) = (0, 0);
        while connects < 2 * u64::from(CONNECTIONS) && without == 0 {
            match running.next(Duration::from_secs(60)).unwrap() {
                StepEvent::Frame(frame) => {
                    connects += frame.head.counts.connects;
                    without += frame.head.counts.failed.of(FailureKind::NoDescriptorsLeft);
                }
                event => panic!("{event:?} after {connects} connections"),
            }
        }
        drop(running);
        restore_limit();
        assert_eq!(without, 0, "{driver:?}");
    }
}
