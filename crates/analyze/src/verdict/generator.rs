//! `generator`: the machine that makes the load held it back.

use plimsoll_record::{Source, Subject};

use super::candidate::Candidate;
use super::context::RuleContext;
use super::facts::spent::runs_code;
use super::next::nearly;
use crate::findings::{
    Advice, At, Claim, Confidence, Evidence, Limit, Observation, Place, StepSummary, Verdict,
};
use crate::generator::health::GeneratorReason;
use crate::hosts::demand::Law;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::tracks::GENERATOR;
use crate::hosts::utilisation::{BUSY, TIE};
use crate::observations::Case;

/// True for a reason that a target can cause as well: segments are also lost on its link, and a client waits where a server closes
/// connections. A used-up resource of a host comes before it.
pub(crate) fn may_be_the_targets(reason: &GeneratorReason) -> bool {
    matches!(reason, GeneratorReason::Retransmits { .. } | GeneratorReason::LittlesLaw { .. })
}

/// True if the generator's only fault is lost segments and the limit is a full link. The full link explains them, even where the load
/// does not show that the link's use follows the requests.
pub(super) fn are_lost_on(reasons: &[GeneratorReason], limit: Limit) -> bool {
    let lost = |reason: &GeneratorReason| matches!(reason, GeneratorReason::Retransmits { .. });
    matches!(limit, Limit::Bandwidth | Limit::Packets) && reasons.iter().all(lost)
}

/// True for a reason that delays requests without bounding their number: a worker that waits for its CPU, or sends late.
/// A used-up resource of the target still bounds throughput then, to within what is left of it.
pub(super) fn only_delays(reason: &GeneratorReason) -> bool {
    let delays = matches!(
        reason,
        GeneratorReason::WorkerStarved { .. }
            | GeneratorReason::SendLag { .. }
            | GeneratorReason::Stolen { .. }
    );
    delays || may_be_the_targets(reason)
}

/// Finds what was used up on the generator's host: a link, or the processors of its own control group. Other checks judge its
/// workers and its machine.
///
/// In a fleet, other machines make the load: this one only conducts it.
///
/// A link of the target that is as full at the same throughput stops it as well, and is an alternative. Processors of the
/// target that are as full may belong to the same group, where the generator only waits for its share of them: they come
/// first.
pub(super) fn host_limited(ctx: &RuleContext<'_>) -> Option<Verdict> {
    if !ctx.is_long_enough() || ctx.step().is_some_and(|step| !step.is_made_here()) {
        return None;
    }
    let own_group = ctx.obs.hosts.track(GENERATOR, Source::Cgroup, Subject::Host).is_some();
    let is_judged = |resource: &&Resource| match resource.kind {
        ResourceKind::Cpu => own_group,
        kind => kind.is_of_link(),
    };
    let mut ours = ctx.obs.resources.iter().filter(|resource| resource.host == GENERATOR).filter(is_judged);
    let (resource, share) = ours.find_map(|resource| Some((resource, full(ctx, resource)?)))?;
    let is_as_full = |other: &&Resource| full(ctx, other).is_some_and(|other| other >= (1.0 - TIE) * share);
    let rivals: Vec<&Resource> = ctx.of_target().filter(is_as_full).collect();
    let code = |resource: &Resource| runs_code(resource.kind.limit());
    if code(resource) && rivals.iter().any(|rival| code(rival)) {
        return None;
    }
    Some(full_host(ctx, (resource, share), &rivals))
}

/// Finds what a row of a table shows to be used up on the generator's machine.
pub(super) fn row_limited(ctx: &RuleContext<'_>) -> Option<Verdict> {
    let mut ours = ctx.obs.resources.iter().filter(|resource| resource.host == GENERATOR);
    let (resource, share) = ours.find_map(|resource| Some((resource, full(ctx, resource)?)))?;
    let rivals: Vec<&Resource> = ctx.of_target().filter(|other| full(ctx, other).is_some()).collect();
    Some(Verdict { confidence: Confidence::Inferred, ..full_host(ctx, (resource, share), &rivals) })
}

fn full_host(ctx: &RuleContext<'_>, (resource, share): (&Resource, f64), rivals: &[&Resource]) -> Verdict {
    let rival = rivals.first().map(|rival| ctx.use_of(rival));
    let rivals: Vec<Candidate> = rivals.iter().map(|rival| nearly(ctx, rival)).collect();
    let own = ctx.share_row(Observation::Resource(resource.id()), share);
    let confidence = if rivals.is_empty() { Confidence::Measured } else { Confidence::Inferred };
    Verdict {
        claim: Some(Claim::GeneratorFull { used: ctx.use_of(resource), rival }),
        also: rivals.iter().map(|rival| rival.suspect(ctx)).collect(),
        evidence: std::iter::once(own).chain(rivals.into_iter().flat_map(|rival| rival.evidence)).collect(),
        advice: vec![Advice::MoreForGenerator(resource.id())],
        ..Verdict::new(Limit::Generator, Place::Generator, confidence)
    }
}

/// The share of a resource that was used; `None` unless requests used nearly all of it.
fn full(ctx: &RuleContext<'_>, resource: &Resource) -> Option<f64> {
    let by_requests = resource.demand.is_some_and(|demand| demand.law != Law::Broken);
    let by_requests = by_requests && resource.kind != ResourceKind::Core;
    ctx.share(resource).filter(|share| by_requests && *share >= BUSY)
}

/// The verdict for a generator that limits. What its own clocks and counters show is measured; what follows from a law, or what a
/// target or the network can cause as well, is inferred.
pub(super) fn generator_limited(case: &Case<'_>) -> Verdict {
    let reasons = &case.generator.reasons;
    let is_own = |reason: &GeneratorReason| !may_be_the_targets(reason);
    let confidence = if reasons.iter().any(is_own) { Confidence::Measured } else { Confidence::Inferred };
    let place = case.steps.get(case.deciding()).map_or(At::Nowhere, StepSummary::at);
    Verdict {
        evidence: reasons.iter().map(|reason| reason_row(reason, &place)).collect(),
        advice: reasons.iter().copied().map(Advice::Generator).collect(),
        ..case.verdict(Limit::Generator, confidence)
    }
}

fn reason_row(reason: &GeneratorReason, at: &At) -> Evidence {
    let (value, of) = match *reason {
        GeneratorReason::WorkerBusy { ratio, .. }
        | GeneratorReason::WorkerStarved { ratio, .. }
        | GeneratorReason::WorkerStalled { ratio, .. }
        | GeneratorReason::Stolen { ratio }
        | GeneratorReason::Retransmits { ratio, .. } => (ratio, Some(1.0)),
        GeneratorReason::SendLag { p99_ns, service_p50_ns } => (p99_ns / 1e6, Some(service_p50_ns / 1e6)),
        GeneratorReason::LittlesLaw { expected, observed } => (observed, Some(expected)),
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => {
            (sent_per_sec, Some(offered_per_sec))
        }
        GeneratorReason::OutOfResources { count, .. } => (count as f64, None),
        GeneratorReason::OutOfConnections { connections, allowed, .. } => {
            (connections as f64, Some(allowed as f64))
        }
        GeneratorReason::NearCeiling { per_worker_per_sec, ceiling_per_sec, .. } => {
            (per_worker_per_sec, Some(ceiling_per_sec))
        }
    };
    Evidence::new(Observation::Generator(*reason), value, of, at.clone())
}
