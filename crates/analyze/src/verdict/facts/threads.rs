//! The threads that do the work: threads at their limit, threads with the same work, threads that wait for each other.

use plimsoll_record::metric::{process, waiting};
use plimsoll_record::{Source, Subject};

use super::concurrency::Concurrency;
use super::cpu::{self, ThreadTime};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::topology::flow::Tier;
use crate::hosts::track::{Span, Track};
use crate::hosts::usage::collecting::is_collector;
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::utilisation::{BUSY, TIE};
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;

/// If almost all work is done by turns, at most this many requests are worked on at a time.
pub(crate) const MAX_TURNS: f64 = 1.5;

/// The busiest thread at its limit among those of one process name.
pub(crate) struct HotThread<'s> {
    pub(crate) thread: &'s Resource,
    pub(crate) time: ThreadTime,
    /// The name of its process, which may differ from the thread's; empty where it is unknown.
    pub(crate) process: String,
    /// How many threads of that process name are at their limit.
    pub(crate) alike: usize,
}

/// The busiest thread of each process name that has one at its limit. Workers of one name count as one server.
pub(crate) fn hot<'s>(ctx: &'s RuleContext<'_>) -> Vec<HotThread<'s>> {
    let time = |thread: &'s Resource| ThreadTime::new(ctx, thread).filter(|time| is_hot(ctx, thread, *time));
    let mut all: Vec<(&Resource, ThreadTime, String)> = ctx
        .of_kind(ResourceKind::Thread)
        .filter_map(|thread| Some((thread, time(thread)?, name_of_process(ctx, thread))))
        .collect();
    all.sort_by(|a, b| b.1.used.total_cmp(&a.1.used));
    let mut hot: Vec<HotThread<'s>> = Vec::new();
    for (thread, time, process) in &all {
        let is_same = |host: &str, name: &str| host == thread.host && name == process;
        let alike = all.iter().filter(|(other, _, name)| is_same(&other.host, name)).count();
        let known = hot.iter().any(|known| {
            is_same(&known.thread.host, &known.process)
                && (!process.is_empty() || known.thread.part == thread.part)
        });
        if !known {
            hot.push(HotThread { thread, time: *time, process: process.clone(), alike });
        }
    }
    hot
}

/// False for a collector's thread, which is a matter of memory. If all of the host's CPU is used about as much, or all cores that the
/// thread may run on, these are the limit; if a thread gets less than half of the CPU that it needs, the limit is what keeps it from it.
fn is_hot(ctx: &RuleContext<'_>, thread: &Resource, time: ThreadTime) -> bool {
    let is_busier = |cpu: &Resource| ctx.share(cpu).is_some_and(|whole| time.used > (1.0 + TIE) * whole);
    let has_room = ctx
        .cpu(&thread.host)
        .is_none_or(|cpu| !cpu::is_busy(ctx, cpu) || cpu::is_no_limit(ctx, cpu) || is_busier(cpu));
    let allowed = ctx.of_kind(ResourceKind::AllowedCores).filter(|cores| cores.host == thread.host);
    let mut allowed = allowed.filter(|cores| cpu::is_held_to(ctx, thread.subject(), cores));
    let has_room = has_room && allowed.all(|cores| !cpu::are_cores_short(ctx, cores) || is_busier(cores));
    time.is_at_end() && time.kept() < bounds::KEPT && has_room && !is_collector(thread.name())
}

fn name_of_process(ctx: &RuleContext<'_>, thread: &Resource) -> String {
    let pid = thread.subject().and_then(Subject::pid);
    let mut processes = ctx.obs.hosts.of(&thread.host, Source::Process);
    let owner = processes.find(|(subject, _)| pid.is_some() && subject.pid() == pid);
    owner.map_or_else(|| thread.name(), |(subject, _)| subject.name()).to_owned()
}

/// The other threads of its process with its name, and so with the same work.
pub(crate) fn alike<'s>(
    ctx: &'s RuleContext<'_>,
    thread: &'s Resource,
) -> impl Iterator<Item = &'s Track<'s>> {
    let pid = thread.subject().and_then(Subject::pid);
    let all = ctx.obs.hosts.of(&thread.host, Source::Thread).filter(move |_| pid.is_some());
    let others = all.filter(move |(subject, _)| Some(*subject) != thread.subject() && subject.pid() == pid);
    others.filter(|(subject, _)| role(subject.name()) == role(thread.name())).map(|(_, track)| track)
}

/// The name of a thread without its number.
fn role(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || "-#_ ".contains(last))
}

/// Cores used by the other threads of its process with its name.
pub(crate) fn used_by_alike(ctx: &RuleContext<'_>, thread: &Resource) -> f64 {
    alike(ctx, thread).filter_map(|other| cpu_of(other, ctx.span())).sum()
}

/// True for more than one core, so that two threads do run at once at times, and clearly less than two.
pub(crate) fn is_by_turns(cores: f64) -> bool {
    (1.0 + TIE..MAX_TURNS).contains(&cores)
}

/// The mean number of threads of a process that waited for another thread.
pub(crate) fn waiting_for_others(ctx: &RuleContext<'_>, host: &str, subject: Subject<'_>) -> Option<f64> {
    let track = ctx.obs.hosts.track(host, Source::Waiting, subject)?;
    let samples = track.per_sec(waiting::LOOKS, ctx.span()).filter(|samples| *samples > 0.0)?;
    Some(track.per_sec(waiting::FUTEX, ctx.span())? / samples)
}

/// The process with the most threads waiting for a disk, and their mean number. Threads that did so before there was load wait for
/// something other than requests, and so do those of a process that serves none; neither count.
pub(crate) fn waiting_for_disk(ctx: &RuleContext<'_>, host: &str) -> Option<(String, f64)> {
    let mean = |track: &Track<'_>, span: Span| {
        let samples = track.per_sec(waiting::LOOKS, span).filter(|samples| *samples > 0.0)?;
        Some(track.per_sec(waiting::DISK, span)? / samples)
    };
    let of_requests = |(subject, track): (Subject<'_>, &Track<'_>)| {
        let at_rest = ctx.obs.hosts.rest(track).and_then(|rest| mean(track, rest)).unwrap_or(0.0);
        Some((subject.name().to_owned(), (mean(track, ctx.span())? - at_rest).max(0.0)))
    };
    let all = ctx.obs.hosts.of(host, Source::Waiting);
    let serving = all.filter(|(subject, _)| ctx.obs.serves(host, *subject));
    serving.filter_map(of_requests).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// True if threads of a host's processes waited for a disk.
pub(crate) fn is_disk_waited_for(ctx: &RuleContext<'_>, host: &str) -> bool {
    waiting_for_disk(ctx, host).is_some_and(|(_, threads)| threads >= bounds::DISK_WAITING)
}

/// A server whose requests are on a CPU, or ready for one, for about all of the time that they take.
pub(crate) struct Computing<'s> {
    pub(crate) host: &'s str,
    /// The name of its processes.
    pub(crate) process: &'s str,
    /// Cores that they used.
    pub(crate) cores: f64,
    /// The mean number of their threads that were ready and had no CPU.
    pub(crate) ready: f64,
    /// Threads that take part.
    pub(crate) threads: usize,
}

impl Computing<'_> {
    /// True if it has about as many threads as there are requests: these are its workers. With more threads, something lets only so
    /// many run.
    pub(crate) fn are_workers(&self, at_once: Concurrency) -> bool {
        (self.threads as f64) < at_once.count.value * (1.0 + bounds::SAME_SIZE) + 0.5
    }
}

/// The processes of one name that compute for nine tenths or more of the X·S₀ seconds per second that requests take.
pub(crate) fn computing<'s>(ctx: &RuleContext<'s>, at_once: Concurrency) -> Option<Computing<'s>> {
    let least = BUSY * at_once.count.value.max(1.0);
    let all = ctx
        .hosts()
        .into_iter()
        .flat_map(|host| ctx.processes(host).into_iter().map(move |(name, cores)| (host, name, cores)));
    let (host, process, cores) = all.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let named =
        || ctx.obs.hosts.of(host, Source::Process).filter(move |(subject, _)| subject.name() == process);
    let ready: f64 = named().filter_map(|(_, track)| cpu::ready(ctx, track)).sum();
    let follows = |track: &Track<'_>| ctx.follows_load(track).or_else(|| ctx.sleeps(track)) == Some(true);
    // If the threads wait more than they run, the limit is what keeps them from the CPU.
    let is_most = cores + ready >= least && ready < bounds::KEPT * (cores + ready);
    let threads = sharing(ctx, host, process);
    (is_most && named().all(|(_, track)| follows(track))).then_some(Computing {
        host,
        process,
        cores,
        ready,
        threads,
    })
}

/// Threads of processes of one name that take part in the work.
fn sharing(ctx: &RuleContext<'_>, host: &str, name: &str) -> usize {
    let of_name = |pid: Option<u32>| {
        let mut all = ctx.obs.hosts.of(host, Source::Process);
        pid.is_some() && all.any(|(subject, _)| subject.pid() == pid && subject.name() == name)
    };
    let takes_part =
        |track: &Track<'_>| cpu_of(track, ctx.span()).is_some_and(|used| used >= bounds::TAKES_PART);
    let threads = ctx.obs.hosts.of(host, Source::Thread).filter(|(subject, _)| of_name(subject.pid()));
    let threads = threads.filter(|(_, track)| takes_part(track)).count();
    let processes = ctx.obs.hosts.of(host, Source::Process).filter(|(subject, _)| subject.name() == name);
    threads.max(processes.filter(|(_, track)| takes_part(track)).count())
}

/// Threads of all processes of a tier, by the last sample; `None` where none were observed.
pub(crate) fn threads_of(ctx: &RuleContext<'_>, tier: &Tier) -> Option<f64> {
    let processes = of_tier(ctx, tier, Source::Process);
    processes.filter_map(|(_, track)| track.last(process::THREADS)).reduce(|a, b| a + b)
}

/// The number of threads of a tier that ran during the whole run, however short each lived; `None` where none were observed.
pub(crate) fn ever_ran(ctx: &RuleContext<'_>, tier: &Tier) -> Option<f64> {
    let threads: Vec<Option<u32>> =
        of_tier(ctx, tier, Source::Thread).map(|(subject, _)| subject.pid()).collect();
    let alone = of_tier(ctx, tier, Source::Process).filter(|(subject, _)| !threads.contains(&subject.pid()));
    (!threads.is_empty()).then(|| (threads.len() + alone.count()) as f64)
}

fn of_tier<'a>(
    ctx: &RuleContext<'a>,
    tier: &'a Tier,
    source: Source,
) -> impl Iterator<Item = (Subject<'a>, &'a Track<'a>)> {
    let ours = |subject: &Subject<'_>| subject.pid().is_some_and(|pid| tier.node.pids.contains(&pid));
    ctx.obs.hosts.of(&tier.node.host, source).filter(move |(subject, _)| ours(subject))
}
