//! What rows of a table show. Each tier counts as one host, with the use of one of its machines.

use std::borrow::Cow;
use std::collections::BTreeSet;

use plimsoll_stats::t_quantile;

use super::{Observations, ObservedLoad};
use crate::findings::{At, Estimate, Part};
use crate::hosts::demand::{Demand, Law};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::topology::flow::NO_FLOW;
use crate::hosts::tracks::{GENERATOR, NOT_SAMPLED};
use crate::hosts::utilisation::TIE;
use crate::{TableRow, TableTier};

/// Fewer rows than this give no interval.
const MIN_ROWS: usize = 3;

/// A figure of a tier as a resource: the use and the capacity of one machine.
struct Figure {
    kind: ResourceKind,
    used: fn(&TableRow, &TableTier) -> Option<f64>,
    capacity: fn(&TableRow, &TableTier) -> Option<f64>,
}

const FIGURES: [Figure; 12] = [
    Figure { kind: ResourceKind::Machine, used: |_, tier| tier.cpu_ratio, capacity: |_, _| Some(1.0) },
    Figure { kind: ResourceKind::Cpu, used: |_, tier| tier.cores_used, capacity: cores },
    Figure { kind: ResourceKind::Thread, used: |_, tier| tier.core_ratio, capacity: |_, _| Some(1.0) },
    Figure {
        kind: ResourceKind::Quota,
        used: |_, tier| tier.cores_used.filter(|_| tier.quota_cores.is_some()),
        capacity: |_, tier| tier.quota_cores,
    },
    Figure { kind: ResourceKind::Pool, used: |_, tier| tier.pool_used, capacity: |_, tier| tier.pool },
    Figure { kind: ResourceKind::Memory, used: |_, tier| tier.memory_ratio, capacity: |_, _| Some(1.0) },
    Figure { kind: ResourceKind::Disk, used: |_, tier| tier.disk_ratio, capacity: |_, _| Some(1.0) },
    Figure {
        kind: ResourceKind::BandwidthIn,
        used: |_, tier| tier.in_bits_per_sec.filter(|_| has_ways(tier)),
        capacity: |_, tier| tier.link_bits_per_sec,
    },
    Figure {
        kind: ResourceKind::BandwidthOut,
        used: |row, tier| bits_out(row, tier).filter(|_| has_ways(tier)),
        capacity: |_, tier| tier.link_bits_per_sec,
    },
    Figure {
        kind: ResourceKind::BandwidthBoth,
        used: both_ways,
        capacity: |_, tier| tier.link_both_bits_per_sec,
    },
    Figure {
        kind: ResourceKind::PacketsIn,
        used: |_, tier| tier.in_packets_per_sec,
        capacity: |_, tier| tier.link_packets_per_sec,
    },
    Figure {
        kind: ResourceKind::PacketsOut,
        used: |_, tier| tier.out_packets_per_sec,
        capacity: |_, tier| tier.link_packets_per_sec,
    },
];

/// False for a link that is sold by the sum of both directions, with no capacity for each.
fn has_ways(tier: &TableTier) -> bool {
    tier.link_bits_per_sec.is_some() || tier.link_both_bits_per_sec.is_none()
}

fn both_ways(row: &TableRow, tier: &TableTier) -> Option<f64> {
    tier.link_both_bits_per_sec?;
    Some(tier.in_bits_per_sec? + bits_out(row, tier)?)
}

/// What a tier sends, in bits per second: as stated, or, in a table with one tier, at least its responses.
fn bits_out(row: &TableRow, tier: &TableTier) -> Option<f64> {
    let of_responses = || {
        let is_all = row.tiers.iter().all(|other| other.name == tier.name || other.name == GENERATOR);
        let bytes = row.response_bytes.filter(|_| is_all && tier.in_bits_per_sec.is_none())?;
        Some(8.0 * bytes * row.throughput_per_sec / tier.count())
    };
    tier.out_bits_per_sec.or_else(of_responses)
}

/// The cores of one machine of a tier: as stated, or else those of the machines under test, unless it is the generator.
fn cores(row: &TableRow, tier: &TableTier) -> Option<f64> {
    tier.cores.or_else(|| row.cores.filter(|_| tier.name != GENERATOR))
}

/// True if the cores in use stop at one, in at least two rows: they are those of one thread.
fn is_one_core(used: &[Option<f64>]) -> bool {
    let is_over = used.iter().flatten().any(|used| *used > 1.0 + TIE);
    !is_over && used.iter().flatten().filter(|used| **used >= 1.0 - TIE).count() > 1
}

/// The capacity of one machine of a resource's tier in a row; `None` where the row does not state it.
pub(crate) fn capacity_in(row: &TableRow, resource: &Resource) -> Option<f64> {
    let tier = row.tier(&resource.host)?;
    let figure = FIGURES.iter().find(|figure| figure.kind == resource.kind)?;
    (figure.capacity)(row, tier).filter(|capacity| *capacity > 0.0)
}

impl<'a> Observations<'a> {
    /// What rows show, with the capacities of the tiers of one of them and the cost of a request there.
    pub(crate) fn from_table(rows: &'a [&'a TableRow], row: usize) -> Self {
        let load = |row: &&TableRow| ObservedLoad {
            at: At::Row(row.label.clone()),
            throughput: Estimate::exact(row.throughput_per_sec),
        };
        let mut observed = Self {
            loads: rows.iter().map(load).collect(),
            resources: Cow::Owned(Vec::new()),
            hosts: &NOT_SAMPLED,
            spans: &[],
            flow: &NO_FLOW,
            run: None,
            not_serving: BTreeSet::new(),
            rows,
        };
        let figures = rows[row].present().flat_map(|tier| FIGURES.iter().map(move |figure| (tier, figure)));
        let resources = figures.filter_map(|(tier, figure)| observed.resource(row, tier, figure)).collect();
        observed.resources = Cow::Owned(resources);
        observed
    }

    fn resource(&self, row: usize, tier: &TableTier, figure: &Figure) -> Option<Resource> {
        let used = |row: &&TableRow| (figure.used)(row, row.tier(&tier.name)?);
        let used: Vec<Option<f64>> = self.rows.iter().map(used).collect();
        let capacity = (figure.capacity)(self.rows[row], tier);
        let (kind, capacity) = match capacity {
            None if figure.kind == ResourceKind::Cpu && is_one_core(&used) => {
                (ResourceKind::Thread, Some(1.0))
            }
            capacity => (figure.kind, capacity),
        };
        let mut resource = Resource::new(kind, (&tier.name, Part::Whole), capacity, used);
        resource.demand = self.demand(row, tier, &resource);
        (resource.used[row].is_some() || resource.demand.is_some()).then_some(resource)
    }

    /// The use per request of one machine of a tier, and the throughput at which the machine is used up: by what the row itself
    /// shows, or else by the cost of a request in other rows, if the number of machines is known.
    fn demand(&self, row: usize, tier: &TableTier, resource: &Resource) -> Option<Demand> {
        let all = self.cost(row, resource)?;
        let count = if resource.used[row].is_some() { tier.count() } else { tier.instances? };
        let per_request = all.times(1.0 / count);
        let seen = resource.used[row].map(|used| used / self.rows[row].throughput_per_sec);
        let here = seen.unwrap_or(per_request.value);
        let usable = self.usable(resource).filter(|_| here > 0.0);
        let at_per_sec = usable.map(|usable| Estimate::exact(usable / here));
        Some(Demand { per_request, idle: 0.0, at_per_sec, law: Law::Untested })
    }

    /// The cost of a request over all machines of a tier, by the rows of the same requests: D = ΣU / ΣX, the ratio estimator, with the
    /// interval of its linear form (Cochran, *Sampling Techniques*, 1977, chapter 6). Rows of more load count more, because
    /// what is read off a monitor is wrong by a certain percentage of a machine.
    fn cost(&self, row: usize, resource: &Resource) -> Option<Estimate> {
        let seen = |(row, used): (&&TableRow, &Option<f64>)| {
            Some((row.throughput_per_sec, (*used)? * row.tier(&resource.host)?.count()))
        };
        let rows = self.rows.iter().zip(&resource.used);
        let alike = rows.filter(|(other, _)| other.is_of_same_requests(self.rows[row]));
        ratio(&alike.filter_map(seen).collect::<Vec<_>>())
    }
}

/// ΣU / ΣX of pairs of throughput and use.
fn ratio(seen: &[(f64, f64)]) -> Option<Estimate> {
    let total: f64 = seen.iter().map(|(per_sec, _)| per_sec).sum();
    if total <= 0.0 {
        return None;
    }
    let value = seen.iter().map(|(_, used)| used).sum::<f64>() / total;
    let count = seen.len() as f64;
    let missed: f64 = seen.iter().map(|(per_sec, used)| (used - value * per_sec).powi(2)).sum();
    let interval = (seen.len() >= MIN_ROWS).then(|| {
        let error = (missed / (count * (count - 1.0))).sqrt() / (total / count);
        let half = t_quantile(count - 1.0) * error;
        ((value - half).max(0.0), value + half)
    });
    Some(Estimate { value, interval })
}
