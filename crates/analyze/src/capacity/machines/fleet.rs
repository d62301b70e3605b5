//! The inverse question: the rate that given machines carry, and what limits it.

use std::str::FromStr;

use super::doubt::Remark;
use super::growth::{Growth, Stop, TierMachines};
use super::observed::{Halt, Observed, ObservedTier, ScalingBefore};
use super::plan::rate_of_machine;
use super::scaling::{Fall, Scaling};
use super::terms::{MAX_MACHINES, TierResource};
use crate::capacity::kinds::RequestKind;
use crate::{Estimate, Limit, Place};

/// A resource used less than this where it was observed is extrapolated further than measurements support.
const MIN_SHARE: f64 = 0.5;

/// Machines of some tiers, as typed: `api=3,web=1`. Other tiers keep theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    machines: Vec<(String, u64)>,
}

/// An error in the typed machines, or too few observations to judge them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    #[error("`{0}` is no number of machines; write TIER=N such as api=3,web=1, with N from 1 to 1000000")]
    Form(String),
    #[error("`{0}` has two numbers of machines; write one")]
    Twice(String),
    #[error("there is no tier `{tier}` whose machines were observed; there are {known}")]
    Tier { tier: String, known: String },
    #[error(
        "nothing was observed from which growth can be followed: no resource of a tier was seen to be used by requests"
    )]
    NoGrowth,
}

/// What limits a fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum FleetCause {
    Resource {
        resource: TierResource,
        /// The part of a machine that is the resource; `None` for the whole machine.
        place: Option<Place>,
        /// Utilisation where the cost of a request was found.
        observed_share: f64,
    },
    /// Machines of the tier contend: throughput per machine fell between `few` and `most`.
    Contention { few: f64, most: f64 },
    /// The limit of a run: a lock, a dependency.
    Halt { run: String, limit: Limit, place: Place },
}

impl FleetCause {
    /// Order of causes at one rate: a limit that stopped a run first, a resource that may be full at that rate last.
    fn rank(&self) -> u8 {
        match self {
            Self::Halt { .. } => 0,
            Self::Contention { .. } => 1,
            Self::Resource { .. } => 2,
        }
    }
}

/// The highest throughput that one tier allows.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetLimit {
    pub tier: String,
    pub machines: f64,
    pub cause: FleetCause,
    /// Requests per second.
    pub per_sec: Estimate,
}

/// What is uncertain about a fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum FleetDoubt {
    /// The resource of the first limit was used this little: a request may cost less at high load.
    Extrapolated { tier: String, resource: TierResource, share: f64 },
    /// What stopped the run that growth starts from is unknown, or it was not at its limit: something else may limit the fleet earlier.
    UnknownStop { run: String, per_sec: f64, limit: Limit },
    /// This too may have stopped the run that growth starts from, and more machines do not help against it.
    Suspect { run: String, per_sec: f64, limit: Limit, place: Place },
    /// This stopped a run, and whether more machines of the tier help is not known.
    MoreOfStopped { tier: String, run: String, per_sec: f64, limit: Limit, place: Place },
    /// This many machines of the tier are beyond a count from which throughput falls, and their throughput was not measured.
    Falls {
        tier: String,
        machines: f64,
        few: f64,
        /// Requests per second of the few.
        few_per_sec: f64,
        many: f64,
        many_per_sec: f64,
    },
    /// Throughput per machine of the tier fell between `few` and `most`; the scaling after a change of them was not measured.
    ScalingBefore { tier: String, few: f64, most: f64 },
    /// The tier has no limit that is known.
    NoFigures(String),
    /// The runs have several kinds of requests; the rate is for those of the run that growth starts from.
    OtherRequests { run: String, kinds: Vec<RequestKind> },
    /// The rows have this many kinds of requests; the rate is for those of the row that growth starts from.
    OtherRows { row: String, kinds: usize },
    /// A remark that also applies to plans, such as a run that is not used or a throughput that is a lower bound.
    Remark(Remark),
}

/// The throughput of given machines.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetCapacity {
    /// The share of a machine that may be used at the rate `held`.
    pub utilisation: f64,
    /// All tiers with their machines.
    pub machines: Vec<TierMachines>,
    /// The highest rate for which a plan needs no more machines; `None` where no tier has a rate.
    pub held: Option<FleetLimit>,
    /// Where throughput stops growing with machines at full use, the first limit first.
    pub limits: Vec<FleetLimit>,
    /// True if a limit that was not observed may come earlier.
    pub at_most: bool,
    /// Throughput that growth starts from, requests per second, and where it was measured.
    pub from: (f64, String),
    pub doubts: Vec<FleetDoubt>,
}

impl FleetError {
    /// True if what the user typed is wrong.
    pub fn is_usage_error(&self) -> bool {
        !matches!(self, Self::NoGrowth)
    }
}

impl FromStr for Fleet {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        let mut machines: Vec<(String, u64)> = Vec::new();
        for part in text.split(',') {
            let wrong = || FleetError::Form(part.trim().to_owned());
            let (tier, count) = part.rsplit_once('=').ok_or_else(wrong)?;
            let count = count.trim().parse().ok().filter(|count| (1..=MAX_MACHINES).contains(count));
            let tier = Some(tier.trim()).filter(|tier| !tier.is_empty()).ok_or_else(wrong)?.to_owned();
            if machines.iter().any(|(known, _)| *known == tier) {
                return Err(FleetError::Twice(tier));
            }
            machines.push((tier, count.ok_or_else(wrong)?));
        }
        Ok(Self { machines })
    }
}

impl Fleet {
    /// All tiers of the load that growth starts from, with the counts of the fleet for tiers that it names.
    fn complete(&self, known: &[TierMachines]) -> Result<Vec<TierMachines>, FleetError> {
        if let Some((tier, _)) =
            self.machines.iter().find(|(tier, _)| known.iter().all(|known| known.tier != *tier))
        {
            let known: Vec<&str> = known.iter().map(|known| known.tier.as_str()).collect();
            return Err(FleetError::Tier { tier: tier.clone(), known: known.join(", ") });
        }
        let named = |tier: &str| {
            self.machines.iter().find(|(named, _)| named == tier).map(|(_, count)| *count as f64)
        };
        let complete = |known: &TierMachines| TierMachines {
            tier: known.tier.clone(),
            machines: named(&known.tier).unwrap_or(known.machines),
        };
        Ok(known.iter().map(complete).collect())
    }
}

/// Computes the rate that machines carry. Each resource is extrapolated from the load in which most machines were busy, with the load
/// spread evenly over the machines; measured contention and locks are limits too.
///
/// # Errors
/// When a tier does not exist, or no growth was observed that could be followed.
pub fn fleet_capacity(
    observed: &Observed,
    fleet: &Fleet,
    utilisation: f64,
) -> Result<FleetCapacity, FleetError> {
    let growth = observed.growth.as_ref().ok_or(FleetError::NoGrowth)?;
    let machines = fleet.complete(&growth.from.machines)?;
    let (mut limits, mut doubts, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for TierMachines { tier, machines } in &machines {
        let Some(known) = observed.tiers.iter().find(|known| known.name == *tier) else { continue };
        let own = full(growth, known, *machines);
        held.extend(at_share(known, *machines, utilisation, &own));
        if own.is_empty() {
            doubts.push(FleetDoubt::NoFigures(tier.clone()));
        }
        limits.extend(own);
        doubts.extend(fall(growth, known, *machines));
        doubts.extend(scaling_before(growth, known).filter(|_| *machines > 1.0));
        doubts.extend(halts(growth, known).filter_map(|halt| beyond(known, halt, *machines)));
    }
    limits.sort_by(|a, b| {
        a.per_sec.value.total_cmp(&b.per_sec.value).then(a.cause.rank().cmp(&b.cause.rank()))
    });
    let held = held.into_iter().min_by(|a: &FleetLimit, b| a.per_sec.value.total_cmp(&b.per_sec.value));
    doubts.extend(unknown_stop(growth));
    doubts.extend(growth.from.also.iter().map(|(limit, place)| FleetDoubt::Suspect {
        run: growth.from.at.clone(),
        per_sec: growth.from.per_sec.value,
        limit: *limit,
        place: place.clone(),
    }));
    let at_most = !doubts.is_empty();
    doubts.extend(limits.first().and_then(extrapolated));
    doubts.extend(observed.remarks.iter().filter_map(|remark| remarked(growth, remark)));
    let from = (growth.from.per_sec.value, growth.from.at.clone());
    Ok(FleetCapacity { utilisation, machines, held, limits, at_most, from, doubts })
}

/// Where a tier was stopped under the requests that growth is followed for; other requests may not meet the same lock.
fn halts<'a>(growth: &Growth, tier: &'a ObservedTier) -> impl Iterator<Item = &'a Halt> {
    let kind = growth.from.kind;
    tier.halts.iter().filter(move |halt| halt.kind == kind)
}

/// The scaling of a tier under those requests.
fn scaling<'a>(growth: &Growth, tier: &'a ObservedTier) -> Option<&'a Scaling> {
    tier.scaling.as_ref().filter(|scaling| scaling.kind == growth.from.kind)
}

/// How a tier scaled under those requests before its machines were changed.
fn before_change<'a>(growth: &Growth, tier: &'a ObservedTier) -> Option<&'a ScalingBefore> {
    tier.scaling_before.as_ref().filter(|before| before.scaling.kind == growth.from.kind)
}

fn scaling_before(growth: &Growth, tier: &ObservedTier) -> Option<FleetDoubt> {
    let (few, most) = before_change(growth, tier)?.below_linear()?.span();
    Some(FleetDoubt::ScalingBefore { tier: tier.name.clone(), few, most })
}

fn fall(growth: &Growth, tier: &ObservedTier, machines: f64) -> Option<FleetDoubt> {
    let Fall { highest, lower } = scaling(growth, tier)?.unmeasured_fall(machines)?;
    Some(FleetDoubt::Falls {
        tier: tier.name.clone(),
        machines,
        few: highest.0,
        few_per_sec: highest.1,
        many: lower.0,
        many_per_sec: lower.1,
    })
}

/// The limits of a tier with this many machines.
fn full(growth: &Growth, tier: &ObservedTier, machines: f64) -> Vec<FleetLimit> {
    let limit = |cause, per_sec| FleetLimit { tier: tier.name.clone(), machines, cause, per_sec };
    let scaling = scaling(growth, tier);
    // In the run that growth starts from, more machines contended and a request may have cost more: a resource is not full below the
    // throughput that as many machines were measured to carry.
    let by_scaling = scaling.filter(|scaling| machines >= scaling.span().0);
    let by_scaling = by_scaling.and_then(|scaling| scaling.throughput(machines));
    let before = before_change(growth, tier);
    let larger = before.filter(|before| before.is_least);
    let floor = by_scaling.or_else(|| larger?.scaling.measured(machines));
    let by_resource = |stop: &Stop| {
        let (resource, place) = (stop.resource, stop.place.clone());
        let observed_share = stop.used_there;
        let cause = FleetCause::Resource { resource, place, observed_share };
        let per_sec = stop.with_machines(machines, growth.from.per_sec);
        let raised = floor.filter(|floor| *floor > per_sec.value).map(Estimate::exact);
        limit(cause, raised.unwrap_or(per_sec))
    };
    let stops = growth.stops.iter().filter(|stop| stop.tier == tier.name);
    let mut limits: Vec<FleetLimit> = stops.map(by_resource).collect();
    limits.extend(scaling.and_then(|scaling| {
        let (few, most) = scaling.span();
        Some(limit(FleetCause::Contention { few, most }, Estimate::exact(scaling.throughput(machines)?)))
    }));
    // A halt does not apply to fewer machines that were measured to carry more.
    let is_met = |halt: &&Halt| {
        let known = scaling.or(before.map(|before| &before.scaling));
        let carried_more = known.is_some_and(|scaling| scaling.carried_more(machines, halt.per_sec));
        machines <= halt.machines && !carried_more
    };
    let halts = halts(growth, tier).filter(is_met);
    limits.extend(halts.map(|halt| {
        let (run, place) = (halt.run.clone(), halt.place.clone());
        limit(FleetCause::Halt { run, limit: halt.limit, place }, Estimate::exact(halt.per_sec))
    }));
    limits
}

/// The highest rate for which a plan needs no more machines of a tier.
fn at_share(tier: &ObservedTier, machines: f64, utilisation: f64, full: &[FleetLimit]) -> Option<FleetLimit> {
    let by_demand = rate_of_machine(&tier.demands, utilisation).map(|(per_sec, demand)| {
        let observed_share = demand.used_there;
        let cause = FleetCause::Resource { resource: demand.resource, place: None, observed_share };
        let per_sec = Estimate::exact(machines * per_sec);
        FleetLimit { tier: tier.name.clone(), machines, cause, per_sec }
    });
    let is_of_all = |limit: &&FleetLimit| !matches!(limit.cause, FleetCause::Resource { .. });
    let others = full.iter().filter(is_of_all).map(|limit| FleetLimit {
        per_sec: Estimate::exact(limit.per_sec.value * utilisation),
        ..limit.clone()
    });
    others.chain(by_demand).min_by(|a, b| a.per_sec.value.total_cmp(&b.per_sec.value))
}

fn beyond(tier: &ObservedTier, halt: &Halt, machines: f64) -> Option<FleetDoubt> {
    (machines > halt.machines).then(|| FleetDoubt::MoreOfStopped {
        tier: tier.name.clone(),
        run: halt.run.clone(),
        per_sec: halt.per_sec,
        limit: halt.limit,
        place: halt.place.clone(),
    })
}

fn unknown_stop(growth: &Growth) -> Option<FleetDoubt> {
    let from = &growth.from;
    let is_known = !matches!(from.limit, Limit::Unknown | Limit::None | Limit::Generator);
    let (run, per_sec, limit) = (from.at.clone(), from.per_sec.value, from.limit);
    (!is_known).then_some(FleetDoubt::UnknownStop { run, per_sec, limit })
}

fn extrapolated(first: &FleetLimit) -> Option<FleetDoubt> {
    let FleetCause::Resource { resource, observed_share: share, .. } = first.cause else { return None };
    let tier = first.tier.clone();
    (share < MIN_SHARE).then_some(FleetDoubt::Extrapolated { tier, resource, share })
}

fn remarked(growth: &Growth, remark: &Remark) -> Option<FleetDoubt> {
    let at = growth.from.at.clone();
    match remark {
        Remark::Requests(kinds) => Some(FleetDoubt::OtherRequests { run: at, kinds: kinds.clone() }),
        Remark::Kinds(kinds) => Some(FleetDoubt::OtherRows { row: at, kinds: *kinds }),
        // `UnknownStop` reports this.
        Remark::GeneratorLimit(run) | Remark::NotPushed(run) if *run == at => None,
        _ => Some(FleetDoubt::Remark(remark.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::growth::GrowthStart;
    use super::super::terms::DemandUnit;
    use super::*;

    /// One api whose 0.2 cores are full at 300/s, and one web with 30 % of 0.1 cores used.
    fn observed() -> Observed {
        let stop = |tier: &str, used: f64, capacity: f64| Stop {
            tier: tier.to_owned(),
            resource: TierResource::Cpu,
            place: None,
            machines: 1.0,
            unit: DemandUnit::Cores,
            used,
            capacity,
            per_request: Estimate::exact(used / 300.0),
            used_there: used / capacity,
            seen: true,
            scaled: None,
        };
        let tier = |name: &str| ObservedTier { name: name.to_owned(), ..ObservedTier::default() };
        let machines = |tier: &str| TierMachines { tier: tier.to_owned(), machines: 1.0 };
        let from = GrowthStart {
            per_sec: Estimate::exact(300.0),
            at: "base".to_owned(),
            kind: 0,
            limit: Limit::Cpu,
            also: Vec::new(),
            machines: vec![machines("web"), machines("api")],
        };
        let growth = Growth { from, stops: vec![stop("api", 0.2, 0.2), stop("web", 0.03, 0.1)] };
        Observed { tiers: vec![tier("web"), tier("api")], growth: Some(growth), ..Observed::default() }
    }

    fn capacity(observed: &Observed, machines: &str) -> FleetCapacity {
        fleet_capacity(observed, &machines.parse().unwrap(), 0.7).unwrap()
    }

    fn first(observed: &Observed, machines: &str) -> (String, f64) {
        let limits = capacity(observed, machines).limits;
        (limits[0].tier.clone(), limits[0].per_sec.value.round())
    }

    #[test]
    fn machines_carry_in_proportion_until_another_tier_is_full() {
        assert_eq!(first(&observed(), "api=1"), ("api".to_owned(), 300.0));
        assert_eq!(first(&observed(), "api=3"), ("api".to_owned(), 900.0));
        assert_eq!(first(&observed(), "api=4"), ("web".to_owned(), 1_000.0));
        assert_eq!(first(&observed(), "api=4, web=2"), ("api".to_owned(), 1_200.0));
        let doubts = capacity(&observed(), "api=4").doubts;
        assert!(
            matches!(doubts.as_slice(), [FleetDoubt::Extrapolated { share, .. }] if *share < 0.31),
            "{doubts:?}"
        );
        assert!(!capacity(&observed(), "api=4").at_most, "it may carry more, not less");
    }

    #[test]
    fn what_holds_for_a_plan_holds_for_the_rate_of_machines() {
        let mut observed = observed();
        let run = || "base".to_owned();
        observed.remarks = vec![Remark::SharedWithGenerator(run()), Remark::NothingCarried("two".to_owned())];
        let doubts = capacity(&observed, "api=3").doubts;
        assert_eq!(doubts, observed.remarks.iter().cloned().map(FleetDoubt::Remark).collect::<Vec<_>>());
        observed.growth.as_mut().unwrap().from.limit = Limit::Generator;
        observed.remarks = vec![Remark::GeneratorLimit(run())];
        let doubts = capacity(&observed, "api=3").doubts;
        assert!(matches!(doubts[..], [FleetDoubt::UnknownStop { .. }]), "said once: {doubts:?}");
    }

    /// A run of these requests that a lock of the web stopped at 420/s.
    fn locked(kind: usize) -> Halt {
        let (run, place) = ("two".to_owned(), Place::host("web"));
        Halt { run, kind, per_sec: 420.0, machines: 1.0, limit: Limit::Lock, place }
    }

    #[test]
    fn what_stops_other_requests_is_named_and_bounds_nothing() {
        let mut observed = observed();
        observed.tiers[0].halts.push(locked(1));
        let contended = Scaling::fit(vec![(1.0, 100.0), (2.0, 120.0)]).unwrap();
        observed.tiers[1].scaling = Some(contended.of_kind(1));
        let kind = |name: &str| RequestKind { name: name.to_owned(), runs: vec![format!("run of {name}")] };
        let kinds = vec![kind("read"), kind("write")];
        observed.remarks.push(Remark::Requests(kinds.clone()));
        assert_eq!(first(&observed, "api=3"), ("api".to_owned(), 900.0));
        let carried = capacity(&observed, "api=3,web=2");
        assert!(!carried.at_most, "{carried:?}");
        assert_eq!(carried.doubts, [FleetDoubt::OtherRequests { run: "base".to_owned(), kinds }]);
    }

    #[test]
    fn a_lock_bounds_what_machines_of_other_tiers_give() {
        let mut observed = observed();
        observed.tiers[0].halts.push(locked(0));
        assert_eq!(first(&observed, "api=3"), ("web".to_owned(), 420.0));
        assert!(!capacity(&observed, "api=3").at_most);
        let more = capacity(&observed, "api=3,web=2");
        assert!(more.at_most && matches!(more.doubts[0], FleetDoubt::MoreOfStopped { .. }), "{more:?}");
    }

    #[test]
    fn contention_that_was_measured_bounds_its_tier() {
        let mut observed = observed();
        // 300 and 500: α = 0.2, so that three carry 900/1.4.
        observed.tiers[1].scaling = Scaling::fit(vec![(1.0, 300.0), (2.0, 500.0)]);
        assert_eq!(first(&observed, "api=3"), ("api".to_owned(), 643.0));
        let held = capacity(&observed, "api=3").held.unwrap();
        assert_eq!(held.per_sec.value.round(), 450.0, "70 % of that");
    }

    #[test]
    fn machines_that_were_measured_carry_what_was_measured() {
        let mut observed = observed();
        observed.tiers[1].scaling = Scaling::fit(vec![(1.0, 290.0), (3.0, 150.0)]);
        let carried = ["api=1", "api=3"].map(|machines| first(&observed, machines).1);
        assert_eq!(carried, [290.0, 150.0]);
        assert!(!capacity(&observed, "api=3").at_most);
        let more = capacity(&observed, "api=4");
        assert!(more.at_most && matches!(more.doubts[0], FleetDoubt::Falls { many: 3.0, .. }), "{more:?}");
        observed.tiers[1].scaling = Scaling::fit(vec![(1.0, 402.0), (3.0, 150.0)]);
        assert_eq!(
            first(&observed, "api=1").1,
            402.0,
            "although its CPU is full at 300/s by the run of growth"
        );
        // A lock of three machines is no bound of one, which carried more.
        observed.tiers[1].halts.push(Halt { per_sec: 150.0, machines: 3.0, ..locked(0) });
        assert_eq!(first(&observed, "api=1").1, 402.0);
    }

    #[test]
    fn machines_of_which_scaling_was_not_measured_carry_at_most_what_their_resources_allow() {
        let mut observed = observed();
        let before = |is_least| {
            let scaling = Scaling::fit(vec![(1.0, 320.0), (2.0, 500.0)]).unwrap();
            Some(ScalingBefore { scaling, is_least })
        };
        observed.tiers[1].scaling_before = before(false);
        assert!(!capacity(&observed, "api=1").at_most);
        assert_eq!(first(&observed, "api=1").1, 300.0);
        let two = capacity(&observed, "api=2");
        assert!(two.at_most && matches!(two.doubts[0], FleetDoubt::ScalingBefore { .. }), "{two:?}");
        observed.tiers[1].scaling_before = before(true);
        assert_eq!(first(&observed, "api=1").1, 320.0, "a larger machine carries no less than was measured");
    }

    #[test]
    fn what_may_stop_machines_earlier_makes_their_rate_the_most() {
        let mut unknown = observed();
        unknown.growth.as_mut().unwrap().from.limit = Limit::Unknown;
        assert!(capacity(&unknown, "api=2").at_most);
        let mut suspected = observed();
        suspected.growth.as_mut().unwrap().from.also = vec![(Limit::Lock, Place::host("web"))];
        assert!(matches!(capacity(&suspected, "api=2").doubts[0], FleetDoubt::Suspect { .. }));
    }

    #[test]
    fn wrong_machines_are_refused() {
        for wrong in ["api", "api=0", "api=x", "=3", "api=3,,web=1", "api=2000000"] {
            assert!(matches!(wrong.parse::<Fleet>(), Err(FleetError::Form(_))), "{wrong}");
        }
        assert_eq!("api=1,api=2".parse::<Fleet>(), Err(FleetError::Twice("api".to_owned())));
        let fleet: Fleet = "db=2".parse().unwrap();
        let known = "web, api".to_owned();
        let tier = "db".to_owned();
        assert_eq!(fleet_capacity(&observed(), &fleet, 0.7), Err(FleetError::Tier { tier, known }));
        let nothing = Observed::default();
        assert_eq!(fleet_capacity(&nothing, &fleet, 0.7), Err(FleetError::NoGrowth));
    }
}
