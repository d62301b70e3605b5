//! `connections`: no place for another one, in an accept queue, among descriptors, or by a server's own bound.

use plimsoll_record::FailureKind;
use plimsoll_units::{count_text, significant};

use super::pool::AtOnce;
use super::queue::Queue;
use crate::hosts::{Span, Track, name_of, pid_of};
use crate::topology::Tier;
use crate::verdict::bounds;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{EvidenceRow, Limit, Resource, ResourceKind, StepSummary};

/// A process that has all but this many of its descriptors open has none to give: some are kept back.
const DESCRIPTORS_LEFT: f64 = 2.0;

/// Counters of components that grow when they turn a connection away.
const TURNED_AWAY: [(&str, &str); 4] = [
    ("memcached", "listen_disabled"),
    ("mariadb", "connection_errors_max_connections"),
    ("redis", "rejected_connections"),
    ("nginx", "not_handled"),
];

/// Everything that had no room for a connection from the deciding step on.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let hosts = scene.hosts();
    let of_host = |host: &&str| {
        let found = descriptors(scene, host).or_else(|| turned_away(scene, host));
        found.or_else(|| allowed(scene, host)).or_else(|| overflown(scene, host))
    };
    hosts.iter().filter_map(of_host).collect()
}

/// The steps at which a bound must be met to be what stopped growth: where throughput stopped growing, if it did (a bound
/// that is met only beyond that did not stop it), or else those that failed and the last.
fn stopped<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = (usize, &'s StepSummary, Span)> + 's {
    let knee = scene.case.knee.filter(|knee| knee.reached).map(|knee| knee.connections);
    let stops = move |index: usize, step: &StepSummary| match knee {
        Some(connections) => step.connections == connections,
        None => index == scene.step || !crate::knee::counts_for_capacity(step),
    };
    let steps = scene.case.steps.iter().zip(scene.seen.spans).enumerate();
    let steps = steps.filter(move |(index, (step, _))| stops(*index, step));
    steps.map(|(index, (step, span))| (index, step, *span))
}

fn suspicion(place: String, sentence: String, evidence: Vec<EvidenceRow>, advice: String) -> Suspicion {
    Suspicion {
        direct: true,
        evidence,
        advice: vec![advice],
        ..Suspicion::new(Limit::Connections, place, sentence)
    }
}

/// What is held at any load, as connections that are kept ready, did not stop growth when it was met.
fn was_lower(held: &Resource, bound: f64) -> bool {
    held.used.len() == 1 || held.used.iter().flatten().any(|used| *used < bound)
}

fn descriptors(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let at_limit = |(index, step, _): (usize, &StepSummary, Span)| {
        scene.of_kind(ResourceKind::Descriptors).filter(|process| process.host == host).find_map(|process| {
            let (open, limit) = (process.used[index]?, process.capacity?);
            (open >= limit - DESCRIPTORS_LEFT && was_lower(process, limit - DESCRIPTORS_LEFT))
                .then(|| (process, open, limit, crate::verdict::at(step)))
        })
    };
    let (process, open, limit, at) = stopped(scene).find_map(at_limit)?;
    let name = name_of(&process.detail);
    let sentence = format!(
        "the descriptors of {name} on {host} are the limit: {} of the {} it may have were open at {at}",
        count_text(open),
        count_text(limit)
    );
    let evidence =
        vec![crate::verdict::row(format!("descriptors of {}", process.place()), open, Some(limit), at)];
    let advice = format!(
        "raise the descriptor limit of {name} on {host} (ulimit -n, LimitNOFILE) and repeat the load"
    );
    Some(suspicion(format!("{host}: {name}"), sentence, evidence, advice))
}

/// Connections that a component turned away a second. nginx counts what it accepted and what it handled: it drops the
/// rest for want of a place among its `worker_connections`.
fn refused_per_sec(source: &str, counter: &str, track: &Track<'_>, span: Span) -> Option<f64> {
    let rate = |name| track.per_sec(name, span).or_else(|| track.per_sec_around(name, span));
    if source == "nginx" {
        return Some(rate("accepts")? - rate("handled")?);
    }
    rate(counter)
}

fn turned_away(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let seen = |(_, step, span): (usize, &StepSummary, Span)| {
        TURNED_AWAY.iter().find_map(|(source, counter)| {
            let mut tracks = scene.seen.hosts.of(host, source);
            let rate = tracks.find_map(|(_, track)| {
                refused_per_sec(source, counter, track, span).filter(|rate| *rate > 0.5)
            });
            rate.map(|rate| (*source, rate, crate::verdict::at(step)))
        })
    };
    let (source, rate, at) = stopped(scene).find_map(seen)?;
    let setting = match source {
        "nginx" => "worker_connections",
        "memcached" => "-c",
        "mariadb" => "max_connections",
        _ => "maxclients",
    };
    let sentence = format!(
        "the connections that {source} on {host} allows are the limit: it turned away {} a second at {at}",
        significant(rate)
    );
    let evidence = vec![crate::verdict::row(
        format!("connections/s that {source} on {host} turned away"),
        rate,
        None,
        at,
    )];
    Some(suspicion(
        format!("{host}: {source}"),
        sentence,
        evidence,
        format!("raise {setting} of {source} on {host} and repeat the load"),
    ))
}

/// A component that has as many connections open as it allows.
fn allowed(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let full =
        scene.of_kind(ResourceKind::Connections).filter(|server| server.host == host).find_map(|server| {
            let (open, most) = (server.used[scene.step]?, server.capacity?);
            (open >= most - 1.0 && was_lower(server, most - 1.0)).then_some((server, open, most))
        });
    let (server, open, most) = full?;
    let sentence = format!(
        "the connections that {} on {host} allows are the limit: {} of {} were open",
        server.detail,
        count_text(open),
        count_text(most)
    );
    let evidence = vec![scene.row(format!("connections open at {}", server.place()), open, Some(most))];
    let advice =
        format!("let {} on {host} have half as many connections again and repeat the load", server.detail);
    Some(suspicion(server.place(), sentence, evidence, advice))
}

/// New connections found the accept queue full. Hosts count that; where the queue itself was seen to be full, or
/// connections failed, it held requests back.
fn overflown(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let seen = |(index, step, span): (usize, &StepSummary, Span)| {
        let tcp = scene.seen.hosts.track(host, "tcp", "")?;
        let dropped =
            tcp.per_sec("listen_overflows", span)?.max(tcp.per_sec("listen_drops", span).unwrap_or(0.0));
        let opened = tcp.per_sec("passive_opens", span).unwrap_or(0.0);
        let full = scene
            .of_kind(ResourceKind::AcceptQueue)
            .filter(|queue| queue.host == host)
            .find(|queue| queue.utilisation(index).is_some_and(|share| share >= bounds::BUSY));
        let ratio = dropped / (dropped + opened).max(f64::MIN_POSITIVE);
        let felt = full.is_some() || failed_to_connect(step) > 0;
        (dropped > 0.0 && ratio >= bounds::OVERFLOWN && felt)
            .then(|| (dropped, opened, full.map(|queue| queue.detail.clone()), crate::verdict::at(step)))
    };
    let (dropped, opened, queue, at) = stopped(scene).find_map(seen)?;
    let listener = queue.map_or_else(|| host.to_owned(), |address| format!("{host}: {address}"));
    let sentence = format!(
        "the accept queue of {listener} is the limit: {} connections a second found it full at {at}",
        significant(dropped)
    );
    let what = format!("connections/s that found an accept queue of {host} full, against those opened");
    let evidence = vec![crate::verdict::row(what, dropped, Some(opened), at)];
    let advice = format!(
        "raise the backlog of the listener on {host} (listen(), net.core.somaxconn) and let connections be kept alive, \
         and repeat the load"
    );
    // A process that accepts late for another reason has a full queue too.
    Some(Suspicion { direct: false, ..suspicion(listener, sentence, evidence, advice) })
}

/// A server with fewer threads than it has requests under way, which has accepted as many connections as it serves at once
/// and lets the others wait: what it has a bound of is connections, not workers.
pub(in crate::verdict) fn accepted(scene: &Scene<'_>, queue: &Queue, at_once: AtOnce) -> Option<Suspicion> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = scene.flow.tiers.get(*tier)?;
    let count = at_once.count.value;
    let same = |seen: f64| (seen / count - 1.0).abs() <= bounds::SAME_SIZE;
    let held_up = |step: usize| {
        let waiting = tier.queue[step].filter(|waiting| *waiting >= 1.0)?;
        let unread = tier.unread[step].unwrap_or(0.0);
        let steady = scene.case.steps[step].throughput.value >= (1.0 - bounds::TIE) * scene.throughput();
        let bound = waiting >= (1.0 - bounds::SAME_SIZE) * unread && same(tier.established[step]? - waiting);
        steady.then_some((bound, waiting))
    };
    let seen: Vec<(bool, f64)> = (0..scene.case.steps.len()).filter_map(held_up).collect();
    let all = seen.len() >= 2 && seen.iter().all(|(bound, _)| *bound);
    let threads = threads(scene, tier)?;
    if !all || threads >= (1.0 - bounds::SAME_SIZE) * count {
        return None;
    }
    let place = tier.place();
    let bound = count_text(count.round());
    let sentence = format!(
        "the connections that {place} accepts are the limit: it serves {bound} at a time with {} threads, and accepts no more",
        count_text(threads)
    );
    let most = seen.iter().map(|(_, waiting)| *waiting).fold(0.0, f64::max);
    let what = format!("connections to {place} that were not accepted, at the most");
    let advice = format!(
        "raise the connections that {place} may have from {bound} to {} (maxconn, max-connections) and repeat the load: \
         throughput should grow by half, or up to the next limit",
        count_text((1.5 * count).round())
    );
    let found = suspicion(place, sentence, vec![scene.row(what, most, None)], advice);
    Some(Suspicion { direct: false, size: at_once.count.into(), ..found })
}

/// Threads of all processes of a tier, at the last look; `None` where none were seen.
fn threads(scene: &Scene<'_>, tier: &Tier) -> Option<f64> {
    let ours = |subject: &str| {
        pid_of(subject).is_some_and(|pid| tier.node.pids.iter().any(|own| u64::from(*own) == pid))
    };
    let tracks = scene.seen.hosts.of(&tier.node.host, "process").filter(|(subject, _)| ours(subject));
    tracks.filter_map(|(_, track)| track.last("threads")).reduce(|a, b| a + b)
}

/// Requests of a step for which no connection was to be had.
pub(super) fn failed_to_connect(step: &StepSummary) -> u64 {
    let kinds = [
        FailureKind::ConnectRefused,
        FailureKind::ConnectTimedOut,
        FailureKind::ConnectReset,
        FailureKind::ClosedBeforeResponse,
        FailureKind::ResetBeforeResponse,
    ];
    kinds.iter().map(|kind| step.counts.failed.of(*kind)).sum()
}
