//! `lock`: requests take turns at one thing.

use plimsoll_units::{count_text, duration_text, significant};

use super::pool::AtOnce;
use super::queue::Queue;
use crate::hosts::{Span, Track, name_of, pid_of};
use crate::verdict::bounds;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{EvidenceRow, Limit, Resource};

/// The cores that a process of many threads uses when one of them runs at a time.
const ONE_AT_A_TIME: std::ops::RangeInclusive<f64> = 0.85..=1.15;
/// Work that is done by turns but for a small part has at most this many requests under way.
pub(in crate::verdict) const TURNS_MOST: f64 = 1.5;
/// No thread of such a process has the whole core to itself.
const THREAD_MOST: f64 = 0.75;

/// Processes whose threads share one core between them on a host that has more.
pub(in crate::verdict) fn by_cpu(scene: &Scene<'_>) -> Vec<Suspicion> {
    let mut found: Vec<Suspicion> =
        scene.hosts().into_iter().filter_map(|host| one_core(scene, host)).collect();
    for lock in &mut found {
        // A runtime that lets one of its threads run at a time looks like it: it can use one core.
        lock.beside = vec![Suspicion::new(Limit::Thread, &lock.place, String::new())];
    }
    found
}

fn one_core(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let cpu = scene.cpu(host)?;
    let span = scene.span();
    let (subject, cores) = scene
        .seen
        .hosts
        .of(host, "process")
        .filter_map(|(subject, track)| Some((subject, crate::usage::cpu_of(track, span)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, cores)| ONE_AT_A_TIME.contains(cores))?;
    let ours = scene.seen.hosts.of(host, "thread").filter(|(thread, _)| pid_of(thread) == pid_of(subject));
    let threads: Vec<f64> = ours.filter_map(|(_, track)| crate::usage::cpu_of(track, span)).collect();
    let sharing = threads.iter().filter(|used| **used >= bounds::TAKES_PART).count();
    if sharing < 2 || threads.iter().any(|used| *used > THREAD_MOST) || super::processor::is_busy(scene, cpu)
    {
        return None;
    }
    let name = name_of(subject);
    let sentence = format!(
        "a lock in {name} on {host} is the limit: its {sharing} busy threads used {} cores between them at {} requests/s, as \
         if one ran at a time",
        significant(cores),
        count_text(scene.throughput())
    );
    let mut evidence: Vec<EvidenceRow> = vec![
        scene.row(format!("cores used by {name} on {host}, all threads together"), cores, None),
        scene.row(format!("threads of {name} on {host} that share them"), sharing as f64, None),
    ];
    evidence.extend(
        futex(scene, host, subject).map(|waiting| {
            scene.row(format!("threads of {name} on {host} waiting for another"), waiting, None)
        }),
    );
    Some(suspicion(scene, host, name, sentence, evidence))
}

/// The work of one thread at a time, and not always the same one's: another thread of the same name had the most of it in
/// another step. So any of them could serve beside the one that is at its end, on a host with room, and none does.
///
/// Threads that each wait for their own connections look the same where these are dealt out unevenly and anew in each step, but
/// wait for no other thread.
pub(super) fn in_turn(scene: &Scene<'_>, busiest: &Resource) -> Option<Suspicion> {
    let host = &busiest.host;
    let process = |(subject, _): &(&str, &Track<'_>)| pid_of(subject) == pid_of(&busiest.detail);
    let (subject, _) = scene.seen.hosts.of(host, "process").find(process)?;
    let cores = scene.share(busiest)? + used_by_alike(scene, busiest);
    let waits = futex(scene, host, subject).is_some_and(|waiting| waiting >= 1.0);
    let turns = waits && is_by_turns(cores) && has_changed_hands(scene, busiest);
    turns.then(|| taking_turns(scene, host, name_of(subject), cores))
}

/// Cores that the other threads of its process and name used.
pub(super) fn used_by_alike(scene: &Scene<'_>, thread: &Resource) -> f64 {
    alike(scene, thread).filter_map(|other| crate::usage::cpu_of(other, scene.span())).sum()
}

/// More than one core, so that two threads do run at once at times, and clearly less than two.
pub(super) fn is_by_turns(cores: f64) -> bool {
    (1.0 + bounds::TIE..TURNS_MOST).contains(&cores)
}

/// A process whose threads used so many cores, most of the time one after another.
pub(super) fn taking_turns(scene: &Scene<'_>, host: &str, name: &str, cores: f64) -> Suspicion {
    let sentence = format!(
        "a lock in {name} on {host} is the limit: its threads take turns, any of them, and used {} cores together at {} \
         requests/s",
        significant(cores),
        count_text(scene.throughput())
    );
    let what = format!("cores used by {name} on {host}, all threads together");
    suspicion(scene, host, name, sentence, vec![scene.row(what, cores, None)])
}

/// Whether another thread of its process and name did more than it in a step in which that one took part.
fn has_changed_hands(scene: &Scene<'_>, busiest: &Resource) -> bool {
    let Some(own) = scene.seen.hosts.track(&busiest.host, "thread", &busiest.detail) else { return false };
    let did_more = |other: &Track<'_>, span: Span| {
        let used = crate::usage::cpu_of(own, span).zip(crate::usage::cpu_of(other, span));
        used.is_some_and(|(own, other)| other > (1.0 + bounds::TIE) * own && other >= bounds::TAKES_PART)
    };
    alike(scene, busiest).any(|other| scene.seen.spans.iter().any(|span| did_more(other, *span)))
}

/// The other threads of its process that have its name, and so the same work.
fn alike<'s>(scene: &'s Scene<'_>, thread: &'s Resource) -> impl Iterator<Item = &'s Track<'s>> {
    let pid = pid_of(&thread.detail);
    let all = scene.seen.hosts.of(&thread.host, "thread").filter(move |_| pid.is_some());
    let others = all.filter(move |(subject, _)| *subject != thread.detail && pid_of(subject) == pid);
    others.filter(|(subject, _)| role(subject) == role(&thread.detail)).map(|(_, track)| track)
}

/// What a thread is called, without the number that tells it from others of its kind.
fn role(subject: &str) -> &str {
    name_of(subject).trim_end_matches(|last: char| last.is_ascii_digit() || "-#_ ".contains(last))
}

/// Threads of a process that waited for another thread at any moment, on average.
fn futex(scene: &Scene<'_>, host: &str, subject: &str) -> Option<f64> {
    let track = scene.seen.hosts.track(host, "waiting", subject)?;
    let looks = track.per_sec("looks", scene.span()).filter(|looks| *looks > 0.0)?;
    Some(track.per_sec("futex", scene.span())? / looks)
}

fn suspicion(
    scene: &Scene<'_>,
    host: &str,
    name: &str,
    sentence: String,
    evidence: Vec<EvidenceRow>,
) -> Suspicion {
    Suspicion {
        evidence,
        advice: vec![format!(
            "take a profile of where {name} on {host} waits during -c {} (off-CPU, mutex profile), shorten what is done under \
             the lock, and repeat the load; a second process would tell too",
            scene.decisive().connections
        )],
        ..Suspicion::new(Limit::Lock, format!("{host}: {name}"), sentence)
    }
}

/// Requests that were all read, and of which one is worked on at a time: whatever it is that they take turns at, it is
/// within the process. Requests that nobody has read wait for a worker instead.
pub(in crate::verdict) fn by_turns(scene: &Scene<'_>, queue: &Queue, at_once: AtOnce) -> Option<Suspicion> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let tier = scene.flow.tiers.get(*tier)?;
    let read = queue.at_the_door.is_some_and(|part| part < bounds::AT_THE_DOOR);
    if at_once.count.value > TURNS_MOST || !read {
        return None;
    }
    let sentence = format!(
        "a lock in {} is the limit: {} requests/s of {} each are {} at once, and those that wait were all read",
        tier.place(),
        count_text(scene.throughput()),
        duration_text(at_once.unqueued_sec * 1e9),
        significant(at_once.count.value),
    );
    let evidence = vec![
        scene.row(
            "requests worked on at once: throughput × the time of a request that does not wait",
            at_once.count.value,
            None,
        ),
        scene.row(
            format!("waiting requests that {} has not read", tier.place()),
            queue.at_the_door.unwrap_or_default(),
            Some(1.0),
        ),
    ];
    let mut found = suspicion(scene, &tier.node.host, tier.process(), sentence, evidence);
    found.advice.push(super::pool::held_back(scene));
    Some(found)
}
