//! From the candidates of all rules to one verdict.
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
//! Within the stage "used up" one candidate displaces another that shows the same thing less exactly ([`displaces`]); of
//! the rest the best founded and then the fullest is the verdict, and those that limit at about the same throughput are
//! alternatives. Where failures ended the load, what is observed to be used up comes before an accept queue: that is full for it.
//! On a plateau, two things come before what is used up: anything, where that is used whatever the load
//! ([`Basis::Polled`]), and observed refusals, where it is not known to be used by requests.

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

/// How the load of a run or a row came to its deciding step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadOutcome {
    /// A ladder that reached its plateau.
    Plateau,
    /// Failures ended it.
    Failing,
    /// One level only, so that it is not known whether more load would give more.
    OneLevel,
    /// A row of a table: one load, next to rows of other loads and arrangements.
    Row,
}

/// What was decided, with what could not be distinguished from it.
pub(super) struct Decided {
    pub(super) main: Candidate,
    pub(super) also: Vec<Candidate>,
}

/// The limit that the hosts show, or `None` if they show none.
pub(super) fn limit(ctx: &RuleContext<'_>, outcome: LoadOutcome) -> Option<Verdict> {
    found(ctx, outcome).map(|found| by_one_load(found, outcome))
}

/// The same with the confidence that it would have if throughput were known to have stopped growing.
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

/// One load does not show whether more of it would give more.
pub(super) fn by_one_load(mut verdict: Verdict, outcome: LoadOutcome) -> Verdict {
    if matches!(outcome, LoadOutcome::OneLevel | LoadOutcome::Row) {
        verdict.confidence = Confidence::Inferred;
    }
    if outcome == LoadOutcome::OneLevel {
        verdict.advice.push(Advice::Sweep);
    }
    verdict
}

/// What other rows of a table show of a row. Tiers that carry what they carry alone do so by a pool where another time tells
/// its size.
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
        // That it is full shows nothing: it is no more than an alternative to what else is found.
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

/// What is found on a plateau where nothing is used up. Refusals that begin only beyond the plateau did not end growth: what is
/// observed to be waited for comes before them. What is only inferred does not, for a limiter that delays before it refuses
/// holds throughput level as well.
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

/// A server that has no CPU left accepts late: what is used up for certain comes before the accept queue that it fills.
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

    /// True for refusals with as much served before them: a pool is then their alternative.
    fn is_refused_beyond_a_plateau(&self) -> bool {
        self.main.limit == Limit::Refused && self.also.iter().any(|one| one.limit == Limit::Pool)
    }

    /// Another decision as an alternative to this one.
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

/// True for a candidate that explains another one of the same host: other processes the CPU that they use, paging all that its
/// host does, and garbage collection what its own process does and a CPU that it has a third of.
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

/// Something is used up.
fn used_up(ctx: &RuleContext<'_>) -> Option<Decided> {
    let mut all = other_processes::candidates(ctx);
    all.extend(cpu::candidates(ctx));
    all.extend(hot_threads(ctx));
    all.extend(quota::candidates(ctx));
    all.extend(figures::pools(ctx));
    // Memory counts here only where it explains a use of the CPU; else it is an alternative, or asked of what waits.
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

/// What is not busy yet, and will be used up at the throughput of the verdict within what limits are distinguished by.
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

/// The lowest throughput that a figure with an interval may stand for.
fn earliest(at: Estimate) -> f64 {
    at.interval.map_or(at.value, |(lower, _)| lower)
}

/// The threads at their end. A lock whose turns one of them takes stands in its place.
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

/// True for a candidate that limits at a throughput at most 5 % above that of the verdict, or is fuller. What is used whatever
/// the load is no rival of what the load fills: its use says nothing of throughput.
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

/// A pool is a rival of what is nearly used up: it may stop growth just before that does. An observed one is one of what is
/// quite used up as well, if requests wait on another host; on its own host they wait for what is used up. And as many workers
/// as compute all the time are no pool next to their own threads.
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

/// True if it is not quite busy, and its own law has it serve more than it did: something else may have stopped growth.
fn has_room(ctx: &RuleContext<'_>, full: &Candidate) -> bool {
    full.share() < BUSY && full.met_at_per_sec(ctx) > (1.0 + TIE) * ctx.throughput()
}

/// Threads that compute for all the time of their requests, or the lock that they take turns at.
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

/// Connections or requests were turned away. What is deepest holds back what is before it: a queue in front of a full process
/// is full for that reason.
fn turned_away(ctx: &RuleContext<'_>) -> Option<Decided> {
    let connections = || {
        let mut all = connections::candidates(ctx);
        all.sort_by_key(|candidate| !candidate.place.is_part());
        all.into_iter().next()
    };
    let found = refused::candidate(ctx).or_else(connections).or_else(|| closed::candidate(ctx));
    found.map(Decided::alone)
}

/// Nothing is busy, and requests wait all the same. In this order: what is observed to be waited for (memory, a disk), a core
/// that threads share, threads that compute all the time, a lock by the requests that were read; then connections that were
/// not accepted, what is passed on to and slower under load; and a pool where nothing else explains it.
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

/// What requests wait for, where it is observed.
fn waited_for(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Decided> {
    // Where throughput grew in proportion up to more than turns are taken by, one core in use is chance.
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

/// What is left where nothing is observed to be waited for: a bound of connections, what processes share, a dependency, or a
/// pool.
fn unexplained(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Decided {
    let pool = pool::candidate(ctx, queue, at_once);
    let bounded = connections::accepted(ctx, queue, at_once)
        .or_else(|| connections::allowed(ctx, queue, at_once))
        .or_else(|| lock::among_processes(ctx, queue, at_once).filter(|_| !pool.is_observed()));
    match bounded {
        // Where it is not seen whether requests wait at the door, a pool behind that is as likely.
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

/// Where throughput was the same from the lowest load on, no size of a pool is known, and a lock or a link looks like one.
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

/// A pool of one and a lock look alike from outside; and where throughput bent before the plateau, requests may have met at
/// something that they take turns at.
fn may_take_turns(at_once: Concurrency) -> bool {
    at_once.count.value < MAX_TURNS || at_once.straight == Some(false)
}

fn first_of(candidates: Vec<Candidate>) -> Option<Candidate> {
    once_each(candidates).into_iter().next()
}

/// True if something that the load spends is busy.
pub(super) fn is_something_busy(ctx: &RuleContext<'_>) -> bool {
    used_up(ctx).is_some()
}

/// Nothing is left of what limits, whatever a growing load still gained: no more than limits are distinguished by, or but the
/// last slice of a quota that was out in most periods.
pub(super) fn nothing_left(ctx: &RuleContext<'_>) -> Option<Verdict> {
    let full = used_up(ctx);
    if full.as_ref().is_some_and(|full| !is_empty(ctx, &full.main)) {
        return None;
    }
    // Two that are both used up are sure to be the limit, though not which of them.
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
