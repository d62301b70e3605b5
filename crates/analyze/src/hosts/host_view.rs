//! What hosts reported apart from their resources: components, throttling, unreadable sources, and the cost of sampling.

use std::collections::BTreeMap;

use plimsoll_record::metric::{go, jvm, mariadb, memcached, nginx, probe, process, redis};
use plimsoll_record::{HostSample, Metric, MetricKind, Reading, Run, Source, Subject, Unit};

use super::step_samples::spans;
use super::track::{Span, Track};
use super::tracks::{GENERATOR, Hosts};
use crate::StepSummary;

/// A sampled host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchedHost {
    pub name: String,
    pub components: Vec<ComponentLoad>,
    pub throttled: Vec<Throttled>,
    /// What could not be read, each source once.
    pub unread: Vec<Unread>,
    /// What sampling it cost the machine that did it: cores, over the whole run. `None` where that was not measured.
    pub probe_cores: Option<f64>,
}

/// A component over one step.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentLoad {
    /// What it is: `nginx`, `redis`.
    pub source: String,
    /// Where it was asked.
    pub address: String,
    /// What it reported, in the order in which it is worth reading.
    pub figures: Vec<ComponentFigure>,
}

/// One figure of a component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComponentFigure {
    /// What it counts, fit to follow its value: `requests`.
    pub name: &'static str,
    pub unit: FigureUnit,
    /// Its value: the mean over the step.
    pub value: f64,
}

/// How a figure is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    PerSec,
    Count,
    Bytes,
    /// A part of the time, from 0.
    Ratio,
}

/// A control group that was held back by its quota.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttled {
    pub group: String,
    /// The part of its periods in which it was held back, from 0 to 1.
    pub ratio: f64,
}

/// A source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub source: String,
    pub times: u64,
    /// How often it was.
    pub read: u64,
    /// Why, the first time.
    pub why: String,
}

/// A metric of a component that is worth reading. A counter is shown by its growth each second, a counter of time as a part
/// of the time, a gauge by its mean.
struct Known {
    metric: Metric,
    name: &'static str,
    form: Form,
}

/// How a metric is shown, apart from what its kind and unit say.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Always,
    /// Only if it grows.
    Growing,
    /// Time that many spend at once: how many do on average (Little's law).
    Waiters,
}

const fn known(metric: Metric, name: &'static str) -> Known {
    Known { metric, name, form: Form::Always }
}

const fn growing(metric: Metric, name: &'static str) -> Known {
    Known { metric, name, form: Form::Growing }
}

const fn waiters(metric: Metric, name: &'static str) -> Known {
    Known { metric, name, form: Form::Waiters }
}

const KNOWN: [Known; 28] = [
    known(nginx::REQUESTS, "requests"),
    growing(nginx::ACCEPTS, "connections accepted"),
    known(nginx::ACTIVE, "connections"),
    known(nginx::WRITING, "of them being answered"),
    known(redis::COMMANDS, "commands"),
    known(redis::MAIN_THREAD_CPU_US, "of a core in its main thread"),
    known(redis::CONNECTED_CLIENTS, "clients"),
    known(redis::BLOCKED_CLIENTS, "clients blocked"),
    known(redis::USED_MEMORY_BYTES, "in use"),
    growing(redis::REJECTED_CONNECTIONS, "connections rejected"),
    growing(redis::EVICTED_KEYS, "keys evicted"),
    known(memcached::COMMANDS_GET, "gets"),
    known(memcached::COMMANDS_SET, "sets"),
    known(memcached::CURR_CONNECTIONS, "connections"),
    growing(memcached::LISTEN_DISABLED, "times it stopped accepting"),
    known(mariadb::QUESTIONS, "questions"),
    known(mariadb::THREADS_RUNNING, "threads running"),
    known(mariadb::THREADS_CONNECTED, "connections"),
    waiters(mariadb::INNODB_ROW_LOCK_TIME_MS, "threads waiting for row locks"),
    known(mariadb::INNODB_OS_LOG_FSYNCS, "fsyncs of the log"),
    growing(mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS, "connections refused"),
    known(go::GOROUTINES, "goroutines"),
    known(go::GC_CYCLES, "collections"),
    known(go::GC_PAUSE_US, "of the time paused to collect"),
    known(go::HEAP_BYTES, "of heap"),
    known(jvm::GC_TIME_MS, "of the time collecting"),
    known(jvm::HEAP_USED_BYTES, "of heap"),
    known(jvm::THREADS, "threads"),
];

impl Known {
    fn figure(&self, track: &Track<'_>, span: Span) -> Option<ComponentFigure> {
        let (unit, value) = match self.metric.kind {
            MetricKind::Counter => self.rate(track.per_sec(self.metric, span)?),
            MetricKind::Gauge if self.metric.unit == Unit::Bytes => {
                (FigureUnit::Bytes, track.mean(self.metric, span)?)
            }
            MetricKind::Gauge => (FigureUnit::Count, track.mean(self.metric, span)?),
        };
        let shown = self.form != Form::Growing || value > 0.0;
        shown.then_some(ComponentFigure { name: self.name, unit, value })
    }

    fn rate(&self, per_sec: f64) -> (FigureUnit, f64) {
        let of_time = if self.form == Form::Waiters { FigureUnit::Count } else { FigureUnit::Ratio };
        match self.metric.unit {
            Unit::Ms => (of_time, per_sec / 1e3),
            Unit::Us => (of_time, per_sec / 1e6),
            _ => (FigureUnit::PerSec, per_sec),
        }
    }
}

/// The hosts other than the generator that anything was heard or should have been heard of, by name. Figures are those of the
/// step at this position.
pub fn watched_hosts(run: &Run, steps: &[StepSummary], position: usize) -> Vec<WatchedHost> {
    let hosts = Hosts::new(&run.hosts);
    let span = spans(run, steps).get(position).copied();
    let of = |name: &str| WatchedHost {
        name: name.to_owned(),
        components: span.map_or_else(Vec::new, |span| components(&hosts, name, span)),
        throttled: span.map_or_else(Vec::new, |span| throttled(&hosts, name, span)),
        unread: unread(&run.hosts, name),
        probe_cores: probe_cores(&run.hosts, name),
    };
    hosts.names().into_iter().filter(|name| *name != GENERATOR).map(of).collect()
}

fn components(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<ComponentLoad> {
    let mut sources: Vec<Source> = KNOWN.iter().map(|known| known.metric.source).collect();
    sources.dedup();
    let of_source = |source: Source| {
        let known = move || KNOWN.iter().filter(move |known| known.metric.source == source);
        hosts.of(name, source).map(move |(address, track)| ComponentLoad {
            source: source.to_string(),
            address: address.to_string(),
            figures: known().filter_map(|known| known.figure(track, span)).collect(),
        })
    };
    let all = sources.into_iter().flat_map(of_source);
    all.filter(|component| !component.figures.is_empty()).collect()
}

fn throttled(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<Throttled> {
    let one = |(group, track): (Subject<'_>, &Track<'_>)| {
        let ratio = track.throttled(span)?;
        (ratio > 0.0).then(|| Throttled { group: group.to_string(), ratio })
    };
    hosts.of(name, Source::Cgroup).filter_map(one).collect()
}

fn unread(samples: &[HostSample], name: &str) -> Vec<Unread> {
    let mut sources: BTreeMap<&str, Unread> = BTreeMap::new();
    let mut read: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name) {
        match &sample.reading {
            Reading::Failed(why) => {
                let first =
                    || Unread { source: sample.source.to_string(), times: 0, read: 0, why: why.clone() };
                sources.entry(sample.source.as_str()).or_insert_with(first).times += 1;
            }
            Reading::Ok(_) => *read.entry(sample.source.as_str()).or_default() += 1,
            Reading::Absent => {}
        }
    }
    sources.iter_mut().for_each(|(source, unread)| unread.read = read.get(source).copied().unwrap_or(0));
    sources.into_values().collect()
}

/// All threads that sampled a host, from their first sample to their last.
fn probe_cores(samples: &[HostSample], name: &str) -> Option<f64> {
    let mut threads: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name && sample.source == Source::Probe) {
        if let Reading::Ok(counters) = &sample.reading
            && let Some(cpu_us) = counters.get(probe::CPU_US)
        {
            threads.entry(&sample.subject).or_default().push((sample.ended_ns, cpu_us));
        }
    }
    let cores = threads.into_values().filter_map(|reads| {
        let (first, last) = (reads.first()?, reads.last()?);
        let span_ns = last.0.checked_sub(first.0).filter(|span_ns| *span_ns > 0)?;
        Some(last.1.checked_sub(first.1)? as f64 * 1e3 / span_ns as f64)
    });
    cores.reduce(|a, b| a + b)
}

/// Calls per second of all watched processes of each host other than the generator's, as the kernel counts reads and writes of any
/// kind of file for each process; calls that only sockets have (send, recv) are not among them. Hosts of which nothing was
/// read are left out.
pub fn io_calls_per_sec(run: &Run, steps: &[StepSummary], position: usize) -> Vec<(String, f64)> {
    let hosts = Hosts::new(&run.hosts);
    let Some(span) = spans(run, steps).get(position).copied() else { return Vec::new() };
    let of = |name: &str| {
        let tracks = hosts.of(name, Source::Process).map(|(_, track)| track);
        let calls = tracks.filter_map(|track| {
            Some(track.per_sec(process::READ_CALLS, span)? + track.per_sec(process::WRITE_CALLS, span)?)
        });
        Some((name.to_owned(), calls.reduce(|a, b| a + b)?))
    };
    hosts.names().into_iter().filter(|name| *name != GENERATOR).filter_map(of).collect()
}
