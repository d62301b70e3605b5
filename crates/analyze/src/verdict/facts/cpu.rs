//! Which processes have the CPU, and which wait for it.

use plimsoll_record::metric::{core, cpu, process};
use plimsoll_record::{Source, Subject};

use crate::findings::Part;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::track::Track;
use crate::hosts::tracks::GENERATOR;
use crate::hosts::usage::compute::{cores_of_process, cpu_of};
use crate::hosts::utilisation::{BUSY, FREE, TIE};
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::concurrency;

/// True for a resource that is busy on average, or nearly so where more of it was needed: throttled in most periods, or with threads
/// ready for all that is left, which others on the machine used, as a load generator may.
pub(crate) fn is_busy(ctx: &RuleContext<'_>, resource: &Resource) -> bool {
    let is_needed = || ctx.is_throttled(resource) || is_all_needed(ctx, resource);
    ctx.share(resource).is_some_and(|share| share >= BUSY || (share >= bounds::BUSY_NEEDED && is_needed()))
}

/// True if the target's processes used a host's cores or were ready for them nearly all of the time, with no control group out
/// of quota. This holds only for a host measured by its own control group, which does not count what others on the machine
/// used. A whole machine counts everything, and tasks wait for a moment in any run queue.
fn is_all_needed(ctx: &RuleContext<'_>, cpu: &Resource) -> bool {
    let needed = || of_target(ctx, &cpu.host).map(|(waited, used)| waited + used);
    let is_machine = ctx.obs.hosts.track(&cpu.host, Source::Cpu, Subject::Host).is_some();
    cpu.kind == ResourceKind::Cpu
        && !is_machine
        && !is_held_up(ctx, &cpu.host)
        && needed().zip(cpu.capacity).is_some_and(|(needed, capacity)| needed >= (1.0 - TIE) * capacity)
}

/// The threads of the target on a host that have a whole core each.
pub(crate) fn with_whole_cores<'s>(
    ctx: &'s RuleContext<'_>,
    host: &'s str,
) -> impl Iterator<Item = &'s Resource> {
    let threads = ctx.of_kind(ResourceKind::Thread).filter(move |thread| thread.host == host);
    threads.filter(move |thread| ctx.share(thread).is_some_and(|share| share >= BUSY))
}

/// How many of these threads belong to processes that may run on exactly these cores.
pub(crate) fn with_whole_ones_of(ctx: &RuleContext<'_>, cores: &Resource) -> usize {
    let is_held = |thread: &&Resource| is_held_to(ctx, thread.subject(), cores);
    with_whole_cores(ctx, &cores.host).filter(is_held).count()
}

/// True if a process, or the process of a thread, may run on exactly these cores of its host.
pub(crate) fn is_held_to(ctx: &RuleContext<'_>, subject: Option<Subject<'_>>, cores: &Resource) -> bool {
    let pid = subject.and_then(Subject::pid);
    let allowed = pid.and_then(|pid| cores_of_process(ctx.obs.hosts, &cores.host, pid));
    allowed.is_some_and(|allowed| cores.part == Part::Cores(allowed))
}

/// True if the cores that processes may run on are busy and those of the whole host are not. One busy thread needs no second core,
/// nor do a few that leave some of the allowed cores to others; as many as there are cores, two or more, need others.
pub(crate) fn are_cores_short(ctx: &RuleContext<'_>, cores: &Resource) -> bool {
    let is_busy = ctx.share(cores).is_some_and(|share| share >= BUSY);
    let is_host_free = ctx.cpu_share(&cores.host).is_some_and(|share| share < BUSY);
    let whole = with_whole_ones_of(ctx, cores);
    let has_each_one = whole > 1 && cores.capacity.is_some_and(|capacity| whole as f64 >= capacity);
    is_busy && is_host_free && (whole == 0 || has_each_one)
}

/// True if others than the target fill a host's CPU, which would be free without them.
pub(crate) fn is_filled_by_others(ctx: &RuleContext<'_>, cpu: &Resource) -> bool {
    let others = cpu.used_by_others(ctx.load);
    ctx.share(cpu).zip(others).is_some_and(|(share, others)| share >= BUSY && share - others < FREE)
}

/// The share of a host's CPU that a load generator on the same machine used; `None` below 5 %.
pub(crate) fn by_generator(ctx: &RuleContext<'_>, cpu: &Resource) -> Option<f64> {
    let step = ctx.step().filter(|_| ctx.obs.hosts.are_one_machine(&cpu.host, GENERATOR))?;
    Some(step.generator_cores()? / cpu.capacity?).filter(|share| *share >= TIE)
}

/// True if the target waits for this CPU: its processes did not get a quarter of what they needed, and that wait is a quarter of
/// the time of its requests, or their need fills the host or a thread. `None` where waits were not observed.
pub(crate) fn is_held_back(ctx: &RuleContext<'_>, cpu: &Resource) -> Option<bool> {
    let (waited, used) = of_target(ctx, &cpu.host)?;
    let needed = waited + used;
    let of_requests = || concurrency(ctx).is_some_and(|found| waited >= bounds::FELT * found.count.value);
    let of_host = || cpu.capacity.is_some_and(|capacity| needed >= FREE * capacity);
    let of_thread = || is_thread_at_end(ctx, &cpu.host);
    Some(waited > 0.0 && waited >= bounds::FELT * needed && (of_requests() || of_host() || of_thread()))
}

/// True if a thread of the target on a host is on a CPU, or ready for one, nearly all of the time.
pub(crate) fn is_thread_at_end(ctx: &RuleContext<'_>, host: &str) -> bool {
    let mut threads = ctx.of_kind(ResourceKind::Thread).filter(|thread| thread.host == host);
    threads.any(|thread| ThreadTime::new(ctx, thread).is_some_and(ThreadTime::is_at_end))
}

/// True for a CPU that others fill and that the target does not wait for: whatever its use, it is no limit.
pub(crate) fn is_no_limit(ctx: &RuleContext<'_>, cpu: &Resource) -> bool {
    is_filled_by_others(ctx, cpu) && is_held_back(ctx, cpu) == Some(false)
}

/// The cores that the serving processes of a host waited for on average, and the cores that they used.
fn of_target(ctx: &RuleContext<'_>, host: &str) -> Option<(f64, f64)> {
    let processes = ctx.obs.hosts.of(host, Source::Process);
    let serving = processes.filter(|(subject, _)| ctx.obs.serves(host, *subject));
    let times = serving.filter_map(|(_, track)| Some((ready(ctx, track)?, cpu_of(track, ctx.span())?)));
    times.reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

/// The mean number of threads of a process that were ready and on no CPU; for a thread, the share of the time that it was.
pub(crate) fn ready(ctx: &RuleContext<'_>, track: &Track<'_>) -> Option<f64> {
    track.per_sec(track.own(process::RUN_WAIT_US)?, ctx.span()).map(|us| us / 1e6)
}

/// The share of the CPU time needed by the target's processes on a host that they did not get.
pub(crate) fn kept(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let (waited, used) = of_target(ctx, host)?;
    Some(waited / (waited + used).max(f64::MIN_POSITIVE))
}

/// The share of a host's CPU time that other guests of its machine took.
pub(crate) fn stolen(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let total_ms = ctx.rate(host, cpu::TOTAL_MS).filter(|total_ms| *total_ms > 0.0)?;
    Some(ctx.rate(host, cpu::STEAL_MS)? / total_ms)
}

/// The share of the time with something to run on a host's CPUs that other guests of its machine took.
fn stolen_of_busy(ctx: &RuleContext<'_>, host: &str) -> Option<f64> {
    let rate = |metric| ctx.rate(host, metric);
    let busy = rate(cpu::TOTAL_MS)? - rate(cpu::IDLE_MS)? - rate(cpu::IOWAIT_MS).unwrap_or(0.0);
    Some((rate(cpu::STEAL_MS)? / busy.max(f64::MIN_POSITIVE)).clamp(0.0, BUSY))
}

/// The share of a core's time spent on packets.
pub(crate) fn packets_of_core(ctx: &RuleContext<'_>, core: &Resource) -> Option<f64> {
    let track = ctx.obs.hosts.track(&core.host, Source::Core, core.subject()?)?;
    let rate = |name| track.per_sec(name, ctx.span());
    let total_ms = rate(core::TOTAL_MS).filter(|total_ms| *total_ms > 0.0)?;
    Some((rate(core::SOFTIRQ_MS)? + rate(core::IRQ_MS).unwrap_or(0.0)) / total_ms)
}

/// True if a control group of a host was out of quota in most of its periods, or used all of its quota.
pub(crate) fn is_held_up(ctx: &RuleContext<'_>, host: &str) -> bool {
    let is_full_quota = |group: &Resource| group.kind == ResourceKind::Quota && is_busy(ctx, group);
    let mut groups = ctx.of_target().filter(|resource| {
        resource.host == host && matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota)
    });
    groups.any(|group| ctx.is_throttled(group) || is_full_quota(group))
}

/// The time that a thread had of a core, and the time that it needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ThreadTime {
    /// The share of the time that it was on a CPU.
    pub(crate) used: f64,
    /// The share that it was ready and on no CPU: others ran, its group was out of quota, or other guests took its CPU.
    pub(crate) waited: f64,
}

impl ThreadTime {
    /// The time of a thread in the deciding step; `None` where it was not observed.
    pub(crate) fn new(ctx: &RuleContext<'_>, thread: &Resource) -> Option<Self> {
        let used = ctx.share(thread)?;
        let track = |source| ctx.obs.hosts.track(&thread.host, source, thread.subject()?);
        let track = track(Source::Thread).or_else(|| track(Source::Process));
        let ready = track.and_then(|track| ready(ctx, track)).unwrap_or(0.0);
        // Other guests take their share from all of the time that a CPU runs something.
        let taken = stolen_of_busy(ctx, &thread.host).map_or(0.0, |part| used * part / (1.0 - part));
        Some(Self { used, waited: (ready + taken).min((1.0 - used).max(0.0)) })
    }

    /// The share of a core that it needed.
    pub(crate) fn needed(self) -> f64 {
        self.used + self.waited
    }

    /// The share of what it needed that it did not get.
    pub(crate) fn kept(self) -> f64 {
        self.waited / self.needed().max(f64::MIN_POSITIVE)
    }

    /// True if it was on a CPU or ready for one nearly all of the time.
    pub(crate) fn is_at_end(self) -> bool {
        self.needed() >= BUSY
    }

    /// True if it was on a CPU nearly all of the time.
    pub(crate) fn is_on_cpu(self) -> bool {
        self.used >= BUSY
    }
}
