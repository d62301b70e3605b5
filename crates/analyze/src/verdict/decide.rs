//! From what the rules suspect to one verdict: which rules are asked when, and what their answers leave open.

use super::generator::generator_row;
use super::phrase::percent;
use super::rules::{
    closed, connections, dependency, disk, link, lock, memory, neighbour, pool, processor, queue, quota,
    refused, thread,
};
use super::scene::{Scene, Suspicion};
use super::{bounds, text};
use crate::{Confidence, Limit, NextLimit, Resource, ResourceKind, StepSummary, Suspect, Verdict};

/// No limit is told beyond so many times the throughput that was seen.
const EXTRAPOLATION_MOST: f64 = 2.0;

/// The most load over the least, from which on throughput that hardly differs does not follow it: three doublings, each of which
/// would have to gain 5 % to go on growing.
const LEVEL_LOADS: u32 = 8;

const FLAT: &str = "throughput was the same from the lowest load on, which tells no lock from a pool, a policy that delays requests or \
                    a link: begin the ladder lower if it did not begin at 1 connection, and watch the generator's own link";

/// What the deciding step is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// A ladder that reached its plateau.
    Plateau,
    /// Failures ended it.
    Failing,
    /// One level only, so that it is not known whether more load would give more.
    OneLevel,
}

/// The limit that the hosts show, or `None` if they show none.
pub(super) fn limit(scene: &Scene<'_>, ground: Ground) -> Option<Verdict> {
    if !scene.is_long_enough() {
        return None;
    }
    let found = match ground {
        Ground::Plateau => match at_end(scene) {
            Some(full) if full.main.whatever_the_load => {
                match turned_away(scene).or_else(|| waiting(scene)) {
                    Some(found) => Some(found.beside_busy(full)),
                    None => Some(full),
                }
            }
            // What is served stays level whatever refusing costs, and be it a thread's whole time.
            Some(full) if !full.main.direct => {
                let refused = refusing(scene).filter(|refused| refused.direct).map(Decided::alone);
                refused.or_else(|| Some(beside_a_pool(scene, full)))
            }
            Some(full) => Some(beside_a_pool(scene, full)),
            None => turned_away(scene).or_else(|| waiting(scene)),
        },
        Ground::Failing => turned_away(scene).or_else(|| at_end(scene)),
        Ground::OneLevel => at_end(scene).or_else(|| turned_away(scene)),
    }?;
    let mut verdict = found.verdict(scene);
    if ground == Ground::OneLevel {
        verdict.confidence = Confidence::Inferred;
        verdict.advice.push(super::advice::SWEEP.to_owned());
    }
    Some(verdict)
}

/// What was decided, with what could not be told from it.
pub(super) struct Decided {
    pub(super) main: Suspicion,
    pub(super) also: Vec<Suspicion>,
}

impl Decided {
    fn alone(mut main: Suspicion) -> Self {
        let also = std::mem::take(&mut main.beside);
        Self { main, also }
    }

    /// Beside what is busy whatever the load, and may be the limit only if the load is not what it seems.
    fn beside_busy(mut self, busy: Self) -> Self {
        self.also.push(busy.main);
        self.also.extend(busy.also);
        self
    }

    /// The limits that are named, with their hosts.
    pub(super) fn named(&self) -> Vec<(Limit, &str)> {
        std::iter::once(&self.main).chain(&self.also).map(|one| (one.limit, one.host())).collect()
    }

    fn verdict(self, scene: &Scene<'_>) -> Verdict {
        let next_limit = next(scene, &self.named());
        let excluded = excluded(scene, &self.named());
        let text = text::paragraph(scene, &self, next_limit.as_ref());
        let seen = self.main.direct && self.also.is_empty();
        let also = self.also.iter().map(|suspicion| suspect(scene, suspicion)).collect();
        let mut evidence = self.main.evidence;
        evidence.extend(self.also.into_iter().flat_map(|suspicion| suspicion.evidence));
        evidence.push(generator_row(scene.case, scene.decisive()));
        let confidence = if seen { Confidence::Measured } else { Confidence::Inferred };
        Verdict {
            size: self.main.size,
            evidence,
            also,
            next_limit,
            excluded,
            advice: self.main.advice,
            text,
            ..Verdict::new(self.main.limit, self.main.place, confidence)
        }
    }
}

fn suspect(scene: &Scene<'_>, suspicion: &Suspicion) -> Suspect {
    let reached = || (suspicion.share > 0.0).then(|| scene.throughput() / suspicion.share);
    let at_per_sec = suspicion.at_per_sec.map(|at| at.value).or_else(reached);
    Suspect { limit: suspicion.limit, place: suspicion.place.clone(), at_per_sec }
}

/// One rule speaks for one limit of one host.
fn once_each(mut all: Vec<Suspicion>) -> Vec<Suspicion> {
    all.sort_by(|a, b| {
        let rank = |one: &Suspicion| (one.direct, !one.whatever_the_load, one.share);
        rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut kept: Vec<Suspicion> = Vec::new();
    for suspicion in all {
        let same = |known: &Suspicion| known.limit == suspicion.limit && known.host() == suspicion.host();
        if !kept.iter().any(same) {
            kept.push(suspicion);
        }
    }
    kept
}

/// Something is used up. A neighbour on a busy host is told in place of the host's CPU, garbage collection in place of the
/// CPU that it takes.
fn at_end(scene: &Scene<'_>) -> Option<Decided> {
    let mut all = neighbour::suspicions(scene);
    let collecting: Vec<Suspicion> = memory::suspicions(scene);
    all.extend(processor::suspicions(scene));
    all.extend(thread::suspicions(scene));
    all.extend(quota::suspicions(scene));
    let short: Vec<Suspicion> =
        collecting.into_iter().filter(|memory| all.iter().any(|busy| busy.host() == memory.host())).collect();
    all.retain(|busy| !short.iter().any(|memory| memory.host() == busy.host()));
    all.extend(short);
    all.extend(link::suspicions(scene));
    all.extend(disk::used_up(scene));
    let neighbours: Vec<String> =
        all.iter().filter(|one| one.by_neighbour).map(|one| one.host().to_owned()).collect();
    all.retain(|one| {
        one.limit != Limit::Cpu || one.by_neighbour || !neighbours.iter().any(|host| host == one.host())
    });
    let mut all = once_each(all).into_iter();
    let mut main = all.next()?;
    // What is busy whatever the load is no rival of what the load fills; its use tells no throughput.
    let rival = |other: &Suspicion| {
        let filled = other.direct || other.at_per_sec.is_some();
        let fuller = !other.direct && other.share > main.share;
        if filled {
            is_no_later(scene, &main, other) || fuller
        } else {
            !main.direct && is_no_later(scene, &main, other)
        }
    };
    let mut also: Vec<Suspicion> = all.filter(rival).collect();
    also.append(&mut main.beside);
    Some(Decided { main, also })
}

/// Nothing is left of what limits, whatever a growing load still gained: no more than limits are told apart by, or but the last
/// slice of a quota that was out in most periods.
pub(super) fn used_up(scene: &Scene<'_>) -> Option<Verdict> {
    let nothing_left = |full: &Decided| {
        let held_up = || {
            let groups = scene.of_target().filter(|resource| resource.kind.limit() == full.main.limit);
            let mut ours = groups.filter(|resource| resource.host == full.main.host());
            ours.any(|group| scene.throttled(group).is_some_and(|part| part >= bounds::THROTTLED))
        };
        full.main.share * (1.0 + bounds::TIE) >= 1.0 || held_up()
    };
    let full = at_end(scene);
    if full.as_ref().is_some_and(|full| !nothing_left(full)) {
        return None;
    }
    // Two that are both used up are sure to be the limit, though not which of them.
    let sure = full.filter(|full| full.main.direct).map(|full| full.main.limit);
    let whatever_the_pace = |found: &Verdict| {
        found.limit.is_whatever_the_pace()
            && (found.confidence == Confidence::Measured || sure == Some(found.limit))
    };
    limit(scene, Ground::Plateau).filter(whatever_the_pace)
}

/// Throughput that was not seen to follow the load, though the last step was a little higher: what holds it there is looked for
/// as on a plateau. Nothing is told for certain, for it was none.
pub(super) fn level(scene: &Scene<'_>) -> Option<Verdict> {
    let steps = crate::knee::usable(scene.case.steps);
    let level = hardly_differs(&steps, scene.throughput()) || !super::grew(scene.case.steps);
    let found = if level { limit(scene, Ground::Plateau) } else { None };
    let found = found.filter(|found| !is_the_load(scene, found));
    found.map(|found| Verdict { confidence: Confidence::Inferred, ..found })
}

/// A pool as large as what is under way: X·S₀ is the load, where S₀ is of the step itself.
fn is_the_load(scene: &Scene<'_>, found: &Verdict) -> bool {
    let step = scene.decisive();
    let under_way = f64::from(step.connections) * f64::from(step.depth);
    found.limit == Limit::Pool && found.size.is_some_and(|size| size.value >= (1.0 - bounds::TIE) * under_way)
}

/// True if throughput was nearly as high with a small part of the load.
fn hardly_differs(steps: &[&StepSummary], highest_per_sec: f64) -> bool {
    let [lowest, .., highest] = steps else { return false };
    highest.connections >= LEVEL_LOADS * lowest.connections
        && lowest.throughput.value >= bounds::LEVEL * highest_per_sec
}

/// Refusals, judged at the first step that has them: beyond it refusing alone may use something up.
fn refusing(scene: &Scene<'_>) -> Option<Suspicion> {
    let first = refused::first(scene.case.steps)?;
    refused::suspicion(&Scene { step: first, ..*scene })
}

/// A pool that was seen itself is a rival of what is nearly used up: it may stop growth just before that does. It is one of
/// what is quite used up as well, if requests wait on another host; on its own host they wait for what is used up.
/// And as many workers as compute all the time are no pool beside their own threads.
fn beside_a_pool(scene: &Scene<'_>, mut full: Decided) -> Decided {
    let is_threads = |at_once: pool::AtOnce| {
        let computing = thread::computing(scene, at_once);
        full.main.limit == Limit::Thread && computing.is_some_and(|same| same.place == full.main.place)
    };
    let pool = pool::at_once(scene).filter(|at_once| !is_threads(*at_once)).map(|at_once| {
        let queue = queue::find(scene, at_once.count.value);
        pool::suspicion(scene, &queue, at_once)
    });
    let rival =
        |pool: &Suspicion| pool.direct && (pool.host() != full.main.host() || full.main.share < bounds::FULL);
    let pool = pool.filter(rival);
    full.also.extend(pool);
    full
}

/// A limit that is met at a throughput at most 5 % above that of another, or before it.
fn is_no_later(scene: &Scene<'_>, main: &Suspicion, other: &Suspicion) -> bool {
    let at = |suspicion: &Suspicion| {
        let reached = scene.throughput() / suspicion.share.max(f64::MIN_POSITIVE);
        suspicion.at_per_sec.map_or(reached, |at| at.value)
    };
    let (a, b) = (at(main), at(other));
    b - a <= bounds::TIE * a.max(b)
}

/// Connections or requests were turned away.
fn turned_away(scene: &Scene<'_>) -> Option<Decided> {
    let refused = refusing(scene);
    let mut connections = connections::suspicions(scene);
    // What is deepest holds back what is before it: a queue in front of a full process is full for that reason.
    connections.sort_by_key(|suspicion| !suspicion.place.contains(": "));
    let counted = refused.or_else(|| connections.into_iter().next());
    counted.or_else(|| closed::suspicion(scene)).map(Decided::alone)
}

/// Nothing is busy, and requests wait all the same.
fn waiting(scene: &Scene<'_>) -> Option<Decided> {
    if scene.hosts().is_empty() || !is_looked_at(scene) {
        return None;
    }
    let at_once = pool::at_once(scene)?;
    let queue = queue::find(scene, at_once.count.value);
    let pool = pool::suspicion(scene, &queue, at_once);
    let depends = dependency::suspicion(scene, &queue, at_once.count.value);
    let by_turns = lock::by_turns(scene, &queue, at_once);
    let is_by_turns = by_turns.is_some();
    let named = first_of(memory::suspicions(scene)).or_else(|| first_of(disk::suspicions(scene)));
    // Where throughput grew in proportion up to more than turns are taken by, one core in use is chance.
    let turns = || !(at_once.straight == Some(true) && at_once.count.value > lock::TURNS_MOST);
    let shared = || first_of(lock::by_cpu(scene)).filter(|_| turns());
    let named = named.or_else(shared).or_else(|| thread::computing(scene, at_once));
    let by_turns_alone = named.is_none() && is_by_turns;
    let named = named.or(by_turns);
    let accepted = connections::accepted(scene, &queue, at_once);
    let (mut main, mut also) = match (named, depends) {
        (Some(named), _) => (named, Vec::new()),
        (None, _) if accepted.is_some() => (accepted?, vec![pool]),
        (None, Some(depends)) if depends.share >= 1.0 => (depends, Vec::new()),
        (None, Some(depends)) => (pool, vec![depends]),
        (None, None) if may_take_turns(at_once) && !pool.direct => {
            let turns = Suspicion::new(Limit::Lock, pool.place.clone(), String::new());
            (pool, vec![turns])
        }
        (None, None) => (pool, Vec::new()),
    };
    if at_once.flat && by_turns_alone && main.limit == Limit::Lock {
        let bandwidth = scene.case.plan.target.authority();
        also.push(Suspicion::new(Limit::Pool, main.place.clone(), String::new()));
        also.push(Suspicion::new(Limit::Bandwidth, bandwidth, String::new()));
        main.advice.push(FLAT.to_owned());
    }
    also.extend(scene.nearly_full().into_iter().map(|resource| nearly(scene, resource)));
    also.append(&mut main.beside);
    main.direct &= unseen(scene).is_empty();
    Some(Decided { main, also })
}

/// A pool of one and a lock look alike from outside; and where throughput bent before the plateau, requests may have met at
/// something that they take turns at.
fn may_take_turns(at_once: pool::AtOnce) -> bool {
    at_once.count.value < lock::TURNS_MOST || at_once.straight == Some(false)
}

fn first_of(suspicions: Vec<Suspicion>) -> Option<Suspicion> {
    once_each(suspicions).into_iter().next()
}

/// The CPU of at least one host is known: without it nothing is ruled out.
fn is_looked_at(scene: &Scene<'_>) -> bool {
    scene.hosts().iter().any(|host| scene.cpu_share(host).is_some())
}

/// Hosts whose CPU was not seen, and which therefore may be the limit.
fn unseen(scene: &Scene<'_>) -> Vec<String> {
    let unknown = |host: &&&str| scene.cpu_share(host).is_none();
    scene.hosts().iter().filter(unknown).map(|host| (*host).to_owned()).collect()
}

/// Something that is neither busy nor free.
fn nearly(scene: &Scene<'_>, resource: &Resource) -> Suspicion {
    let share = scene.share(resource).unwrap_or_default();
    let what = text::resource_text(resource);
    Suspicion {
        share,
        at_per_sec: resource.demand.and_then(|demand| demand.at_per_sec),
        evidence: vec![scene.row(what, share, Some(1.0))],
        ..Suspicion::new(resource.kind.limit(), resource.place(), String::new())
    }
}

/// Resources by how much of them was used at the deciding step, those that the load spends.
fn by_share<'s>(scene: &Scene<'s>) -> Vec<(&'s Resource, f64)> {
    let spent = |resource: &&Resource| resource.kind.is_spent() && resource.kind != ResourceKind::Core;
    let ours = scene.of_target().filter(spent);
    let mut shares: Vec<_> = ours.filter_map(|resource| Some((resource, scene.share(resource)?))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// What of the target's is busy at the deciding step, each limit of a host once.
pub(super) fn busy(scene: &Scene<'_>) -> Vec<Suspect> {
    let busy = by_share(scene).into_iter().filter(|(_, share)| *share >= bounds::BUSY);
    let of_kind = |(resource, share): (&Resource, f64)| Suspicion { share, ..nearly(scene, resource) };
    once_each(busy.map(of_kind).collect()).iter().map(|suspicion| suspect(scene, suspicion)).collect()
}

/// The resource that is used up next, when those that are named are no limit any more.
pub(super) fn next(scene: &Scene<'_>, named: &[(Limit, &str)]) -> Option<NextLimit> {
    let left = by_share(scene).into_iter().map(|(resource, _)| resource);
    let left = left.filter(|resource| !named.contains(&(resource.kind.limit(), resource.host.as_str())));
    let at = |resource: &'_ Resource| resource.demand.and_then(|demand| demand.at_per_sec);
    // Refusals are no throughput that could be had more of.
    let step = scene.decisive();
    let refuses = !crate::knee::counts_for_capacity(step);
    let served_per_sec = if refuses { refused::served_per_sec(step) } else { scene.throughput() };
    let most = EXTRAPOLATION_MOST * (1.0 + bounds::TIE) * served_per_sec;
    let within =
        left.filter_map(|resource| Some((at(resource)?, resource))).filter(|(at, _)| at.value <= most);
    let (at_per_sec, resource) = within.min_by(|a, b| a.0.value.total_cmp(&b.0.value))?;
    Some(NextLimit { limit: resource.kind.limit(), place: resource.place(), at_per_sec })
}

/// The resource of these hosts' others that is used most, in words; `None` if nothing is known of any.
pub(super) fn busiest_elsewhere(scene: &Scene<'_>, but: &[(Limit, &str)]) -> Option<String> {
    // A host's processors, threads and quotas are one thing seen three times.
    let is_compute = |limit: Limit| matches!(limit, Limit::Cpu | Limit::Thread | Limit::Quota);
    let alike = |a: Limit, b: Limit| a == b || is_compute(a) && is_compute(b);
    let other = |(resource, _): &(&Resource, f64)| {
        !but.iter().any(|(limit, host)| alike(*limit, resource.kind.limit()) && *host == resource.host)
    };
    let (resource, share) = by_share(scene).into_iter().find(other)?;
    Some(format!("{} was {} used", text::resource_text(resource), percent(share)))
}

/// What was looked at where no limit was found.
pub(super) fn looked_at(scene: &Scene<'_>) -> Vec<String> {
    if scene.hosts().is_empty() { Vec::new() } else { excluded(scene, &[]) }
}

/// A sentence for each host: its busiest resource, where that is not the limit; and what was not seen.
fn excluded(scene: &Scene<'_>, named: &[(Limit, &str)]) -> Vec<String> {
    let shares = by_share(scene);
    let of_host = |host: &str| {
        let other = |(resource, _): &&(&Resource, f64)| {
            resource.host == host && !named.contains(&(resource.kind.limit(), host))
        };
        match shares.iter().find(other) {
            Some((resource, share)) => {
                let (what, part) = (text::resource_text(resource), percent(*share));
                Some(format!("{host}: the most used of what else it has was {what}, {part}"))
            }
            None if scene.cpu_share(host).is_none() => Some(unseen_text(scene, host)),
            None => None,
        }
    };
    let busy = percent(scene.case.generator.busiest_worker_ratio);
    let generator = format!("the load generator: its busiest worker used {busy} of a core");
    scene.hosts().into_iter().filter_map(of_host).chain([generator]).collect()
}

fn unseen_text(scene: &Scene<'_>, host: &str) -> String {
    let failure = |source| scene.seen.hosts.failure(host, source);
    let why =
        failure("cpu").or_else(|| failure("cgroup")).map_or_else(String::new, |why| format!(" ({why})"));
    format!("{host}: its CPU was not seen{why}, so that it is not ruled out")
}
