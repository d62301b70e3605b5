//! A run in which no field has its default and no two fields have the same value by accident.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use plimsoll_plan::{LoadSpec, PlanSpec, ScenarioSpec, Slo};
use plimsoll_record::metric::cpu;
use plimsoll_record::{
    CalibratedLevel, Calibration, CalibrationKey, ConnectionResource, Counts, CpuProfile, EncodedHistogram,
    Event, EventKind, FailureKind, FirstAnswer, FormatVersion, Frame, FrameHead, GeneratorShare, HostSample,
    Limits, LoweredTo, Machine, Manifest, Phase, Preflight, ProfileForm, ProfileOutcome, RateStage, Reading,
    Run, RunCommand, Step, StepEnd, TlsUsed, Trace, TraceId, WallClocks, WorkerTime, latency_histogram,
};

use crate::RunWriter;

pub(crate) const URL: &str = "http://127.0.0.1:8080/p%C3%A4th?q=1";

/// The plan of a ladder against [`URL`], as JSON.
pub(crate) fn plan_json() -> String {
    let load = LoadSpec::Ladder { steps: Some(vec![1, 2]), step_limit: None, budget: None };
    let spec = PlanSpec {
        name: None,
        url: URL.to_owned(),
        method: None,
        headers: vec!["X-Quote: \"'; DROP TABLE frame".to_owned()],
        body: None,
        scenario: ScenarioSpec::default(),
        network: plimsoll_plan::Network::default(),
        transport: plimsoll_plan::TransportSpec::default(),
        load,
        search: None,
        overload: None,
        trace: None,
        warm: None,
        workers: Some(2),
        timeout: Duration::from_secs(3),
        connections_max: None,
        depth: None,
        seed: 7,
        driver: None,
        slo: Slo::default(),
        hosts: Vec::new(),
        redact: Vec::new(),
        group: None,
        slo_assumed: false,
    };
    spec.freeze().unwrap().to_json()
}

pub(crate) fn manifest() -> Manifest {
    let limits = Limits { descriptors: 1_048_576, ports: 28_232, cores: 2 };
    let first = FirstAnswer { status: 204, body_bytes: 11, service_ns: 402_113, keep_alive: true };
    let tls = TlsUsed {
        version: "TLS 1.3".to_owned(),
        cipher: "TLS13_AES_256_GCM_SHA384".to_owned(),
        resumption: true,
        verified: false,
        peer: Some("CN=\"lädt\"".to_owned()),
    };
    Manifest {
        format: FormatVersion::CURRENT,
        name: "check\"out'".to_owned(),
        command: RunCommand::Sweep,
        command_line: Some("plimsoll sweep 'http://lädt/?a=…'".to_owned()),
        plan: plan_json(),
        plan_hash: "9f86d0".to_owned(),
        tool_version: "0.1.0".to_owned(),
        machine: Machine {
            hostname: "lädt".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            architecture: "x86_64".to_owned(),
            limits,
            lowered_to: Some(LoweredTo { connections: 28_231, resource: ConnectionResource::Ports }),
            calibration: Some(calibration()),
        },
        preflight: Preflight {
            addresses: vec!["127.0.0.1:8080".to_owned(), "[::1]:8080".to_owned()],
            address: "127.0.0.1:8080".to_owned(),
            local: true,
            resolve_ns: 1_200,
            connect_ns: 88_000,
            first: Some(first),
            streams_max: Some(100),
        },
        driver: "io_uring".to_owned(),
        protocol: "HTTP/2".to_owned(),
        tls: Some(tls),
        started_unix_ms: 1_709_210_096_789,
        tags: ["commit=4f2a91c", "nightly"].iter().filter_map(|tag| tag.parse().ok()).collect(),
        sealed: false,
    }
}

fn calibration() -> Calibration {
    let key = CalibrationKey {
        hostname: "lädt".to_owned(),
        kernel: "Linux 6.1".to_owned(),
        cpu_model: "any".to_owned(),
        cores: 2,
        tool_version: "0.1.0".to_owned(),
        driver: "io_uring".to_owned(),
    };
    let level = CalibratedLevel {
        workers: 1,
        connections: 100,
        completed: 1_000_001,
        span_ns: 2_000_000_001,
        user_ns: 7,
        system_ns: 8,
        starved_ns: 9,
    };
    let measured_unix_ms = 1_709_210_000_000;
    Calibration { key, measured_unix_ms, pinning: None, closed: vec![level], tenth: None, rates: Vec::new() }
}

fn histogram(seed: u64) -> EncodedHistogram {
    let mut histogram = latency_histogram();
    (1..200).for_each(|n| histogram.saturating_record(n * n * (seed + 1_000)));
    EncodedHistogram::encode(&histogram)
}

fn counts(seed: u64) -> Counts {
    let mut counts = Counts {
        intended: 5 * seed + 50,
        sent: seed + 2,
        completed: 3 * seed + 27,
        ok: seed + 4,
        bytes_in: seed + 5,
        bytes_out: seed + 6,
        reconnects: seed + 7,
        connects: seed + 21,
        handshakes: seed + 22,
        resumed: seed + 23,
        ..Counts::default()
    };
    counts.status.add(200, seed + 8);
    counts.status.add(503, seed + 9);
    counts.status.add(999, seed + 10);
    counts.checks.add(3, seed + 24);
    counts.failed.add(FailureKind::TimedOut, seed + 11);
    counts.failed.add(FailureKind::Unsent, seed + 12);
    counts
}

pub(crate) fn frame(step: u32, worker: u32, interval: u32, phase: Phase) -> Frame {
    let seed = u64::from(step * 10_000 + worker * 1_000 + interval * 100);
    let head = FrameHead {
        step,
        worker,
        request: (interval % 2) as u16,
        interval,
        phase,
        began_ns: seed + 20,
        ended_ns: seed + 30,
        counts: counts(seed),
        in_flight: seed + 13,
        backlog: seed + 14,
        connections: seed + 15,
        time: WorkerTime {
            user_ns: seed + 16,
            system_ns: seed + 17,
            starved_ns: seed + 18,
            stalled_ns: seed + 19,
        },
    };
    let service = (interval > 0).then(|| histogram(seed + 1));
    let (latency, send_lag) = (histogram(seed), EncodedHistogram::default());
    Frame {
        head,
        latency,
        unsuccessful: histogram(seed + 4),
        service,
        send_lag,
        connect: histogram(seed + 2),
        handshake: histogram(seed + 3),
        traces: if interval > 0 { vec![trace(seed)] } else { Vec::new() },
    }
}

/// A request with a trace id that failed.
fn trace(seed: u64) -> Trace {
    let id = TraceId(u128::from(seed) + 1);
    let failure = Some(FailureKind::TimedOut);
    Trace { id, request: 0, sent_ns: seed, latency_ns: Some(seed + 5), status: None, failure, ok: false }
}

pub(crate) fn step(index: u32, end: StepEnd) -> Step {
    let began_ns = u64::from(index) * 10_000;
    Step {
        index,
        connections: 1 << index,
        depth: index as u16 + 5,
        rate_per_sec: (index > 0).then_some(1234.5678901234567),
        stages: vec![RateStage { from_per_sec: 0.1, to_per_sec: 1e3, span_ns: 7 }; index as usize],
        began_ns,
        ended_ns: began_ns + 9_000,
        drained_ns: began_ns + 9_500,
        end,
        generators: (0..index).map(generator).collect(),
    }
}

/// Each second one is lost.
fn generator(number: u32) -> GeneratorShare {
    let odd = number % 2 == 1;
    GeneratorShare {
        name: format!("agent-{number}"),
        first_worker: number * 2,
        workers: 2,
        ceiling_per_sec: odd.then_some(98_000),
        part_ppm: (!odd).then_some(250_000),
        clock_error_ns: (!odd).then_some(120_000),
        wall: (!odd).then_some(WallClocks { apart_ns: 900_000, error_ns: 2_120_000 }),
        lost_ns: odd.then_some(7_000),
    }
}

/// A step as it is written at its beginning, with the end that its plan lets expect.
pub(crate) fn open_step(index: u32) -> Step {
    let step = step(index, StepEnd::TimeLimit);
    Step { ended_ns: step.ended_ns + 1_000_000, drained_ns: step.ended_ns + 1_000_000, ..step }
}

fn sample(source: &str, subject: &str, began_ns: u64, reading: Reading) -> HostSample {
    HostSample {
        host: "generator".into(),
        source: source.into(),
        subject: subject.into(),
        began_ns,
        ended_ns: began_ns + 3,
        reading,
    }
}

fn samples() -> Vec<HostSample> {
    let counters = BTreeMap::from([("steal_ms".to_owned(), 3), ("wrapped".to_owned(), u64::MAX)]);
    vec![
        sample("cpu", "", 40, Reading::Ok(counters.into())),
        sample("pressure", "", 20, Reading::Absent),
        sample("tcp", "", 30, Reading::Failed("/proc/net/snmp: permission denied".to_owned())),
        sample("process", "1234 läd't", 10, Reading::Ok(BTreeMap::new().into())),
        sample("cpu", "", 1_000_000_040, Reading::Ok([(cpu::STEAL_MS, 8)].into())),
    ]
}

fn events() -> Vec<Event> {
    use EventKind::{
        BudgetEnded, FailureSeen, Interrupted, LimitMet, NotWarm, ProbeFailed, Resumed, StepFailed,
        TargetLost, WarmedUp,
    };
    [
        (5, LimitMet),
        (9, TargetLost),
        (4, FailureSeen),
        (8, Interrupted),
        (7, BudgetEnded),
        (6, StepFailed),
        (3, ProbeFailed),
        (2, WarmedUp),
        (1, NotWarm),
        (10, Resumed),
    ]
    .into_iter()
    .map(|(at_ns, kind)| {
        let failure = (kind == FailureSeen).then_some(FailureKind::TimedOut);
        let text = failure.map_or_else(|| format!("{kind:?} \"at\" – {at_ns}"), |_| String::new());
        Event { at_ns, kind, failure, text }
    })
    .collect()
}

/// A profile of each outcome, each of a step of its own.
fn profiles() -> Vec<CpuProfile> {
    let outcomes = [
        ProfileOutcome::Taken(vec![0x1f, 0x8b, 0, 255]),
        ProfileOutcome::Failed("refused – 403".to_owned()),
        ProfileOutcome::UnderWay,
    ];
    let forms = [ProfileForm::Pprof, ProfileForm::Perf, ProfileForm::Perf];
    (2..)
        .zip(forms)
        .zip(outcomes)
        .map(|((step, form), outcome)| CpuProfile {
            step,
            source: format!("http://10.0.0.1/{step}"),
            form,
            began_ns: 7,
            ended_ns: 70 + u64::from(step),
            outcome,
        })
        .collect()
}

/// Frames arrive as the workers send them, which is not in the order of any of their fields.
pub(crate) fn run() -> Run {
    let ends = [StepEnd::Steady, StepEnd::TimeLimit, StepEnd::Cut, StepEnd::TargetLost, StepEnd::Stopped];
    let frame = |step, worker, interval| frame(step, worker, interval, Phase::Measure);
    Run {
        manifest: manifest(),
        steps: (0..).zip(ends).map(|(index, end)| step(index, end)).collect(),
        frames: vec![
            frame(0, 1, 0),
            frame(0, 0, 0),
            frame(1, 0, 1),
            frame(0, 0, 1),
            self::frame(0, 0, 2, Phase::Drain),
        ],
        hosts: samples(),
        events: events(),
        profiles: profiles(),
        damage: Vec::new(),
    }
}

/// Writes all of `run` after its manifest, each step at its beginning and at its end.
pub(crate) fn record(writer: &mut RunWriter, run: &Run) {
    for step in &run.steps {
        writer.step(&open_step(step.index)).unwrap();
        writer.step(step).unwrap();
    }
    run.frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    run.hosts.iter().for_each(|sample| writer.host_sample(sample).unwrap());
    run.events.iter().for_each(|event| writer.event(event).unwrap());
    for profile in &run.profiles {
        writer.profile(&CpuProfile { outcome: ProfileOutcome::UnderWay, ..profile.clone() }).unwrap();
        writer.profile(profile).unwrap();
    }
}

/// A sealed run file of [`run`] at `path`.
pub(crate) fn recorded(path: &Path) -> Run {
    let mut run = run();
    let mut writer = RunWriter::create(path, &run.manifest, false).unwrap();
    record(&mut writer, &run);
    writer.seal().unwrap();
    run.manifest.sealed = true;
    run
}
