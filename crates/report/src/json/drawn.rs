//! Selects the resources and curves that a page draws over time: few, so that the page stays small, and all that the
//! evidence refers to.

use std::collections::BTreeMap;

use plimsoll_analyze::{Curve, Findings, Part, Resource, Timeline};

use super::series::{SeriesDocument, series};

/// The maximum number of resources of one host to draw, without those of the host as a whole.
const MAX_PARTS: usize = 8;
/// The maximum number of curves of one kind on one host to draw.
const MAX_CURVES: usize = 4;

/// Returns the series that the verdict's evidence refers to.
fn linked(findings: &Findings) -> Vec<SeriesDocument> {
    findings.verdict.evidence.iter().flat_map(|row| series(&row.observed)).collect()
}

/// Every resource of a host as a whole, and the parts of each host that were used most.
pub(super) fn resources<'a>(findings: &Findings, timeline: &'a Timeline) -> Vec<&'a Resource> {
    let linked = linked(findings);
    let peak = |resource: &Resource| resource.used.iter().flatten().copied().fold(0.0, f64::max);
    let share = |resource: &Resource| resource.capacity.map_or(0.0, |capacity| peak(resource) / capacity);
    let is_kept = |resource: &&Resource| {
        resource.part == Part::Whole || linked.iter().any(|series| series.is_use(resource))
    };
    let used = timeline.resources.iter().filter(|resource| peak(resource) > 0.0);
    let (mut drawn, mut parts): (Vec<&Resource>, Vec<&Resource>) = used.partition(is_kept);
    parts.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let mut parts_of: BTreeMap<&str, usize> = BTreeMap::new();
    drawn.extend(parts.into_iter().filter(|resource| {
        let count = parts_of.entry(&resource.host).or_default();
        *count += 1;
        *count <= MAX_PARTS
    }));
    drawn.sort_by(|a, b| a.host.cmp(&b.host));
    drawn
}

/// The highest curves of each kind on each host.
pub(super) fn curves<'a>(findings: &Findings, timeline: &'a Timeline) -> Vec<&'a Curve> {
    let linked = linked(findings);
    let mut highest: Vec<&Curve> = timeline.curves.iter().collect();
    highest.sort_by(|a, b| b.peak().total_cmp(&a.peak()));
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    highest.retain(|curve| {
        let count = counts.entry((curve.host.as_str(), curve.kind.name())).or_default();
        *count += 1;
        *count <= MAX_CURVES || linked.iter().any(|series| series.of.is_some() && series.is_curve(curve))
    });
    highest.sort_by(|a, b| (&a.host, a.kind, &a.part).cmp(&(&b.host, b.kind, &b.part)));
    highest
}
