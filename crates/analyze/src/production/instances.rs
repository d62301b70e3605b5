//! Several instances of one resource: each for itself, and their sum.

use std::collections::BTreeMap;

use super::findings::Instances;
use super::series::{ProductionKind, ProductionSeries, ResourceSeries};

/// An instance that is missing in more than a tenth of the time was started or stopped in it.
const MIN_PRESENT: f64 = 0.9;

/// A resource to be judged.
pub(super) struct Subject<'a> {
    pub(super) series: &'a ResourceSeries,
    pub(super) instances: Instances,
    pub(super) usage: Vec<Option<f64>>,
    pub(super) capacity: Option<f64>,
    /// True if the instance was there all the time.
    pub(super) throughout: bool,
}

/// Each series, and the sum of those that are the same resource of several instances.
pub(super) fn subjects(series: &ProductionSeries) -> Vec<Subject<'_>> {
    let mut groups: BTreeMap<(ProductionKind, &str), Vec<&ResourceSeries>> = BTreeMap::new();
    for resource in &series.resources {
        groups.entry((resource.kind, &resource.of)).or_default().push(resource);
    }
    groups.into_values().flat_map(|group| of_group(series, &group)).collect()
}

fn of_group<'a>(series: &ProductionSeries, group: &[&'a ResourceSeries]) -> Vec<Subject<'a>> {
    let several = group.len() > 1;
    let one = |resource: &&'a ResourceSeries| Subject {
        series: resource,
        instances: resource.instance.clone().map_or(Instances::Unnamed, Instances::One),
        usage: resource.usage.clone(),
        capacity: resource.capacity,
        throughout: !several || is_throughout(series, resource),
    };
    let sum = several.then(|| sum(series, group)).flatten();
    sum.into_iter().chain(group.iter().map(one)).collect()
}

/// True if its use is known nearly whenever the rate is.
fn is_throughout(series: &ProductionSeries, resource: &ResourceSeries) -> bool {
    let with_rate = series.rate_per_sec.iter().filter(|rate| rate.is_some()).count();
    let pairs = series.rate_per_sec.iter().zip(&resource.usage);
    let with_both = pairs.filter(|(rate, usage)| rate.is_some() && usage.is_some()).count();
    with_both as f64 >= MIN_PRESENT * with_rate as f64
}

/// All instances together. An instance that is always there and missing at an instant leaves the sum unknown; one that comes
/// and goes counts while it is there. The busiest cores of several hosts have no sum.
fn sum<'a>(series: &ProductionSeries, group: &[&'a ResourceSeries]) -> Option<Subject<'a>> {
    let first = *group.first().filter(|resource| resource.kind.limits())?;
    let constant: Vec<bool> = group.iter().map(|resource| is_throughout(series, resource)).collect();
    let at = |instant: usize| {
        let values: Vec<Option<f64>> =
            group.iter().map(|resource| resource.usage.get(instant).copied().flatten()).collect();
        let is_gap = values.iter().zip(&constant).any(|(value, constant)| *constant && value.is_none());
        let known: Vec<f64> = values.into_iter().flatten().collect();
        (!is_gap && !known.is_empty()).then_some(known)
    };
    let values: Vec<Option<Vec<f64>>> = (0..series.rate_per_sec.len()).map(at).collect();
    let most = values.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let usage = values.into_iter().map(|known| Some(known?.iter().sum())).collect();
    // What ended has no capacity at the end; the others make the sum only if all of them have one.
    let present = |resource: &&&ResourceSeries| resource.usage.iter().rev().take(3).any(Option::is_some);
    let capacities: Option<Vec<f64>> =
        group.iter().filter(present).map(|resource| resource.capacity).collect();
    let capacity = capacities.filter(|all| !all.is_empty()).map(|all| all.iter().sum());
    Some(Subject { series: first, instances: Instances::Sum(most), usage, capacity, throughout: true })
}
