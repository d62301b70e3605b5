//! Loads that end before their time, and how the record of their step says so.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_conductor::{Observer, Outcome, Progress, RunOptions, WorkloadOverride, conduct};
use plimsoll_engine::{
    CheckResult, RequestMeta, RequestSource, ResponseView, SourceFactory, SourceFault, Traffic,
};
use plimsoll_plan::{
    ArrivalProcess, LoadSpec, Network, Plan, PlanSpec, ScenarioSpec, Shard, Slo, TransportSpec,
};
use plimsoll_record::{Counts, EventKind, FailureKind, RunCommand, StepEnd};
use plimsoll_testkit::{BadServer, Script};

/// Far longer than any test takes.
const PLANNED: Duration = Duration::from_secs(300);

fn plan(server: &BadServer, requests_max: Option<u64>, timeout: Duration) -> Plan {
    let load = LoadSpec::Single {
        connections: Some(4),
        profile: None,
        arrivals: ArrivalProcess::Constant,
        duration: Some(PLANNED),
        requests_max,
    };
    let spec = PlanSpec {
        name: None,
        url: format!("http://{}/", server.address()),
        method: None,
        headers: Vec::new(),
        body: None,
        network: Network::default(),
        load,
        search: None,
        overload: None,
        trace: None,
        warm: None,
        workers: Some(2),
        timeout,
        connections_max: None,
        depth: None,
        seed: 1,
        driver: None,
        transport: TransportSpec::default(),
        scenario: ScenarioSpec::default(),
        slo: Slo::default(),
        hosts: Vec::new(),
        redact: Vec::new(),
        group: None,
        slo_assumed: false,
    };
    spec.freeze().unwrap()
}

/// Keeps the throughput that is reported at the end of the step.
#[derive(Default)]
struct Ending(f64);

impl Observer for Ending {
    fn observe(&mut self, progress: &Progress<'_>) {
        if let Progress::StepEnded { throughput_per_sec, .. } = progress {
            self.0 = *throughput_per_sec;
        }
    }
}

fn run(plan: Plan, workload: Option<WorkloadOverride>) -> (Outcome, f64) {
    let interrupted = AtomicBool::new(false);
    let options = RunOptions { workload, ..RunOptions::new(RunCommand::Run, "0", &interrupted) };
    let mut ending = Ending::default();
    let outcome = conduct(plan, options, &mut ending).unwrap();
    (outcome, ending.0)
}

fn counts(outcome: &Outcome) -> Counts {
    let mut sum = Counts::default();
    outcome.run.frames.iter().for_each(|frame| sum.merge(&frame.head.counts));
    sum
}

fn correct() -> BadServer {
    BadServer::start(Script::Correct { body: b"ok".to_vec() })
}

/// Makes a few requests and wants no more.
#[derive(Clone)]
struct Few {
    left: Arc<AtomicU64>,
}

impl SourceFactory for Few {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }
}

impl RequestSource for Few {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let less = |left: u64| Some(left.saturating_sub(1));
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).unwrap();
        Ok(RequestMeta::for_method("GET"))
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }

    fn stopped(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn a_step_ends_when_its_number_of_requests_was_sent() {
    let server = correct();
    let (outcome, throughput_per_sec) = run(plan(&server, Some(200), PLANNED), None);
    let (step, counts) = (&outcome.run.steps[0], counts(&outcome));
    assert_eq!(step.end, StepEnd::RequestLimit);
    assert_eq!((counts.intended, counts.sent, counts.completed), (200, 200, 200));
    assert!(step.drained_ns >= step.ended_ns && step.ended_ns > step.began_ns, "{step:?}");
    assert!(step.ended_ns - step.began_ns < PLANNED.as_nanos() as u64 / 2, "{step:?}");
    assert!(throughput_per_sec > 0.0);
    // One more connection is made before the load, to see whether the target is there.
    assert_eq!(server.requests(), 200);
}

#[test]
fn a_step_whose_workers_all_stop_ends_with_their_last_frame() {
    let server = correct();
    let few = Few { left: Arc::new(AtomicU64::new(40)) };
    let workload = WorkloadOverride {
        traffic: Traffic::Generated(Arc::new(few)),
        interval: Duration::from_millis(100),
        outlasts_target: true,
    };
    let (outcome, throughput_per_sec) = run(plan(&server, None, PLANNED), Some(workload));
    let step = &outcome.run.steps[0];
    let last_ns = outcome.run.frames.iter().map(|frame| frame.head.ended_ns).max().unwrap();
    assert_eq!(step.end, StepEnd::Stopped);
    assert_eq!((step.ended_ns, step.drained_ns), (last_ns, last_ns));
    assert!(counts(&outcome).completed >= 40);
    let seconds = (step.ended_ns - step.began_ns) as f64 / 1e9;
    assert!((throughput_per_sec * seconds - counts(&outcome).completed as f64).abs() < 0.5);
}

/// Makes requests until the first worker has made enough; the second dies meanwhile.
struct Mortal(Few);

impl SourceFactory for Mortal {
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        let Self(few) = self;
        Ok(if shard.index == 0 { Box::new(few.clone()) } else { Box::new(Dying) })
    }
}

struct Dying;

impl RequestSource for Dying {
    fn write(&mut self, _out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        panic!("this worker dies as the test wants it to")
    }

    fn inspect(&mut self, _request: u16, _answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(CheckResult::ByStatus)
    }
}

#[test]
fn what_the_others_measured_is_kept_when_a_worker_dies() {
    let server = correct();
    let mortal = Mortal(Few { left: Arc::new(AtomicU64::new(40)) });
    let workload = WorkloadOverride {
        traffic: Traffic::Generated(Arc::new(mortal)),
        interval: Duration::from_millis(100),
        outlasts_target: true,
    };
    let (outcome, _) = run(plan(&server, None, PLANNED), Some(workload));
    assert!(counts(&outcome).completed >= 40, "{:?}", counts(&outcome));
    let failed = outcome.run.events.iter().find(|event| event.kind == EventKind::StepFailed);
    assert!(failed.is_some_and(|event| event.text.contains("a worker ended by a fault")), "{failed:?}");
}

/// Has no source for any worker.
struct Barren;

impl SourceFactory for Barren {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Err(io::Error::other("no room"))
    }
}

#[test]
fn a_first_step_that_cannot_start_leaves_no_file() {
    let server = correct();
    let workload = WorkloadOverride {
        traffic: Traffic::Generated(Arc::new(Barren)),
        interval: Duration::from_millis(100),
        outlasts_target: true,
    };
    let (interrupted, folder) = (AtomicBool::new(false), tempfile::tempdir().unwrap());
    let options = RunOptions {
        workload: Some(workload),
        folder: Some(folder.path()),
        ..RunOptions::new(RunCommand::Run, "0", &interrupted)
    };
    let error = conduct(plan(&server, None, PLANNED), options, &mut Ending::default()).unwrap_err();
    assert!(error.to_string().contains("could not be started"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_failed_request_is_one_of_the_number_and_is_reported_once() {
    let server = BadServer::start(Script::NeverAnswer);
    let (outcome, _) = run(plan(&server, Some(12), Duration::from_millis(100)), None);
    let counts = counts(&outcome);
    assert_eq!((counts.intended, counts.failed.of(FailureKind::TimedOut)), (12, 12));
    let seen: Vec<FailureKind> = outcome.run.events.iter().filter_map(|event| event.failure).collect();
    assert_eq!(seen, [FailureKind::TimedOut]);
}
