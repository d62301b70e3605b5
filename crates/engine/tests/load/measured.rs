//! One step run to its end, with everything it recorded added up.

use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_engine::{FixedRequest, RunningStep, StepEvent, StepSpec, Traffic};
use plimsoll_plan::{ArrivalProcess, Level, RateProfile, Target};
use plimsoll_record::{Counts, FailureKind, Frame, Histogram, latency_histogram};
use plimsoll_units::{Clock, RealClock};

/// A small step for `address`; tests change what they are about. It ends by the number of its requests, so that a machine
/// that stalls makes it longer and takes none of them away.
pub(crate) fn order(address: SocketAddr, level: Level) -> StepSpec {
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    StepSpec {
        step: 0,
        level,
        duration: Duration::from_secs(60),
        destinations: vec![address.into()],
        sources: Vec::new(),
        traffic: Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method)),
        requests: 1,
        depth: 1,
        requests_max: Some(300),
        streams: false,
        tls: None,
        workers: 1,
        group: None,
        timeout: Duration::from_secs(10),
        connections_max: 100,
        interval: Duration::from_millis(50),
        seed: 1,
        driver: Some(super::DRIVER),
        origin: RealClock.now(),
    }
}

pub(crate) fn closed(connections: u32) -> Level {
    Level::Closed { connections, depth: 1 }
}

pub(crate) fn open(rate_per_sec: f64, connections: u32) -> Level {
    let profile = RateProfile::Constant(rate_per_sec);
    Level::Open { profile, arrivals: ArrivalProcess::Constant, connections, depth: 1 }
}

/// Everything one step recorded.
pub(crate) struct Measured {
    pub(crate) counts: Counts,
    pub(crate) latency: Histogram,
    pub(crate) service: Histogram,
    pub(crate) frames: Vec<Frame>,
}

impl Measured {
    /// Runs a step to its end.
    pub(crate) fn new(order: &StepSpec) -> Self {
        Self::watched(order, |_, _| {})
    }

    /// Runs a step to its end; `watch` sees each frame and may end the step.
    pub(crate) fn watched(order: &StepSpec, mut watch: impl FnMut(&Frame, &RunningStep)) -> Self {
        let mut running = RunningStep::start(order).unwrap();
        assert_eq!(Some(running.driver()), order.driver);
        let mut sum = Self {
            counts: Counts::default(),
            latency: latency_histogram(),
            service: latency_histogram(),
            frames: Vec::new(),
        };
        loop {
            match running.next(Duration::from_secs(60)).unwrap() {
                StepEvent::Ended => break,
                StepEvent::Timeout => panic!("no frame within a minute"),
                StepEvent::Frame(frame) => {
                    watch(&frame, &running);
                    sum.add(*frame);
                }
            }
        }
        sum.check_that_every_request_is_accounted_for();
        sum
    }

    fn add(&mut self, frame: Frame) {
        self.counts.merge(&frame.head.counts);
        frame.latency.add_to(&mut self.latency).unwrap();
        frame.service_times().add_to(&mut self.service).unwrap();
        self.frames.push(frame);
    }

    fn check_that_every_request_is_accounted_for(&self) {
        let counts = &self.counts;
        assert_eq!(counts.intended, counts.completed + counts.failed.total(), "{counts:?}");
        assert!(counts.sent <= counts.intended);
        let last = self.frames.last().unwrap();
        assert_eq!((last.head.in_flight, last.head.backlog), (0, 0));
    }

    /// The failures that were counted, by name.
    pub(crate) fn failures(&self) -> Vec<&'static str> {
        self.counts.failed.iter().map(|(kind, _)| kind.name()).collect()
    }

    pub(crate) fn failed(&self, kind: FailureKind) -> u64 {
        self.counts.failed.of(kind)
    }
}
