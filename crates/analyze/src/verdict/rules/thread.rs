//! `thread`: one thread has a whole core and its host has cores left.

use plimsoll_units::count_text;

use super::memory::is_collector;
use crate::hosts::{name_of, pid_of};
use crate::verdict::bounds;
use crate::verdict::phrase::{cost, percent};
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind};

/// The busiest thread of each process that has one at its end.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let mut found: Vec<Suspicion> = Vec::new();
    let mut hot: Vec<&Resource> =
        scene.of_kind(ResourceKind::Thread).filter(|thread| is_hot(scene, thread)).collect();
    hot.sort_by(|a, b| scene.share(b).partial_cmp(&scene.share(a)).unwrap_or(std::cmp::Ordering::Equal));
    for thread in &hot {
        // Workers of one name are one server: its busiest speaks for them.
        let name = owner_of(scene, thread);
        if !found.iter().any(|known| known.place == place(thread, &name)) {
            let alike =
                hot.iter().filter(|other| other.host == thread.host && owner_of(scene, other) == name);
            found.push(suspicion(scene, thread, &name, alike.count()));
        }
    }
    found
}

/// A collector's thread is memory's matter. Where all of the host's CPU is used about as much, that is the limit.
fn is_hot(scene: &Scene<'_>, thread: &Resource) -> bool {
    let Some(share) = scene.share(thread).filter(|share| *share >= bounds::BUSY) else { return false };
    let cpu = scene.cpu(&thread.host);
    let room = cpu.is_none_or(|cpu| {
        !super::processor::is_busy(scene, cpu)
            || scene.share(cpu).is_some_and(|whole| share > (1.0 + bounds::TIE) * whole)
    });
    room && !is_collector(name_of(&thread.detail))
}

/// The name of a thread's process, which a thread may not carry itself.
fn owner_of(scene: &Scene<'_>, thread: &Resource) -> String {
    let pid = pid_of(&thread.detail);
    let owner = scene
        .seen
        .hosts
        .of(&thread.host, "process")
        .find(|(subject, _)| pid.is_some() && pid_of(subject) == pid);
    owner.map_or_else(|| name_of(&thread.detail), |(subject, _)| name_of(subject)).to_owned()
}

fn place(thread: &Resource, process: &str) -> String {
    let name = if process.is_empty() { &thread.detail } else { process };
    format!("{}: {name}", thread.host)
}

fn suspicion(scene: &Scene<'_>, thread: &Resource, process: &str, alike: usize) -> Suspicion {
    let share = scene.share(thread).unwrap_or_default();
    let host = &thread.host;
    let whose = match alike {
        1 => "one thread of it".to_owned(),
        more => format!("the busiest of its {more} busy threads"),
    };
    let name = if process.is_empty() { &thread.detail } else { process };
    let idle = scene.cpu_share(host).map_or_else(String::new, |used| {
        format!(", while {} of the CPU of {host} was idle", percent((1.0 - used).max(0.0)))
    });
    let sentence = format!(
        "{name} on {host} is the limit: {whose} used {} of a core at {} requests/s{}{idle}",
        percent(share),
        count_text(scene.throughput()),
        cost(scene, thread),
    );
    let mut evidence = vec![scene.row(format!("thread {} of {host}", thread.detail), share, Some(1.0))];
    evidence.extend(scene.cpu_share(host).map(|used| scene.row(format!("CPU of {host}"), used, Some(1.0))));
    Suspicion {
        share,
        at_per_sec: thread.demand.and_then(|demand| demand.at_per_sec),
        direct: thread.demand.is_some_and(|demand| demand.law != Law::Broken)
            && scene.cpu_share(host).is_some(),
        evidence,
        advice: vec![format!(
            "give {name} on {host} another worker, thread or instance and repeat the load with -c {}: more cores alone will not help",
            scene.decisive().connections
        )],
        ..Suspicion::new(Limit::Thread, place(thread, process), sentence)
    }
}
