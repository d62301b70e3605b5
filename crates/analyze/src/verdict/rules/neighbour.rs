//! `cpu`, taken by somebody else: processes that are not the target's, other guests of the machine, or processes of
//! which nothing more is known than that the target's waited for them.

use plimsoll_units::count_text;

use crate::hosts::{Track, name_of};
use crate::verdict::bounds;
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Limit, Resource, ResourceKind};

/// Ready threads that got less than this part of what they wanted were kept from it.
const WAITED: f64 = 0.5;

/// A process that uses so much of it at the lowest throughput too does not work for the requests.
const STEADY: f64 = 0.5;

/// Hosts whose CPU the target wanted and did not get.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let hosts = scene.hosts().into_iter();
    hosts.filter_map(|host| on_busy(scene, host).or_else(|| on_idle(scene, host))).collect()
}

/// The processes that are not watched and used most of a host's CPU, and how much all of them used, in cores.
fn others(scene: &Scene<'_>, host: &str) -> Option<(String, f64)> {
    let span = scene.span();
    let cores = scene
        .seen
        .hosts
        .of(host, "neighbours")
        .filter_map(|(subject, track)| Some((subject, crate::usage::cpu_of(track, span)?)));
    let cores: Vec<(&str, f64)> = cores.chain(strangers(scene, host)).collect();
    let busiest = cores.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((busiest.0.to_owned(), cores.iter().map(|(_, cores)| cores).sum()))
}

/// Watched processes that requests are not seen to pass, and that use as much at the lowest load. Of a lab host every process
/// is watched, whatever it is there for.
fn strangers<'s>(scene: &'s Scene<'_>, host: &str) -> Vec<(&'s str, f64)> {
    let tiers = scene.flow.tiers.iter().filter(|tier| tier.is_looked_at() && tier.node.host == host);
    let ours: Vec<&str> = tiers.map(|tier| tier.process()).collect();
    if ours.is_empty() || ours.contains(&"") {
        return Vec::new();
    }
    let stranger = |(subject, track): (&'s str, &Track<'_>)| {
        let cores = crate::usage::cpu_of(track, scene.span())?;
        let follows_load = crate::usage::cpu_of(track, scene.lowest_span()?)? < STEADY * cores;
        (!ours.contains(&name_of(subject)) && !follows_load).then_some((subject, cores))
    };
    scene.seen.hosts.of(host, "process").filter_map(stranger).collect()
}

/// The part of a host's CPU time that other guests of its machine took.
fn stolen(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let track = scene.seen.hosts.track(host, "cpu", "")?;
    let total_ms = track.per_sec("total_ms", scene.span()).filter(|total_ms| *total_ms > 0.0)?;
    Some(track.per_sec("steal_ms", scene.span())? / total_ms)
}

/// Cores that the watched processes of a host waited for while they were ready.
fn waited(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let span = scene.span();
    let tracks = scene.seen.hosts.of(host, "process");
    tracks.filter_map(|(_, track)| Some(track.per_sec("run_wait_us", span)? / 1e6)).reduce(|a, b| a + b)
}

/// The CPU is busy, and would not be without the others.
fn on_busy(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let cpu = scene.cpu(host).filter(|cpu| super::processor::is_busy(scene, cpu))?;
    let (share, capacity) = (scene.share(cpu)?, cpu.capacity?);
    let (name, by_others) =
        others(scene, host).map_or((String::new(), 0.0), |(name, cores)| (name, cores / capacity));
    let by_guests = stolen(scene, host).unwrap_or(0.0);
    if share - by_others - by_guests >= bounds::FREE {
        return None;
    }
    let (who, part) = if by_guests > by_others {
        ("other guests of its machine".to_owned(), by_guests)
    } else {
        (name, by_others)
    };
    Some(suspicion(scene, cpu, &who, part))
}

fn suspicion(scene: &Scene<'_>, cpu: &Resource, who: &str, part: f64) -> Suspicion {
    let host = &cpu.host;
    let share = scene.share(cpu).unwrap_or_default();
    let waited = waited(scene, host);
    let ours = scene.cores_of_processes(host, None, scene.span());
    let kept = waited.zip(ours).map(|(waited, ours)| waited / (waited + ours).max(f64::MIN_POSITIVE));
    let sentence = format!(
        "the CPU of {host} is the limit, and a neighbour takes it: {} was busy at {} requests/s, {} with {who}",
        percent(share),
        count_text(scene.throughput()),
        percent(part),
    );
    let mut evidence = vec![
        scene.row(format!("CPU of {host}"), share, Some(1.0)),
        scene.row(format!("CPU of {host} used by {who}"), part, Some(1.0)),
    ];
    evidence.extend(kept.map(|kept| {
        scene.row(
            format!("time that the target's threads on {host} were ready and had no CPU"),
            kept,
            Some(1.0),
        )
    }));
    Suspicion {
        share,
        by_neighbour: true,
        direct: kept.is_some_and(|kept| kept >= WAITED / 2.0),
        evidence,
        advice: vec![format!("move {who} away from {host}, or the target, and repeat the load")],
        ..Suspicion::new(Limit::Cpu, format!("{host}: {who}"), sentence)
    }
}

/// The host has CPU left by its own account, and its threads wait for it all the same: the machine below has none.
fn on_idle(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let idle = scene.cpu_share(host).is_none_or(|share| share < bounds::BUSY);
    let (waited, ours) = (waited(scene, host)?, scene.cores_of_processes(host, None, scene.span())?);
    let kept = waited / (waited + ours).max(f64::MIN_POSITIVE);
    let wanted = scene.of_kind(ResourceKind::Thread).filter(|thread| thread.host == host).any(|thread| {
        let track = scene.seen.hosts.track(host, "thread", &thread.detail);
        let waits = track.and_then(|track| track.per_sec("run_wait_us", scene.span())).map(|us| us / 1e6);
        thread.used[scene.step].zip(waits).is_some_and(|(used, waits)| used + waits >= bounds::BUSY)
    });
    if !idle || !wanted || kept < WAITED {
        return None;
    }
    let sentence = format!(
        "the CPU of the machine below {host} is the limit: threads of the target were ready and had none for {} of the \
         time they wanted it, though {host} had not used up its own",
        percent(kept)
    );
    Some(Suspicion {
        share: 1.0,
        by_neighbour: true,
        evidence: vec![scene.row(
            format!("time that the target's threads on {host} were ready and had no CPU"),
            kept,
            Some(1.0),
        )],
        advice: vec![format!(
            "look for what else runs on the machine of {host}, and repeat the load without it"
        )],
        ..Suspicion::new(Limit::Cpu, format!("{host}: a neighbour"), sentence)
    })
}
