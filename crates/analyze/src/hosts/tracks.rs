//! The samples of hosts by host, source and subject, and the steps during which they were taken.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_plan::PlanHost;
use plimsoll_record::metric::{cgroup, cpu, process};
use plimsoll_record::{EventKind, Reading, Run, Source, Subject};

use super::track::{Span, Track};
use crate::StepSummary;
use crate::findings::Part;

/// The name under which the machine that makes the load is recorded.
pub(crate) const GENERATOR: &str = PlanHost::GENERATOR;

/// Host, source, and the text of the subject.
type Key<'a> = (&'a str, Source, &'a str);

/// All samples of a run that could be read, in order.
#[derive(Debug, Default)]
pub(crate) struct Hosts<'a> {
    tracks: BTreeMap<Key<'a>, Track<'a>>,
    /// Host and source of what existed and could not be read, with the first reason.
    failed: BTreeMap<(&'a str, Source), &'a str>,
    /// The end of the time without load, in nanoseconds since the run began; `None` where that was not recorded.
    rested_ns: Option<u64>,
}

/// The samples of a run in which no host was sampled.
pub(crate) static NOT_SAMPLED: Hosts<'static> =
    Hosts { tracks: BTreeMap::new(), failed: BTreeMap::new(), rested_ns: None };

impl<'a> Hosts<'a> {
    /// Sorts the samples of a run.
    pub(crate) fn new(run: &'a Run) -> Self {
        let rested = run.events.iter().find(|event| event.kind == EventKind::Rested);
        let mut hosts = Self { rested_ns: rested.map(|event| event.at_ns), ..Self::default() };
        for sample in &run.hosts {
            // No rule knows what a source of another version means.
            let Some(source) = sample.source.known() else { continue };
            match &sample.reading {
                Reading::Ok(counters) => {
                    let key = (sample.host.as_str(), source, sample.subject.as_str());
                    let at_ns = sample.began_ns.midpoint(sample.ended_ns);
                    let track = hosts.tracks.entry(key).or_insert_with(|| Track::new(source));
                    track.push(at_ns, counters);
                }
                Reading::Failed(why) => {
                    hosts.failed.entry((&sample.host, source)).or_insert(why);
                }
                Reading::Absent => {}
            }
        }
        hosts.tracks.values_mut().for_each(Track::sort);
        hosts
    }

    /// The span in which a subject was sampled before there was load.
    pub(crate) fn rest(&self, track: &Track<'_>) -> Option<Span> {
        track.until(self.rested_ns?)
    }

    /// The hosts other than the generator's, by name.
    pub(crate) fn names(&self) -> BTreeSet<&'a str> {
        let names = self.tracks.keys().map(|key| key.0).chain(self.failed.keys().map(|key| key.0));
        names.filter(|name| *name != GENERATOR).collect()
    }

    /// The track of one subject of a source.
    pub(crate) fn track(&self, host: &str, source: Source, subject: Subject<'_>) -> Option<&Track<'a>> {
        self.of(host, source).find(|(known, _)| *known == subject).map(|(_, track)| track)
    }

    /// All subjects of a source on a host, in the order of their text.
    pub(crate) fn of<'s>(
        &'s self,
        host: &str,
        source: Source,
    ) -> impl Iterator<Item = (Subject<'a>, &'s Track<'a>)> {
        let tracks = self.tracks.iter().filter(move |(key, _)| key.0 == host && key.1 == source);
        tracks.map(move |(key, track)| (Subject::parse(source, key.2), track))
    }

    /// As [`of`](Self::of), by the part of the host, without parts that this version cannot read.
    pub(crate) fn parts<'s>(
        &'s self,
        host: &str,
        source: Source,
    ) -> impl Iterator<Item = (Part, &'s Track<'a>)> {
        let tracks = self.of(host, source);
        tracks.filter_map(move |(subject, track)| Some((Part::from_sample(source, subject)?, track)))
    }

    /// The control group that counts for a whole host: that of a lab host, or of a container with a quota. The group at the top of
    /// a machine does not, because it does not count the time that other guests of the machine took, and a container without a quota
    /// may use all of its machine.
    pub(crate) fn own_group(&self, host: &str) -> Option<&Track<'a>> {
        let is_machine = self.track(host, Source::Cpu, Subject::Host).is_some();
        let group = self.track(host, Source::Cgroup, Subject::Host)?;
        (!is_machine || group.quota().is_some()).then_some(group)
    }

    /// True if two hosts are the same machine, or the same container of it, sampled twice. Lab hosts are not.
    pub(crate) fn are_one_machine(&self, host: &str, other: &str) -> bool {
        let machine = |host| self.track(host, Source::Cpu, Subject::Host)?.last_number(cpu::MACHINE);
        let same_kernel = || machine(host).is_some_and(|id| machine(other) == Some(id));
        host == other || same_kernel() && self.are_one_group(host, other)
    }

    /// True if two hosts of one kernel share what they use. The generator's group is the one that caps it, also on a machine that
    /// has more.
    fn are_one_group(&self, host: &str, other: &str) -> bool {
        match [(host, self.own_group(host)), (other, self.own_group(other))] {
            [(_, Some(one)), (_, Some(another))] => one.counts_the_same(another, cgroup::USAGE_US),
            [(_, None), (GENERATOR, _) | (_, None)] | [(GENERATOR, _), (_, None)] => true,
            _ => false,
        }
    }

    /// Of the hosts that are the same machine as this, the one whose processes used most: the machine's resources belong to it.
    pub(crate) fn home<'s>(&'s self, host: &'s str) -> &'s str {
        let grown = |(_, track): (Subject<'_>, &Track<'_>)| track.grown(process::CPU_US);
        let used = |host: &str| self.of(host, Source::Process).filter_map(grown).sum::<f64>();
        let same = self.names().into_iter().filter(|name| self.are_one_machine(host, name));
        same.max_by(|a, b| used(a).total_cmp(&used(b)).then_with(|| b.cmp(a))).unwrap_or(host)
    }

    /// Why a source of a host could not be read, if it could not.
    pub(crate) fn failure(&self, host: &str, source: Source) -> Option<&'a str> {
        self.failed.iter().find(|(key, _)| **key == (host, source)).map(|(_, why)| *why)
    }
}

/// The samples of all hosts, and the measured window of each step.
pub(crate) struct StepSamples<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    /// The measured window of each step, in the order of the steps.
    pub(crate) spans: &'a [Span],
    /// Processors of the machine that made the run; a lab host that was given no fewer has as many.
    pub(crate) machine_cores: f64,
}

impl StepSamples<'_> {
    /// Evaluates a figure for each step.
    pub(crate) fn each(&self, figure: impl Fn(Span) -> Option<f64>) -> Vec<Option<f64>> {
        self.spans.iter().map(|span| figure(*span)).collect()
    }
}

/// The measured window of each step: after its warm-up, for as long as its throughput was counted.
pub(crate) fn spans(run: &Run, steps: &[StepSummary]) -> Vec<Span> {
    let span = |summary: &StepSummary| {
        let began_ns =
            run.steps.iter().find(|step| step.index == summary.index).map_or(0, |step| step.began_ns);
        let from_ns = began_ns + (summary.warmup_sec * 1e9) as u64;
        Span { from_ns, to_ns: from_ns + (summary.measured_sec * 1e9) as u64 }
    };
    steps.iter().map(span).collect()
}
