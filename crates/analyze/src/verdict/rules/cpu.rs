//! `cpu`: nine tenths of a host's processors are used, or eight tenths where its control group is throttled in most
//! periods, or where the target's processes used or were ready for 95 % of a host measured by its group. Or one core is used as
//! much, half of its time with packets; or the few cores that processes may run on are. It is observed where the utilisation law
//! U = U₀ + D·X holds (Denning and Buzen 1978), or the watched processes account for eight tenths of the use. A core that is busy
//! otherwise shows as a busy thread.

use crate::findings::{Advice, BusiestProcess, Claim, Limit, Observation};
use crate::hosts::demand::Law;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::BUSY;
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::cpu::{
    are_cores_short, by_generator, is_busy, is_no_limit, kept, packets_of_core, with_whole_cores,
    with_whole_ones_of,
};

/// Hosts with a busy CPU, hosts with a core that is busy with packets, and sets of allowed cores that are busy.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let busy = ctx.cpus().filter(|cpu| is_busy(ctx, cpu) && !is_no_limit(ctx, cpu));
    let hosts = busy.map(|cpu| host(ctx, cpu));
    let cores = ctx.of_kind(ResourceKind::Core).filter_map(|core| network_core(ctx, core));
    let allowed = ctx.of_kind(ResourceKind::AllowedCores).filter_map(|cores| allowed_cores(ctx, cores));
    hosts.chain(cores).chain(allowed).collect()
}

/// Finds cores that are busy while others are idle, because processes may run on these only.
fn allowed_cores(ctx: &RuleContext<'_>, cores: &Resource) -> Option<Candidate> {
    let share = ctx.share(cores).filter(|_| are_cores_short(ctx, cores))?;
    // Threads that have a whole core each need more workers to use more cores.
    let more_workers = with_whole_ones_of(ctx, cores) > 0;
    Some(Candidate {
        share: Some(share),
        at_per_sec: cores.demand.and_then(|demand| demand.at_per_sec),
        basis: Basis::observed(ctx.is_used_by_requests(cores)),
        evidence: vec![ctx.share_row(Observation::Resource(cores.id()), share)],
        advice: vec![Advice::MoreOfItsCores { more_workers }],
        ..Candidate::new(Limit::Cpu, cores.place(), Claim::AllowedCores { used: ctx.used(cores) })
    })
}

fn host(ctx: &RuleContext<'_>, cpu: &Resource) -> Candidate {
    let throttled = ctx.throttled(cpu).filter(|part| *part > 0.0);
    let mut evidence: Vec<_> = ctx.cpu_row(&cpu.host).into_iter().collect();
    evidence.extend(throttled.map(|part| ctx.share_row(Observation::Throttled(cpu.place()), part)));
    let advice =
        Advice::MoreCores { connections: ctx.connections(), another_worker: has_whole_core(ctx, &cpu.host) };
    let cores = cpu.capacity.filter(|_| cpu.kind == ResourceKind::Cpu);
    Candidate {
        share: ctx.share(cpu),
        at_per_sec: cpu.demand.and_then(|demand| demand.at_per_sec),
        basis: basis(ctx, cpu),
        evidence,
        advice: vec![advice],
        ..Candidate::new(
            Limit::Cpu,
            cpu.place(),
            Claim::Cpu {
                cores,
                used: ctx.used(cpu),
                busiest: busiest(ctx, cpu),
                generator: by_generator(ctx, cpu),
            },
        )
    }
}

fn basis(ctx: &RuleContext<'_>, cpu: &Resource) -> Basis {
    if is_polled(ctx, cpu) { Basis::Polled } else { Basis::observed(is_used_by_requests(ctx, cpu)) }
}

/// True if it is full at any load and no process of the target waits for it: its users give it up, as threads that poll do.
fn is_polled(ctx: &RuleContext<'_>, cpu: &Resource) -> bool {
    let broken = cpu.demand.is_some_and(|demand| demand.law == Law::Broken);
    broken && kept(ctx, &cpu.host).is_some_and(|kept| kept < bounds::FELT)
}

/// True if the law holds over the ladder, or if throughput hardly differed and the watched processes account for the use.
fn is_used_by_requests(ctx: &RuleContext<'_>, cpu: &Resource) -> bool {
    let by_ours = || {
        let ours = ctx.cores_of_processes(&cpu.host, None, ctx.span());
        ours.zip(cpu.used[ctx.load]).is_some_and(|(ours, used)| ours >= bounds::PASSED_ON * used)
    };
    let holds = cpu.demand.is_some_and(|demand| demand.law == Law::Holds);
    ctx.is_used_by_requests(cpu) && (holds || by_ours())
}

/// The watched process that used most of it, including its children: a server may start one for each request.
fn busiest(ctx: &RuleContext<'_>, cpu: &Resource) -> Option<BusiestProcess> {
    let with_children = |(name, own)| {
        let children = ctx.cores_of_children(&cpu.host, name, ctx.span());
        (name, own + children, children)
    };
    let all = ctx.processes(&cpu.host).into_iter().map(with_children);
    let (name, cores, children) = all.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|busiest| busiest.1 > 0.0)?;
    let used = ctx.share(cpu).unwrap_or_default() * cpu.capacity.unwrap_or_default();
    Some(BusiestProcess {
        name: name.to_owned(),
        cores,
        part: cores / used.max(f64::MIN_POSITIVE),
        is_of_children: children > 0.5 * cores,
    })
}

/// True if a thread has a whole core: more cores help only with a second such thread next to it.
fn has_whole_core(ctx: &RuleContext<'_>, host: &str) -> bool {
    with_whole_cores(ctx, host).next().is_some()
}

fn network_core(ctx: &RuleContext<'_>, core: &Resource) -> Option<Candidate> {
    let share = ctx.share(core).filter(|share| *share >= BUSY)?;
    ctx.cpu_share(&core.host).filter(|host| *host < BUSY)?;
    let packets = packets_of_core(ctx, core).filter(|packets| *packets >= 0.5)?;
    Some(Candidate {
        share: Some(share),
        at_per_sec: core.demand.and_then(|demand| demand.at_per_sec),
        evidence: vec![
            ctx.share_row(Observation::Core(core.id()), share),
            ctx.share_row(Observation::CorePackets(core.id()), packets),
        ],
        advice: vec![Advice::SpreadPackets],
        ..Candidate::new(Limit::Cpu, core.place(), Claim::NetworkCore { used: ctx.used(core), packets })
    })
}
