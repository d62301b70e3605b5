//! `thread`: one thread has a whole core, or wants one all the time, and its host has cores left.
//!
//! A thread serves what it is given one after the other. If it is always on a CPU or ready for one, it has no pause left
//! in which it could do more: it is a server at its end, whatever part of that time it was let run.

use plimsoll_units::{count_text, significant};

use super::lock;
use super::memory::is_collector;
use super::pool::AtOnce;
use crate::hosts::{Track, name_of, pid_of};
use crate::verdict::bounds;
use crate::verdict::phrase::{cost, percent};
use crate::verdict::scene::{Scene, Suspicion};
use crate::{EvidenceRow, Law, Limit, Resource, ResourceKind};

/// What a thread had of a core, and what it wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    /// The part of the time that it was on a CPU.
    used: f64,
    /// The part that it was ready and on none: others ran, its group was out of quota, or its CPU was taken by other guests.
    waited: f64,
}

impl Wanted {
    pub(super) fn of(scene: &Scene<'_>, thread: &Resource) -> Option<Self> {
        let used = scene.share(thread)?;
        let track = |source| scene.seen.hosts.track(&thread.host, source, &thread.detail);
        let track = track("thread").or_else(|| track("process"));
        let ready = track.and_then(|track| ready_of(scene, track)).unwrap_or(0.0);
        // Of the time that a CPU runs something, other guests take their part from all of it.
        let taken = taken(scene, &thread.host).map_or(0.0, |part| used * part / (1.0 - part));
        Some(Self { used, waited: (ready + taken).min((1.0 - used).max(0.0)) })
    }

    fn all(self) -> f64 {
        self.used + self.waited
    }

    /// The part of what it wanted that it did not get.
    pub(super) fn kept(self) -> f64 {
        self.waited / self.all().max(f64::MIN_POSITIVE)
    }

    /// On a CPU or ready for one nearly all of the time.
    pub(super) fn is_at_end(self) -> bool {
        self.all() >= bounds::BUSY
    }
}

/// Threads of a process that were ready and on no CPU, on average.
fn ready_of(scene: &Scene<'_>, track: &Track<'_>) -> Option<f64> {
    track.per_sec("run_wait_us", scene.span()).map(|us| us / 1e6)
}

/// The part of the time in which a host's CPUs had something to run that other guests of its machine took.
fn taken(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let track = scene.seen.hosts.track(host, "cpu", "")?;
    let rate = |name| track.per_sec(name, scene.span());
    let busy = rate("total_ms")? - rate("idle_ms")? - rate("iowait_ms").unwrap_or(0.0);
    Some((rate("steal_ms")? / busy.max(f64::MIN_POSITIVE)).clamp(0.0, bounds::BUSY))
}

/// The busiest thread of each process that has one at its end.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let mut found: Vec<Suspicion> = Vec::new();
    let hot =
        |thread: &'_ Resource| Wanted::of(scene, thread).filter(|wanted| is_hot(scene, thread, *wanted));
    let mut hot: Vec<(&Resource, Wanted)> =
        scene.of_kind(ResourceKind::Thread).filter_map(|thread| Some((thread, hot(thread)?))).collect();
    hot.sort_by(|a, b| b.1.used.total_cmp(&a.1.used));
    for (thread, wanted) in &hot {
        // Workers of one name are one server: its busiest speaks for them.
        let name = owner_of(scene, thread);
        if !found.iter().any(|known| known.place == place(thread, &name)) {
            let alike =
                hot.iter().filter(|(other, _)| other.host == thread.host && owner_of(scene, other) == name);
            let alike = alike.count();
            let one = suspicion(scene, (thread, *wanted), &name, alike);
            let turns = if alike == 1 { lock::in_turn(scene, thread) } else { None };
            found.push(match turns {
                Some(turns) => beside_a_lock(turns, one),
                None => one,
            });
        }
    }
    found
}

/// A lock in place of the thread that has the work under it, which is named beside it with what it was beside.
fn beside_a_lock(turns: Suspicion, mut thread: Suspicion) -> Suspicion {
    let mut beside = std::mem::take(&mut thread.beside);
    beside.retain(|other| other.limit != Limit::Lock);
    let whatever_the_load = thread.whatever_the_load;
    beside.insert(0, thread);
    Suspicion { beside, whatever_the_load, ..turns }
}

/// A collector's thread is memory's matter. Where all of the host's CPU is used about as much, that is the limit; and where a
/// thread gets less than half of what it wants, whatever keeps it from it is.
fn is_hot(scene: &Scene<'_>, thread: &Resource, wanted: Wanted) -> bool {
    let cpu = scene.cpu(&thread.host);
    let room = cpu.is_none_or(|cpu| {
        !super::processor::is_busy(scene, cpu)
            || scene.share(cpu).is_some_and(|whole| wanted.used > (1.0 + bounds::TIE) * whole)
    });
    wanted.is_at_end() && wanted.kept() < bounds::KEPT && room && !is_collector(name_of(&thread.detail))
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

fn suspicion(
    scene: &Scene<'_>,
    (thread, wanted): (&Resource, Wanted),
    process: &str,
    alike: usize,
) -> Suspicion {
    let host = &thread.host;
    let whose = match alike {
        1 => "one thread of it".to_owned(),
        more => format!("the busiest of its {more} busy threads"),
    };
    let name = if process.is_empty() { &thread.detail } else { process };
    let idle = scene.cpu_share(host).map_or_else(String::new, |used| {
        format!(", while {} of the CPU of {host} was idle", percent((1.0 - used).max(0.0)))
    });
    let ready = match wanted.used >= bounds::BUSY {
        true => String::new(),
        false => format!(" and was ready for one for another {} of the time", percent(wanted.waited)),
    };
    let sentence = format!(
        "{name} on {host} is the limit: {whose} used {} of a core{ready} at {} requests/s{}{idle}",
        percent(wanted.used),
        count_text(scene.throughput()),
        cost(scene, thread),
    );
    let mut beside = kept_by(scene, host, wanted);
    // Where others of its name do more than what one at its end has left, several threads serve, and that one of them has most of
    // the work may be its scheduler's choice: under a lock one works at a time, too.
    if alike == 1 && lock::used_by_alike(scene, thread) > 1.0 - bounds::BUSY {
        beside.push(Suspicion::new(Limit::Lock, place(thread, process), String::new()));
    }
    Suspicion {
        share: wanted.all().min(1.0),
        at_per_sec: thread
            .demand
            .and_then(|demand| demand.at_per_sec)
            .filter(|_| wanted.used >= bounds::BUSY),
        direct: scene.is_used_by_requests(thread) && scene.cpu_share(host).is_some() && beside.is_empty(),
        whatever_the_load: thread.demand.is_some_and(|demand| demand.law == Law::Broken),
        evidence: evidence(scene, thread, wanted),
        advice: vec![advice(scene, name, host)],
        beside,
        ..Suspicion::new(Limit::Thread, place(thread, process), sentence)
    }
}

fn advice(scene: &Scene<'_>, name: &str, host: &str) -> String {
    format!(
        "give {name} on {host} another worker, thread or instance and repeat the load with -c {}: more cores alone will not help",
        scene.decisive().connections
    )
}

fn evidence(scene: &Scene<'_>, thread: &Resource, wanted: Wanted) -> Vec<EvidenceRow> {
    let host = &thread.host;
    let mut rows = vec![scene.row(format!("thread {} of {host}", thread.detail), wanted.used, Some(1.0))];
    if wanted.waited > 0.0 {
        let what = format!("time that thread {} of {host} was ready and had no CPU", thread.detail);
        rows.push(scene.row(what, wanted.waited, Some(1.0)));
    }
    rows.extend(scene.cpu_share(host).map(|used| scene.row(format!("CPU of {host}"), used, Some(1.0))));
    rows
}

/// What keeps a thread from the CPU, where it would get further without: as far as from busy to full, or more.
fn kept_by(scene: &Scene<'_>, host: &str, wanted: Wanted) -> Vec<Suspicion> {
    if wanted.used >= bounds::BUSY || wanted.kept() < 1.0 - bounds::BUSY {
        return Vec::new();
    }
    let of_host = |resource: &&Resource| {
        resource.host == host && matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota)
    };
    let own = scene.nearly_full().into_iter().find(of_host);
    let own = own.map(|resource| Suspicion::new(resource.kind.limit(), resource.place(), String::new()));
    let other = || Suspicion {
        by_neighbour: true,
        ..Suspicion::new(Limit::Cpu, format!("{host}: a neighbour"), String::new())
    };
    vec![own.unwrap_or_else(other)]
}

/// A server whose requests are on a CPU, or ready for one, for about all of the time that they take: what bounds how many
/// of them there are at once bounds what runs at once, and no pool of workers that wait for something. `at_once` is how
/// many are served at a time (X·S₀); of these X·S₀ seconds a second the processes of one name account for nine tenths.
pub(in crate::verdict) fn computing(scene: &Scene<'_>, at_once: AtOnce) -> Option<Suspicion> {
    let least = bounds::BUSY * at_once.count.value.max(1.0);
    let busiest = scene
        .hosts()
        .into_iter()
        .flat_map(|host| scene.processes(host).into_iter().map(move |(name, used)| (host, name, used)));
    let (host, name, used) = busiest.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let named = || scene.seen.hosts.of(host, "process").filter(move |(subject, _)| name_of(subject) == name);
    let ready: f64 = named().filter_map(|(_, track)| ready_of(scene, track)).sum();
    let follows = |track: &Track<'_>| scene.follows_load(track).or_else(|| scene.sleeps(track)) == Some(true);
    let follow = named().all(|(_, track)| follows(track));
    // More than one thread can have is for the host's CPU, and waiting more than running for whoever keeps it.
    if used + ready < least || ready >= bounds::KEPT * (used + ready) || !follow {
        return None;
    }
    let threads = sharing(scene, host, name);
    let sentence = format!(
        "{name} on {host} is the limit: its {threads} busy threads used {} cores and were ready for another {} at {} \
         requests/s, and that is all the time of the {} requests that are served at once",
        significant(used),
        significant(ready),
        count_text(scene.throughput()),
        significant(at_once.count.value),
    );
    let place = format!("{host}: {name}");
    // As many threads as requests are its workers. With more of them something lets only so many run.
    let workers = (threads as f64) < at_once.count.value * (1.0 + bounds::SAME_SIZE) + 0.5;
    let beside = if workers { Vec::new() } else { vec![Suspicion::new(Limit::Lock, &place, String::new())] };
    let what = format!("cores that {name} on {host} used or was ready for, against requests served at once");
    let found = Suspicion {
        evidence: vec![scene.row(what, used + ready, Some(at_once.count.value))],
        advice: vec![advice(scene, name, host)],
        beside,
        ..Suspicion::new(Limit::Thread, place, sentence)
    };
    // A runtime that lets one of them run has one core; where two do run at times, it is what they do that goes by turns.
    let turns = !workers && at_once.count.value < lock::TURNS_MOST && lock::is_by_turns(used);
    Some(if turns { beside_a_lock(lock::taking_turns(scene, host, name, used), found) } else { found })
}

/// Threads of processes of one name that take part in the work.
fn sharing(scene: &Scene<'_>, host: &str, name: &str) -> usize {
    let named = |pid: Option<u64>| {
        let mut all = scene.seen.hosts.of(host, "process");
        pid.is_some() && all.any(|(subject, _)| pid_of(subject) == pid && name_of(subject) == name)
    };
    let busy = |track: &Track<'_>| {
        crate::usage::cpu_of(track, scene.span()).is_some_and(|used| used >= bounds::TAKES_PART)
    };
    let threads = scene.seen.hosts.of(host, "thread").filter(|(subject, _)| named(pid_of(subject)));
    let threads = threads.filter(|(_, track)| busy(track)).count();
    let processes = scene.seen.hosts.of(host, "process").filter(|(subject, _)| name_of(subject) == name);
    threads.max(processes.filter(|(_, track)| busy(track)).count())
}
