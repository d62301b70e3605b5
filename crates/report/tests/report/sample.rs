//! Runs and findings made by hand, so that every form of a report has something to show.

use std::time::Duration;

use plimsoll_analyze::{
    Advice, At, CeilingUse, Confidence, Estimate, Evidence, FailureAdvice, Findings, GeneratorHealth,
    GeneratorReason, Held, Knee, Limit, MachineLoad, Observation, Percentile, Place, SloCheck, Steadiness,
    StepSummary, TimeSummary, Usl, UslFit, Verdict, WorkerLoad,
};
use plimsoll_plan::{ArrivalProcess, LatencyLimit, LoadSpec, Plan, PlanSpec, RateProfile, ScenarioSpec, Slo};
use plimsoll_record::{
    Counts, EncodedHistogram, Event, EventKind, FailureKind, FirstAnswer, FormatVersion, Frame, FrameHead,
    Limits, Machine, Manifest, Phase, Preflight, Run, RunCommand, StepEnd, WorkerTime,
};

/// A run and what was found in it.
pub(super) struct Sample {
    pub(super) run: Run,
    pub(super) findings: Findings,
}

pub(super) fn ladder_spec() -> LoadSpec {
    LoadSpec::Ladder { steps: None, step_limit: Some(Duration::from_secs(10)), budget: None }
}

pub(super) fn single_spec(connections: Option<u64>, rate_per_sec: Option<f64>) -> LoadSpec {
    let arrivals = ArrivalProcess::Poisson;
    LoadSpec::Single {
        connections,
        profile: rate_per_sec.map(RateProfile::Constant),
        arrivals,
        duration: Some(Duration::from_secs(10)),
        requests_max: None,
    }
}

pub(super) fn plan(load: LoadSpec, slo: Slo) -> Plan {
    let spec = PlanSpec {
        name: Some("apiserver".to_owned()),
        url: "http://127.0.0.1:8080/healthz".to_owned(),
        method: None,
        headers: Vec::new(),
        body: None,
        scenario: ScenarioSpec::default(),
        network: plimsoll_plan::Network::default(),
        transport: plimsoll_plan::TransportSpec::default(),
        load,
        search: None,
        overload: None,
        trace: None,
        warm: None,
        workers: Some(1),
        timeout: Duration::from_secs(30),
        connections_max: None,
        depth: None,
        seed: 7,
        driver: None,
        slo,
        hosts: Vec::new(),
        redact: Vec::new(),
        group: None,
        slo_assumed: false,
    };
    spec.freeze().unwrap()
}

fn manifest(command: RunCommand, plan: &Plan) -> Manifest {
    let limits = Limits { descriptors: 1_048_576, ports: 28_232, cores: 2 };
    let machine = Machine {
        hostname: "harbour".to_owned(),
        kernel: "Linux 6.1.0".to_owned(),
        architecture: "x86_64".to_owned(),
        limits,
        lowered_to: None,
        calibration: None,
    };
    let first = FirstAnswer { status: 200, body_bytes: 15, service_ns: 412_000, keep_alive: true };
    let preflight = Preflight {
        addresses: vec!["127.0.0.1:8080".to_owned()],
        address: "127.0.0.1:8080".to_owned(),
        local: true,
        resolve_ns: 12_000,
        connect_ns: 83_000,
        first: Some(first),
        streams_max: None,
    };
    Manifest {
        format: FormatVersion::CURRENT,
        name: plan.name.clone(),
        command,
        command_line: Some(format!("plimsoll {} {}", command.name(), plan.target.url)),
        plan: plan.to_json(),
        plan_hash: plan.hash(),
        tool_version: "0.1.0".to_owned(),
        machine,
        preflight,
        driver: "epoll".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        tls: None,
        started_unix_ms: 1_800_000_000_000,
        tags: plimsoll_record::Tags::default(),
        sealed: true,
    }
}

pub(super) fn health(busy: f64) -> GeneratorHealth {
    GeneratorHealth {
        too_short: false,
        reasons: Vec::new(),
        cpu_sec: 4.13,
        kernel_sec: 3.21,
        busiest_worker_ratio: busy,
        starved_ratio: 0.004,
        stalled_ratio: 0.0,
        send_lag_p50_ns: 2_100.0,
        backlog: 0,
        send_lag_p99_ns: 41_000.0,
        send_lag_bound_ns: Some(2_370_000.0),
        littles_law_error: Some(0.003),
        open_ratio: Some(1.0),
        workers: 1,
        by_worker: vec![WorkerLoad {
            worker: 0,
            cpu_ratio: busy,
            kernel_ratio: 0.7 * busy,
            starved_ratio: 0.004,
            stalled_ratio: 0.0,
        }],
        machine: machine_load(),
        ceiling: Some(CeilingUse {
            worker: None,
            per_worker_per_sec: 3_190.0,
            ceiling_per_sec: 212_000.0,
            known: true,
            age_sec: Some(200_000.0),
        }),
    }
}

fn machine_load() -> MachineLoad {
    MachineLoad {
        stolen_ratio: Some(0.0),
        pressure_ratio: Some(0.034),
        segments_sent: Some(63_812),
        segments_retransmitted: Some(12),
        syn_retransmitted: Some(1),
        sockets_open: Some(70),
        sockets_time_wait: Some(9),
        ports: Some(28_232),
        descriptors_open: Some(44),
        descriptors_limit: Some(1_048_576),
    }
}

fn percentile(ns: f64) -> Percentile {
    Percentile { ns: Some(ns), interval_ns: Some((ns * 0.97, ns * 1.04)) }
}

pub(super) fn times(count: u64, mean_ms: f64) -> TimeSummary {
    let mean_ns = mean_ms * 1e6;
    TimeSummary {
        count,
        mean_ns,
        stdev_ns: mean_ns * 0.3,
        min_ns: mean_ns * 0.4,
        max_ns: mean_ns * 4.0,
        p50: percentile(mean_ns * 0.95),
        p75: percentile(mean_ns * 1.1),
        p90: percentile(mean_ns * 1.2),
        p95: percentile(mean_ns * 1.3),
        p99: percentile(mean_ns * 1.7),
        p999: percentile(mean_ns * 2.5),
    }
}

/// A healthy step of a closed loop: ten seconds, every request answered.
pub(super) fn step(index: u32, connections: u32, per_sec: f64) -> StepSummary {
    let answered = (per_sec * 10.0) as u64;
    let mut counts = Counts {
        intended: answered,
        sent: answered,
        completed: answered,
        ok: answered,
        bytes_in: answered * 150,
        bytes_out: answered * 60,
        ..Counts::default()
    };
    counts.status.add(200, answered);
    let times = times(answered, f64::from(connections) / per_sec * 1e3);
    StepSummary {
        index,
        connections,
        depth: 1,
        rate_per_sec: None,
        counts,
        ok_under_load: answered,
        success_ratio: Some(1.0),
        success_interval: Some((answered as f64 / (answered as f64 + 3.84), 1.0)),
        warmup_sec: 0.75,
        measured_sec: 9.25,
        drain_sec: 0.004,
        throughput: Estimate { value: per_sec, interval: Some((per_sec * 0.988, per_sec * 1.012)) },
        lower_bound: false,
        bytes_in_per_sec: per_sec * 150.0,
        steadiness: Steadiness::Steady,
        drift: None,
        end: StepEnd::Steady,
        lost_at_sec: None,
        latency: times,
        limited: vec![times.p99],
        service: times,
        connect: TimeSummary::default(),
        handshake: TimeSummary::default(),
        requests: Vec::new(),
        ramp_windows: Vec::new(),
        generators: 0,
        generator: health(0.31),
    }
}

/// Turns `count` of a step's answers into failures of this kind.
pub(super) fn fail(step: &mut StepSummary, kind: FailureKind, count: u64) {
    let counts = &mut step.counts;
    counts.completed -= count;
    counts.ok -= count;
    counts.status = Default::default();
    counts.status.add(200, counts.completed);
    counts.failed.add(kind, count);
    step.success_ratio = counts.success_ratio();
    step.success_interval = counts.success_ratio().map(|ratio| around(ratio, counts.ended()));
}

/// An interval of a success ratio, as wide as that of so many requests.
fn around(ratio: f64, ended: u64) -> (f64, f64) {
    let half = 1.96 * (ratio * (1.0 - ratio) / ended as f64).sqrt() + 1.92 / ended as f64;
    ((ratio - half).max(0.0), (ratio + half).min(1.0))
}

fn sample(command: RunCommand, plan: Plan, mut steps: Vec<StepSummary>, verdict: Verdict) -> Sample {
    steps.iter_mut().for_each(|step| step.limited = vec![step.latency.p99]);
    let manifest = manifest(command, &plan);
    let generator = steps.last().map_or_else(GeneratorHealth::default, |step| step.generator.clone());
    let findings = Findings {
        plan,
        steps,
        generator,
        knee: None,
        usl: None,
        slo: None,
        topology: plimsoll_analyze::Topology::default(),
        resources: Vec::new(),
        verdict,
        not_run: Vec::new(),
        profiled: Vec::new(),
        search: None,
        overload: None,
        lower_bound: false,
    };
    Sample { run: Run::begun(manifest), findings }
}

fn verdict(limit: Limit, confidence: Confidence, advice: Advice) -> Verdict {
    let row = Evidence {
        observed: Observation::BusiestWorker,
        value: 0.31,
        of: Some(1.0),
        at: At::Connections(32),
    };
    let place = Place::Target("127.0.0.1:8080".to_owned());
    Verdict { evidence: vec![row], advice: vec![advice], ..Verdict::new(limit, place, confidence) }
}

/// A ladder to its plateau: everything is known that can be.
pub(super) fn healthy(command: RunCommand) -> Sample {
    let throughputs = [212.0, 418.0, 830.0, 1610.0, 3050.0, 3190.0, 3171.0, 3160.0];
    let steps: Vec<_> = throughputs.iter().enumerate().map(|(n, x)| step(n as u32, 1 << n, *x)).collect();
    let advice = Advice::WatchAtConnections(16);
    let mut sample = sample(
        command,
        plan(ladder_spec(), Slo::reference()),
        steps,
        verdict(Limit::Unknown, Confidence::Inferred, advice),
    );
    let best = sample.findings.steps[5].throughput;
    sample.findings.knee = Some(Knee {
        plateau: best,
        plateau_connections: 32,
        connections: 16,
        connections_predicted: 15.05,
        reached: true,
    });
    sample.findings.usl = Some(UslFit::Fitted(Usl {
        gamma: Estimate { value: 212.0, interval: Some((208.0, 216.0)) },
        alpha: Estimate { value: 0.012, interval: Some((0.0101, 0.0138)) },
        beta: Estimate { value: 0.000_21, interval: Some((0.000_17, 0.000_26)) },
        peak: Some(68.6),
        r_squared: 0.987,
    }));
    sample.findings.slo = Some(SloCheck {
        slo: Slo::reference(),
        best_step: Some(5),
        throughput_within: Some(best),
        latency: vec![Held::Yes],
        success: Held::Yes,
        throughput: Held::Yes,
    });
    sample
}

/// The same ladder with a worker that had no core left.
pub(super) fn lower_bound() -> Sample {
    let mut sample = healthy(RunCommand::Answer);
    let reasons = vec![GeneratorReason::WorkerBusy { worker: 0, ratio: 0.973 }];
    for step in &mut sample.findings.steps[4..] {
        step.generator = GeneratorHealth { reasons: reasons.clone(), ..health(0.973) };
        step.lower_bound = true;
    }
    sample.findings.generator = sample.findings.steps[5].generator.clone();
    sample.findings.lower_bound = true;
    sample.findings.verdict = verdict(Limit::Generator, Confidence::Measured, Advice::Generator(reasons[0]));
    sample.findings.verdict.place = Place::Generator;
    sample
}

/// A target that refuses every connection.
pub(super) fn dead() -> Sample {
    let mut only = step(0, 1, 1234.0);
    let count = only.counts.completed;
    fail(&mut only, FailureKind::ConnectRefused, count);
    only.counts.bytes_in = 0;
    only.bytes_in_per_sec = 0.0;
    only.throughput = Estimate { value: 0.0, interval: None };
    only.steadiness = Steadiness::TooShort;
    only.end = StepEnd::TargetLost;
    only.warmup_sec = 0.0;
    only.lost_at_sec = Some(0.001);
    (only.latency, only.service) = (TimeSummary::default(), TimeSummary::default());
    let remedy = Advice::Failure(FailureAdvice::Usual(FailureKind::ConnectRefused));
    let mut sample = sample(
        RunCommand::Answer,
        plan(ladder_spec(), Slo::reference()),
        vec![only],
        verdict(Limit::Unknown, Confidence::Unknown, remedy),
    );
    sample.findings.verdict.evidence.clear();
    sample.findings.usl = Some(UslFit::TooFewPoints(0));
    sample.findings.slo = Some(SloCheck {
        slo: Slo::reference(),
        best_step: None,
        throughput_within: None,
        latency: vec![Held::Unknown],
        success: Held::No,
        throughput: Held::No,
    });
    let text = "the target stopped answering: connection refused\u{1b}[2J".to_owned();
    sample.run.events.push(Event { at_ns: 1_204_000_000, kind: EventKind::TargetLost, failure: None, text });
    sample
}

/// A ladder that ended while growing, with a step that did not settle and failures of several kinds.
pub(super) fn unsettled() -> Sample {
    let mut steps = vec![step(0, 200, 9000.0), step(1, 500, 15_000.0), step(2, 1000, 19_500.0)];
    steps[1].steadiness = Steadiness::Wide;
    (steps[2].steadiness, steps[2].drift) = (Steadiness::Moving, Some(-0.38));
    steps[2].throughput.interval = None;
    fail(&mut steps[2], FailureKind::TimedOut, 800);
    fail(&mut steps[2], FailureKind::ClosedBeforeResponse, 75);
    fail(&mut steps[2], FailureKind::ResetBeforeResponse, 12);
    let counts = &mut steps[2].counts;
    counts.ok -= 40;
    counts.status = Default::default();
    counts.status.add(200, counts.ok);
    counts.status.add(503, 40);
    let load = LoadSpec::Ladder { steps: Some(vec![200, 500, 1000]), step_limit: None, budget: None };
    let advice = Advice::HigherRate;
    let mut sample = sample(
        RunCommand::Answer,
        plan(load, Slo::reference()),
        steps,
        verdict(Limit::None, Confidence::Measured, advice),
    );
    let plateau = sample.findings.steps[2].throughput;
    sample.findings.knee = Some(Knee {
        plateau,
        plateau_connections: 1000,
        connections: 1000,
        connections_predicted: 433.0,
        reached: false,
    });
    sample.findings.usl = Some(UslFit::TooFewPoints(3));
    let text = "interrupted by the user at 1,000 connections".to_owned();
    sample.run.events.push(Event {
        at_ns: 27_300_000_000,
        kind: EventKind::Interrupted,
        failure: None,
        text,
    });
    sample.run.manifest.sealed = false;
    sample
}

/// A closed-loop level so short and slow that few requests ended.
pub(super) fn few() -> Sample {
    let mut only = step(0, 2, 4.2);
    only.throughput.interval = None;
    only.steadiness = Steadiness::TooShort;
    only.end = StepEnd::TimeLimit;
    only.warmup_sec = 0.0;
    for times in [&mut only.latency, &mut only.service] {
        (times.p95, times.p99, times.p999) = Default::default();
        times.p90.interval_ns = None;
    }
    let advice = Advice::Sweep;
    let mut sample = sample(
        RunCommand::Run,
        plan(single_spec(Some(2), None), Slo::default()),
        vec![only],
        verdict(Limit::Unknown, Confidence::Unknown, advice),
    );
    sample.run.manifest.preflight.first = None;
    sample
}

/// An open loop at a rate that is not kept up with.
pub(super) fn behind() -> Sample {
    let mut only = step(0, 64, 1700.0);
    only.rate_per_sec = Some(2000.0);
    only.end = StepEnd::TimeLimit;
    only.latency = times(20_000, 820.0);
    only.counts.intended = 20_000;
    only.counts.failed.add(FailureKind::Unsent, 3000);
    only.success_ratio = only.counts.success_ratio();
    only.success_interval = only.success_ratio.map(|ratio| around(ratio, only.counts.ended()));
    only.steadiness = Steadiness::Moving;
    only.generator.littles_law_error = None;
    only.generator.open_ratio = None;
    only.generator.backlog = 3000;
    let advice = Advice::HigherRate;
    let slo = Slo { latency: vec![LatencyLimit::p99(500.0)], ..Slo::default() };
    let mut sample = sample(
        RunCommand::Run,
        plan(single_spec(Some(64), Some(2000.0)), slo.clone()),
        vec![only],
        verdict(Limit::Unknown, Confidence::Inferred, advice),
    );
    sample.findings.slo = Some(SloCheck {
        slo,
        best_step: None,
        throughput_within: None,
        latency: vec![Held::No],
        success: Held::Unknown,
        throughput: Held::Unknown,
    });
    sample.run.frames = [(0, 900), (1, 2400), (2, 3000)].map(|(n, waiting)| frame(n, waiting)).to_vec();
    sample
}

/// A level whose target was killed on the way.
pub(super) fn lost() -> Sample {
    let mut only = step(0, 10, 145_000.0);
    fail(&mut only, FailureKind::ConnectRefused, 180);
    (only.warmup_sec, only.measured_sec) = (0.0, 2.1);
    only.end = StepEnd::TargetLost;
    only.lost_at_sec = Some(2.101);
    let mut sample = sample(
        RunCommand::Run,
        plan(single_spec(Some(10), None), Slo::default()),
        vec![only],
        verdict(Limit::Unknown, Confidence::Unknown, Advice::TargetLost(2.1)),
    );
    let text = "from 2.1 s on the target refused every connection; the run ended there".to_owned();
    sample.run.events.push(Event { at_ns: 4_102_000_000, kind: EventKind::TargetLost, failure: None, text });
    sample
}

/// A ladder against a target that takes longer for one answer than a step lasts.
pub(super) fn slow(command: RunCommand) -> Sample {
    let mut steps = vec![step(0, 1, 0.1), step(1, 2, 0.2), step(2, 4, 0.4)];
    for step in &mut steps {
        step.throughput = Estimate { value: 0.0, interval: None };
        (step.bytes_in_per_sec, step.warmup_sec, step.measured_sec, step.drain_sec) = (0.0, 0.0, 1.3, 0.9);
        step.steadiness = Steadiness::TooShort;
        step.end = StepEnd::TimeLimit;
        let times = TimeSummary { count: step.counts.completed, mean_ns: 2.004e9, ..TimeSummary::default() };
        (step.latency, step.service) = (times, times);
    }
    steps[2].drain_sec = 1.6;
    let load = if command == RunCommand::Run { single_spec(Some(4), None) } else { ladder_spec() };
    if command == RunCommand::Run {
        steps.drain(..2);
    }
    let verdict = verdict(Limit::Unknown, Confidence::Unknown, Advice::LongerSteps);
    sample(command, plan(load, Slo::default()), steps, verdict)
}

fn frame(interval: u32, backlog: u64) -> Frame {
    let head = FrameHead {
        step: 0,
        worker: 0,
        request: 0,
        interval,
        phase: Phase::Measure,
        began_ns: u64::from(interval) * 1_000_000_000,
        ended_ns: u64::from(interval + 1) * 1_000_000_000,
        counts: Counts::default(),
        in_flight: 64,
        backlog,
        connections: 64,
        time: WorkerTime::default(),
    };
    let none = EncodedHistogram::default;
    Frame {
        head,
        latency: none(),
        unsuccessful: none(),
        service: None,
        send_lag: none(),
        connect: none(),
        handshake: none(),
        traces: Vec::new(),
    }
}
