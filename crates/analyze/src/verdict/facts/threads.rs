//! The threads that do the work: those at their end, those alike, those that wait for each other.

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

/// Work that is done by turns but for a small part has at most this many requests under way.
pub(crate) const MAX_TURNS: f64 = 1.5;

/// The busiest thread at its end of one process name.
pub(crate) struct HotThread<'s> {
    pub(crate) thread: &'s Resource,
    pub(crate) time: ThreadTime,
    /// The name of its process, which a thread may not carry itself; empty where it is not known.
    pub(crate) process: String,
    /// How many threads of that name are at their end.
    pub(crate) alike: usize,
}

/// The busiest thread of each process that has one at its end. Workers of one name are one server.
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

/// A collector's thread is memory's matter. Where all of the host's CPU is used about as much, or all of the cores that it may run
/// on, that is the limit; and where a thread gets less than half of what it wants, what keeps it from the CPU is.
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

/// The other threads of its process that have its name, and so the same work.
pub(crate) fn alike<'s>(
    ctx: &'s RuleContext<'_>,
    thread: &'s Resource,
) -> impl Iterator<Item = &'s Track<'s>> {
    let pid = thread.subject().and_then(Subject::pid);
    let all = ctx.obs.hosts.of(&thread.host, Source::Thread).filter(move |_| pid.is_some());
    let others = all.filter(move |(subject, _)| Some(*subject) != thread.subject() && subject.pid() == pid);
    others.filter(|(subject, _)| role(subject.name()) == role(thread.name())).map(|(_, track)| track)
}

/// What a thread is called, without the number that tells it from others of its kind.
fn role(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || "-#_ ".contains(last))
}

/// Cores that the other threads of its process and name used.
pub(crate) fn used_by_alike(ctx: &RuleContext<'_>, thread: &Resource) -> f64 {
    alike(ctx, thread).filter_map(|other| cpu_of(other, ctx.span())).sum()
}

/// More than one core, so that two threads do run at once at times, and clearly less than two.
pub(crate) fn is_by_turns(cores: f64) -> bool {
    (1.0 + TIE..MAX_TURNS).contains(&cores)
}

/// Threads of a process that waited for another thread at any moment, the mean.
pub(crate) fn waiting_for_others(ctx: &RuleContext<'_>, host: &str, subject: Subject<'_>) -> Option<f64> {
    let track = ctx.obs.hosts.track(host, Source::Waiting, subject)?;
    let samples = track.per_sec(waiting::LOOKS, ctx.span()).filter(|samples| *samples > 0.0)?;
    Some(track.per_sec(waiting::FUTEX, ctx.span())? / samples)
}

/// Threads of a process that waited for a disk at any moment, the mean, for the process with the most of them. Those that did so
/// before there was load wait for something else than requests; so do those of a process that serves none.
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

/// Whether a thread of a host's processes waited for a disk.
pub(crate) fn is_disk_waited_for(ctx: &RuleContext<'_>, host: &str) -> bool {
    waiting_for_disk(ctx, host).is_some_and(|(_, threads)| threads >= bounds::DISK_WAITING)
}

/// A server whose requests are on a CPU, or ready for one, for about all of the time that they take.
pub(crate) struct Computing<'s> {
    pub(crate) host: &'s str,
    /// The name of its processes.
    pub(crate) process: &'s str,
    /// Cores that these used.
    pub(crate) cores: f64,
    /// Cores that they were ready for.
    pub(crate) ready: f64,
    /// Threads that take part.
    pub(crate) threads: usize,
}

impl Computing<'_> {
    /// As many threads as requests are its workers. With more of them something lets only so many run.
    pub(crate) fn are_workers(&self, at_once: Concurrency) -> bool {
        (self.threads as f64) < at_once.count.value * (1.0 + bounds::SAME_SIZE) + 0.5
    }
}

/// The processes of one name that compute for nine tenths or more of the X·S₀ seconds a second that requests take.
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
    // More than one thread can have is the host's CPU's matter, and waiting more than running that of what keeps it.
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

/// The threads of a tier that ran in the whole run, each counted however short it lived; `None` where none were observed.
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
