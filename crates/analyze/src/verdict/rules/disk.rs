//! `disk`: a control group uses nine tenths of its cap of bytes, or threads of the target wait for a device half of the
//! time (the state D of `/proc`, sampled). Where waits are not sampled, a busy device whose busy time grows with the load counts as
//! well. A group that is held to its cap leaves the device idle. Threads that waited before there was load, and threads of
//! processes that serve no requests, do not count.

use plimsoll_record::metric::pressure;

use crate::findings::{Advice, Claim, Evidence, Limit, Observation, Place};
use crate::hosts::demand::{Law, Load, demand};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::{BUSY, TIE};
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::threads::{is_disk_waited_for, waiting_for_disk};

/// Control groups that read or write as many bytes as their cap allows.
pub(crate) fn caps(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let ways = [ResourceKind::DiskRead, ResourceKind::DiskWrite];
    let all = ways.into_iter().flat_map(|way| ctx.of_kind(way));
    let full = all.filter(|disk| ctx.share(disk).is_some_and(|share| share >= BUSY));
    full.map(|disk| cap(ctx, disk)).collect()
}

fn cap(ctx: &RuleContext<'_>, disk: &Resource) -> Candidate {
    let is_of_requests = match disk.demand.map(|demand| demand.law) {
        Some(Law::Holds) => true,
        Some(Law::Untested) => is_disk_waited_for(ctx, &disk.host),
        Some(Law::Broken) | None => false,
    };
    let used = disk.used[ctx.load].unwrap_or_default();
    Candidate {
        share: ctx.share(disk),
        at_per_sec: disk.demand.and_then(|demand| demand.at_per_sec),
        basis: Basis::observed(is_of_requests),
        evidence: vec![ctx.row(Observation::DiskBytes(disk.id()), used, disk.capacity)],
        advice: vec![Advice::FewerDiskBytes],
        ..Candidate::new(
            Limit::Disk,
            disk.place(),
            Claim::DiskCap { disk: disk.id(), used: ctx.used_by_law(disk) },
        )
    }
}

/// Hosts whose processes waited for a disk.
pub(crate) fn waits(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    ctx.hosts().into_iter().filter_map(|host| wait(ctx, host)).collect()
}

fn wait(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let waiting = waiting_for_disk(ctx, host);
    let devices = ctx.of_kind(ResourceKind::Disk).filter(|disk| disk.host == host);
    let device = devices.filter_map(|disk| Some((disk, ctx.share(disk)?))).max_by(|a, b| a.1.total_cmp(&b.1));
    let threads = waiting.as_ref().map_or(0.0, |(_, threads)| *threads);
    let busy = device.map_or(0.0, |(_, share)| share);
    let grows = || device.is_some_and(|(disk, _)| grows_with_load(ctx, &disk.used));
    if threads < bounds::DISK_WAITING && !(waiting.is_none() && busy >= BUSY && grows()) {
        return None;
    }
    let stalled = ctx.rate(host, pressure::IO_SOME_US).map(|us| us / 1e6);
    // If no disk is used and no task waits for one, threads in the state D wait for something else.
    if device.is_some_and(|(_, share)| share < TIE) && stalled.is_some_and(|part| part < TIE) {
        return None;
    }
    let is_seen_twice = busy >= BUSY || stalled.is_some_and(|part| part >= BUSY);
    let process = waiting.map(|(name, _)| name);
    Some(Candidate {
        basis: Basis::observed(threads >= BUSY && is_seen_twice),
        evidence: wait_rows(ctx, host, (process.as_deref(), threads), (device, stalled)),
        advice: vec![Advice::BatchWrites],
        ..Candidate::new(
            Limit::Disk,
            Place::host(host),
            Claim::DiskWait {
                process,
                threads,
                device: device.map(|(disk, share)| (disk.part.clone(), share)),
            },
        )
    })
}

fn wait_rows(
    ctx: &RuleContext<'_>,
    host: &str,
    (process, threads): (Option<&str>, f64),
    (device, stalled): (Option<(&Resource, f64)>, Option<f64>),
) -> Vec<Evidence> {
    let whose = Place::process(host, process.unwrap_or_default());
    let mut rows = vec![ctx.row(Observation::DiskWaits(whose), threads, None)];
    rows.extend(device.map(|(disk, share)| ctx.share_row(Observation::DeviceTime(disk.id()), share)));
    let stall = Observation::DiskStall { host: host.to_owned() };
    rows.extend(stalled.map(|part| ctx.share_row(stall, part)));
    rows
}

/// True if more of the device's time is used under load than at the lowest step.
fn grows_with_load(ctx: &RuleContext<'_>, used: &[Option<f64>]) -> bool {
    let load = |(step, used): (&crate::findings::StepSummary, &Option<f64>)| {
        Some(Load { throughput_per_sec: step.throughput.value, used: (*used)? })
    };
    let loads: Vec<Load> = ctx.steps().iter().zip(used).filter_map(load).collect();
    let plateau = loads.iter().copied().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec));
    let demand = plateau.and_then(|plateau| demand(&loads, plateau, None));
    demand.is_some_and(|demand| demand.law == Law::Holds)
}
