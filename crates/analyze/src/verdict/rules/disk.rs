//! `disk`: requests wait for a block device, or a control group reads or writes as much as it may.

use plimsoll_units::{bytes_text, count_text, significant};

use crate::hosts::name_of;
use crate::verdict::bounds;
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind};

/// Control groups that read or write as many bytes as they may.
pub(in crate::verdict) fn used_up(scene: &Scene<'_>) -> Vec<Suspicion> {
    let full = |disk: &&Resource| scene.share(disk).is_some_and(|share| share >= bounds::BUSY);
    [ResourceKind::DiskRead, ResourceKind::DiskWrite]
        .into_iter()
        .flat_map(|way| scene.of_kind(way).filter(full))
        .map(|disk| capped(scene, disk))
        .collect()
}

fn capped(scene: &Scene<'_>, disk: &Resource) -> Suspicion {
    let share = scene.share(disk).unwrap_or_default();
    let (may, done) = match disk.kind {
        ResourceKind::DiskRead => ("may be read from it", "read"),
        _ => ("may be written to it", "written"),
    };
    let whole = bytes_text(disk.capacity.unwrap_or_default());
    let each = disk
        .demand
        .map_or_else(String::new, |demand| format!(" ({} a request)", bytes_text(demand.per_request.value)));
    let sentence = format!(
        "the disk of {} is the limit: {} of the {whole}/s that {may} were used at {} requests/s{each}",
        disk.host,
        percent(share),
        count_text(scene.throughput()),
    );
    let used = disk.used[scene.step].unwrap_or_default();
    let what = format!("bytes/s {done} by {}", disk.place());
    Suspicion {
        share,
        at_per_sec: disk.demand.and_then(|demand| demand.at_per_sec),
        // Where throughput hardly differed the threads that wait tell whose bytes they are.
        direct: match disk.demand.map(|demand| demand.law) {
            Some(Law::Holds) => true,
            Some(Law::Untested) => waited_for(scene, &disk.host),
            Some(Law::Broken) | None => false,
        },
        evidence: vec![scene.row(what, used, disk.capacity)],
        advice: vec![format!(
            "let requests need fewer bytes of the disk (batch, cache, smaller records), or raise the cap of {} by half, and \
             repeat the load",
            disk.host
        )],
        ..Suspicion::new(Limit::Disk, disk.place(), sentence)
    }
}

/// Hosts whose processes stood waiting for a disk.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    scene.hosts().into_iter().filter_map(|host| suspicion(scene, host)).collect()
}

/// Threads of a process that waited for a disk at any moment, on average, for the process with the most of them.
fn waiting(scene: &Scene<'_>, host: &str) -> Option<(String, f64)> {
    let span = scene.span();
    let mean = |(subject, track): (&str, &crate::hosts::Track<'_>)| {
        let looks = track.per_sec("looks", span).filter(|looks| *looks > 0.0)?;
        Some((name_of(subject).to_owned(), track.per_sec("disk", span)? / looks))
    };
    scene.seen.hosts.of(host, "waiting").filter_map(mean).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether a thread of a host's processes stood waiting for a disk.
pub(super) fn waited_for(scene: &Scene<'_>, host: &str) -> bool {
    waiting(scene, host).is_some_and(|(_, threads)| threads >= bounds::DISK_WAITING)
}

fn suspicion(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let waiting = waiting(scene, host);
    let device = scene
        .of_kind(ResourceKind::Disk)
        .filter(|disk| disk.host == host)
        .filter_map(|disk| Some((disk, scene.share(disk)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let pressure = scene.seen.hosts.track(host, "pressure", "");
    let stalled = pressure.and_then(|track| track.per_sec("io_some_us", scene.span())).map(|us| us / 1e6);
    let threads = waiting.as_ref().map_or(0.0, |(_, threads)| *threads);
    let busy = device.map_or(0.0, |(_, share)| share);
    let grows = || device.is_some_and(|(disk, _)| grows_with_load(scene, &disk.used));
    // A device may be busy with somebody else's work; a thread of the target that waits is the target's.
    if threads < bounds::DISK_WAITING && !(waiting.is_none() && busy >= bounds::BUSY && grows()) {
        return None;
    }
    let name = waiting.as_ref().map_or("its processes", |(name, _)| name.as_str());
    let sentence = format!(
        "the disk of {host} is the limit: {} threads of {name} waited for it at any moment{}",
        significant(threads),
        device.map_or_else(String::new, |(disk, share)| format!(
            ", and {} was busy {} of the time",
            disk.detail,
            percent(share)
        )),
    );
    let mut evidence =
        vec![scene.row(format!("threads of {name} on {host} waiting for a disk"), threads, None)];
    evidence
        .extend(device.map(|(disk, share)| scene.row(format!("time of {}", disk.place()), share, Some(1.0))));
    evidence.extend(
        stalled
            .map(|part| scene.row(format!("time that tasks on {host} waited for a disk"), part, Some(1.0))),
    );
    let seen_twice = busy >= bounds::BUSY || stalled.is_some_and(|part| part >= bounds::BUSY);
    Some(Suspicion {
        direct: threads >= bounds::BUSY && seen_twice,
        evidence,
        advice: vec![format!(
            "write several requests' data at once (batch, group commit), or try a faster disk or a memory file system on \
             {host}, and repeat the load"
        )],
        ..Suspicion::new(Limit::Disk, host, sentence)
    })
}

/// More of the device's time is used under load than at the lowest step.
fn grows_with_load(scene: &Scene<'_>, used: &[Option<f64>]) -> bool {
    let loads: Vec<crate::demand::Load> = scene
        .case
        .steps
        .iter()
        .zip(used)
        .filter_map(|(step, used)| {
            Some(crate::demand::Load { throughput_per_sec: step.throughput.value, used: (*used)? })
        })
        .collect();
    let plateau = loads.iter().copied().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec));
    let demand = plateau.and_then(|plateau| crate::demand::demand(&loads, plateau, None));
    demand.is_some_and(|demand| demand.law == Law::Holds)
}
