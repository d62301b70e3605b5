//! Samples of hosts next to a made-up run.

use std::collections::BTreeMap;

use plimsoll_analyze::{Findings, Verdict};
use plimsoll_plan::Slo;
use plimsoll_record::{HostSample, Reading, Run};

use crate::synthetic::{Level, findings, ladder, single};

const SECOND_NS: u64 = 1_000_000_000;

/// Counters by the time they were read at.
type Reads = BTreeMap<u64, BTreeMap<String, u64>>;

/// Host, source and subject of some samples.
pub(crate) type Subject<'a> = (&'a str, &'a str, &'a str);

/// A run whose hosts are sampled each second and at both ends of each step.
pub(crate) struct Watch {
    run: Run,
    /// Requests per second of each step, as made up.
    throughputs: Vec<f64>,
    reads: BTreeMap<(String, String, String), Reads>,
}

impl Watch {
    /// A ladder over these levels.
    pub(crate) fn over(levels: &[Level]) -> Self {
        let throughputs = levels.iter().map(|level| level.throughput_per_sec).collect();
        Self { run: ladder(levels, Slo::default()), throughputs, reads: BTreeMap::new() }
    }

    /// A single level.
    pub(crate) fn single(level: Level) -> Self {
        let throughputs = vec![level.throughput_per_sec];
        Self { run: single(level), throughputs, reads: BTreeMap::new() }
    }

    /// A pool of `workers` that takes `service_sec` for a request, under 1, 2, 4 … connections up to `most`.
    pub(crate) fn pool(workers: f64, service_sec: f64, most: u32) -> Self {
        Self::over(&pool_levels(workers, service_sec, most))
    }

    /// When hosts are sampled.
    fn times(&self) -> Vec<u64> {
        let of_step = |step: &plimsoll_record::Step| {
            let seconds = (0..).map(|n| step.began_ns + n * SECOND_NS);
            seconds.take_while(|at_ns| *at_ns < step.ended_ns).chain([step.ended_ns]).collect::<Vec<_>>()
        };
        self.run.steps.iter().flat_map(of_step).collect()
    }

    /// The index of the step at a time; the last one that has begun.
    fn step_at(&self, at_ns: u64) -> usize {
        self.run.steps.iter().rposition(|step| step.began_ns <= at_ns).unwrap_or(0)
    }

    /// A counter that grows by so much a second in each step; the step's index and its throughput are given.
    pub(crate) fn counter(
        mut self,
        subject: Subject<'_>,
        name: &str,
        per_sec: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let rates: Vec<f64> =
            self.throughputs.iter().enumerate().map(|(index, x)| per_sec(index, *x)).collect();
        let mut grown = 1000.0;
        let mut before_ns = 0;
        for at_ns in self.times() {
            let rate = rates[self.step_at(at_ns.saturating_sub(1))];
            grown += rate * (at_ns - before_ns) as f64 / 1e9;
            before_ns = at_ns;
            self.put(subject, at_ns, name, grown as u64);
        }
        self
    }

    /// A gauge that has this value in each step.
    pub(crate) fn gauge(
        mut self,
        subject: Subject<'_>,
        name: &str,
        value: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let values: Vec<f64> =
            self.throughputs.iter().enumerate().map(|(index, x)| value(index, *x)).collect();
        for at_ns in self.times() {
            let value = values[self.step_at(at_ns)].round() as u64;
            self.put(subject, at_ns, name, value);
        }
        self
    }

    fn put(&mut self, subject: Subject<'_>, at_ns: u64, name: &str, value: u64) {
        let key = (subject.0.to_owned(), subject.1.to_owned(), subject.2.to_owned());
        self.reads.entry(key).or_default().entry(at_ns).or_default().insert(name.to_owned(), value);
    }

    /// A host of a lab with so many cores, of which each request takes `cpu_sec`.
    pub(crate) fn host(self, name: &str, cores: f64, cpu_sec: f64) -> Self {
        self.gauge((name, "cgroup", ""), "quota_us", |_, _| cores * 10_000.0)
            .gauge((name, "cgroup", ""), "period_us", |_, _| 10_000.0)
            .counter((name, "cgroup", ""), "usage_us", |_, x| 1e6 * (0.01 + cpu_sec * x).min(cores))
    }

    /// A process on it that takes as much, in one thread.
    pub(crate) fn process(self, host: &str, subject: &str, cpu_sec: f64) -> Self {
        self.counter((host, "process", subject), "cpu_us", |_, x| 1e6 * cpu_sec * x).gauge(
            (host, "process", subject),
            "threads",
            |_, _| 1.0,
        )
    }

    /// A listener of a process, with what stands in front of it.
    pub(crate) fn listener(
        self,
        host: &str,
        address: &str,
        pid: u64,
        unread: impl Fn(usize, f64) -> f64,
    ) -> Self {
        self.gauge((host, "listener", address), "pid", |_, _| pid as f64)
            .gauge((host, "listener", address), "queue", |_, _| 0.0)
            .gauge((host, "listener", address), "unread", unread)
    }

    /// Both ways of a host's link, and what is sent for each request.
    pub(crate) fn link(self, host: &str, bits_per_sec: f64, out_bytes: f64, in_bytes: f64) -> Self {
        self.gauge((host, "declared", ""), "link_out_bits_per_sec", |_, _| bits_per_sec)
            .gauge((host, "declared", ""), "link_in_bits_per_sec", |_, _| bits_per_sec)
            .counter((host, "interface", "eth0"), "sent_bytes", |_, x| out_bytes * x)
            .counter((host, "interface", "eth0"), "received_bytes", |_, x| in_bytes * x)
            .counter((host, "interface", "eth0"), "sent_packets", |_, x| 2.0 * x)
            .counter((host, "interface", "eth0"), "received_packets", |_, x| 2.0 * x)
    }

    /// The run with what was seen of its hosts.
    pub(crate) fn run(self) -> Run {
        let mut run = self.run;
        for ((host, source, subject), reads) in self.reads {
            run.hosts.extend(reads.into_iter().map(|(at_ns, counters)| HostSample {
                host: host.as_str().into(),
                source: source.as_str().into(),
                subject: subject.as_str().into(),
                began_ns: at_ns,
                ended_ns: at_ns,
                reading: Reading::Ok(counters.into()),
            }));
        }
        run
    }

    pub(crate) fn findings(self) -> Findings {
        findings(&self.run())
    }

    pub(crate) fn verdict(self) -> Verdict {
        self.findings().verdict
    }
}

/// 1, 2, 4 … connections to a pool.
pub(crate) fn pool_levels(workers: f64, service_sec: f64, most: u32) -> Vec<Level> {
    let connections = (0..).map(|power| 1 << power).take_while(|connections| *connections <= most);
    let level = |n| Level { intervals: 60, ..Level::at(n, f64::from(n).min(workers) / service_sec) };
    connections.map(level).collect()
}

/// Connections of a step of [`pool_levels`].
pub(crate) fn connections(step: usize) -> f64 {
    f64::from(1_u32 << step)
}

/// Requests that wait when `workers` work on as many as they can.
pub(crate) fn waiting(step: usize, workers: f64) -> f64 {
    (connections(step) - workers).max(0.0)
}

/// An API on half a core that passes its requests on to a pool of 16.
pub(crate) fn before_a_slow_service(cpu_sec: f64, late: f64) -> Watch {
    Watch::pool(16.0, 0.04, 128)
        .host("api", 0.5, cpu_sec)
        .process("api", "8 java", cpu_sec)
        .listener("api", "0.0.0.0:8080", 8, move |step, _| late * waiting(step, 16.0))
        .gauge(("api", "peers", "8 java"), "10.0.0.5:9000", |step, _| connections(step))
        .host("slow", 1.0, 10e-6)
        .process("slow", "9 server", 10e-6)
        .listener("slow", "10.0.0.5:9000", 9, |_, _| 0.0)
}
