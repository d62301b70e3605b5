//! `generator`: the machine that makes the load held it back.

use super::phrase::percent;
use super::scene::Scene;
use super::{Case, advice, at, bounds, row, text};
use crate::hosts::GENERATOR;
use crate::{
    Confidence, EvidenceRow, GeneratorReason, Law, Limit, Resource, ResourceKind, StepSummary, Suspect,
    Verdict,
};

/// True for what a target can cause as well: segments are lost on its link too, and a client waits where a server lets go
/// of connections. Where a host is seen to be at its end, that comes first.
pub(crate) fn may_be_the_targets(reason: &GeneratorReason) -> bool {
    matches!(reason, GeneratorReason::Retransmits { .. } | GeneratorReason::LittlesLaw { .. })
}

/// True for what delays requests without bounding how many are made: a worker that waits for its CPU, or sends late.
/// Something of the target's that is used up all the same bounds the throughput, and to within what is left of it.
pub(super) fn only_delays(reason: &GeneratorReason) -> bool {
    let delays = matches!(
        reason,
        GeneratorReason::WorkerStarved { .. }
            | GeneratorReason::SendLag { .. }
            | GeneratorReason::Stolen { .. }
    );
    delays || may_be_the_targets(reason)
}

/// What of the generator's host was used up: a link, or the processors of its own control group. Its workers and its
/// machine judge themselves.
///
/// A link of the target's that is as full at the same throughput stops it as well, and is named beside; processors of the
/// target's that are as full may be those of the same group, where the generator only waits for its share of them, and come
/// first.
pub(super) fn host_limited(scene: &Scene<'_>) -> Option<Verdict> {
    if !scene.is_long_enough() {
        return None;
    }
    let own_group = scene.seen.hosts.track(GENERATOR, "cgroup", "").is_some();
    let judged = |resource: &&Resource| match resource.kind {
        ResourceKind::Cpu => own_group,
        kind => matches!(kind.limit(), Limit::Bandwidth | Limit::Packets),
    };
    let ours = scene.resources.iter().filter(|resource| resource.host == GENERATOR);
    let (resource, share) =
        ours.filter(judged).find_map(|resource| Some((resource, full(scene, resource)?)))?;
    let as_full =
        |other: &'_ Resource| full(scene, other).filter(|other| *other >= (1.0 - bounds::TIE) * share);
    let rivals: Vec<(&Resource, f64)> =
        scene.of_target().filter_map(|other| Some((other, as_full(other)?))).collect();
    let is_compute = |(other, _): &(&Resource, f64)| runs_code(other);
    if runs_code(resource) && rivals.iter().any(is_compute) {
        return None;
    }
    let what = text::resource_text(resource);
    let text = match rivals.first() {
        None => {
            format!("the load generator is the limit, not the target: {} was used of {what}.", percent(share))
        }
        Some((other, part)) => format!(
            "the load generator is at its end, and so is the target: {} was used of {what}, and {} of {}; more of \
             only one of them would show nothing.",
            percent(share),
            percent(*part),
            text::resource_text(other)
        ),
    };
    let advice =
        vec![format!("give the generator more of it ({what}), or use a second machine, and repeat the load")];
    let told = |(other, part): &(&Resource, f64)| scene.row(text::resource_text(other), *part, Some(1.0));
    let evidence =
        std::iter::once(scene.row(what, share, Some(1.0))).chain(rivals.iter().map(told)).collect();
    let confidence = if rivals.is_empty() { Confidence::Measured } else { Confidence::Inferred };
    let also = rivals.iter().map(|(other, part)| suspect(scene, other, *part)).collect();
    Some(Verdict { evidence, advice, text, also, ..Verdict::new(Limit::Generator, GENERATOR, confidence) })
}

/// The part of a resource that was used, if that is nearly all and by the requests.
fn full(scene: &Scene<'_>, resource: &Resource) -> Option<f64> {
    let by_requests = resource.demand.is_some_and(|demand| demand.law != Law::Broken);
    let by_requests = by_requests && resource.kind != ResourceKind::Core;
    scene.share(resource).filter(|share| by_requests && *share >= bounds::BUSY)
}

/// A host's processors, threads and quotas are one thing seen three times.
fn runs_code(resource: &Resource) -> bool {
    matches!(resource.kind.limit(), Limit::Cpu | Limit::Thread | Limit::Quota)
}

fn suspect(scene: &Scene<'_>, resource: &Resource, share: f64) -> Suspect {
    let at = resource.demand.and_then(|demand| demand.at_per_sec).map(|at| at.value);
    let at_per_sec = at.or(Some(scene.throughput() / share));
    Suspect { limit: resource.kind.limit(), place: resource.place(), at_per_sec }
}

/// What the generator's own clocks and counters show is measured; what follows from a law, or what a target or the network
/// between causes as well, is inferred.
pub(super) fn generator_limited(case: &Case<'_>) -> Verdict {
    let seen = |reason: &GeneratorReason| !may_be_the_targets(reason);
    let reasons = &case.generator.reasons;
    let confidence = if reasons.iter().any(seen) { Confidence::Measured } else { Confidence::Inferred };
    let place = case
        .knee
        .and_then(|knee| case.steps.iter().find(|step| step.connections == knee.plateau_connections))
        .or(case.steps.last())
        .map_or_else(String::new, at);
    Verdict {
        evidence: reasons.iter().map(|reason| reason_row(reason, &place)).collect(),
        advice: advice::generator(reasons),
        ..case.verdict(Limit::Generator, confidence)
    }
}

fn reason_row(reason: &GeneratorReason, place: &str) -> EvidenceRow {
    let (what, value, of) = match *reason {
        GeneratorReason::WorkerBusy { worker, ratio } => {
            (format!("CPU of worker {worker}"), ratio, Some(1.0))
        }
        GeneratorReason::WorkerStarved { worker, ratio } => {
            (format!("time that worker {worker} was ready and had no CPU"), ratio, Some(1.0))
        }
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => {
            let what = "send lag p99 in ms, against the median service time".to_owned();
            (what, p99_ns / 1e6, Some(service_p50_ns / 1e6))
        }
        GeneratorReason::LittlesLaw { expected, observed } => {
            ("requests under way by Little's law, against connections".to_owned(), observed, Some(expected))
        }
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => {
            ("requests/s sent, against those due".to_owned(), sent_per_sec, Some(offered_per_sec))
        }
        GeneratorReason::OutOfResources { kind, count } => {
            (format!("requests failed: {}", kind.row().meaning), count as f64, None)
        }
        GeneratorReason::OutOfConnections { connections, descriptors } => {
            let what = "connections open, against the descriptors of this process".to_owned();
            (what, connections as f64, Some(descriptors as f64))
        }
        GeneratorReason::Stolen { ratio } => {
            ("CPU time of this machine taken by others".to_owned(), ratio, Some(1.0))
        }
        GeneratorReason::Retransmits { ratio, .. } => {
            ("TCP segments of this machine sent again".to_owned(), ratio, Some(1.0))
        }
        GeneratorReason::NearCeiling { per_worker_per_sec, ceiling_per_sec } => {
            let what = "requests/s of a worker, against its ceiling when calibrated".to_owned();
            (what, per_worker_per_sec, Some(ceiling_per_sec))
        }
    };
    row(what, value, of, place.to_owned())
}

/// The generator's own load, the first thing to rule out.
pub(super) fn generator_row(case: &Case<'_>, step: &StepSummary) -> EvidenceRow {
    row(
        "CPU of the busiest worker of the generator",
        case.generator.busiest_worker_ratio,
        Some(1.0),
        at(step),
    )
}
