//! `thread`: one thread has a whole core, or needs one nine tenths of the time and gets more than half of that, while
//! its host has cores left: it has no pause in which it could do more. Whatever keeps it from the CPU a tenth of the time or
//! more is an alternative. So is a lock, where other threads of its name did more than what the thread has left.

use crate::findings::{Advice, Claim, Evidence, Limit, Observation, Part, Place};
use crate::hosts::demand::Law;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::BUSY;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::Concurrency;
use crate::verdict::facts::cpu::ThreadTime;
use crate::verdict::facts::threads::{Computing, HotThread, used_by_alike};

fn place(hot: &HotThread<'_>) -> Place {
    if hot.process.is_empty() { hot.thread.place() } else { Place::process(&hot.thread.host, &hot.process) }
}

/// The candidate for the busiest thread of a process that has one at its limit.
pub(crate) fn candidate(ctx: &RuleContext<'_>, hot: &HotThread<'_>) -> Candidate {
    let (thread, time) = (hot.thread, hot.time);
    let mut alternatives: Vec<Candidate> = kept_by(ctx, &thread.host, time).into_iter().collect();
    // If others of its name do more than what a thread at its limit has left, several threads serve, and that one of them has most
    // of the work may be its scheduler's choice: under a lock, too, one works at a time.
    if hot.alike == 1 && used_by_alike(ctx, thread) > 1.0 - BUSY {
        alternatives.push(Candidate::named(Limit::Lock, place(hot)));
    }
    let claim = Claim::Thread {
        used: ctx.used(thread),
        waited: (!time.is_on_cpu()).then_some(time.waited),
        alike: hot.alike,
        idle: ctx.cpu_share(&thread.host).map(|used| 1.0 - used).filter(|idle| *idle >= 1.0 - BUSY),
    };
    Candidate {
        share: Some(time.needed().min(1.0)),
        at_per_sec: thread.demand.and_then(|demand| demand.at_per_sec).filter(|_| time.is_on_cpu()),
        basis: basis(ctx, thread, alternatives.is_empty()),
        evidence: evidence(ctx, thread, time),
        advice: vec![Advice::AnotherWorker(ctx.connections())],
        alternatives,
        ..Candidate::new(Limit::Thread, place(hot), claim)
    }
}

fn basis(ctx: &RuleContext<'_>, thread: &Resource, is_alone: bool) -> Basis {
    if thread.demand.is_some_and(|demand| demand.law == Law::Broken) {
        return Basis::Polled;
    }
    let is_known = ctx.cpu_share(&thread.host).is_some() && is_alone;
    Basis::observed(is_known && ctx.is_used_by_requests(thread))
}

fn evidence(ctx: &RuleContext<'_>, thread: &Resource, time: ThreadTime) -> Vec<Evidence> {
    let mut rows = vec![ctx.share_row(Observation::Thread(thread.id()), time.used)];
    if time.waited > 0.0 {
        rows.push(ctx.share_row(Observation::ThreadWait(thread.id()), time.waited));
    }
    rows.extend(ctx.cpu_row(&thread.host));
    rows
}

/// What keeps a thread from the CPU; `None` unless that costs it at least what lies between busy and full.
fn kept_by(ctx: &RuleContext<'_>, host: &str, time: ThreadTime) -> Option<Candidate> {
    if time.is_on_cpu() || time.kept() < 1.0 - BUSY {
        return None;
    }
    let of_host = |resource: &&Resource| {
        resource.host == host && matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota)
    };
    let own = ctx.nearly_full().into_iter().find(of_host);
    let others = || Place::part(host, Part::Others);
    Some(own.map_or_else(
        || Candidate::named(Limit::Cpu, others()),
        |resource| Candidate::named(resource.kind.limit(), resource.place()),
    ))
}

/// The candidate for a server whose requests are on a CPU, or ready for one, for about all of their time. What bounds their number
/// bounds what runs at once, and is no pool of workers that wait for something.
pub(crate) fn computing(ctx: &RuleContext<'_>, computing: &Computing<'_>, at_once: Concurrency) -> Candidate {
    let place = Place::process(computing.host, computing.process);
    let Computing { cores, ready, threads, .. } = *computing;
    let at_once_count = at_once.count.value;
    let lock = (!computing.are_workers(at_once)).then(|| Candidate::named(Limit::Lock, place.clone()));
    let needed = Observation::CoresNeeded(place.clone());
    Candidate {
        evidence: vec![ctx.row(needed, cores + ready, Some(at_once_count))],
        advice: vec![Advice::AnotherWorker(ctx.connections())],
        alternatives: lock.into_iter().collect(),
        ..Candidate::new(
            Limit::Thread,
            place,
            Claim::Computing { cores, ready, threads, at_once: at_once_count, per_sec: ctx.throughput() },
        )
    }
}
