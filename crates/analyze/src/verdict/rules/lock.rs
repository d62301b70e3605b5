//! `lock`: requests take turns at one thing. The threads of a process use one core between them and none has it to
//! itself. Or a thread is at its limit, another of its name was in another step, and threads wait for each other. Or one
//! request is worked on at a time (X·S₀ < 2, Little 1961) although others were read. Or each request has a process of
//! one thread, and fewer are worked on at a time. A runtime that runs one thread at a time looks like the first case.

use plimsoll_record::{Source, Subject};

use crate::findings::{Advice, Claim, Evidence, Limit, Observation, Part, Place, StepSummary};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::topology::flow::Tier;
use crate::hosts::track::{Span, Track};
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::utilisation::TIE;
use crate::verdict::bounds;
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::{Concurrency, climbing};
use crate::verdict::facts::cpu::{is_busy, is_held_to};
use crate::verdict::facts::queue::Queue;
use crate::verdict::facts::threads::{
    Computing, HotThread, MAX_TURNS, alike, is_by_turns, threads_of, used_by_alike, waiting_for_others,
};

/// The cores that a process of many threads uses when one of them runs at a time.
const ONE_AT_A_TIME: std::ops::RangeInclusive<f64> = 0.85..=1.15;
/// No thread of such a process has the whole core to itself.
const MAX_THREAD: f64 = 0.75;

fn lock(ctx: &RuleContext<'_>, place: Place, claim: Claim, evidence: Vec<Evidence>) -> Candidate {
    Candidate {
        evidence,
        advice: vec![Advice::ProfileWaits(ctx.connections())],
        ..Candidate::new(Limit::Lock, place, claim)
    }
}

/// Processes whose threads share one core between them on a host that has more.
pub(crate) fn one_core(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    ctx.hosts().into_iter().filter_map(|host| of_host(ctx, host)).collect()
}

/// True if no quota and no set of allowed cores holds a process that uses this many cores to one. A process that does not report
/// its quota may be in any group that uses as much.
fn may_use_more(ctx: &RuleContext<'_>, host: &str, (subject, cores): (Subject<'_>, f64)) -> bool {
    let is_more = |cap: f64| cap > *ONE_AT_A_TIME.end();
    let quota = ctx.obs.hosts.track(host, Source::Process, subject).and_then(Track::quota);
    let may_hold = |group: &Resource| {
        let uses_as_much = group.used[ctx.load].is_some_and(|used| used >= (1.0 - TIE) * cores);
        uses_as_much && matches!(group.part, Part::Group(_))
    };
    let holds = |cap: &&Resource| match cap.kind {
        ResourceKind::Quota => quota.is_none() && may_hold(cap),
        ResourceKind::AllowedCores => is_held_to(ctx, Some(subject), cap),
        _ => false,
    };
    let mut caps = ctx.of_target().filter(|cap| cap.host == host).filter(holds);
    quota.is_none_or(is_more) && caps.all(|cap| cap.capacity.is_none_or(is_more))
}

fn of_host(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let has_more = |cpu: &&Resource| cpu.capacity.is_some_and(|cores| cores > *ONE_AT_A_TIME.end());
    let cpu = ctx.cpu(host).filter(has_more)?;
    let span = ctx.span();
    let used = ctx.obs.hosts.of(host, Source::Process);
    let (subject, cores) = used
        .filter_map(|(subject, track)| Some((subject, cpu_of(track, span)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|found| ONE_AT_A_TIME.contains(&found.1) && may_use_more(ctx, host, *found))?;
    let ours = ctx.obs.hosts.of(host, Source::Thread).filter(|(thread, _)| thread.pid() == subject.pid());
    let shares: Vec<f64> = ours.filter_map(|(_, track)| cpu_of(track, span)).collect();
    let threads = shares.iter().filter(|used| **used >= bounds::TAKES_PART).count();
    if threads < 2 || shares.iter().any(|used| *used > MAX_THREAD) || is_busy(ctx, cpu) {
        return None;
    }
    let place = Place::process(host, subject.name());
    let waiting = waiting_for_others(ctx, host, subject);
    let mut evidence = vec![
        ctx.row(Observation::CoresOfProcess(place.clone()), cores, None),
        ctx.row(Observation::BusyThreads(place.clone()), threads as f64, None),
    ];
    evidence.extend(waiting.map(|waiting| ctx.row(Observation::LockWaits(place.clone()), waiting, None)));
    let runtime = Candidate::named(Limit::Thread, place.clone());
    let claim = Claim::OneAtATime { threads, cores, per_sec: ctx.throughput() };
    Some(Candidate { alternatives: vec![runtime], ..lock(ctx, place, claim, evidence) })
}

/// Finds work that one thread does at a time, and not always the same one: another thread of its name did most of it in
/// another step. Any of them could serve next to the thread at its limit, on a host with room, and none does.
///
/// Threads that each wait for their own connections look the same if these are spread unevenly and anew in each step, but they
/// wait for no other thread.
pub(crate) fn in_turn(ctx: &RuleContext<'_>, hot: &HotThread<'_>) -> Option<Candidate> {
    let host = &hot.thread.host;
    let process = |(subject, _): &(Subject<'_>, &Track<'_>)| {
        subject.pid() == hot.thread.subject().and_then(Subject::pid)
    };
    let (subject, _) = ctx.obs.hosts.of(host, Source::Process).find(process)?;
    let cores = ctx.share(hot.thread)? + used_by_alike(ctx, hot.thread);
    let waits = waiting_for_others(ctx, host, subject).is_some_and(|waiting| waiting >= 1.0);
    let turns = hot.alike == 1 && waits && is_by_turns(cores) && has_changed_hands(ctx, hot.thread);
    turns.then(|| taking_turns(ctx, Place::process(host, subject.name()), cores))
}

/// A process whose threads used this many cores, most of the time one after another.
fn taking_turns(ctx: &RuleContext<'_>, place: Place, cores: f64) -> Candidate {
    let evidence = ctx.row(Observation::CoresOfProcess(place.clone()), cores, None);
    lock(ctx, place, Claim::TakingTurns { cores, per_sec: ctx.throughput() }, vec![evidence])
}

/// Finds a process that computes for all the time of its requests, with more threads than there are requests, and at times with two
/// threads at once.
pub(crate) fn of_computing(
    ctx: &RuleContext<'_>,
    computing: &Computing<'_>,
    at_once: Concurrency,
) -> Option<Candidate> {
    let turns =
        !computing.are_workers(at_once) && at_once.count.value < MAX_TURNS && is_by_turns(computing.cores);
    turns.then(|| taking_turns(ctx, Place::process(computing.host, computing.process), computing.cores))
}

/// True if another thread of its process and name used more CPU than it in a step, and took part in the work there.
fn has_changed_hands(ctx: &RuleContext<'_>, busiest: &Resource) -> bool {
    let thread = |subject| ctx.obs.hosts.track(&busiest.host, Source::Thread, subject);
    let Some(own) = busiest.subject().and_then(thread) else { return false };
    let did_more = |other: &Track<'_>, span: Span| {
        let used = cpu_of(own, span).zip(cpu_of(other, span));
        used.is_some_and(|(own, other)| other > (1.0 + TIE) * own && other >= bounds::TAKES_PART)
    };
    alike(ctx, busiest).any(|other| ctx.obs.spans.iter().any(|span| did_more(other, *span)))
}

/// Finds requests of which one is worked on at a time although others have been read: they take turns within the process.
/// Requests that were not read wait for a worker instead. A pool of two would serve at least two.
pub(crate) fn by_turns(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = ctx.obs.flow.tiers.get(*tier)?;
    let unread = queue.at_the_door?;
    let most = at_once.count.interval.map_or(at_once.count.value, |(_, most)| most);
    if most >= 2.0 || queue.waits_inside(at_once.count.value) != Some(true) {
        return None;
    }
    let law = at_once.law();
    let evidence = vec![
        ctx.row(Observation::AtOnce, at_once.count.value, None),
        ctx.share_row(Observation::Unread(tier.place()), unread),
    ];
    let mut found = lock(ctx, tier.place(), Claim::OneRequestAtATime(law), evidence);
    found.advice.push(Advice::HeldBack(ctx.throughput()));
    found.alternatives.extend(beyond(ctx, queue, tier));
    Some(found)
}

/// The same queue beyond a tier: with as many connections as requests inside, all of these may have gone on to what they lead to. If
/// as many connections were open at the lowest load, it is not known whether they did.
fn beyond(ctx: &RuleContext<'_>, queue: &Queue, tier: &Tier) -> Option<Candidate> {
    let flow = tier.main_outflow(queue.step)?;
    let may_be_there = flow.connections[queue.step]? >= bounds::PASSED_ON * queue.inside?;
    let callee = ctx.obs.flow.tiers.get(flow.to).filter(|_| may_be_there)?;
    Some(match &callee.outside {
        Some(name) => Candidate::named(Limit::Dependency, Place::Unwatched(name.clone())),
        None => Candidate::named(Limit::Lock, callee.place()),
    })
}

/// The mean must be this many times that of the lowest load, while half of the requests are as fast as there.
const SOME_WAIT: f64 = 1.5;
/// Half of the requests are as fast if their median grew by no more than this share.
const OTHERS_DO_NOT: f64 = 0.1;

/// Finds requests of which some wait inside a process and others do not, while no more are served. If each request took a place in
/// a pool, all would wait; X·S₀ is then not the size of a pool.
pub(crate) fn of_some(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = ctx.obs.flow.tiers.get(*tier)?;
    let goes_on = queue.out.is_none_or(|out| out > 0.0);
    if goes_on || queue.waits_inside(at_once.count.value) != Some(true) {
        return None;
    }
    let steps = climbing(ctx);
    let lowest = &steps.first()?.latency;
    let free_ns = lowest.p50.ns?;
    let times = |step: &StepSummary| step.latency.mean_ns / lowest.mean_ns;
    let is_partly_held = |step: &&&StepSummary| {
        let is_level = step.throughput.value >= (1.0 - TIE) * ctx.throughput();
        let is_free = step.latency.p50.ns.is_some_and(|ns| ns <= (1.0 + OTHERS_DO_NOT) * free_ns);
        is_level && is_free && times(step) >= SOME_WAIT
    };
    let step = steps.iter().find(is_partly_held)?;
    let median_sec = step.latency.p50.ns? / 1e9;
    let claim = Claim::SomeTakeTurns { at: step.at(), median_sec, times: times(step) };
    let evidence = vec![
        ctx.row(Observation::AtOnce, at_once.count.value, None),
        ctx.share_row(Observation::Unread(tier.place()), queue.at_the_door?),
    ];
    Some(lock(ctx, tier.place(), claim, evidence))
}

/// Finds requests that each have a process of one thread, while fewer are worked on at a time than there are. No pool within
/// a process can hold them back: they wait for something that the processes share.
pub(crate) fn among_processes(
    ctx: &RuleContext<'_>,
    queue: &Queue,
    at_once: Concurrency,
) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = ctx.obs.flow.tiers.get(*tier)?;
    let (workers, under_way) = (tier.node.pids.len() as f64, queue.inside?);
    let threads = threads_of(ctx, tier)?;
    let each_has_one =
        workers >= (1.0 - bounds::SAME_SIZE) * under_way && threads < (1.0 + bounds::SAME_SIZE) * workers;
    let count = at_once.count.value;
    let some_wait = queue.waits_inside(count) == Some(true) && under_way > (1.0 + bounds::SAME_SIZE) * count;
    if !each_has_one || !some_wait {
        return None;
    }
    let evidence = vec![
        ctx.row(Observation::AtOnce, count, None),
        ctx.row(Observation::ProcessesOf(tier.place()), workers, Some(under_way)),
    ];
    let claim = Claim::ProcessEach { workers: tier.node.pids.len(), law: at_once.law() };
    Some(lock(ctx, tier.place(), claim, evidence))
}
