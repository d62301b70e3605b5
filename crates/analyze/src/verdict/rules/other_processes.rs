//! `cpu`, taken by others. On a busy host, the CPU would be free without their use: processes that use as much at the lowest load,
//! the load generator, stolen time. On a host with CPU left, a thread of the target is at its limit, and the target's threads
//! were kept from the CPU half of the time that they needed it, with no control group out of quota.

use plimsoll_record::{Source, Subject};

use crate::findings::{Advice, Claim, Limit, Observation, Part, Place, ProcessId};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::track::Track;
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::usage::others::is_generator;
use crate::hosts::utilisation::{BUSY, FREE, TIE};
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::cpu::{
    by_generator, is_busy, is_held_back, is_held_up, is_no_limit, is_thread_at_end, kept, stolen,
};

/// Hosts whose CPU the target needed and did not get.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let hosts = ctx.hosts().into_iter();
    hosts.filter_map(|host| on_busy(ctx, host).or_else(|| on_idle(ctx, host))).collect()
}

/// A process that serves no requests.
struct OtherProcess<'a> {
    subject: Subject<'a>,
    cores: f64,
    /// True if it is known to serve none: it uses as much at the lowest load, or is a load generator.
    certain: bool,
}

/// Unwatched processes of a host, except those that follow the load: a server behind a unix socket, or one
/// started for each request, is not found by its connections but works for the requests all the same.
fn unwatched<'s>(ctx: &'s RuleContext<'_>, host: &str) -> Vec<OtherProcess<'s>> {
    let other = |(subject, track): (Subject<'s>, &Track<'_>)| {
        let cores = cpu_of(track, ctx.span())?;
        let is_generator = is_generator(subject);
        let follows = ctx.follows_load(track).filter(|_| !is_generator);
        let certain = is_generator || follows.is_some();
        (follows != Some(true)).then_some(OtherProcess { subject, cores, certain })
    };
    ctx.obs.hosts.of(host, Source::OtherProcesses).filter_map(other).collect()
}

/// Watched processes that serve no requests. On a lab host every process is watched, whatever it does.
fn watched<'s>(ctx: &'s RuleContext<'_>, host: &str) -> Vec<OtherProcess<'s>> {
    let others = ctx.obs.hosts.of(host, Source::Process).filter(|(one, _)| !ctx.obs.serves(host, *one));
    let other = |(subject, track): (Subject<'s>, &Track<'_>)| {
        Some(OtherProcess { subject, cores: cpu_of(track, ctx.span())?, certain: true })
    };
    others.filter_map(other).collect()
}

/// Finds a CPU that is busy and would not be without the others. A machine that is sampled under several names counts once.
fn on_busy(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let cpu = ctx.cpu(host).filter(|cpu| cpu.host == host);
    let cpu = cpu.filter(|cpu| is_busy(ctx, cpu) && !is_no_limit(ctx, cpu))?;
    let (share, capacity) = (ctx.share(cpu)?, cpu.capacity?);
    let others: Vec<OtherProcess<'_>> = unwatched(ctx, host).into_iter().chain(watched(ctx, host)).collect();
    let by_named = others.iter().map(|other| other.cores).sum::<f64>() / capacity;
    let by_others = by_named.max(cpu.used_by_others(ctx.load).unwrap_or(0.0));
    let by_guests = stolen(ctx, host).unwrap_or(0.0);
    if share - by_others - by_guests >= FREE {
        return None;
    }
    let busiest = others.iter().max_by(|a, b| a.cores.total_cmp(&b.cores));
    let (who, part) = if by_guests > by_others {
        (Part::OtherGuests, by_guests)
    } else {
        let most = busiest.filter(|busiest| busiest.cores >= bounds::FELT * by_others * capacity);
        let process = most.and_then(|busiest| ProcessId::from_subject(busiest.subject));
        let part = process.map_or(Part::Others, Part::OtherProcess);
        (part, by_others)
    };
    let is_known = others.iter().all(|other| other.certain || other.cores < TIE * capacity);
    Some(taken(ctx, cpu, (Place::part(host, who), part), is_known))
}

fn taken(ctx: &RuleContext<'_>, cpu: &Resource, (place, part): (Place, f64), is_known: bool) -> Candidate {
    let kept = kept(ctx, &cpu.host);
    let waits = Observation::TargetWait { host: cpu.host.clone() };
    let mut evidence: Vec<_> = ctx.cpu_row(&cpu.host).into_iter().collect();
    evidence.push(ctx.share_row(Observation::CpuOfOthers(place.clone()), part));
    evidence.extend(kept.map(|kept| ctx.share_row(waits, kept)));
    let is_felt = is_held_back(ctx, cpu) == Some(true);
    Candidate {
        share: ctx.share(cpu),
        basis: Basis::observed(is_felt && is_known),
        evidence,
        advice: vec![Advice::MoveOthers],
        ..Candidate::new(
            Limit::Cpu,
            place,
            Claim::CpuTaken { used: ctx.used(cpu), by_others: part, generator: by_generator(ctx, cpu) },
        )
    }
}

/// Finds a host that has CPU left by its own counters while its threads wait for it all the same.
fn on_idle(ctx: &RuleContext<'_>, host: &str) -> Option<Candidate> {
    let is_idle = ctx.cpu_share(host).is_none_or(|share| share < BUSY);
    let kept = kept(ctx, host)?;
    if !is_idle || !is_thread_at_end(ctx, host) || is_held_up(ctx, host) || kept < bounds::KEPT {
        return None;
    }
    let cores = full_cores(ctx, host);
    let (place, claim, advice) = if cores > 0 {
        (Place::host(host), Claim::Confined { cores, kept }, Advice::MoreOfItsCores { more_workers: false })
    } else {
        let others = Place::part(host, Part::Others);
        (others, Claim::CpuBelow { kept }, Advice::FindOthers)
    };
    Some(Candidate {
        evidence: vec![ctx.share_row(Observation::TargetWait { host: host.to_owned() }, kept)],
        advice: vec![advice],
        ..Candidate::new(Limit::Cpu, place, claim)
    })
}

/// How many of a host's cores are busy.
fn full_cores(ctx: &RuleContext<'_>, host: &str) -> usize {
    let cores = ctx.of_kind(ResourceKind::Core).filter(|core| core.host == host);
    cores.filter(|core| ctx.share(core).is_some_and(|share| share >= BUSY)).count()
}
