//! One step of two requests: one of the case's method, and one that any server answers.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_engine::{
    CheckResult, RequestMeta, RequestSource, ResponseInterest, ResponseView, RunningStep, SourceFactory,
    SourceFault, StepEvent, StepSpec, Traffic,
};
use plimsoll_http::Version;
use plimsoll_plan::{DriverKind, Level, Shard, Target};
use plimsoll_record::Counts;
use plimsoll_testkit::conformance::{Case, Suite};
use plimsoll_units::{Clock, RealClock};

/// Longer than any case takes. No case waits for it: servers close where a client could wait.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a step counted.
pub(crate) struct Counted {
    pub(crate) counts: Counts,
    pub(crate) responses: Vec<Response>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body_bytes: u64,
    pub(crate) keep_alive: bool,
}

/// Runs the step to its end.
pub(crate) fn count(of: Suite, case: &Case, address: SocketAddr, driver: DriverKind) -> Counted {
    let responses = Arc::default();
    let source = Source { requests: requests(of, case, address), made: 0, responses: Arc::clone(&responses) };
    let mut running = RunningStep::start(&spec(of, address, driver, source)).unwrap();
    let mut counts = Counts::default();
    loop {
        match running.next(TIMEOUT * 3).unwrap() {
            StepEvent::Ended => break,
            StepEvent::Timeout => panic!("{}: the step does not end", case.name),
            StepEvent::Frame(frame) => counts.merge(&frame.head.counts),
        }
    }
    assert_eq!(counts.intended, counts.completed + counts.failed.total(), "{}", case.name);
    let responses = responses.lock().unwrap().clone();
    Counted { counts, responses }
}

fn spec(of: Suite, address: SocketAddr, driver: DriverKind, source: Source) -> StepSpec {
    StepSpec {
        step: 0,
        level: Level::Closed { connections: 1, depth: 1 },
        duration: Duration::from_secs(600),
        destinations: vec![address.into()],
        sources: Vec::new(),
        traffic: Traffic::Generated(Arc::new(source)),
        requests: 1,
        depth: 1,
        requests_max: Some(2),
        streams: of == Suite::Http2,
        tls: None,
        workers: 1,
        group: None,
        timeout: TIMEOUT,
        connections_max: 1,
        interval: Duration::from_secs(1),
        seed: 1,
        driver: Some(driver),
        origin: RealClock.now(),
    }
}

type Request = (Vec<u8>, RequestMeta);

fn requests(of: Suite, case: &Case, address: SocketAddr) -> [Request; 2] {
    let request = |method: &str| {
        let mut target = Target::parse(&format!("http://{address}/")).unwrap();
        method.clone_into(&mut target.method);
        match of {
            Suite::Http1 => (target.encode().unwrap(), RequestMeta::for_method(method)),
            Suite::Http2 => {
                let (bytes, head_bytes) = target.request().encode(Version::Http2).unwrap().to_bytes();
                let meta = RequestMeta { head_bytes: head_bytes as u32, ..RequestMeta::for_method(method) };
                (bytes, meta)
            }
        }
    };
    [request(&case.method), request("GET")]
}

#[derive(Clone)]
struct Source {
    requests: [Request; 2],
    made: usize,
    responses: Arc<Mutex<Vec<Response>>>,
}

impl SourceFactory for Source {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }
}

impl RequestSource for Source {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let (bytes, meta) = &self.requests[self.made.min(1)];
        self.made += 1;
        out.extend_from_slice(bytes);
        Ok(*meta)
    }

    /// Bodies are thrown away unseen, as in an ordinary load.
    fn interest(&self) -> ResponseInterest {
        ResponseInterest::Outcome
    }

    fn inspect(&mut self, _request: u16, view: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        let response =
            Response { status: view.status, body_bytes: view.body_bytes, keep_alive: view.keep_alive };
        self.responses.lock().unwrap().push(response);
        Ok(CheckResult::ByStatus)
    }
}
