//! Runs made up from a few figures.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use plimsoll_analyze::{Findings, analyze};
use plimsoll_plan::{ArrivalProcess, LoadSpec, PlanSpec, RateProfile, ScenarioSpec, Slo};
use plimsoll_record::{
    Counts, EncodedHistogram, Event, FailureKind, FormatVersion, Frame, FrameHead, HostSample, Limits,
    Machine, Manifest, Phase, Preflight, Reading, Run, RunCommand, Step, StepEnd, WorkerTime,
    latency_histogram,
};

pub(crate) const WORKERS: u32 = 2;
pub(crate) const INTERVAL_NS: u64 = 50_000_000;

/// One level as it went.
#[derive(Clone)]
pub(crate) struct Level {
    pub(crate) connections: u32,
    pub(crate) depth: u16,
    pub(crate) rate_per_sec: Option<f64>,
    /// Completed requests per second.
    pub(crate) throughput_per_sec: f64,
    /// Mean latency; a tenth of requests takes so many times as long, the others less.
    pub(crate) latency_ns: u64,
    pub(crate) slow_tenth: f64,
    pub(crate) intervals: u32,
    /// Intervals at the front that go at half of the throughput and take ten times as long.
    pub(crate) warmup: u32,
    /// Share of completed responses that are 503.
    pub(crate) refused: f64,
    /// Failures of one kind in each frame.
    pub(crate) failed: Option<(FailureKind, u64)>,
    /// Shares of its time that each worker spends on a CPU, and waiting for one.
    pub(crate) busy: f64,
    pub(crate) starved: f64,
    /// Share of it in which a worker should run and does not.
    pub(crate) stalled: f64,
    pub(crate) send_lag_ns: u64,
    /// Requests that fall due in each frame and are not sent.
    pub(crate) backlog_growth: u64,
    /// Requests per worker that end in the drain after a second, timed out.
    pub(crate) late: u64,
    /// Requests per worker that are answered in the drain after two seconds, with success.
    pub(crate) late_answers: u64,
    /// Intervals in which nothing is answered; then `failed` strikes in these alone.
    pub(crate) silent: Range<u32>,
    /// How far throughput may be from its mean in an interval, as a part of it.
    pub(crate) wobble: f64,
    /// Share of the connections that are open.
    pub(crate) open: f64,
    pub(crate) end: StepEnd,
}

impl Level {
    /// A closed loop against a target that serves each request in 5 ms, at most 16 at once.
    pub(crate) fn closed(connections: u32) -> Self {
        let at_once = f64::from(connections.min(16));
        Self::at(connections, at_once / 0.005)
    }

    /// A closed loop of this throughput, with the latency that Little's law gives it.
    pub(crate) fn at(connections: u32, throughput_per_sec: f64) -> Self {
        Self {
            connections,
            depth: 1,
            rate_per_sec: None,
            throughput_per_sec,
            latency_ns: (f64::from(connections) / throughput_per_sec.max(1.0) * 1e9) as u64,
            slow_tenth: 1.5,
            intervals: 100,
            warmup: 0,
            refused: 0.0,
            failed: None,
            busy: 0.3,
            starved: 0.01,
            stalled: 0.0,
            send_lag_ns: 50_000,
            backlog_growth: 0,
            late: 0,
            late_answers: 0,
            silent: 0..0,
            wobble: 0.01,
            open: 1.0,
            end: StepEnd::TimeLimit,
        }
    }

    /// An open loop that is kept up with at 2 ms.
    pub(crate) fn open(rate_per_sec: f64) -> Self {
        let level = Self { latency_ns: 2_000_000, ..Self::at(10, rate_per_sec) };
        Self { rate_per_sec: Some(rate_per_sec), ..level }
    }

    fn frame(&self, step: u32, worker: u32, interval: u32, began_ns: u64) -> Frame {
        let warm = interval >= self.warmup;
        let seconds = INTERVAL_NS as f64 / 1e9;
        let usual = self.throughput_per_sec * seconds / f64::from(WORKERS);
        // So that no two intervals are quite alike.
        let wobble = 1.0 + self.wobble * (f64::from((interval * 37 + worker * 11) % 23) - 11.0) / 11.0;
        let silent = self.silent.contains(&interval);
        let pace = if silent {
            0.0
        } else if warm {
            1.0
        } else {
            0.5
        };
        let completed = (usual * wobble * pace).round() as u64;
        let latency_ns = if warm { self.latency_ns } else { 10 * self.latency_ns };
        let connections = self.connections / WORKERS + u32::from(worker < self.connections % WORKERS);
        let grown = self.backlog_growth * u64::from(interval + 1);
        let share = |ratio: f64| (ratio * INTERVAL_NS as f64) as u64;
        let head = FrameHead {
            step,
            worker,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns: began_ns + u64::from(interval) * INTERVAL_NS,
            ended_ns: began_ns + u64::from(interval + 1) * INTERVAL_NS,
            counts: self.counts(completed, self.silent.is_empty() || silent),
            in_flight: u64::from(connections),
            backlog: grown,
            connections: (f64::from(connections) * self.open).round() as u64,
            time: WorkerTime {
                user_ns: share(self.busy / 4.0),
                system_ns: share(self.busy * 0.75),
                starved_ns: share(self.starved),
                stalled_ns: share(self.stalled),
            },
        };
        // Each fifth frame carries the times of five, which keeps these tests quick.
        let timed = if interval % 5 == 4 { 5 * completed } else { 0 };
        let times = times(latency_ns, self.slow_tenth, timed);
        Frame {
            head,
            latency: times,
            unsuccessful: EncodedHistogram::default(),
            service: None,
            send_lag: times_of(self.send_lag_ns, timed),
            connect: EncodedHistogram::default(),
            handshake: EncodedHistogram::default(),
            traces: Vec::new(),
        }
    }

    fn counts(&self, completed: u64, failing: bool) -> Counts {
        let refused = (completed as f64 * self.refused).round() as u64;
        let mut counts = Counts {
            sent: completed,
            completed,
            ok: completed - refused,
            bytes_in: 100 * completed,
            ..Counts::default()
        };
        counts.intended = counts.sent + self.backlog_growth;
        counts.status.add(200, completed - refused);
        counts.status.add(503, refused);
        if let Some((kind, count)) = self.failed.filter(|_| failing) {
            counts.failed.add(kind, count);
            counts.intended += count;
        }
        counts
    }

    fn drain(&self, step: u32, worker: u32, began_ns: u64) -> Frame {
        let mut counts = Counts::default();
        counts.failed.add(FailureKind::TimedOut, self.late);
        counts.completed = self.late_answers;
        counts.ok = self.late_answers;
        counts.status.add(200, self.late_answers);
        let load = self.frame(step, worker, self.intervals, began_ns);
        let late = match self.late {
            0 => times_of(2_000_000_000, self.late_answers),
            count => times_of(1_000_000_000, count),
        };
        Frame {
            head: FrameHead { phase: Phase::Drain, counts, in_flight: 0, ..load.head },
            latency: late,
            unsuccessful: EncodedHistogram::default(),
            service: None,
            send_lag: EncodedHistogram::default(),
            connect: EncodedHistogram::default(),
            handshake: EncodedHistogram::default(),
            traces: Vec::new(),
        }
    }
}

fn times_of(ns: u64, count: u64) -> EncodedHistogram {
    if count == 0 {
        return EncodedHistogram::default();
    }
    let mut histogram = latency_histogram();
    histogram.record_n(ns, count).unwrap();
    EncodedHistogram::encode(&histogram)
}

fn times(mean_ns: u64, slow_tenth: f64, count: u64) -> EncodedHistogram {
    if count == 0 {
        return EncodedHistogram::default();
    }
    let (slow, slow_ns) = (count / 10, (mean_ns as f64 * slow_tenth) as u64);
    let mut histogram = latency_histogram();
    histogram.record_n(slow_ns, slow).unwrap();
    let rest_ns = (mean_ns * count).saturating_sub(slow_ns * slow) / (count - slow).max(1);
    histogram.record_n(rest_ns, count - slow).unwrap();
    EncodedHistogram::encode(&histogram)
}

/// A ladder over these levels. One that comes twice in a row is loaded again.
pub(crate) fn ladder(levels: &[Level], slo: Slo) -> Run {
    let mut steps: Vec<u64> = levels.iter().map(|level| u64::from(level.connections)).collect();
    steps.dedup();
    run(LoadSpec::Ladder { steps: Some(steps), step_limit: None, budget: None }, levels, slo)
}

/// A run of this one level.
pub(crate) fn single(level: Level) -> Run {
    let duration = Duration::from_nanos(INTERVAL_NS * u64::from(level.intervals));
    let load = LoadSpec::Single {
        connections: Some(u64::from(level.connections)),
        profile: level.rate_per_sec.map(RateProfile::Constant),
        arrivals: ArrivalProcess::Constant,
        duration: Some(duration),
        requests_max: None,
    };
    run(load, &[level], Slo::default())
}

/// What is found in a run.
pub(crate) fn findings(run: &Run) -> Findings {
    analyze(run).unwrap()
}

/// A sample of the generator's CPU counters.
pub(crate) fn cpu_sample(at_ns: u64, steal_ms: u64, total_ms: u64) -> HostSample {
    let counters = BTreeMap::from([("steal_ms".to_owned(), steal_ms), ("total_ms".to_owned(), total_ms)]);
    HostSample {
        host: "generator".into(),
        source: "cpu".into(),
        subject: "".into(),
        began_ns: at_ns,
        ended_ns: at_ns,
        reading: Reading::Ok(counters.into()),
    }
}

fn run(load: LoadSpec, levels: &[Level], slo: Slo) -> Run {
    let mut steps = Vec::new();
    let mut frames = Vec::new();
    let mut began_ns = 1_000_000;
    for (index, level) in (0..).zip(levels) {
        let ended_ns = began_ns + u64::from(level.intervals) * INTERVAL_NS;
        for interval in 0..level.intervals {
            frames.extend((0..WORKERS).map(|worker| level.frame(index, worker, interval, began_ns)));
        }
        frames.extend((0..WORKERS).map(|worker| level.drain(index, worker, began_ns)));
        let drained_ns = ended_ns + INTERVAL_NS;
        let (connections, rate_per_sec, end) = (level.connections, level.rate_per_sec, level.end);
        steps.push(Step {
            index,
            connections,
            depth: level.depth,
            rate_per_sec,
            stages: Vec::new(),
            began_ns,
            ended_ns,
            drained_ns,
            end,
            generators: Vec::new(),
        });
        began_ns = drained_ns;
    }
    Run {
        manifest: manifest(load, slo),
        steps,
        frames,
        hosts: Vec::new(),
        events: Vec::<Event>::new(),
        profiles: Vec::new(),
        damage: Vec::new(),
    }
}

fn manifest(load: LoadSpec, slo: Slo) -> Manifest {
    let spec = PlanSpec {
        name: None,
        url: "http://api.test:8080/".to_owned(),
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
        workers: Some(u64::from(WORKERS)),
        timeout: Duration::from_secs(1),
        connections_max: None,
        depth: None,
        seed: 1,
        driver: None,
        slo,
        hosts: Vec::new(),
        redact: Vec::new(),
        group: None,
        slo_assumed: false,
    };
    let plan = spec.freeze().unwrap();
    Manifest {
        format: FormatVersion::CURRENT,
        name: plan.name.clone(),
        command: RunCommand::Sweep,
        command_line: None,
        plan: plan.to_json(),
        plan_hash: plan.hash(),
        tool_version: "0".to_owned(),
        machine: Machine {
            hostname: "here".to_owned(),
            kernel: "Linux".to_owned(),
            architecture: "x86_64".to_owned(),
            limits: Limits { descriptors: 1024, ports: 28_000, cores: 2 },
            lowered_to: None,
            calibration: None,
        },
        preflight: Preflight {
            addresses: vec!["10.0.0.2:8080".to_owned()],
            address: "10.0.0.2:8080".to_owned(),
            local: false,
            resolve_ns: 1,
            connect_ns: 1,
            first: None,
            streams_max: None,
        },
        driver: "epoll".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        tls: None,
        started_unix_ms: 0,
        tags: plimsoll_record::Tags::default(),
        sealed: true,
    }
}
