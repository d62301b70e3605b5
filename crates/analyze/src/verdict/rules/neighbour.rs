//! `cpu`, taken by somebody else: processes that are not the target's, other guests of the machine, or processes of
//! which nothing more is known than that the target's waited for them.

use plimsoll_units::count_text;

use super::thread::Wanted;
use crate::hosts::{Track, name_of};
use crate::verdict::bounds;
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Limit, Resource, ResourceKind};

/// What the commands of the load generator are called, where it runs on the host itself: it follows the load without
/// serving it.
const GENERATORS: [&str; 2] = ["plimsoll", "wrk"];

/// Hosts whose CPU the target wanted and did not get.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let hosts = scene.hosts().into_iter();
    hosts.filter_map(|host| on_busy(scene, host).or_else(|| on_idle(scene, host))).collect()
}

/// A process that serves no requests.
struct Stranger<'a> {
    subject: &'a str,
    cores: f64,
    /// True if it is seen not to: it uses as much at the lowest load.
    certain: bool,
}

/// Processes of a host that are not watched, but for those that follow the load: a server behind a unix socket, or one
/// started for each request, is not found by its connections and works for the requests all the same.
fn unwatched<'s>(scene: &'s Scene<'_>, host: &str) -> Vec<Stranger<'s>> {
    let stranger = |(subject, track): (&'s str, &Track<'_>)| {
        let cores = crate::usage::cpu_of(track, scene.span())?;
        let generator = GENERATORS.contains(&name_of(subject));
        let follows = scene.follows_load(track).filter(|_| !generator);
        (follows != Some(true)).then_some(Stranger {
            subject,
            cores,
            certain: generator || follows.is_some(),
        })
    };
    scene.seen.hosts.of(host, "neighbours").filter_map(stranger).collect()
}

/// Watched processes that requests are not seen to pass, and that use as much at the lowest load, or never sleep. Of a lab
/// host every process is watched, whatever it is there for.
fn strangers<'s>(scene: &'s Scene<'_>, host: &str) -> Vec<Stranger<'s>> {
    let tiers = scene.flow.tiers.iter().filter(|tier| tier.is_looked_at() && tier.node.host == host);
    let ours: Vec<&str> = tiers.map(|tier| tier.process()).collect();
    if ours.is_empty() || ours.contains(&"") {
        return Vec::new();
    }
    let stranger = |(subject, track): (&'s str, &Track<'_>)| {
        let cores = crate::usage::cpu_of(track, scene.span())?;
        let works = scene.follows_load(track).or_else(|| scene.sleeps(track)).unwrap_or(true);
        let strange = !ours.contains(&name_of(subject)) && !works;
        strange.then_some(Stranger { subject, cores, certain: true })
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

/// The part of the CPU time they wanted that the watched processes of a host did not get.
pub(super) fn kept(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let (waited, ours) = (waited(scene, host)?, scene.cores_of_processes(host, None, scene.span())?);
    Some(waited / (waited + ours).max(f64::MIN_POSITIVE))
}

/// The CPU is busy, and would not be without the others.
fn on_busy(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let cpu = scene.cpu(host).filter(|cpu| super::processor::is_busy(scene, cpu))?;
    let (share, capacity) = (scene.share(cpu)?, cpu.capacity?);
    let others: Vec<Stranger<'_>> =
        unwatched(scene, host).into_iter().chain(strangers(scene, host)).collect();
    let by_others = others.iter().map(|other| other.cores).sum::<f64>() / capacity;
    let busiest = others.iter().max_by(|a, b| a.cores.total_cmp(&b.cores));
    let name = busiest.map_or_else(String::new, |busiest| busiest.subject.to_owned());
    let by_guests = stolen(scene, host).unwrap_or(0.0);
    if share - by_others - by_guests >= bounds::FREE {
        return None;
    }
    let (who, part) = if by_guests > by_others {
        ("other guests of its machine".to_owned(), by_guests)
    } else {
        (name, by_others)
    };
    let mut found = suspicion(scene, cpu, &who, part);
    found.direct &= others.iter().all(|other| other.certain || other.cores < bounds::TIE * capacity);
    Some(found)
}

fn suspicion(scene: &Scene<'_>, cpu: &Resource, who: &str, part: f64) -> Suspicion {
    let host = &cpu.host;
    let share = scene.share(cpu).unwrap_or_default();
    let kept = kept(scene, host);
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
        direct: kept.is_some_and(|kept| kept >= bounds::KEPT / 2.0),
        evidence,
        advice: vec![format!("move {who} away from {host}, or the target, and repeat the load")],
        ..Suspicion::new(Limit::Cpu, format!("{host}: {who}"), sentence)
    }
}

/// The host has CPU left by its own account, and its threads wait for it all the same: the machine below has none.
fn on_idle(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let idle = scene.cpu_share(host).is_none_or(|share| share < bounds::BUSY);
    let kept = kept(scene, host)?;
    let mut threads = scene.of_kind(ResourceKind::Thread).filter(|thread| thread.host == host);
    let wanted = threads.any(|thread| Wanted::of(scene, thread).is_some_and(Wanted::is_at_end));
    // A group that is out of quota keeps its own threads waiting.
    let groups = scene.of_target().filter(|resource| {
        resource.host == host && matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota)
    });
    let throttled = |group: &Resource| scene.throttled(group).is_some_and(|part| part >= bounds::THROTTLED);
    let mut quotas = groups.filter(|group| throttled(group) || is_full_quota(scene, group));
    let held_up = quotas.next().is_some();
    if !idle || !wanted || held_up || kept < bounds::KEPT {
        return None;
    }
    if let Some(cores) = full_cores(scene, host) {
        return Some(confined(scene, host, cores, kept));
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

fn is_full_quota(scene: &Scene<'_>, group: &Resource) -> bool {
    group.kind == ResourceKind::Quota && super::processor::is_busy(scene, group)
}

/// How many of a host's cores are busy while others are not.
fn full_cores(scene: &Scene<'_>, host: &str) -> Option<usize> {
    let cores = scene.of_kind(ResourceKind::Core).filter(|core| core.host == host);
    let full = cores.filter(|core| scene.share(core).is_some_and(|share| share >= bounds::BUSY)).count();
    (full > 0).then_some(full)
}

/// Threads wait for cores that are full beside others that idle: they may not run there.
fn confined(scene: &Scene<'_>, host: &str, cores: usize, kept: f64) -> Suspicion {
    let plural = if cores == 1 { "" } else { "s" };
    let sentence = format!(
        "the cores that the target may use on {host} are the limit: {cores} core{plural} of it were full, and its threads \
         were ready and had none for {} of the time they wanted one, while others idled",
        percent(kept)
    );
    let what = format!("time that the target's threads on {host} were ready and had no CPU");
    Suspicion {
        evidence: vec![scene.row(what, kept, Some(1.0))],
        advice: vec![format!(
            "look at which cores the target on {host} may use (taskset, cpuset, CPUAffinity), give it more of them, and \
             repeat the load"
        )],
        ..Suspicion::new(Limit::Cpu, host, sentence)
    }
}
