//! `memory`: a third or more of a process's work is garbage collection, by the CPU time of its collectors or by the
//! pauses that a JVM reports; or one page in ten requests is fetched from swap, or again from files at the limit of the
//! control group. It is observed where the heap was four fifths full, or tasks waited for memory half of the time
//! (PSI).

use plimsoll_record::metric::{cgroup, jvm, memory, pressure, process};
use plimsoll_record::{Source, Subject};

use crate::findings::{Advice, Claim, Limit, Observation, Place};
use crate::hosts::track::Track;
use crate::hosts::usage::collecting;
use crate::hosts::utilisation::FULL;
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::threads::is_disk_waited_for;

/// A heap that is this full at its fullest leaves the collector no room.
const HEAP_FULL: f64 = 0.8;

/// Processes that collect garbage more than they should, and hosts that fetch pages for requests.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let hosts = ctx.hosts().into_iter();
    hosts.filter_map(|host| collecting(ctx, host).or_else(|| paging(ctx, host))).collect()
}

/// The part of its CPU that a process spends on collecting, by its threads' names.
fn by_threads(ctx: &RuleContext<'_>, host: &str) -> Option<(String, f64)> {
    let found = collecting::collecting(ctx.obs.hosts, host, ctx.span()).into_iter();
    let most = found.max_by(|a, b| a.cores.total_cmp(&b.cores))?;
    Some((most.process.to_owned(), most.ratio()))
}

/// The part of the time that a JVM stood still to collect.
fn by_pauses(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let tracks = ctx.obs.hosts.of(host, Source::Jvm);
    let paused = tracks.filter_map(|(_, track)| Some(track.per_sec(jvm::GC_TIME_MS, ctx.span())? / 1e3));
    paused.reduce(f64::max)
}

/// How full the heap was at its fullest.
fn heap(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let full = |track: &Track<'_>| {
        Some(track.most(jvm::HEAP_USED_BYTES, ctx.span())? / track.last(jvm::HEAP_MAX_BYTES)?)
    };
    ctx.obs.hosts.of(host, Source::Jvm).filter_map(|(_, track)| full(track)).reduce(f64::max)
}

fn collecting(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let (process, part) = match (by_threads(ctx, host), by_pauses(ctx, host)) {
        (Some((name, part)), Some(pauses)) if part >= pauses => (name, part),
        (Some((name, part)), None) => (name, part),
        (Some((name, _)), Some(pauses)) => (name, pauses),
        (None, Some(pauses)) => ("java".to_owned(), pauses),
        (None, None) => return None,
    };
    if part < bounds::COLLECTING {
        return None;
    }
    let heap = heap(ctx, host);
    let place = Place::process(host, &process);
    let mut evidence = vec![ctx.share_row(Observation::Collecting(place.clone()), part)];
    evidence.extend(heap.map(|heap| ctx.share_row(Observation::Heap(place.clone()), heap)));
    evidence.extend(ctx.cpu_row(host));
    // Twice the heap halves the collecting, which leaves the rest of the CPU to requests.
    let gain = 1.0 / (1.0 - part / 2.0).max(0.5) - 1.0;
    Some(Candidate {
        basis: Basis::observed(heap.is_some_and(|heap| heap >= HEAP_FULL)),
        evidence,
        advice: vec![Advice::TwiceHeap { gain }],
        ..Candidate::new(Limit::Memory, place, Claim::Collecting { part, heap })
    })
}

/// Pages a request that were fetched from swap, or from files because the group was at its memory limit.
fn pages_per_request(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let span = ctx.span();
    let swapped = ctx.rate(host, memory::SWAPPED_IN_PAGES);
    let group = ctx.obs.hosts.track(host, Source::Cgroup, Subject::Host);
    let at_limit = group.is_some_and(|group| is_at_limit(ctx, group));
    let processes = ctx.obs.hosts.of(host, Source::Process);
    let faults =
        processes.filter_map(|(_, track)| track.per_sec(process::MAJOR_FAULTS, span)).reduce(|a, b| a + b);
    // What is read without being mapped is no fault of the process, and fetched again all the same.
    let refaults = ctx.rate(host, cgroup::REFAULTED_PAGES);
    let again = faults.into_iter().chain(refaults).filter(|_| at_limit);
    let fetched = swapped.into_iter().chain(again).reduce(f64::max)?;
    (ctx.throughput() > 0.0).then(|| fetched / ctx.throughput())
}

/// Whether a group was refused memory, or has as much as it may: where swap is limited to the same, version 1 counts no
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

fn paging(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let pages = pages_per_request(ctx, host).filter(|pages| *pages >= bounds::PER_REQUEST)?;
    let stalled = ctx.rate(host, pressure::MEMORY_SOME_US).map(|us| us / 1e6);
    let name = || host.to_owned();
    let mut evidence = vec![ctx.row(Observation::PagesAgain { host: name() }, pages, None)];
    evidence.extend(stalled.map(|part| ctx.share_row(Observation::MemoryStall { host: name() }, part)));
    let is_stalled = stalled.is_some_and(|part| part >= 0.5);
    let disk = (!is_stalled && is_disk_waited_for(ctx, host))
        .then(|| Candidate::named(Limit::Disk, Place::host(host)));
    Some(Candidate {
        basis: Basis::observed(is_stalled),
        alternatives: disk.into_iter().collect(),
        evidence,
        advice: vec![Advice::MoreMemory],
        ..Candidate::new(Limit::Memory, Place::host(host), Claim::Paging { pages })
    })
}
