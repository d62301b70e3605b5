//! What a line of evidence shows, and where it was observed; and what the evidence excludes.

use plimsoll_analyze::{
    At, Excluded, Observation, Part, Place, PlaceCount, Raise, ResourceId, ResourceKind, Verdict,
};
use plimsoll_units::{count_text, share_text, significant};

use super::failure::failure_meaning;
use super::generator::{UNDER_WAY, measured};
use super::phrase::{each_of, joined, placed, places, resource_name, way};
use super::proof;
use crate::amount::{connections, if_known};

const KNEE: &str = "knee in connections, against plateau × latency of the lowest step";

const AT_ONCE: &str = "requests worked on at once: throughput × the time of a request that does not wait";

const SERVED_WHILE_CLOSING: &str = "requests/s that were served, least and most over such steps";

const SERVED_WHILE_REFUSING: &str =
    "requests/s that were served, least and most over the steps with refusals";

/// Returns where something was observed: a step, a part of one, or a row.
pub(crate) fn at(at: &At) -> String {
    match at {
        At::Connections(count) => connections(*count),
        At::Rate(per_sec) => format!("{} requests/s", count_text(*per_sec)),
        At::Seconds { from, to } => format!("{} s to {} s", count_text(*from), count_text(*to)),
        At::Row(label) => label.clone(),
        At::Again { connections: count, ratio } => {
            format!("{}, ×{}", connections(*count), significant(*ratio))
        }
        At::Nowhere => String::new(),
    }
}

/// Returns what was observed. The match has no wildcard arm, so that the compiler demands the words of a new observation.
pub(crate) fn observed(observed: &Observation) -> String {
    match observed {
        Observation::MeasuredTime => "time measured in s, against the minimum for hosts or a rate".to_owned(),
        Observation::Answered => "requests/s answered, against those offered".to_owned(),
        Observation::LastGain => "gain of the last step".to_owned(),
        Observation::Plateau => "plateau in requests/s".to_owned(),
        Observation::Knee => KNEE.to_owned(),
        Observation::BusiestWorker => "CPU of the busiest worker of the generator".to_owned(),
        Observation::Failed(kind) => format!("requests failed: {}", failure_meaning(*kind)),
        Observation::Status(status) => format!("responses of status {status}"),
        Observation::FailedCheck(check) => format!("responses that failed the check {check}"),
        Observation::MeanLatency => "mean latency in s".to_owned(),
        Observation::TimeUnderLoad => "time under load in s".to_owned(),
        Observation::Generator(reason) => measured(reason),
        Observation::Resource(resource) => resource_name(resource),
        Observation::Cpu { host } => format!("CPU of {host}"),
        Observation::Thread(thread) => thread_name(thread),
        Observation::ThreadWait(thread) => thread_wait(thread),
        Observation::Core(ResourceId { host, part, .. }) => format!("{part} of {host}"),
        Observation::CorePackets(core) => format!("time of {} spent on packets", core.part),
        Observation::CpuOfOthers(place) => format!("CPU of {} used by {}", place.host_name(), part(place)),
        Observation::TargetWait { host } => target_wait(host),
        Observation::Throttled(place) => format!("periods in which {place} was out of its quota"),
        Observation::Quota(place) => format!("CPU of {place} against its quota"),
        Observation::Link(link) => link_rate(link),
        Observation::DiskBytes(disk) => disk_bytes(disk),
        Observation::DiskWaits(place) => disk_waits(place),
        Observation::DeviceTime(disk) => format!("time of {}", placed(&disk.place())),
        Observation::DiskStall { host } => format!("time that tasks on {host} waited for a disk"),
        Observation::MemoryStall { host } => format!("time that tasks on {host} waited for memory"),
        Observation::PagesAgain { host } => format!("pages fetched again on {host}, a request"),
        Observation::Collecting(place) => format!("work of {} that was garbage collection", placed(place)),
        Observation::Heap(place) => format!("heap of {} at its fullest", placed(place)),
        Observation::CoresOfProcess(place) => {
            format!("cores used by {}, all threads together", placed(place))
        }
        Observation::BusyThreads(place) => format!("threads of {} that share them", placed(place)),
        Observation::LockWaits(place) => format!("threads of {} waiting for another", placed(place)),
        Observation::CoresNeeded(place) => cores_needed(place),
        Observation::AtOnce => AT_ONCE.to_owned(),
        Observation::Unread(place) => format!("waiting requests that {place} has not read"),
        Observation::ProcessesOf(place) => format!("processes of {place}, against requests under way"),
        Observation::AtTheDoor(owners) => format!("waiting requests at the door of {}", places(owners)),
        Observation::ConnectionsOut(owners) => connections_out(owners),
        Observation::ConnectionsTo { tier, to } => connections_to(tier, to),
        Observation::Descriptors(place) => format!("descriptors of {place}"),
        Observation::TurnedAway(place) => format!("connections/s that {} turned away", placed(place)),
        Observation::OpenConnections(place) => format!("connections open at {place}"),
        Observation::Tracked { host } => format!("connections that the kernel of {host} tracks"),
        Observation::Overflown { host } => overflown(host),
        Observation::NotAccepted(place) => not_accepted(place),
        Observation::Closed => "requests whose connection was closed before an answer".to_owned(),
        Observation::ServedWhileClosing => SERVED_WHILE_CLOSING.to_owned(),
        Observation::Refused => "answers of status 429 or 503".to_owned(),
        Observation::ServedWhileRefusing => SERVED_WHILE_REFUSING.to_owned(),
        Observation::Raised(raise) => raised(raise),
        Observation::Through { front, alone } => through(front, alone),
        Observation::Together { alone } => format!("requests/s, against those of {} alone", joined(alone)),
        Observation::HeldAtOnce { tiers } => format!("requests held at once by {}", each_of(tiers)),
        Observation::UnderWay => UNDER_WAY.to_owned(),
    }
}

fn thread_name(thread: &ResourceId) -> String {
    let ResourceId { host, part, .. } = thread;
    if *part == Part::Whole { resource_name(thread) } else { format!("thread {part} of {host}") }
}

fn thread_wait(ResourceId { host, part, .. }: &ResourceId) -> String {
    format!("time that thread {part} of {host} was ready and had no CPU")
}

fn target_wait(host: &str) -> String {
    format!("time that the target's threads on {host} were ready and had no CPU")
}

fn link_rate(link: &ResourceId) -> String {
    let unit = if link.is_of_packets() { "packets/s" } else { "bits/s" };
    format!("{unit} {} {}", way(link), placed(&link.place()))
}

fn disk_bytes(disk: &ResourceId) -> String {
    let done = if disk.kind == ResourceKind::DiskRead { "read" } else { "written" };
    format!("bytes/s {done} by {}", placed(&disk.place()))
}

fn disk_waits(place: &Place) -> String {
    let whose = if place.is_part() { part(place) } else { "its processes".to_owned() };
    format!("threads of {whose} on {} waiting for a disk", place.host_name())
}

fn cores_needed(place: &Place) -> String {
    format!("cores that {} used or was ready for, against requests served at once", placed(place))
}

fn connections_out(owners: &[PlaceCount]) -> String {
    format!("connections out of {} at the highest step, against that many at once", places(owners))
}

fn connections_to(tier: &Place, to: &Place) -> String {
    format!("connections of {tier} to {to} at the highest step, against requests served at once")
}

fn overflown(host: &str) -> String {
    format!("connections/s that found an accept queue of {host} full, against those opened")
}

fn not_accepted(place: &Place) -> String {
    format!("connections to {place} that were not accepted, at the most")
}

fn raised(raise: &Raise) -> String {
    format!("requests/s with {}, against the prediction", proof::raise(raise))
}

fn through(front: &str, alone: &[String]) -> String {
    format!("requests/s through {front}, against those of {} alone", joined(alone))
}

/// Returns the part of a host that a place names.
fn part(place: &Place) -> String {
    place.of_host().map(Part::to_string).unwrap_or_default()
}

/// Returns what is ruled out as the limit, a sentence each.
pub(crate) fn excluded(verdict: &Verdict) -> Vec<String> {
    verdict.excluded.iter().map(not_the_limit).collect()
}

pub(crate) fn not_the_limit(excluded: &Excluded) -> String {
    match excluded {
        Excluded::MostUsed(used) => format!(
            "{}: its busiest other resource was {}, {}",
            used.resource.host,
            resource_name(&used.resource),
            share_text(used.share)
        ),
        Excluded::UsedByOthers { used, by_others } => format!(
            "{}: {} of {} was used, {} by other processes, and the target hardly waited for it",
            used.resource.host,
            share_text(used.share),
            resource_name(&used.resource),
            share_text(*by_others)
        ),
        Excluded::Unobserved { host, why } => {
            let why = if_known(why.as_ref(), |why| format!(" ({why})"));
            format!("{host}: its CPU was not observed{why}, so it is not ruled out")
        }
        Excluded::Generator(busiest) => {
            format!("the load generator: its busiest worker used {} of a core", share_text(*busiest))
        }
        Excluded::NotRaised { suspect, per_sec } => format!(
            "{} of {}: it was not raised, and carried {} requests/s",
            suspect.limit.name(),
            placed(&suspect.place),
            count_text(*per_sec)
        ),
    }
}
