//! Makes one verdict of the candidates of all rules.
//!
//! Rules are asked in stages, and the first stage with an answer gives the verdict:
//!
//! | stage | asks | plateau | failing | one level | row of a table |
//! | --- | --- | --- | --- | --- | --- |
//! | used up | other processes, cpu, thread, quota, memory, link, disk cap, pools of a row | first | second | first | first |
//! | turned away | refusals, connections, closed connections | second | first | second | – |
//! | waiting | memory, disk, lock, thread, accepted connections, dependency, pool | third | – | – | – |
//! | other rows | tiers alone, other figures, more load, held requests | – | – | – | second |
//!
//! Within the stage "used up" one candidate displaces another that shows the same thing less exactly ([`displaces`]). Of
//! the rest, the best founded and then the fullest is the verdict; those that limit at about the same throughput are
//! alternatives. Where failures ended the load, a resource observed to be used up comes before an accept queue, which is full
//! because of it. On a plateau, two things come before a used-up resource: any other limit, if the resource is used at any load
//! ([`Basis::Polled`]), and observed refusals, if it is not known to be used by requests.

use super::bounds;
use super::candidate::{Basis, Candidate, Explains, once_each};
use super::context::RuleContext;
use super::facts::concurrency::{Concurrency, concurrency};
use super::facts::queue::{self, Queue};
use super::facts::rows::Alone;
use super::facts::spent::{Named, runs_code};
use super::facts::threads::{self, MAX_TURNS};
use super::next::{self as next_limit, next};
use super::rules::{
    closed, connections, cpu, dependency, disk, figures, link, lock, memory, other_processes, pool, quota,
    refused, rows, thread,
};
use crate::findings::{Advice, Claim, Confidence, Estimate, Limit, Verdict};
use crate::hosts::demand::Law;
use crate::hosts::resource::Resource;
use crate::hosts::utilisation::{BUSY, FREE, FULL, TIE};

/// How the load of a run or a row reached its deciding step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadOutcome {
    /// A ladder that reached its plateau.
    Plateau,
    /// A ladder that failures ended.
    Failing,
    /// One level only, so that it is not known whether more load would give more.
    OneLevel,
    /// A row of a table: one load, next to rows of other loads and arrangements.
    Row,
}

/// The candidate that was decided on, and those that could not be distinguished from it.
pub(super) struct Decided {
    pub(super) main: Candidate,
    pub(super) also: Vec<Candidate>,
}

/// The limit that the hosts show, or `None` if they show none.
pub(super) fn limit(ctx: &RuleContext<'_>, outcome: LoadOutcome) -> Option<Verdict> {
    found(ctx, outcome).map(|found| by_one_load(found, outcome))
}

/// As [`limit`], with the confidence that the verdict would have if throughput were known to have stopped growing.
pub(super) fn found(ctx: &RuleContext<'_>, outcome: LoadOutcome) -> Option<Verdict> {
    if !ctx.is_long_enough() {
        return None;
    }
    let found = match outcome {
        LoadOutcome::Plateau => on_plateau(ctx),
        LoadOutcome::Failing => failing(ctx),
        LoadOutcome::OneLevel => used_up(ctx).or_else(|| turned_away(ctx)),
        LoadOutcome::Row => used_up(ctx).or_else(|| among_rows(ctx)),
    }?;
    Some(found.verdict(ctx))
}

/// Lowers the confidence of a verdict from a single load, which does not show whether more load would give more.
pub(super) fn by_one_load(mut verdict: Verdict, outcome: LoadOutcome) -> Verdict {
    if matches!(outcome, LoadOutcome::OneLevel | LoadOutcome::Row) {
        verdict.confidence = Confidence::Inferred;
    }
    if outcome == LoadOutcome::OneLevel {
        verdict.advice.push(Advice::Sweep);
    }
    verdict
}

/// What other rows of a table show about a row. If tiers carry together what they carry alone, the reason is a pool where a row
/// with another hold time shows its size.
fn among_rows(ctx: &RuleContext<'_>) -> Option<Decided> {
    let row = ctx.row_of_table()?;
    let found = match Alone::new(row) {
        Some(alone) if ctx.throughput() < (1.0 - TIE) * alone.together_per_sec => {
            Some(rows::front(ctx, row, alone))
        }
        Some(alone) => {
            let pool = rows::pool(ctx, row, alone.tiers.clone(), true);
            let all = rows::all_of_alone(ctx, alone);
            Some(match pool {
                Some(pool) => Candidate { evidence: [all.evidence, pool.evidence].concat(), ..pool },
                None => all,
            })
        }
        None => {
            let first = row.present().map(|tier| tier.name.clone()).take(1).collect();
            figures::others(ctx, row)
                .or_else(|| rows::not_pushed(ctx, row))
                .or_else(|| rows::pool(ctx, row, first, false))
                .or_else(|| rows::held_queue(ctx, row))
                .or_else(|| rows::followed_by_throughput(ctx, row))
        }
    };
    found.map(Decided::alone)
}

fn on_plateau(ctx: &RuleContext<'_>) -> Option<Decided> {
    let Some(full) = used_up(ctx) else { return behind(ctx) };
    match full.main.basis {
        // Being full shows nothing here: it is only an alternative to what else is found.
        Basis::Polled => Some(match behind(ctx) {
            Some(found) => found.or_else_perhaps(full),
            None => full,
        }),
        // Throughput stays level under refusals, even if these take all the time of a thread.
        Basis::Inferred => {
            let refused = refused::candidate(ctx).filter(Candidate::is_observed).map(Decided::alone);
            refused.or_else(|| Some(with_pool(ctx, full)))
        }
        Basis::Observed => Some(with_pool(ctx, full)),
    }
}

/// Finds the limit on a plateau where nothing is used up. Refusals that begin only beyond the plateau did not end growth, so an
/// observed wait comes before them. An inferred wait does not: a limiter that delays before it refuses also keeps
/// throughput level.
fn behind(ctx: &RuleContext<'_>) -> Option<Decided> {
    let Some(turned) = turned_away(ctx) else { return waiting(ctx) };
    let waited_for = || waiting(ctx).filter(|found| found.main.is_observed());
    Some(match turned.is_refused_beyond_a_plateau().then(waited_for).flatten() {
        Some(mut found) => {
            found.also.push(turned.main);
            found
        }
        None => turned,
    })
}

/// A server that has no CPU left accepts late: a resource observed to be used up comes before the accept queue that it fills.
fn failing(ctx: &RuleContext<'_>) -> Option<Decided> {
    let Some(turned) = turned_away(ctx) else { return used_up(ctx) };
    let is_queue = matches!(turned.main.claim, Some(Claim::AcceptQueue { .. }));
    let full = if is_queue { used_up(ctx).filter(|full| full.main.is_observed()) } else { None };
    Some(match full {
        Some(full) => full.or_else_perhaps(turned),
        None => turned,
    })
}

impl Decided {
    fn alone(mut main: Candidate) -> Self {
        let also = std::mem::take(&mut main.alternatives);
        Self { main, also }
    }

    /// True for refusals if as much was served before they began: a pool is then their alternative.
    fn is_refused_beyond_a_plateau(&self) -> bool {
        self.main.limit == Limit::Refused && self.also.iter().any(|one| one.limit == Limit::Pool)
    }

    /// Adds another decision as alternatives to this one.
    fn or_else_perhaps(mut self, other: Self) -> Self {
        self.also.push(other.main);
        self.also.extend(other.also);
        self
    }

    /// The limits that are named, with their hosts.
    fn named(&self) -> Vec<Named<'_>> {
        std::iter::once(&self.main).chain(&self.also).map(|one| (one.limit, one.host())).collect()
    }

    fn verdict(self, ctx: &RuleContext<'_>) -> Verdict {
        let named = self.named();
        let (next_limit, busiest_other) = (next(ctx, &named), ctx.busiest_but(&named));
        let excluded = ctx.excluded(&named);
        let is_measured = self.main.is_observed() && self.also.is_empty();
        let also = self.also.iter().map(|candidate| candidate.suspect(ctx)).collect();
        let mut evidence = self.main.evidence;
        evidence.extend(self.also.into_iter().flat_map(|candidate| candidate.evidence));
        evidence.extend(ctx.generator_row());
        let confidence = if is_measured { Confidence::Measured } else { Confidence::Inferred };
        Verdict {
            size: self.main.size,
            claim: self.main.claim,
            busiest_other,
            evidence,
            also,
            next_limit,
            excluded,
            advice: self.main.advice,
            ..Verdict::new(self.main.limit, self.main.place, confidence)
        }
    }
}

/// True if `better` explains another candidate of the same host. Other processes explain the CPU that they use. Paging explains all
/// use of its host. Garbage collection explains the use of its own process, and that of a CPU of which it has a third.
fn displaces(better: &Candidate, other: &Candidate) -> bool {
    let explains = match (better.explains, other.limit) {
        (Explains::Host, limit) => runs_code(limit) || limit == Limit::Lock,
        (Explains::Process { .. }, Limit::Thread | Limit::Lock) => better.place == other.place,
        (Explains::Process { cores }, Limit::Cpu | Limit::Quota) => {
            let share = |cores: f64| other.cores().map(|used| cores / used.max(f64::MIN_POSITIVE));
            cores.is_none_or(|cores| share(cores).is_some_and(|share| share >= bounds::COLLECTING))
        }
        (Explains::Process { .. }, _) => false,
        (Explains::Nothing, Limit::Cpu) => better.place.is_other() && !other.place.is_other(),
        (Explains::Nothing, _) => false,
    };
    explains && better.host() == other.host()
}

/// Finds what is used up.
fn used_up(ctx: &RuleContext<'_>) -> Option<Decided> {
    let mut all = other_processes::candidates(ctx);
    all.extend(cpu::candidates(ctx));
    all.extend(hot_threads(ctx));
    all.extend(quota::candidates(ctx));
    all.extend(figures::pools(ctx));
    // Memory counts here only if it explains a use of the CPU. Otherwise it is an alternative, or left to `waiting`.
    let mut memory = memory::candidates(ctx);
    memory.retain(|memory| all.iter().any(|busy| displaces(memory, busy)));
    all.extend(memory);
    all.extend(link::candidates(ctx));
    all.extend(disk::caps(ctx));
    let is_explained: Vec<bool> =
        all.iter().map(|one| all.iter().any(|better| displaces(better, one))).collect();
    let left = all.into_iter().zip(is_explained).filter(|(_, explained)| !explained);
    let mut ranked = once_each(left.map(|(candidate, _)| candidate).collect()).into_iter();
    let mut main = ranked.next()?;
    let mut also: Vec<Candidate> = ranked.filter(|other| is_rival(ctx, &main, other)).collect();
    also.append(&mut main.alternatives);
    let ties = ties(ctx, &main, &also);
    also.extend(ties);
    also.extend(memory::next_to_cpu(ctx, main.host()).filter(|_| runs_code(main.limit)));
    Some(Decided { main, also })
}

/// Resources that are not busy yet but will be used up at about the throughput at which the verdict limits.
fn ties(ctx: &RuleContext<'_>, main: &Candidate, also: &[Candidate]) -> Vec<Candidate> {
    let met_at_per_sec = main.met_at_per_sec(ctx);
    let is_named = |resource: &Resource| {
        let is_same = |one: &Candidate| {
            let limit = resource.kind.limit();
            one.host() == resource.host && (one.limit == limit || runs_code(one.limit) && runs_code(limit))
        };
        std::iter::once(main).chain(also).any(is_same)
    };
    let is_tie = |resource: &&Resource| {
        let share = ctx.share(resource);
        let at =
            resource.demand.filter(|demand| demand.law == Law::Holds).and_then(|demand| demand.at_per_sec);
        share.is_some_and(|share| (FREE..BUSY).contains(&share))
            && at.is_some_and(|at| earliest(at) <= (1.0 + TIE) * met_at_per_sec)
            && !is_named(resource)
    };
    let near = if main.is_observed() { ctx.spent().filter(is_tie).collect() } else { Vec::new() };
    once_each(near.into_iter().map(|resource| next_limit::nearly(ctx, resource)).collect())
}

/// The lowest throughput in the interval of an estimate.
fn earliest(at: Estimate) -> f64 {
    at.interval.map_or(at.value, |(lower, _)| lower)
}

/// The threads at their limit. If threads take turns at a lock, the lock replaces the thread.
fn hot_threads(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let candidate = |hot: &threads::HotThread<'_>| {
        let thread = thread::candidate(ctx, hot);
        match lock::in_turn(ctx, hot) {
            Some(turns) => turns.in_place_of(thread),
            None => thread,
        }
    };
    threads::hot(ctx).iter().map(candidate).collect()
}

/// True for a candidate that limits at a throughput at most 5 % above that of the verdict, or is fuller. A resource that is used at
/// any load is no rival of one that the load fills: its use says nothing about throughput.
fn is_rival(ctx: &RuleContext<'_>, main: &Candidate, other: &Candidate) -> bool {
    let (a, b) = (main.met_at_per_sec(ctx), other.met_at_per_sec(ctx));
    let is_no_later = b - a <= TIE * a.max(b);
    let is_fuller = !other.is_observed() && other.share() > main.share();
    if other.is_observed() || other.at_per_sec.is_some() {
        is_no_later || is_fuller
    } else {
        !main.is_observed() && is_no_later
    }
}

/// Adds the pool if it is a rival. It is a rival of a resource that is nearly used up, since it may stop growth just before that. An
/// observed pool is also a rival of a resource that is fully used up, if requests wait on another host; on the same host they
/// wait for that resource. Workers that compute all the time are no pool next to their own threads.
fn with_pool(ctx: &RuleContext<'_>, mut full: Decided) -> Decided {
    let Some(at_once) = concurrency(ctx) else { return full };
    let computing = threads::computing(ctx, at_once);
    let is_threads = full.main.limit == Limit::Thread
        && computing.is_some_and(|found| computing_candidate(ctx, &found, at_once).place == full.main.place);
    let queue = queue::find(ctx, at_once.count.value);
    let pool = pool::candidate(ctx, &queue, at_once);
    let is_other_host = pool.host() != full.main.host();
    let is_rival = match pool.is_observed() {
        true => is_other_host || full.main.share() < FULL,
        false => is_other_host && has_room(ctx, &full.main),
    };
    if is_rival && !is_threads {
        full.also.push(pool);
    }
    full
}

/// True if it is not quite busy and by its own law would serve more than it did: something else may have stopped growth.
fn has_room(ctx: &RuleContext<'_>, full: &Candidate) -> bool {
    full.share() < BUSY && full.met_at_per_sec(ctx) > (1.0 + TIE) * ctx.throughput()
}

/// The candidate for threads that compute for all the time of their requests, or for the lock at which they take turns.
fn computing_candidate(
    ctx: &RuleContext<'_>,
    computing: &threads::Computing<'_>,
    at_once: Concurrency,
) -> Candidate {
    let thread = thread::computing(ctx, computing, at_once);
    match lock::of_computing(ctx, computing, at_once) {
        Some(turns) => turns.in_place_of(thread),
        None => thread,
    }
}

/// Finds what turned away connections or requests. The deepest place holds back those in front of it: a queue in front of a full
/// process is full for that reason.
fn turned_away(ctx: &RuleContext<'_>) -> Option<Decided> {
    let connections = || {
        let mut all = connections::candidates(ctx);
        all.sort_by_key(|candidate| !candidate.place.is_part());
        all.into_iter().next()
    };
    let found = refused::candidate(ctx).or_else(connections).or_else(|| closed::candidate(ctx));
    found.map(Decided::alone)
}

/// Finds what requests wait for where nothing is busy. In this order: an observed wait (memory, a disk), a core
/// that threads share, threads that compute all the time, a lock at which requests that were read take turns; then connections that
/// were not accepted, a dependency that is slower under load, and a pool where nothing else explains the wait.
fn waiting(ctx: &RuleContext<'_>) -> Option<Decided> {
    if !ctx.is_cpu_known() {
        return None;
    }
    let at_once = concurrency(ctx)?;
    let queue = queue::find(ctx, at_once.count.value);
    let mut found = match waited_for(ctx, &queue, at_once) {
        Some(found) => found,
        None => with_what_looks_alike(ctx, unexplained(ctx, &queue, at_once)),
    };
    found.also.extend(ctx.nearly_full().into_iter().map(|resource| next_limit::nearly(ctx, resource)));
    found.also.append(&mut found.main.alternatives);
    if ctx.is_a_cpu_unknown() {
        found.main.basis = found.main.basis.min(Basis::Inferred);
    }
    Some(found)
}

/// Finds what requests wait for, where that is observed.
fn waited_for(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Decided> {
    // Where throughput grew linearly beyond the load that turns allow, one core in use is chance.
    let may_be_one_core = !(at_once.straight == Some(true) && at_once.count.value > MAX_TURNS);
    let one_core = || first_of(lock::one_core(ctx)).filter(|_| may_be_one_core);
    let computing = || Some(computing_candidate(ctx, &threads::computing(ctx, at_once)?, at_once));
    let named = first_of(memory::waits(ctx))
        .or_else(|| first_of(disk::waits(ctx)))
        .or_else(one_core)
        .or_else(computing);
    if let Some(main) = named {
        return Some(Decided { main, also: Vec::new() });
    }
    let mut main = lock::by_turns(ctx, queue, at_once)?;
    let mut also = Vec::new();
    if at_once.flat {
        also.push(Candidate::named(Limit::Pool, main.place.clone()));
        also.push(Candidate::named(Limit::Bandwidth, ctx.target()));
        main.advice.push(Advice::BeginLower);
    }
    Some(Decided { main, also })
}

/// Finds a limit where no wait is observed: a bound of connections, something that processes share, a dependency, or a pool.
fn unexplained(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Decided {
    let pool = pool::candidate(ctx, queue, at_once);
    let bounded = connections::accepted(ctx, queue, at_once)
        .or_else(|| connections::allowed(ctx, queue, at_once))
        .or_else(|| lock::among_processes(ctx, queue, at_once).filter(|_| !pool.is_observed()));
    match bounded {
        // If it was not observed whether requests wait at the door, a pool behind it is as likely.
        Some(bounded) if queue.at_the_door.is_none() => return Decided { main: pool, also: vec![bounded] },
        Some(bounded) => return Decided { main: bounded, also: vec![pool] },
        None => {}
    }
    match dependency::candidate(ctx, queue, at_once.count.value) {
        Some((slower, true)) => Decided { main: slower, also: Vec::new() },
        Some((depends, false)) => Decided { main: pool, also: vec![depends] },
        None if pool.is_observed() => Decided { main: pool, also: Vec::new() },
        None => {
            let behind = match dependency::behind_a_bound(ctx, queue, at_once) {
                Some((depends, true)) => return Decided { main: depends, also: vec![pool] },
                idle => idle.map(|(depends, _)| depends),
            };
            if let Some(lock) = lock::of_some(ctx, queue, at_once) {
                return Decided { main: lock, also: vec![Candidate::named(Limit::Pool, pool.place)] };
            }
            let turns = Candidate::named(Limit::Lock, pool.place.clone());
            let turns = may_take_turns(at_once).then_some(turns);
            let shared = dependency::over_few_connections(ctx, queue, at_once.count.value);
            Decided { main: pool, also: turns.into_iter().chain(behind).chain(shared).collect() }
        }
    }
}

/// Adds a lock and a link to a pool of unknown size: where throughput was the same from the lowest load on, these look alike.
fn with_what_looks_alike(ctx: &RuleContext<'_>, mut found: Decided) -> Decided {
    if found.main.limit != Limit::Pool || found.main.size.is_some() {
        return found;
    }
    let alike = [(Limit::Lock, found.main.place.clone()), (Limit::Bandwidth, ctx.target())];
    for (limit, place) in alike {
        if found.also.iter().all(|known| known.limit != limit) {
            found.also.push(Candidate::named(limit, place));
        }
    }
    found
}

/// True if the limit may be a lock: a pool of one looks like a lock from outside, and where throughput bent before the plateau,
/// requests may have met at something at which they take turns.
fn may_take_turns(at_once: Concurrency) -> bool {
    at_once.count.value < MAX_TURNS || at_once.straight == Some(false)
}

fn first_of(candidates: Vec<Candidate>) -> Option<Candidate> {
    once_each(candidates).into_iter().next()
}

/// True if a resource that the load spends is busy.
pub(super) fn is_something_busy(ctx: &RuleContext<'_>) -> bool {
    used_up(ctx).is_some()
}

/// The verdict if nothing is left of the limiting resource, whatever a growing load still gained: no more is left than limits are
/// distinguished by, or only the last slice of a quota that was used up in most periods.
pub(super) fn nothing_left(ctx: &RuleContext<'_>) -> Option<Verdict> {
    let full = used_up(ctx);
    if full.as_ref().is_some_and(|full| !is_empty(ctx, &full.main)) {
        return None;
    }
    // If two resources are both used up, one of them is certainly the limit, though it is not known which.
    let sure = full.filter(|full| full.main.is_observed()).map(|full| full.main.limit);
    let is_sure = |found: &Verdict| found.confidence == Confidence::Measured || sure == Some(found.limit);
    limit(ctx, LoadOutcome::Plateau).filter(|found| found.limit.is_whatever_the_pace() && is_sure(found))
}

fn is_empty(ctx: &RuleContext<'_>, full: &Candidate) -> bool {
    let held_up = || {
        let groups = ctx.of_target().filter(|resource| resource.kind.limit() == full.limit);
        let mut ours = groups.filter(|resource| resource.host == full.host());
        ours.any(|group| ctx.is_throttled(group))
    };
    full.share() * (1.0 + TIE) >= 1.0 || held_up()
}
