//! A small run that the others are made from: a ladder of three steps, with the samples of two hosts.

use std::sync::LazyLock;
use std::time::Duration;

use plimsoll_plan::{Capacity, LatencyLimit, LoadSpec, Plan, PlanHost, PlanSpec, Slo};
use plimsoll_record::metric::{cpu, tcp};
use plimsoll_record::{
    Counters, Counts, EncodedHistogram, Event, EventKind, FailureKind, FormatVersion, Frame, FrameHead,
    HostSample, Limits, Machine, Manifest, Phase, Preflight, Reading, Run, RunCommand, Step, StepEnd,
    WorkerTime, latency_histogram,
};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Frames of a step: one each second, and one of the drain.
const FRAMES: u32 = 6;
const STEPS: u32 = 3;

fn plan() -> Plan {
    let load = LoadSpec::Ladder { steps: Some(vec![1, 2, 4]), step_limit: None, budget: None };
    let web =
        PlanHost { capacity: Capacity { cores: Some(2.0), ..Capacity::default() }, ..PlanHost::named("web") };
    let spec = PlanSpec {
        name: Some("base".to_owned()),
        slo: Slo {
            latency: vec![LatencyLimit::p99(50.0)],
            success_ratio: Some(0.99),
            throughput_per_sec: Some(100.0),
        },
        hosts: vec![web],
        timeout: Duration::from_secs(3),
        ..PlanSpec::new("http://10.0.0.1:8080/a", load)
    };
    spec.freeze().expect("a plan")
}

fn manifest() -> Manifest {
    let plan = plan();
    Manifest {
        format: FormatVersion::CURRENT,
        name: plan.name.clone(),
        command: RunCommand::Sweep,
        command_line: None,
        plan: plan.to_json(),
        plan_hash: plan.hash(),
        tool_version: "0.1.0".to_owned(),
        machine: Machine {
            hostname: "harbour".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            architecture: "x86_64".to_owned(),
            limits: Limits { descriptors: 1024, ports: 28_232, cores: 2 },
            lowered_to: None,
            calibration: None,
        },
        preflight: Preflight {
            addresses: vec!["10.0.0.1:8080".to_owned()],
            address: "10.0.0.1:8080".to_owned(),
            local: false,
            resolve_ns: 1200,
            connect_ns: 88_000,
            first: None,
            streams_max: None,
        },
        driver: "epoll".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        tls: None,
        started_unix_ms: 1_709_210_096_789,
        tags: plimsoll_record::Tags::default(),
        sealed: true,
    }
}

/// When a step begins: a second after the one before it has ended.
fn begin_ns(step: u32) -> u64 {
    u64::from(step) * u64::from(FRAMES + 1) * SECOND_NS
}

fn step(index: u32) -> Step {
    let ended_ns = begin_ns(index) + u64::from(FRAMES - 1) * SECOND_NS;
    Step {
        index,
        connections: 1 << index,
        depth: 1,
        rate_per_sec: None,
        stages: Vec::new(),
        began_ns: begin_ns(index),
        ended_ns,
        drained_ns: ended_ns + SECOND_NS / 10,
        end: if index == 1 { StepEnd::Steady } else { StepEnd::TimeLimit },
        generators: Vec::new(),
    }
}

fn frame(step: u32, interval: u32) -> Frame {
    let is_drain = interval + 1 == FRAMES;
    let completed = if is_drain { 1 } else { 100 * u64::from(step + 1) - 10 * u64::from(step) };
    let mut counts =
        Counts { completed, ok: completed, sent: completed, bytes_in: 200 * completed, ..Counts::default() };
    counts.status.add(200, completed);
    if interval == 0 {
        counts.failed.add(FailureKind::TimedOut, 1);
    }
    counts.intended = counts.ended();
    let mut latency = latency_histogram();
    (0..counts.ended())
        .for_each(|n| latency.saturating_record(5_000_000 + 100_000 * n * u64::from(step + 1)));
    let began_ns = begin_ns(step) + u64::from(interval) * SECOND_NS;
    let head = FrameHead {
        step,
        worker: 0,
        request: 0,
        interval,
        phase: if is_drain { Phase::Drain } else { Phase::Measure },
        began_ns,
        ended_ns: began_ns + if is_drain { SECOND_NS / 10 } else { SECOND_NS },
        counts,
        in_flight: 1 << step,
        backlog: 0,
        connections: 1 << step,
        time: WorkerTime { user_ns: SECOND_NS / 20, system_ns: SECOND_NS / 10, ..WorkerTime::default() },
    };
    let latency = EncodedHistogram::encode(&latency);
    let none = EncodedHistogram::default();
    Frame {
        head,
        latency,
        unsuccessful: none.clone(),
        service: None,
        send_lag: none.clone(),
        connect: none.clone(),
        handshake: none,
        traces: Vec::new(),
    }
}

/// What a host has used of its two cores, and sent, after this many seconds.
fn samples(second: u64) -> [HostSample; 3] {
    let cpu = Counters::from([
        (cpu::USER_MS, second * 900),
        (cpu::IDLE_MS, second * 1100),
        (cpu::TOTAL_MS, second * 2000),
        (cpu::CORES, 2),
    ]);
    let tcp = Counters::from([(tcp::SEGMENTS_SENT, second * 500), (tcp::LISTEN_DROPS, 0)]);
    let sample = |host: &str, source: &str, reading| HostSample {
        host: host.into(),
        source: source.into(),
        subject: "".into(),
        began_ns: second * SECOND_NS,
        ended_ns: second * SECOND_NS + 1000,
        reading,
    };
    [
        sample(PlanHost::GENERATOR, "cpu", Reading::Ok(cpu.clone())),
        sample("web", "cpu", Reading::Ok(cpu)),
        sample("web", "tcp", Reading::Ok(tcp)),
    ]
}

/// Made once, and cloned: fuzzing asks for it in each execution.
pub(crate) fn run() -> Run {
    static RUN: LazyLock<Run> = LazyLock::new(made);
    RUN.clone()
}

fn made() -> Run {
    let seconds = 0..u64::from(STEPS * (FRAMES + 1));
    let event =
        Event { at_ns: 5, kind: EventKind::LimitMet, failure: None, text: "A limit was met.".to_owned() };
    Run {
        manifest: manifest(),
        steps: (0..STEPS).map(step).collect(),
        frames: (0..STEPS).flat_map(|step| (0..FRAMES).map(move |interval| frame(step, interval))).collect(),
        hosts: seconds.flat_map(samples).collect(),
        events: vec![event],
        profiles: Vec::new(),
        damage: Vec::new(),
    }
}
