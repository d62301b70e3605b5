//! `memory`: a third or more of a process's work is garbage collection, by the CPU time of its collectors or by the
//! pauses that a JVM reports. Or at least one page per ten requests is fetched from swap, or again from files at the limit of a
//! control group. It is observed where the heap was four fifths full, or tasks waited for memory half of the time
//! (PSI).
//!
//! A collector may run next to the requests. If nothing is used up, it counts only if requests stand still for it.

use std::collections::BTreeSet;

use plimsoll_record::metric::{cgroup, jvm, memory, pressure, process};
use plimsoll_record::{Source, Subject};

use crate::findings::{Advice, Claim, Limit, Observation, Part, Place};
use crate::hosts::resource::ResourceKind;
use crate::hosts::track::Track;
use crate::hosts::usage::collecting;
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::utilisation::{FREE, FULL, TIE};
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate, Explains};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::threads::{is_disk_waited_for, waiting_for_disk};

/// A heap that was this full at its fullest leaves the collector no room.
const HEAP_FULL: f64 = 0.8;

/// Memory is the limit of a host whose tasks wait for it this share of the time.
const STALLED: f64 = 0.5;

/// Processes that collect too much garbage, and hosts that fetch pages for requests.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let collecting = |host| most(ctx, host).into_iter().map(move |one| collected(ctx, host, &one));
    ctx.hosts().into_iter().flat_map(|host| collecting(host).chain(paging(ctx, host))).collect()
}

/// As [`candidates`], where requests wait for memory. They wait for pages, unless tasks are known to wait too rarely for that. They
/// wait for a collector only while it stops their process, or leaves it no CPU.
pub(crate) fn waits(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let collecting = |host| {
        let waited_for = move |one: &Collector<'_>| one.is_waited_for(ctx, host);
        most(ctx, host).into_iter().filter(waited_for).map(move |one| collected(ctx, host, &one))
    };
    let fetching = |host| paging(ctx, host).filter(|_| stalled(ctx, host).is_none_or(|part| part >= TIE));
    ctx.hosts().into_iter().flat_map(|host| collecting(host).chain(fetching(host))).collect()
}

/// A process that collects garbage, by what its threads and its JVM report.
struct Collector<'a> {
    process: &'a str,
    /// Cores that all of its threads used.
    cores: Option<f64>,
    /// The share of its CPU time that its collecting threads used.
    by_threads: Option<f64>,
    /// The share of the time that its JVM reports as pauses for collection.
    pauses: Option<f64>,
    /// The smallest share of such pauses, by its collecting threads.
    stopped: f64,
    /// The highest share of the heap in use.
    heap: Option<f64>,
}

impl<'a> Collector<'a> {
    /// Reads the process `pid`, or with `None` a JVM that answers at an address and whose process is unknown.
    fn new(ctx: &RuleContext<'a>, host: &str, pid: Option<u32>) -> Self {
        let jvms = jvms(ctx, host, pid);
        let full = |track: &&Track<'_>| {
            Some(track.most(jvm::HEAP_USED_BYTES, ctx.span())? / track.last(jvm::HEAP_MAX_BYTES)?)
        };
        let paused = |track: &&Track<'_>| Some(track.per_sec(jvm::GC_TIME_MS, ctx.span())? / 1e3);
        let mut processes = ctx.obs.hosts.of(host, Source::Process);
        let own = processes.find(|(subject, _)| pid.is_some() && subject.pid() == pid);
        Self {
            process: own.map_or("java", |(subject, _)| subject.name()),
            cores: own.and_then(|(_, track)| cpu_of(track, ctx.span())),
            by_threads: None,
            stopped: 0.0,
            pauses: jvms.iter().filter_map(paused).reduce(f64::max),
            heap: jvms.iter().filter_map(full).reduce(f64::max),
        }
    }

    /// True if requests wait for it: their process stands still for it often enough, or, where that is unknown, may need the
    /// CPU that it uses.
    fn is_waited_for(&self, ctx: &RuleContext<'_>, host: &str) -> bool {
        let is_near = |share: Option<f64>| share.is_some_and(|share| share >= FREE);
        let mut quotas = ctx.of_kind(ResourceKind::Quota).filter(|group| group.host == host);
        match self.pauses {
            Some(part) => part >= bounds::COLLECTING,
            None if self.stopped >= bounds::COLLECTING => true,
            None => is_near(ctx.cpu_share(host)) || quotas.any(|group| is_near(ctx.share(group))),
        }
    }

    /// The share of its work that is garbage collection.
    fn part(&self) -> f64 {
        self.by_threads.into_iter().chain(self.pauses).fold(0.0, f64::max)
    }
}

/// The samples of the JVM of a process, or else of the JVMs whose processes are unknown.
fn jvms<'a>(ctx: &RuleContext<'a>, host: &str, pid: Option<u32>) -> Vec<&'a Track<'a>> {
    let of = |pid| {
        let all = ctx.obs.hosts.of(host, Source::Jvm).filter(move |(subject, _)| subject.pid() == pid);
        all.map(|(_, track)| track).collect::<Vec<_>>()
    };
    let own = of(pid);
    if own.is_empty() { of(None) } else { own }
}

/// The processes of a host that collect garbage, those with the busiest collecting threads first.
fn collectors<'a>(ctx: &RuleContext<'a>, host: &str) -> Vec<Collector<'a>> {
    let mut by_threads = collecting::collecting(ctx.obs.hosts, host, ctx.span());
    by_threads.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    let is_known = |pid: &Option<u32>| match pid {
        Some(pid) => by_threads.iter().any(|one| one.pid == *pid),
        None => !by_threads.is_empty(),
    };
    let jvms = ctx.obs.hosts.of(host, Source::Jvm).map(|(subject, _)| subject.pid());
    let others: BTreeSet<Option<u32>> = jvms.filter(|pid| !is_known(pid)).collect();
    let known = by_threads.iter().map(|one| Collector {
        by_threads: Some(one.ratio()),
        stopped: one.stopped,
        ..Collector::new(ctx, host, Some(one.pid))
    });
    known.chain(others.into_iter().map(|pid| Collector::new(ctx, host, pid))).collect()
}

/// The processes that spend a third of their work or more on garbage collection.
fn most<'a>(ctx: &RuleContext<'a>, host: &str) -> Vec<Collector<'a>> {
    let mut all = collectors(ctx, host);
    all.retain(|one| one.part() >= bounds::COLLECTING);
    all
}

fn collected(ctx: &RuleContext<'_>, host: &str, collector: &Collector<'_>) -> Candidate {
    let (part, heap) = (collector.part(), collector.heap);
    let place = Place::process(host, collector.process);
    let mut evidence = vec![ctx.share_row(Observation::Collecting(place.clone()), part)];
    evidence.extend(heap.map(|heap| ctx.share_row(Observation::Heap(place.clone()), heap)));
    evidence.extend(ctx.cpu_row(host));
    // Twice the heap halves the collecting, which leaves the rest of the CPU to requests.
    let gain = 1.0 / (1.0 - part / 2.0).max(0.5) - 1.0;
    Candidate {
        basis: Basis::observed(heap.is_some_and(|heap| heap >= HEAP_FULL)),
        evidence,
        advice: vec![Advice::TwiceHeap { gain }],
        explains: Explains::Process { cores: collector.cores.map(|cores| part * cores) },
        ..Candidate::new(Limit::Memory, place, Claim::Collecting { part, heap })
    }
}

/// Pages per second that were fetched because there was no room for them, and the place that has no room.
type Fetched = (f64, Place);

/// Pages that were fetched from swap, or from files because the host's own group was at its memory limit.
fn of_host(ctx: &RuleContext<'_>, host: &str) -> Option<Fetched> {
    let swapped = ctx.rate(host, memory::SWAPPED_IN_PAGES);
    let group = ctx.obs.hosts.track(host, Source::Cgroup, Subject::Host);
    let at_limit = group.is_some_and(|group| is_at_limit(ctx, group));
    // A page that is read without being mapped causes no fault of the process, and is fetched again all the same.
    let refaults = ctx.rate(host, cgroup::REFAULTED_PAGES);
    let again = faults(ctx, host).into_iter().chain(refaults).filter(|_| at_limit);
    let fetched = swapped.into_iter().chain(again).reduce(f64::max)?;
    Some((fetched, Place::host(host)))
}

/// Major page faults of all watched processes of a host, per second.
fn faults(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let processes = ctx.obs.hosts.of(host, Source::Process);
    let faults = processes.filter_map(|(_, track)| track.per_sec(process::MAJOR_FAULTS, ctx.span()));
    faults.reduce(|a, b| a + b)
}

/// Pages fetched for a group below the host's own, such as a container or a service. Its cache may be full of files that processes
/// read which serve no requests: only pages that threads wait for count.
fn of_group(ctx: &RuleContext<'_>, host: &str, (part, group): (Part, &Track<'_>)) -> Option<Fetched> {
    let is_below = part != Part::Whole && is_at_limit(ctx, group);
    if !is_below || waiting_for_disk(ctx, host).is_some_and(|(_, threads)| threads < bounds::DISK_WAITING) {
        return None;
    }
    let refaults = group.per_sec(cgroup::REFAULTED_PAGES, ctx.span());
    Some((refaults.or_else(|| faults(ctx, host))?, Place::part(host, part)))
}

/// Pages fetched per request at the place that fetches most.
fn fetched(ctx: &RuleContext<'_>, host: &str) -> Option<Fetched> {
    let groups = ctx.obs.hosts.parts(host, Source::Cgroup);
    let groups = groups.filter_map(|group| of_group(ctx, host, group));
    let (pages_per_sec, place) =
        of_host(ctx, host).into_iter().chain(groups).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (ctx.throughput() > 0.0).then(|| (pages_per_sec / ctx.throughput(), place))
}

/// True if a group was refused memory, or has as much as it may: if swap is limited to the same amount, version 1 counts no
/// refusals.
fn is_at_limit(ctx: &RuleContext<'_>, group: &Track<'_>) -> bool {
    let span = ctx.span();
    let refused = group.per_sec(cgroup::MEMORY_FAILURES, span).is_some_and(|rate| rate > 0.0);
    let full = || {
        let part = group.most(cgroup::MEMORY_BYTES, span)? / group.last(cgroup::MEMORY_LIMIT_BYTES)?;
        Some(part >= FULL)
    };
    refused || full() == Some(true)
}

/// The share of the time that tasks of a host waited for memory.
fn stalled(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    ctx.rate(host, pressure::MEMORY_SOME_US).map(|us| us / 1e6)
}

/// The alternative to the CPU of a host that fetches pages for requests, if tasks may have waited for these pages. A host that
/// waits for memory half of the time has its CPU explained by that, and waits that are known to be rare are no alternative.
pub(crate) fn next_to_cpu(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let may_wait = stalled(ctx, host).is_none_or(|part| (TIE..STALLED).contains(&part));
    paging(ctx, host).filter(|_| may_wait)
}

fn paging(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let (pages, place) = fetched(ctx, host).filter(|(pages, _)| *pages >= bounds::PER_REQUEST)?;
    let stalled = stalled(ctx, host);
    let name = || host.to_owned();
    let mut evidence = vec![ctx.row(Observation::PagesAgain { host: name() }, pages, None)];
    evidence.extend(stalled.map(|part| ctx.share_row(Observation::MemoryStall { host: name() }, part)));
    let is_stalled = stalled.is_some_and(|part| part >= STALLED);
    let disk = (!is_stalled && is_disk_waited_for(ctx, host))
        .then(|| Candidate::named(Limit::Disk, Place::host(host)));
    Some(Candidate {
        basis: Basis::observed(is_stalled),
        alternatives: disk.into_iter().collect(),
        evidence,
        advice: vec![Advice::MoreMemory],
        explains: if is_stalled { Explains::Host } else { Explains::Nothing },
        ..Candidate::new(Limit::Memory, place, Claim::Paging { pages })
    })
}
