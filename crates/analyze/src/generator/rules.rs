//! The rules that decide whether the generator was the limit.

use plimsoll_record::{FailureKind, LoweredTo};

use super::evidence::Evidence;
use super::health::{
    BUSY_RATIO, CEILING_RATIO, CeilingUse, GeneratorHealth, GeneratorReason, LITTLE_ERROR,
    RETRANSMITTED_RATIO, SENT_RATIO, STALLED_RATIO, STARVED_RATIO, STOLEN_RATIO, WorkerLoad,
};
use super::law;
use crate::load::frames::per_second;

/// Stolen time does not matter if no worker used, or waited for, at least this ratio of a core.
const MIN_USE_RATIO: f64 = 0.50;
/// Fewer retransmitted segments than this are chance, whatever their ratio.
const MIN_RETRANSMITTED: u64 = 100;

/// Returns all reasons why the generator limited the load. `uses` are the uses of its machines' ceilings.
pub(super) fn reasons(
    evidence: &Evidence<'_>,
    health: &GeneratorHealth,
    uses: &[CeilingUse],
) -> Vec<GeneratorReason> {
    let workers = &health.by_worker;
    let mut reasons: Vec<GeneratorReason> = workers.iter().filter_map(busy).collect();
    reasons.extend(workers.iter().filter_map(starved));
    reasons.extend(workers.iter().filter_map(stalled));
    reasons.extend(late(evidence, health));
    reasons.extend(out_of_law(evidence));
    reasons.extend(behind(evidence, health));
    reasons.extend(out_of_resources(evidence));
    reasons.extend(out_of_connections(evidence));
    reasons.extend(stolen(health));
    reasons.extend(retransmits(health));
    reasons.extend(uses.iter().filter_map(near_ceiling));
    reasons
}

fn busy(load: &WorkerLoad) -> Option<GeneratorReason> {
    let (worker, ratio) = (load.worker, load.cpu_ratio);
    (ratio >= BUSY_RATIO).then_some(GeneratorReason::WorkerBusy { worker, ratio })
}

fn starved(load: &WorkerLoad) -> Option<GeneratorReason> {
    let (worker, ratio) = (load.worker, load.starved_ratio);
    (ratio >= STARVED_RATIO).then_some(GeneratorReason::WorkerStarved { worker, ratio })
}

/// Applies to every load: a stalled closed loop makes fewer requests, a stalled open loop makes them late.
fn stalled(load: &WorkerLoad) -> Option<GeneratorReason> {
    let (worker, ratio) = (load.worker, load.stalled_ratio);
    (ratio >= STALLED_RATIO).then_some(GeneratorReason::WorkerStalled { worker, ratio })
}

fn late(evidence: &Evidence<'_>, health: &GeneratorHealth) -> Option<GeneratorReason> {
    let service_p50_ns = evidence.summary.service.p50.ns?;
    let p99_ns = health.send_lag_p99_ns;
    (p99_ns > health.send_lag_bound_ns?).then_some(GeneratorReason::SendLag { p99_ns, service_p50_ns })
}

/// Only a closed loop keeps its connections busy by itself.
fn out_of_law(evidence: &Evidence<'_>) -> Option<GeneratorReason> {
    let law = law::law(evidence).filter(|_| law::is_fixed(evidence))?;
    let short = law.observed < (1.0 - LITTLE_ERROR) * law.expected;
    short.then_some(GeneratorReason::LittlesLaw { expected: law.expected, observed: law.observed })
}

/// The due requests per second, and the sent ones.
fn due_and_sent_per_sec(evidence: &Evidence<'_>) -> (f64, f64) {
    let measured = || evidence.measured.iter().copied();
    (per_second(measured(), |head| head.counts.intended), per_second(measured(), |head| head.counts.sent))
}

/// An open loop is behind by the generator's fault only if its workers had no time left, or sent requests late although a connection
/// was free. A request that finds all connections in use waits for the target.
fn behind(evidence: &Evidence<'_>, health: &GeneratorHealth) -> Option<GeneratorReason> {
    evidence.step.rate_per_sec?;
    let (offered_per_sec, sent_per_sec) = due_and_sent_per_sec(evidence);
    let no_time_left = health.busiest_worker_ratio + health.starved_ratio >= BUSY_RATIO;
    let own_fault = no_time_left || late(evidence, health).is_some();
    (sent_per_sec < SENT_RATIO * offered_per_sec && own_fault)
        .then_some(GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec })
}

fn out_of_resources(evidence: &Evidence<'_>) -> impl Iterator<Item = GeneratorReason> {
    let failed = evidence.summary.counts.failed;
    [FailureKind::NoPortsLeft, FailureKind::NoDescriptorsLeft]
        .into_iter()
        .map(move |kind| (kind, failed.of(kind)))
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| GeneratorReason::OutOfResources { kind, count })
}

/// True for an open loop whose requests wait while all connections that this machine allows are open: with more connections it would
/// have sent more. Where the plan asks for fewer connections, the wait is not the generator's.
fn out_of_connections(evidence: &Evidence<'_>) -> Option<GeneratorReason> {
    evidence.step.rate_per_sec?;
    let LoweredTo { connections: allowed, resource } = evidence.run.manifest.machine.lowered_to?;
    let (due_per_sec, sent_per_sec) = due_and_sent_per_sec(evidence);
    let connections = law::mean_of(&last_heads(evidence), |head| head.connections) as u64;
    (connections >= allowed && sent_per_sec < SENT_RATIO * due_per_sec)
        .then_some(GeneratorReason::OutOfConnections { resource, connections, allowed })
}

/// The frames of the last measured interval, in which an open loop has the most connections open.
pub(super) fn last_heads<'a>(evidence: &Evidence<'a>) -> Vec<&'a plimsoll_record::FrameHead> {
    let last = evidence.measured.iter().map(|head| head.interval).max();
    evidence.measured.iter().copied().filter(|head| Some(head.interval) == last).collect()
}

/// Stolen time limits only a generator that would have used it: mostly idle workers would not.
fn stolen(health: &GeneratorHealth) -> Option<GeneratorReason> {
    let short = health.busiest_worker_ratio + health.starved_ratio >= MIN_USE_RATIO;
    let ratio = health.machine.stolen_ratio.filter(|_| short)?;
    (ratio >= STOLEN_RATIO).then_some(GeneratorReason::Stolen { ratio })
}

/// Retransmitted SYN segments are not counted: the target's accept queue may have refused them.
fn retransmits(health: &GeneratorHealth) -> Option<GeneratorReason> {
    let count = health.machine.segments_retransmitted?;
    let ratio = count as f64 / health.machine.segments_sent?.max(1) as f64;
    (count >= MIN_RETRANSMITTED && ratio >= RETRANSMITTED_RATIO)
        .then_some(GeneratorReason::Retransmits { ratio, count })
}

fn near_ceiling(used: &CeilingUse) -> Option<GeneratorReason> {
    let CeilingUse { worker, per_worker_per_sec, ceiling_per_sec, known, .. } = *used;
    (known && used.ratio() >= CEILING_RATIO).then_some(GeneratorReason::NearCeiling {
        worker,
        per_worker_per_sec,
        ceiling_per_sec,
    })
}
