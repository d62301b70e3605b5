//! The load before the first step: how it ends, and that nothing of it is in what follows.
#![expect(clippy::unwrap_used, reason = "in tests, a failed step is the failure")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_analyze::Raise;
use plimsoll_conductor::{
    CapController, ConductError, Observer, Outcome, Progress, RunOptions, WarmUpError, conduct,
};
use plimsoll_plan::{LoadSpec, Network, Plan, PlanSpec, ScenarioSpec, Slo, TransportSpec};
use plimsoll_record::{EventKind, RunCommand};
use plimsoll_testkit::{BadServer, Script};

/// Requests that the server answers slowly before it is warm.
const COLD: u64 = 400;

fn plan(server: &BadServer, warm: Duration) -> Plan {
    let step_limit = Some(Duration::from_millis(300));
    let spec = PlanSpec {
        name: None,
        url: format!("http://{}/", server.address()),
        method: None,
        headers: Vec::new(),
        body: None,
        network: Network::default(),
        load: LoadSpec::Ladder { steps: Some(vec![2, 20]), step_limit, budget: None },
        search: None,
        overload: None,
        trace: None,
        warm: Some(warm),
        workers: Some(2),
        timeout: Duration::from_secs(10),
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

/// Sets the flag of Ctrl-C once the warm-up has begun to show something.
struct Impatient<'a>(&'a AtomicBool);

impl Observer for Impatient<'_> {
    fn observe(&mut self, progress: &Progress<'_>) {
        if let Progress::Moment { .. } = progress {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

/// A server that is slow for so many requests. Both times are long compared with what a busy machine adds to them.
fn cold_for(requests: u64) -> BadServer {
    let (cold, warm) = (Duration::from_millis(100), Duration::from_millis(10));
    BadServer::start(Script::SlowAtFirst { requests, cold, warm })
}

struct Patient;

impl Observer for Patient {
    fn observe(&mut self, _progress: &Progress<'_>) {}
}

fn run(server: &BadServer, warm: Duration) -> Outcome {
    let interrupted = AtomicBool::new(false);
    conduct(plan(server, warm), RunOptions::new(RunCommand::Sweep, "0", &interrupted), &mut Patient).unwrap()
}

fn reported(outcome: &Outcome, kind: EventKind) -> Option<&str> {
    outcome.run.events.iter().find(|event| event.kind == kind).map(|event| event.text.as_str())
}

#[test]
fn the_steps_of_a_target_that_gets_faster_are_those_of_a_warm_one() {
    let server = cold_for(COLD);
    let outcome = run(&server, Duration::from_secs(120));
    let text = reported(&outcome, EventKind::WarmedUp).unwrap();
    assert!(text.starts_with("warmed up for") && text.ends_with("at 20 connections"), "{text}");
    let steps: Vec<(u32, u32)> =
        outcome.run.steps.iter().map(|step| (step.index, step.connections)).collect();
    assert_eq!(steps, [(0, 2), (1, 20)]);
    assert!(outcome.run.frames.iter().all(|frame| frame.head.step < 2), "a frame of the warm-up is kept");
    let counted: u64 = outcome.run.frames.iter().map(|frame| frame.head.counts.completed).sum();
    assert!(counted > 0 && counted + COLD <= server.requests(), "{counted} of {}", server.requests());
    let warm_at = outcome.run.events.iter().find(|event| event.kind == EventKind::WarmedUp).unwrap().at_ns;
    assert!(outcome.run.frames.iter().all(|frame| frame.head.began_ns >= warm_at));
}

#[test]
fn a_target_that_is_not_warm_in_time_is_reported_and_measured_all_the_same() {
    let server = cold_for(u64::MAX);
    let outcome = run(&server, Duration::from_secs(1));
    let text = reported(&outcome, EventKind::NotWarm).unwrap();
    assert!(text.starts_with("not steady after") && text.contains("of warm-up"), "{text}");
    assert_eq!(outcome.run.steps.len(), 2);
}

/// Counts how often caps are applied.
#[derive(Debug, Default)]
struct Counting(u32);

impl CapController for Counting {
    fn apply(&mut self) -> io::Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn raise(&mut self, _raise: &Raise) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Runs with hosts that have no caps at first; gives the event of the warm-up, and how often caps were applied.
fn run_uncapped(server: &BadServer, warm: Duration) -> (String, u32) {
    let (interrupted, mut caps) = (AtomicBool::new(false), Counting::default());
    let options = RunOptions {
        caps: Some(&mut caps),
        starts_uncapped: true,
        ..RunOptions::new(RunCommand::Lab, "0", &interrupted)
    };
    let outcome = conduct(plan(server, warm), options, &mut Patient).unwrap();
    let text = [EventKind::WarmedUp, EventKind::NotWarm].iter().find_map(|kind| reported(&outcome, *kind));
    (text.unwrap().to_owned(), caps.0)
}

#[test]
fn hosts_without_caps_get_them_once_and_must_be_steady_with_them() {
    let (text, applied) = run_uncapped(&cold_for(COLD), Duration::from_secs(120));
    assert!(text.starts_with("warmed up for ") && text.contains(" s, the first "), "{text}");
    assert!(text.contains(" s without caps: "), "{text}");
    assert_eq!(applied, 1);
}

#[test]
fn the_shortest_warm_up_leaves_no_host_without_its_caps() {
    let (text, applied) = run_uncapped(&cold_for(0), Duration::from_secs(1));
    assert!(text.contains("without caps"), "{text}");
    assert_eq!(applied, 1);
}

/// A lab that is gone.
#[derive(Debug)]
struct Gone;

impl CapController for Gone {
    fn apply(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn raise(&mut self, _raise: &Raise) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[test]
fn hosts_that_cannot_be_capped_are_not_measured() {
    let (server, interrupted) = (cold_for(0), AtomicBool::new(false));
    let options = RunOptions {
        caps: Some(&mut Gone),
        starts_uncapped: true,
        ..RunOptions::new(RunCommand::Lab, "0", &interrupted)
    };
    let error = conduct(plan(&server, Duration::from_secs(1)), options, &mut Patient).unwrap_err();
    assert!(matches!(error, ConductError::WarmUp(WarmUpError::NotCapped(_))), "{error}");
}

#[test]
fn ctrl_c_during_the_warm_up_ends_the_run_and_leaves_no_file() {
    let server = cold_for(u64::MAX);
    let (interrupted, folder) = (AtomicBool::new(false), tempfile::tempdir().unwrap());
    let options =
        RunOptions { folder: Some(folder.path()), ..RunOptions::new(RunCommand::Sweep, "0", &interrupted) };
    let plan = plan(&server, Duration::from_secs(120));
    let error = conduct(plan, options, &mut Impatient(&interrupted)).unwrap_err();
    assert!(error.interrupted(), "{error}");
    assert!(error.to_string().contains("no step was measured"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_target_that_ends_during_the_warm_up_is_named_as_gone() {
    let server = BadServer::start(Script::KillAfter { requests: 500 });
    let interrupted = AtomicBool::new(false);
    let options = RunOptions::new(RunCommand::Sweep, "0", &interrupted);
    let error = conduct(plan(&server, Duration::from_secs(120)), options, &mut Patient).unwrap_err();
    assert!(matches!(error, ConductError::WarmUp(_)) && !error.interrupted(), "{error}");
    assert!(error.to_string().contains("refused every connection"), "{error}");
}
