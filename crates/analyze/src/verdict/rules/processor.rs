//! `cpu`: all processors that a host may use are busy.

use plimsoll_units::{count_text, significant};

use crate::verdict::bounds;
use crate::verdict::phrase::{cost, percent};
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind};

/// Hosts whose CPU is busy, and hosts of which one core is, with the work of the network.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let busy = |resource: &&Resource| is_busy(scene, resource);
    let hosts = scene.of_kind(ResourceKind::Cpu).filter(busy).map(|resource| host(scene, resource));
    hosts.chain(network_cores(scene)).collect()
}

/// Busy by the mean, or throttled in most periods with little missing.
pub(super) fn is_busy(scene: &Scene<'_>, resource: &Resource) -> bool {
    let throttled = || scene.throttled(resource).is_some_and(|ratio| ratio >= bounds::THROTTLED);
    scene
        .share(resource)
        .is_some_and(|share| share >= bounds::BUSY || (share >= bounds::BUSY_THROTTLED && throttled()))
}

/// The law holds over the ladder; or throughput hardly differed and the watched processes account for the use.
fn used_by_requests(scene: &Scene<'_>, resource: &Resource) -> bool {
    let by_ours = || {
        let ours = scene.cores_of_processes(&resource.host, None, scene.span());
        ours.zip(resource.used[scene.step]).is_some_and(|(ours, used)| ours >= bounds::PASSED_ON * used)
    };
    let holds = resource.demand.is_some_and(|demand| demand.law == Law::Holds);
    scene.is_used_by_requests(resource) && (holds || by_ours())
}

fn host(scene: &Scene<'_>, resource: &Resource) -> Suspicion {
    let share = scene.share(resource).unwrap_or_default();
    let capacity = resource.capacity.unwrap_or_default();
    let whose = whose(scene, &resource.host, share * capacity);
    let sentence = format!(
        "the CPU of {} is the limit: {} of its {} was used at {} requests/s{}{whose}",
        resource.host,
        percent(share),
        cores_text(capacity),
        count_text(scene.throughput()),
        cost(scene, resource),
    );
    let mut evidence = vec![scene.row(format!("CPU of {}", resource.host), share, Some(1.0))];
    let throttled = scene.throttled(resource).filter(|ratio| *ratio > 0.0);
    evidence.extend(throttled.map(|ratio| {
        scene.row(format!("periods in which {} was out of its quota", resource.host), ratio, Some(1.0))
    }));
    Suspicion {
        share,
        at_per_sec: resource.demand.and_then(|demand| demand.at_per_sec),
        direct: used_by_requests(scene, resource),
        whatever_the_load: is_spun(scene, resource),
        evidence,
        advice: vec![advice(scene, &resource.host)],
        ..Suspicion::new(Limit::Cpu, resource.host.clone(), sentence)
    }
}

/// Full at any load, and nobody of the target waits for it: it is given up by whoever has it, as by threads that poll.
fn is_spun(scene: &Scene<'_>, resource: &Resource) -> bool {
    let broken = resource.demand.is_some_and(|demand| demand.law == Law::Broken);
    broken && super::neighbour::kept(scene, &resource.host).is_some_and(|kept| kept < bounds::KEPT / 2.0)
}

/// Who used most of it, and whether that is the greater part.
fn whose(scene: &Scene<'_>, host: &str, all: f64) -> String {
    let processes = scene.processes(host);
    let Some((name, cores)) = processes.first().filter(|(_, cores)| *cores > 0.0) else {
        return String::new();
    };
    let part = cores / all.max(f64::MIN_POSITIVE);
    let cores = significant(*cores);
    if part > 0.5 {
        format!(", most of it by {name} ({cores} cores)")
    } else {
        format!(", {} of that by {name} ({cores} cores), of what is watched there the busiest", percent(part))
    }
}

/// More cores help only what can use them: a thread that has a whole one needs a second beside it.
fn advice(scene: &Scene<'_>, host: &str) -> String {
    let alone = scene
        .of_kind(ResourceKind::Thread)
        .any(|thread| thread.host == host && scene.share(thread).is_some_and(|share| share >= bounds::BUSY));
    let with = if alone { " and its busiest process another worker" } else { "" };
    format!(
        "give {host} half as many cores again{with}, or take a third of its CPU cost a request away, and repeat the load with \
         -c {}: throughput should grow by half, or up to the next limit",
        scene.decisive().connections
    )
}

fn cores_text(cores: f64) -> String {
    if cores == 1.0 { "1 core".to_owned() } else { format!("{} cores", significant(cores)) }
}

/// A core that is busy with packets alone: the threads of the host are not, and other cores idle. A core that is busy
/// with anything else is seen by its thread.
fn network_cores<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = Suspicion> + 's {
    let busy = |resource: &&Resource| {
        scene.share(resource).is_some_and(|share| share >= bounds::BUSY)
            && scene.cpu_share(&resource.host).is_some_and(|share| share < bounds::BUSY)
    };
    scene.of_kind(ResourceKind::Core).filter(busy).filter_map(|resource| network_core(scene, resource))
}

fn network_core(scene: &Scene<'_>, resource: &Resource) -> Option<Suspicion> {
    let number = resource.detail.trim_start_matches("core ");
    let track = scene.seen.hosts.track(&resource.host, "core", number)?;
    let total_ms = track.per_sec("total_ms", scene.span()).filter(|total_ms| *total_ms > 0.0)?;
    let interrupts_ms =
        track.per_sec("softirq_ms", scene.span())? + track.per_sec("irq_ms", scene.span()).unwrap_or(0.0);
    let packets = interrupts_ms / total_ms;
    if packets < 0.5 {
        return None;
    }
    let share = scene.share(resource)?;
    let sentence = format!(
        "one core of {} is the limit: {} was {} busy at {} requests/s, {} of its time with packets of the network",
        resource.host,
        resource.detail,
        percent(share),
        count_text(scene.throughput()),
        percent(packets),
    );
    Some(Suspicion {
        share,
        at_per_sec: resource.demand.and_then(|demand| demand.at_per_sec),
        evidence: vec![
            scene.row(format!("{} of {}", resource.detail, resource.host), share, Some(1.0)),
            scene.row(format!("time of {} spent on packets", resource.detail), packets, Some(1.0)),
        ],
        advice: vec![format!(
            "spread the packets of {} over its cores (receive queues of the interface, RPS) and repeat the load",
            resource.host
        )],
        ..Suspicion::new(Limit::Cpu, resource.place(), sentence)
    })
}
