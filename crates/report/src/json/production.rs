//! Production: schema `plimsoll/production/1`.

use plimsoll_analyze::{
    BackgroundWork, FullAt, Instances, LimitUnknown, ProductionDemand, ProductionFindings, ProductionLaw,
    ProductionLimit, RateRange, ResourceFinding, TestOnly, UseChange,
};

use super::document::{Interval, document, each, value};
use crate::words;

document! {
    /// What a request costs in production, and at which rate the first resource is full.
    #[schemars(title = "Production explained")]
    pub struct ProductionDocument(findings: &ProductionFindings, notes: &[String]) {
        /// Always `plimsoll/production/1`.
        schema: &'static str = "plimsoll/production/1",
        /// The first instant, in seconds since 1970 (UTC).
        start_sec: f64 = findings.start_sec,
        /// The last instant.
        end_sec: f64 = findings.end_sec,
        /// The time from one instant to the next, in seconds.
        step_sec: f64 = findings.step_sec,
        /// The share of a capacity that is used at `safe_at_per_sec`.
        safe_share: f64 = findings.safe_share,
        /// Instants between the first and the last, both included.
        instants: u64 = findings.instants as u64,
        /// The number of instants at which the rate is known.
        with_rate: u64 = findings.with_rate as u64,
        /// The longest time without a rate, in seconds; 0 without a gap.
        longest_gap_sec: f64 = findings.longest_gap_sec,
        /// The rates that were observed; null if none was.
        rate: Option<RateRangeDocument> = findings.rate.as_ref().map(RateRangeDocument::new),
        /// The resource that is full first.
        limit: ProductionLimitDocument = ProductionLimitDocument::new(findings, &findings.limit),
        /// The resources; those that fill first come first.
        resources: Vec<ProductionResourceDocument> =
            each(&findings.resources, |resource| ProductionResourceDocument::new(resource, findings)),
        /// What only a load test shows: `pools`, `locks`, `threads`, `dependencies`.
        only_a_test_shows: Vec<&'static str> = TestOnly::ALL.map(TestOnly::name).to_vec(),
        /// What could not be read as requested, in words.
        notes: Vec<String> = notes.to_vec(),
    }

    /// Requests per second.
    pub struct RateRangeDocument(rate: &RateRange) {
        /// The rate was below this for 5 % of the time.
        low: f64 = rate.low,
        /// The median.
        median: f64 = rate.median,
        /// The rate was above this for 5 % of the time.
        high: f64 = rate.high,
        /// The highest rate.
        highest: f64 = rate.highest,
    }

    /// The resource that is full first.
    pub struct ProductionLimitDocument(findings: &ProductionFindings, limit: &ProductionLimit) {
        /// True if it is known.
        known: bool = matches!(limit, ProductionLimit::Known { .. }),
        /// Why it is not known: `too_few_points`, `too_little_variation`, `no_resource`, `no_capacity`,
        /// `nothing_follows`, `full` (a resource was full so often that what requests use of it is not known), `beyond`;
        /// null if it is known.
        why_unknown: Option<&'static str> = why_unknown(limit),
        /// The name of the resource; null if it is not known.
        resource: Option<String> = first(findings).map(|one| words::production_resource(one, &findings.resources)),
        /// The rate at which it is full, requests per second; null if it is not known.
        full_at_per_sec: Option<f64> = value(first(findings).and_then(ResourceFinding::full_at)),
        /// The 95 % interval of `full_at_per_sec`.
        full_at_interval: Interval = first(findings).and_then(ResourceFinding::full_at),
        /// `full_at_per_sec` over the highest observed rate; null if it is not known. Below 1, that rate was reached
        /// before, or more instances than there are now served the highest rate. Above 1, the denominator is the highest
        /// rate among the points of the resource's line.
        extrapolation: Option<f64> = extrapolation(findings),
        /// Names of the resources that the intervals do not separate from the first, or that are full within 5 % of its
        /// rate.
        tied: Vec<String> = tied(findings, limit),
        /// The limit in words.
        text: String = words::production_limit(findings),
    }

    /// One resource of one instance, or of all instances together.
    pub struct ProductionResourceDocument(resource: &ResourceFinding, findings: &ProductionFindings) {
        /// What it is: `host_cpu`, `busiest_core`, `host_memory`, `disk`, `network_out`, `network_in`, `conntrack`, `open_files`,
        /// `container_cpu`, `container_throttled`, `container_memory`, `container_network_out`, `container_network_in`,
        /// `process_cpu`, `descriptors`, or `named` by the user.
        kind: &'static str = resource.kind.name(),
        /// Which one of its kind: an interface, a container, the user's name; empty for a resource that a host has only
        /// once.
        of: String = &resource.of,
        /// The instance; null for a single instance without a name, and for a sum over instances.
        instance: Option<String> = match &resource.instances {
            Instances::One(name) => Some(name.clone()),
            Instances::Unnamed | Instances::Sum(_) => None,
        },
        /// For a sum, the number of instances at the end of the time, from which `capacity` follows; null otherwise.
        instances: Option<u64> = resource.count().map(|count| count.now as u64),
        /// For a sum, the fewest instances at one instant; null otherwise.
        instances_least: Option<u64> = resource.count().map(|count| count.least as u64),
        /// For a sum, the most instances at one instant; null otherwise.
        instances_most: Option<u64> = resource.count().map(|count| count.most as u64),
        /// The resource in words.
        name: String = words::production_resource(resource, &findings.resources),
        /// `cores`, `bits_per_sec`, `bytes`, `ratio` or `count`.
        unit: &'static str = resource.unit.name(),
        /// The capacity; null if it is not known.
        capacity: Option<f64> = resource.capacity,
        /// The highest use; null if none is known.
        highest: Option<f64> = resource.highest,
        /// `holds`, `bent`, `unrelated`, `unclear`, `too_few_points`, `too_little_variation` or `not_throughout`.
        law: &'static str = law(resource.law),
        /// What requests use; null unless the law holds or is bent.
        demand: Option<ProductionDemandDocument> = resource.demand.as_ref().map(ProductionDemandDocument::new),
        /// The number of points that the line is fitted to.
        points: u64 = resource.points.used.len() as u64,
        /// Points with a rate but without a use.
        missing: u64 = resource.left_out.missing as u64,
        /// Points left out because 95 % of the capacity were used.
        full: u64 = resource.left_out.full as u64,
        /// Points left out as background work, which is not caused by requests.
        background: u64 = resource.left_out.background as u64,
        /// Points left out because they are older than `change`.
        before_change: u64 = resource.left_out.before_change as u64,
        /// Background work, which is not caused by requests; null if there was none.
        background_work: Option<BackgroundWorkDocument> = resource.background_work.as_ref().map(BackgroundWorkDocument::new),
        /// A change of the use at one rate, such as after a release; null if there was none.
        change: Option<UseChangeDocument> = resource.change.as_ref().map(UseChangeDocument::new),
    }

    /// U = U₀ + D·λ.
    pub struct ProductionDemandDocument(demand: &ProductionDemand) {
        /// D, in the unit of the resource times seconds.
        per_request: f64 = demand.per_request.value,
        /// The 95 % interval of `per_request`.
        per_request_interval: Interval = demand.per_request,
        /// U₀, in the unit of the resource.
        background: f64 = demand.background.value,
        /// The 95 % interval of `background`.
        background_interval: Interval = demand.background,
        /// The relative change of D from the low to the high rates.
        bend: f64 = demand.bend.value,
        /// The 95 % interval of `bend`.
        bend_interval: Interval = demand.bend,
        /// The rate at which the resource is full, requests per second; null without a capacity, or if it is too high to
        /// be stated.
        full_at_per_sec: Option<f64> = value(demand.full_at.rate()),
        /// The 95 % interval of `full_at_per_sec`.
        full_at_interval: Interval = demand.full_at.rate(),
        /// A rate beyond which it is full, if that is all that can be stated; null otherwise.
        full_beyond_per_sec: Option<f64> = match demand.full_at {
            FullAt::Beyond(rate) => Some(rate),
            FullAt::At(_) | FullAt::NoCapacity => None,
        },
        /// The rate at which the requested share of the capacity is used; 0 if that share is used without requests. Null
        /// where `full_at_per_sec` is, and where a bent law gives no rate at that share.
        safe_at_per_sec: Option<f64> = value(demand.safe_at),
        /// The 95 % interval of `safe_at_per_sec`.
        safe_at_interval: Interval = demand.safe_at,
    }

    /// Times in which use was far above what the rate explains.
    pub struct BackgroundWorkDocument(work: &BackgroundWork) {
        /// The number of such times.
        episodes: u64 = work.episodes as u64,
        /// Their total length, in seconds.
        total_sec: f64 = work.total_sec,
        /// The mean use during these times beyond what the rate explains.
        mean_extra: f64 = work.mean_extra,
        /// When the first began, in seconds since 1970 (UTC).
        first_sec: f64 = work.first_sec,
        /// When it begins on most days, in seconds after midnight (UTC); null if it has no time of day.
        daily_at_sec: Option<f64> = work.daily_at_sec,
    }

    /// A change of the use at one rate that lasts to the end of the time.
    pub struct UseChangeDocument(change: &UseChange) {
        /// When it began, in seconds since 1970 (UTC).
        since_sec: f64 = change.since_sec,
        /// The rate at which both uses are compared, requests per second.
        rate_per_sec: f64 = change.rate,
        /// The use at that rate before, in the unit of the resource.
        before: f64 = change.before,
        /// The use at that rate since then.
        after: f64 = change.after,
        /// True if the law and the demand are those of the time after the change; false if that time is too short, so
        /// that they are those of the time before.
        judged_alone: bool = change.is_judged_alone,
    }
}

fn first(findings: &ProductionFindings) -> Option<&ResourceFinding> {
    match findings.limit {
        ProductionLimit::Known { first, .. } => findings.resources.get(first),
        ProductionLimit::Unknown(_) => None,
    }
}

fn extrapolation(findings: &ProductionFindings) -> Option<f64> {
    let first = first(findings)?;
    Some(first.full_at()?.value / findings.compared_with(first)?)
}

fn tied(findings: &ProductionFindings, limit: &ProductionLimit) -> Vec<String> {
    let ProductionLimit::Known { tied, .. } = limit else { return Vec::new() };
    tied.iter().map(|at| words::production_resource(&findings.resources[*at], &findings.resources)).collect()
}

const fn why_unknown(limit: &ProductionLimit) -> Option<&'static str> {
    let ProductionLimit::Unknown(why) = limit else { return None };
    Some(match why {
        LimitUnknown::TooFewPoints => "too_few_points",
        LimitUnknown::TooLittleVariation => "too_little_variation",
        LimitUnknown::NoResource => "no_resource",
        LimitUnknown::NoCapacity => "no_capacity",
        LimitUnknown::NothingFollows => "nothing_follows",
        LimitUnknown::Full(_) => "full",
        LimitUnknown::Beyond => "beyond",
    })
}

const fn law(law: ProductionLaw) -> &'static str {
    match law {
        ProductionLaw::Holds => "holds",
        ProductionLaw::Bent => "bent",
        ProductionLaw::Unrelated => "unrelated",
        ProductionLaw::Unclear => "unclear",
        ProductionLaw::TooFewPoints => "too_few_points",
        ProductionLaw::TooLittleVariation => "too_little_variation",
        ProductionLaw::NotThroughout => "not_throughout",
    }
}
