//! Predicts the throughput after a cap is raised.

use plimsoll_plan::{Cap, Level, Load, RateProfile};

use crate::findings::{Bound, Findings, Limit, Part, Place, Raise, StepSummary};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::FREE;
use crate::load::knee::{TOLERANCE, counts_for_capacity, whole};

/// An intervention is made only if the predicted ratio is at least this: twice the tolerance of a plateau.
const MIN_RATIO: f64 = 1.0 + 2.0 * TOLERANCE;

/// The predicted change of throughput, and what bounds it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) ratio: f64,
    pub(crate) bound: Option<Bound>,
}

/// Why a verdict cannot be tested.
#[derive(Debug, Clone, PartialEq)]
pub enum UntriedVerdict {
    /// No plateau was reached that could be loaded again.
    NoLevel,
    /// The load generator was the limit.
    Generator,
    /// The verdict names no limit that could be raised.
    NoLimit,
    /// A lab cannot raise the named limit.
    NoCap { limit: Limit, place: Place },
    /// The host has no such cap.
    NotCapped { host: String, cap: Cap },
    /// Something else bounds throughput at a ratio of the present one that is too small for an experiment to show.
    Bounded { host: String, cap: Cap, bound: Bound, ratio: f64 },
}

/// The index of the step that is loaded again when its limit is raised.
pub(crate) fn repeated(findings: &Findings) -> Option<usize> {
    match &findings.plan.load {
        Load::Ladder { .. } => {
            let knee = findings.knee.filter(|knee| knee.reached)?;
            findings.steps.iter().position(|step| step.connections == knee.plateau_connections)
        }
        Load::Single { level: Level::Open { profile: RateProfile::Stages(_), .. }, .. } => None,
        Load::Single { .. } => findings.steps.len().checked_sub(1),
    }
}

/// The cap behind a verdict, and the resource that it caps if that is known.
pub(crate) fn cap_of(findings: &Findings, step: usize) -> Option<(Cap, Option<&Resource>)> {
    let verdict = &findings.verdict;
    // Raising a cap of the whole host tests neither the use by another process nor the heap of one process.
    let whole_host = verdict.place.of_host() == Some(&Part::Whole);
    let fullest = |kinds: &[ResourceKind]| {
        let of_host = findings.resources.iter().filter(|resource| resource.host == verdict.host());
        let shares = of_host
            .filter(|resource| kinds.contains(&resource.kind))
            .filter_map(|resource| Some((resource.utilisation(step)?, resource)));
        shares.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, resource)| resource)
    };
    match verdict.limit {
        Limit::Cpu if whole_host => Some((Cap::Cores, fullest(&[ResourceKind::Cpu]))),
        Limit::Memory if whole_host => Some((Cap::Memory, None)),
        Limit::Bandwidth => {
            let link = fullest(&[ResourceKind::BandwidthOut, ResourceKind::BandwidthIn])?;
            let outward = link.kind == ResourceKind::BandwidthOut;
            Some((if outward { Cap::LinkOut } else { Cap::LinkIn }, Some(link)))
        }
        Limit::Disk => Some((Cap::Disk, Some(fullest(&[ResourceKind::DiskRead, ResourceKind::DiskWrite])?))),
        Limit::Packets => Some((Cap::Packets, fullest(&[ResourceKind::PacketsOut, ResourceKind::PacketsIn]))),
        _ => None,
    }
}

/// Predicts the ratio of throughput to that of this step once a cap is raised: the ratio by which the cap grows (for memory 1.1), up to
/// the lowest of these bounds: the next limit, the other direction of the same link, the offered rate, and the load. By X ≤ N/R₁, N
/// connections give at most N/R₁, where R₁ is the latency of the lowest step, if the raised resource did not cause it; and N requests
/// use at most N cores.
pub(crate) fn predict(
    findings: &Findings,
    step: usize,
    raise: &Raise,
    resource: Option<&Resource>,
) -> Prediction {
    let now = &findings.steps[step];
    let over_now = |per_sec: f64| per_sec / now.throughput.value.max(f64::MIN_POSITIVE);
    let next = findings.verdict.next_limit.as_ref().map(|next| {
        (over_now(next.at_per_sec.value), Bound::Next { limit: next.limit, place: next.place.clone() })
    });
    let other_way = resource
        .and_then(|raised| other_way(findings, raise.cap, raised))
        .map(|(at, other)| (over_now(at), Bound::OtherWay { resource: other.kind, place: other.place() }));
    let offered = now.rate_per_sec.map(|rate| (over_now(rate), Bound::OfferedRate));
    let was_free =
        resource.and_then(|raised| raised.utilisation(lowest(findings)?)).is_some_and(|share| share < FREE);
    let load = findings.knee.filter(|_| was_free).map(|knee| {
        let most = f64::from(now.connections) / knee.connections_predicted.max(f64::MIN_POSITIVE);
        (most, Bound::Connections(now.connections))
    });
    let serial = resource
        .filter(|_| raise.cap == Cap::Cores)
        .and_then(|cpu| one_core_each(now.connections, f64::from(now.depth), cpu.used[step]?));
    let bounds = [next, other_way, offered, load, serial].into_iter().flatten();
    // Half as much memory again does not give half as much throughput again, since the pages that stay cached depend on the requests.
    // Only some gain is certain.
    let alone = if raise.cap == Cap::Memory { MIN_RATIO } else { raise.ratio() };
    match bounds.min_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((ratio, bound)) if ratio < alone => Prediction { ratio, bound: Some(bound) },
        _ => Prediction { ratio: alone, bound: None },
    }
}

/// A request computes on one core at a time, so that N requests under way use at most N cores. `None` where they use more already: then
/// a request uses several cores.
fn one_core_each(connections: u32, depth: f64, cores: f64) -> Option<(f64, Bound)> {
    let most = f64::from(connections) * depth / cores.max(f64::MIN_POSITIVE);
    (most >= 1.0).then_some((most, Bound::Connections(connections)))
}

/// The usable step with the fewest connections.
fn lowest(findings: &Findings) -> Option<usize> {
    let counts = |(_, step): &(usize, &StepSummary)| whole(step) && counts_for_capacity(step);
    let usable = findings.steps.iter().enumerate().filter(counts);
    usable.min_by_key(|(_, step)| step.connections).map(|(index, _)| index)
}

/// The direction of a link that is not raised with the other, and the throughput at which it is full. It has the same limit as the
/// verdict, so that it is not the next limit.
fn other_way<'a>(findings: &'a Findings, cap: Cap, raised: &Resource) -> Option<(f64, &'a Resource)> {
    let same_link = |other: &&Resource| {
        (&other.host, &other.part) == (&raised.host, &raised.part)
            && other.kind != raised.kind
            && other.kind.limit() == raised.kind.limit()
    };
    let other =
        findings.resources.iter().find(same_link).filter(|_| !matches!(cap, Cap::Packets | Cap::Disk))?;
    Some((other.demand?.at_per_sec?.value, other))
}

/// Chooses the cap to raise by half in order to test the verdict, and the index of the step to load again; or why there is no test.
pub fn plan_proof(findings: &Findings) -> Result<(Raise, u32), UntriedVerdict> {
    let verdict = &findings.verdict;
    let step = repeated(findings).ok_or(UntriedVerdict::NoLevel)?;
    let (cap, resource) = cap_of(findings, step).ok_or_else(|| match verdict.limit {
        Limit::Generator => UntriedVerdict::Generator,
        Limit::None | Limit::Unknown => UntriedVerdict::NoLimit,
        limit => UntriedVerdict::NoCap { limit, place: verdict.place.clone() },
    })?;
    let host = verdict.host().to_owned();
    let capacity = findings.plan.hosts.iter().find(|known| known.name == host).map(|known| known.capacity);
    let before = capacity.and_then(|capacity| cap.of(&capacity)).filter(|amount| *amount > 1);
    let Some(before) = before else { return Err(UntriedVerdict::NotCapped { host, cap }) };
    let raise = Raise { host, cap, before, after: before + before / 2 };
    match predict(findings, step, &raise, resource) {
        Prediction { ratio, bound: Some(bound) } if ratio < MIN_RATIO => {
            Err(UntriedVerdict::Bounded { host: raise.host, cap, bound, ratio })
        }
        _ => Ok((raise, findings.steps[step].index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_under_way_use_one_core_each_at_most() {
        assert_eq!(one_core_each(1, 1.0, 0.8), Some((1.25, Bound::Connections(1))));
        assert_eq!(one_core_each(4, 2.0, 0.5), Some((16.0, Bound::Connections(4))));
        assert_eq!(one_core_each(1, 1.0, 1.6), None, "its requests compute on several cores at once");
    }
}
