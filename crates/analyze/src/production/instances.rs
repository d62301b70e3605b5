//! Resources that several instances have: each instance by itself, and their sum.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::findings::{InstanceCount, Instances};
use super::series::{ProductionKind, ProductionSeries, ResourceSeries};

/// An instance that is present in a smaller fraction of the time was started or stopped within it.
const MIN_PRESENT: f64 = 0.9;
/// The last scrape of a running instance may be missing; an instance that is missing for longer at the end has stopped.
const MAX_MISSING_AT_END: usize = 1;

/// A resource that is judged: of one instance, or summed over all.
pub(super) struct Subject<'a> {
    pub(super) series: &'a ResourceSeries,
    pub(super) instances: Instances,
    pub(super) usage: Cow<'a, [Option<f64>]>,
    /// The capacity; for a sum, that of the instances that exist at the end.
    pub(super) capacity: Option<f64>,
    /// For a sum, the capacity at each instant.
    capacities: Option<Vec<Option<f64>>>,
    /// True if the instance existed throughout, including the end.
    pub(super) throughout: bool,
}

impl Subject<'_> {
    /// The capacity at an instant.
    pub(super) fn capacity_at(&self, instant: usize) -> Option<f64> {
        match &self.capacities {
            Some(capacities) => capacities.get(instant).copied().flatten(),
            None => self.capacity,
        }
    }
}

/// Returns each series, and the sum over the instances of each resource.
pub(super) fn subjects(series: &ProductionSeries) -> Vec<Subject<'_>> {
    let mut groups: BTreeMap<(ProductionKind, &str), Vec<&ResourceSeries>> = BTreeMap::new();
    for resource in &series.resources {
        groups.entry((resource.kind, &resource.of)).or_default().push(resource);
    }
    groups.into_values().flat_map(|group| of_group(series, &group)).collect()
}

fn of_group<'a>(series: &ProductionSeries, group: &[&'a ResourceSeries]) -> Vec<Subject<'a>> {
    let several = group.len() > 1;
    let end = end_of(group);
    let one = |resource: &&'a ResourceSeries| Subject {
        series: resource,
        instances: resource.instance.clone().map_or(Instances::Unnamed, Instances::One),
        usage: Cow::Borrowed(&resource.usage[..]),
        capacity: resource.capacity,
        capacities: None,
        throughout: !several || is_throughout(series, resource) && Life::of(resource, true, end).last == end,
    };
    let sum = several.then(|| sum(series, group)).flatten();
    sum.into_iter().chain(group.iter().map(one)).collect()
}

/// True if the use is known at nearly all instants with a rate.
fn is_throughout(series: &ProductionSeries, resource: &ResourceSeries) -> bool {
    let with_rate = series.rate_per_sec.iter().filter(|rate| rate.is_some()).count();
    let pairs = series.rate_per_sec.iter().zip(&resource.usage);
    let with_both = pairs.filter(|(rate, usage)| rate.is_some() && usage.is_some()).count();
    with_both as f64 >= MIN_PRESENT * with_rate as f64
}

/// The last instant at which a series of a group has a value.
fn end_of(group: &[&ResourceSeries]) -> usize {
    group.iter().filter_map(|resource| resource.usage.iter().rposition(Option::is_some)).max().unwrap_or(0)
}

/// The instants between which an instance certainly existed, so that a missing value means unknown use.
#[derive(Clone, Copy)]
struct Life {
    first: usize,
    last: usize,
}

impl Life {
    /// The life of an instance in a group that ends at `end`. An instance that comes and goes certainly existed at its last instant only.
    fn of(resource: &ResourceSeries, is_throughout: bool, end: usize) -> Self {
        let last = resource.usage.iter().rposition(Option::is_some).unwrap_or(0);
        let first = resource.usage.iter().position(Option::is_some).filter(|_| is_throughout).unwrap_or(last);
        Self { first, last: if last + MAX_MISSING_AT_END >= end { end } else { last } }
    }

    fn holds(self, instant: usize) -> bool {
        (self.first..=self.last).contains(&instant)
    }
}

/// The sum over the instances at one instant.
#[derive(Clone, Copy)]
struct Together {
    count: usize,
    usage: f64,
    /// `None` if the capacity of one instance is not known.
    capacity: Option<f64>,
}

impl Together {
    const NONE: Self = Self { count: 0, usage: 0.0, capacity: Some(0.0) };

    fn add(&mut self, usage: f64, capacity: Option<f64>) {
        self.count += 1;
        self.usage += usage;
        self.capacity = self.capacity.zip(capacity).map(|(all, one)| all + one);
    }
}

/// The sum over all instances. A missing value of an existing instance makes the sum unknown; before its start and after its end the
/// others are all there are. An instance that comes and goes counts while it has values. The busiest cores of several hosts have no
/// sum.
fn sum<'a>(series: &ProductionSeries, group: &[&'a ResourceSeries]) -> Option<Subject<'a>> {
    let first = *group.first().filter(|resource| resource.kind.limits())?;
    let end = end_of(group);
    let life = |resource: &&ResourceSeries| Life::of(resource, is_throughout(series, resource), end);
    let lives: Vec<Life> = group.iter().map(life).collect();
    let at = |instant: usize| {
        let mut together = Together::NONE;
        for (resource, life) in group.iter().zip(&lives) {
            match resource.usage.get(instant).copied().flatten() {
                Some(usage) => together.add(usage, resource.capacity),
                None if life.holds(instant) => return None,
                None => {}
            }
        }
        (together.count > 0).then_some(together)
    };
    let all: Vec<Option<Together>> = (0..series.rate_per_sec.len()).map(at).collect();
    let now = now(&all);
    let counts = || all.iter().flatten().map(|together| together.count);
    let count = InstanceCount {
        now: now.count,
        least: counts().min().unwrap_or(0),
        most: counts().max().unwrap_or(0),
    };
    Some(Subject {
        series: first,
        instances: Instances::Sum(count),
        usage: all.iter().map(|together| Some(together.as_ref()?.usage)).collect(),
        capacity: now.capacity.filter(|_| now.count > 0),
        capacities: Some(all.iter().map(|together| together.as_ref()?.capacity).collect()),
        throughout: true,
    })
}

/// The sum at the last instant at which all capacities are known, else at the last instant: the capacity of a new instance may not be
/// recorded yet.
fn now(all: &[Option<Together>]) -> Together {
    let mut last = all.iter().rev().flatten();
    let with_capacity = last.clone().find(|together| together.capacity.is_some());
    with_capacity.or_else(|| last.next()).copied().unwrap_or(Together::NONE)
}
