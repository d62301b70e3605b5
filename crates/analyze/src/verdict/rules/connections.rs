//! `connections`: there is no room for another one, among descriptors, by a server's own bound, or in an accept queue.
//!
//! Condition, at the step where throughput stopped growing (a bound that is met only beyond it did not stop growth), or
//! where none is known at the deciding step and those that failed: a process has all but two of its descriptors open; a
//! component counts connections that it turned away, or has as many open as it allows; the kernel's table of tracked connections
//! is full and connections time out; or one in a hundred new connections found an accept queue full and that was felt. A bound
//! that is met at any load stops nothing.

use plimsoll_record::metric::{conntrack, mariadb, memcached, nginx, redis, tcp};
use plimsoll_record::{FailureKind, Source, Subject};

use crate::findings::{Advice, At, Claim, Evidence, Limit, Observation, Place, StepSummary};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::topology::flow::Tier;
use crate::hosts::track::{Span, Track};
use crate::hosts::utilisation::{BUSY, FULL, TIE};
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::Concurrency;
use crate::verdict::facts::queue::Queue;
use crate::verdict::facts::served::failed_to_connect;
use crate::verdict::facts::threads::{ever_ran, threads_of};

/// A process with no more than this many descriptors left has none to give: some are kept back.
const DESCRIPTORS_LEFT: f64 = 2.0;

/// A component turns connections away if it does so more often than this per second: once in two seconds.
const TURNED_AWAY_PER_SEC: f64 = 0.5;

/// Components that count the connections that they turn away.
const TURN_AWAY: [Source; 4] = [Source::Memcached, Source::Mariadb, Source::Redis, Source::Nginx];

/// The bounds that left no room for a connection, one for each host.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let of_host = |host: &str| {
        let found = descriptors(ctx, host).or_else(|| turned_away(ctx, host));
        found.or_else(|| full(ctx, host)).or_else(|| tracked(ctx, host)).or_else(|| accept_queue(ctx, host))
    };
    ctx.hosts().into_iter().filter_map(of_host).collect()
}

/// The steps at which a bound must be met to be what stopped growth.
fn stopped<'s>(ctx: &'s RuleContext<'_>) -> impl Iterator<Item = (usize, &'s StepSummary, Span)> + 's {
    let knee = ctx.obs.run.and_then(|run| run.knee).filter(|knee| knee.reached).map(|knee| knee.connections);
    let stops = move |index: usize, step: &StepSummary| match knee {
        Some(connections) => step.connections == connections,
        None => index == ctx.load || !crate::load::knee::counts_for_capacity(step),
    };
    let steps = ctx.steps().iter().zip(ctx.obs.spans).enumerate();
    let steps = steps.filter(move |(index, (step, _))| stops(*index, step));
    steps.map(|(index, (step, span))| (index, step, *span))
}

fn observed(place: Place, claim: Claim, evidence: Evidence, advice: Advice) -> Candidate {
    Candidate {
        basis: Basis::Observed,
        evidence: vec![evidence],
        advice: vec![advice],
        ..Candidate::new(Limit::Connections, place, claim)
    }
}

/// True if it was below the bound at some load. What is held at any load, such as connections kept ready, did not stop growth.
fn was_lower(held: &Resource, bound: f64) -> bool {
    held.used.len() == 1 || held.used.iter().flatten().any(|used| *used < bound)
}

fn descriptors(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let at_limit = |(index, step, _): (usize, &StepSummary, Span)| {
        ctx.of_kind(ResourceKind::Descriptors).filter(|process| process.host == host).find_map(|process| {
            let (open, limit) = (process.used[index]?, process.capacity?);
            (open >= limit - DESCRIPTORS_LEFT && was_lower(process, limit - DESCRIPTORS_LEFT))
                .then(|| (process, open, limit, step.at()))
        })
    };
    let (process, open, limit, at) = stopped(ctx).find_map(at_limit)?;
    Some(observed(
        Place::process(host, process.name()),
        Claim::Descriptors { open, limit, at: at.clone() },
        Evidence::new(Observation::Descriptors(process.place()), open, Some(limit), at),
        Advice::MoreDescriptors,
    ))
}

/// Connections per second that a component turned away.
fn turned_away_per_sec(source: Source, track: &Track<'_>, span: Span) -> Option<f64> {
    let rate = |metric| track.per_sec(metric, span).or_else(|| track.per_sec_around(metric, span));
    match source {
        Source::Memcached => rate(memcached::LISTEN_DISABLED),
        Source::Mariadb => rate(mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS),
        Source::Redis => rate(redis::REJECTED_CONNECTIONS),
        Source::Nginx => Some(rate(nginx::ACCEPTS)? - rate(nginx::HANDLED)?),
        _ => None,
    }
}

fn turned_away(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let of_step = |(_, step, span): (usize, &StepSummary, Span)| {
        TURN_AWAY.into_iter().find_map(|source| {
            let rate =
                |track| turned_away_per_sec(source, track, span).filter(|rate| *rate > TURNED_AWAY_PER_SEC);
            let rate = ctx.obs.hosts.of(host, source).find_map(|(_, track)| rate(track));
            rate.map(|rate| (source, rate, step.at()))
        })
    };
    let (source, per_sec, at): (Source, f64, At) = stopped(ctx).find_map(of_step)?;
    let place = Place::component(host, source);
    let evidence = Evidence::new(Observation::TurnedAway(place.clone()), per_sec, None, at.clone());
    Some(observed(place, Claim::TurnedAway { per_sec, at }, evidence, Advice::RaiseSetting))
}

/// Finds a component that has as many connections open as it allows.
fn full(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let at_limit = |(index, step, _): (usize, &StepSummary, Span)| {
        ctx.of_kind(ResourceKind::Connections).filter(|server| server.host == host).find_map(|server| {
            let (open, most) = (server.used[index]?, server.capacity?);
            (open >= most - 1.0 && was_lower(server, most - 1.0))
                .then(|| (server.place(), open, most, step.at()))
        })
    };
    let (place, open, most, at) = stopped(ctx).find_map(at_limit)?;
    let evidence = Evidence::new(Observation::OpenConnections(place.clone()), open, Some(most), at);
    Some(observed(place, Claim::ConnectionsFull { open, most }, evidence, Advice::MoreConnections))
}

/// Finds a full kernel table of tracked connections, with new connections that timed out: their first packets are dropped without
/// an answer.
fn tracked(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let table = ctx.obs.hosts.track(host, Source::Conntrack, Subject::Host)?;
    let limit = table.last(conntrack::LIMIT).filter(|limit| *limit > 0.0)?;
    let entries = |span| table.most(conntrack::ENTRIES, span);
    let is_full = |entries: &f64| *entries >= FULL * limit;
    let was_lower = ctx.obs.spans.iter().filter_map(|span| entries(*span)).any(|entries| !is_full(&entries));
    let at_limit = |(_, step, span): (usize, &StepSummary, Span)| {
        let timed_out = step.counts.failed.of(FailureKind::ConnectTimedOut) > 0;
        Some((entries(span).filter(|entries| timed_out && is_full(entries))?, step.at()))
    };
    let (entries, at) = stopped(ctx).find_map(at_limit)?;
    (was_lower || ctx.obs.spans.len() == 1).then(|| {
        observed(
            Place::host(host),
            Claim::TrackedFull { entries, limit, at: at.clone() },
            Evidence::new(Observation::Tracked { host: host.to_owned() }, entries, Some(limit), at),
            Advice::TrackMore,
        )
    })
}

/// New connections per second of a host that found an accept queue full, and those that were opened.
#[derive(Clone, Copy)]
struct Overflow {
    dropped: f64,
    opened: f64,
}

impl Overflow {
    fn new(tcp: &Track<'_>, span: Span) -> Option<Self> {
        let rate = |metric| tcp.per_sec(metric, span);
        let dropped = rate(tcp::LISTEN_OVERFLOWS)?.max(rate(tcp::LISTEN_DROPS).unwrap_or(0.0));
        Some(Self { dropped, opened: rate(tcp::PASSIVE_OPENS).unwrap_or(0.0) })
    }

    /// True for more than the burst at the beginning of a step.
    fn counts(self) -> bool {
        let all = self.dropped + self.opened;
        self.dropped > 0.0 && self.dropped >= bounds::OVERFLOWN * all
    }
}

/// True if enough connections failed to be those that an accept queue dropped.
fn are_connections_missed(step: &StepSummary) -> bool {
    failed_to_connect(step) as f64 >= bounds::OVERFLOWN * step.counts.ended().max(1) as f64
}

/// Finds an accept queue that new connections found full, and did not at a lower load. Hosts count such connections. The queue held
/// requests back if it was itself observed full, or if connections failed. A process that accepts late for another reason has a
/// full queue as well.
fn accept_queue(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let tcp = ctx.obs.hosts.track(host, Source::Tcp, Subject::Host)?;
    let was_lower = |step: &StepSummary| {
        let lower = ctx.steps().iter().zip(ctx.obs.spans);
        let mut lower = lower.filter(|(other, _)| other.connections < step.connections);
        let is_less = |span: &Span| Overflow::new(tcp, *span).is_some_and(|found| !found.counts());
        ctx.steps().len() == 1 || lower.any(|(_, span)| is_less(span))
    };
    let of_step = |(index, step, span): (usize, &StepSummary, Span)| {
        let found = Overflow::new(tcp, span).filter(|found| found.counts() && was_lower(step))?;
        let full = ctx
            .of_kind(ResourceKind::AcceptQueue)
            .filter(|queue| queue.host == host)
            .find(|queue| queue.utilisation(index).is_some_and(|share| share >= BUSY));
        let is_felt = full.is_some() || are_connections_missed(step);
        is_felt.then(|| (found, full.map(Resource::place), step.at()))
    };
    let (Overflow { dropped: per_sec, opened }, listener, at) = stopped(ctx).find_map(of_step)?;
    let overflown = Observation::Overflown { host: host.to_owned() };
    let evidence = Evidence::new(overflown, per_sec, Some(opened), at.clone());
    let place = listener.unwrap_or_else(|| Place::host(host));
    let claim = Claim::AcceptQueue { per_sec, at };
    let found = observed(place, claim, evidence, Advice::LongerBacklog);
    Some(Candidate { basis: Basis::Inferred, ..found })
}

/// Finds a server that has accepted as many connections as it serves at once, lets the others wait, and has no thread for
/// each: its bound is on connections, not on workers.
pub(crate) fn accepted(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = ctx.obs.flow.tiers.get(*tier)?;
    let count = at_once.count.value;
    let held_up: Vec<HeldUp> =
        (0..ctx.steps().len()).filter_map(|step| not_accepted(ctx, tier, step)).collect();
    let at_its_bound = is_at_bound(&held_up, count);
    // Idle threads do not run; a thread or a process for each connection may end with it.
    let threads = ever_ran(ctx, tier).or_else(|| threads_of(ctx, tier))?;
    if !at_its_bound || threads >= (1.0 - bounds::SAME_SIZE) * count {
        return None;
    }
    let place = tier.place();
    let most = held_up.iter().map(|step| step.waiting).fold(0.0, f64::max);
    Some(Candidate {
        size: at_once.count.into(),
        evidence: vec![ctx.row(Observation::NotAccepted(place.clone()), most, None)],
        advice: vec![Advice::AcceptMore(count)],
        ..Candidate::new(Limit::Connections, place, Claim::Accepted { connections: count, threads })
    })
}

/// Finds a callee to which as many connections are open as requests are served at once, each for one request. If the others wait in
/// the tier that opens them, nothing keeps a pool of connections, and the callee may allow no more.
pub(crate) fn allowed(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Option<Candidate> {
    let [from] = queue.tiers.as_slice() else { return None };
    let from = ctx.obs.flow.tiers.get(*from)?;
    let (out, count) = (queue.out?, at_once.count.value);
    let as_many = bounds::is_same_size(out, count);
    let callee = from.main_outflow(queue.step)?;
    if !(queue.opens_anew && as_many) || queue.waits_inside(count) == Some(false) {
        return None;
    }
    let callee = ctx.obs.flow.tiers.get(callee.to)?;
    let place = match &callee.outside {
        Some(name) => Place::Unwatched(name.clone()),
        None => callee.place(),
    };
    let claim = Claim::OpenedAnew { by: from.place(), connections: out, law: at_once.law() };
    let observed = Observation::ConnectionsTo { tier: from.place(), to: place.clone() };
    Some(Candidate {
        size: at_once.count.into(),
        evidence: vec![ctx.row(observed, out, Some(count))],
        advice: vec![Advice::AcceptMore(count)],
        ..Candidate::new(Limit::Connections, place, claim)
    })
}

/// A step of the plateau at which a tier has connections that wait to be accepted.
struct HeldUp {
    /// Requests under way.
    load: u32,
    waiting: f64,
    accepted: f64,
    /// True if few of the accepted connections are unread.
    all_read: bool,
}

/// True if as many connections are accepted as requests are served at once, and never more. If each request opens one, there are
/// fewer at times, until so many wait that another one takes each place at once.
fn is_at_bound(held_up: &[HeldUp], count: f64) -> bool {
    let highest = held_up.iter().max_by_key(|step| step.load);
    held_up.len() >= 2
        && held_up.iter().all(|step| step.all_read && step.accepted <= (1.0 + bounds::SAME_SIZE) * count)
        && highest.is_some_and(|step| bounds::is_same_size(step.accepted, count))
}

fn not_accepted(ctx: &RuleContext<'_>, tier: &Tier, step: usize) -> Option<HeldUp> {
    let waiting = tier.queue[step].filter(|waiting| *waiting >= 1.0)?;
    let unread = tier.unread[step].unwrap_or(0.0);
    let summary = &ctx.steps()[step];
    let is_level = summary.throughput.value >= (1.0 - TIE) * ctx.throughput();
    let accepted = tier.established[step]? - waiting;
    let all_read = waiting >= (1.0 - bounds::SAME_SIZE) * unread;
    is_level.then_some(HeldUp { load: summary.connections, waiting, accepted, all_read })
}
