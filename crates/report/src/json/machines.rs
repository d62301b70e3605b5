//! The machines for a target rate, schema `plimsoll/plan/1`.

use plimsoll_analyze::{
    Carried, Estimate, Growth, MachinePlan, Need, Place, Scaling, ScalingTrial, SizeRate, Stop, TierPlan, Usl,
};

use super::cost::PlanCostDocument;
use super::day::DayDocument;
use super::document::{Interval, document, each};
use crate::plan_view::PlanView;
use crate::words::machines as words;

document! {
    /// A plan of machines, and the plan after a change.
    #[schemars(title = "Machines for a target rate")]
    pub struct PlanDocument(view: &PlanView<'_>) {
        /// Always `plimsoll/plan/1`.
        schema: &'static str = "plimsoll/plan/1",
        /// The target rate, requests per second; for a curve its highest rate.
        target_per_sec: f64 = view.plan.goal.target_per_sec,
        /// The share of a machine's capacity that may be used.
        utilisation: f64 = view.plan.goal.utilisation,
        /// The tiers.
        tiers: Vec<TierPlanDocument> = each(&view.plan.tiers, TierPlanDocument::new),
        /// Where growth stops with the measured machines; null where that is not known.
        growth: Option<GrowthDocument> = view.plan.growth.as_ref().map(GrowthDocument::new),
        /// Remarks about the whole plan, one sentence each.
        remarks: Vec<String> = each(&view.plan.remarks, words::remark),
        /// The plan after a change; null unless one was requested.
        what_if: Option<WhatIfDocument> = view.what_if.map(|(change, plan)| WhatIfDocument::new(change, plan)),
        /// What the machines cost; null without prices.
        cost: Option<PlanCostDocument> = view.cost.map(PlanCostDocument::new),
        /// The machines of each hour; null unless the target is a curve.
        day: Option<DayDocument> = view.day.map(DayDocument::new),
    }

    /// The plan after a change.
    pub struct WhatIfDocument(change: &str, plan: &MachinePlan) {
        /// The change, as typed.
        change: String = change,
        /// The tiers after the change.
        tiers: Vec<TierPlanDocument> = each(&plan.tiers, TierPlanDocument::new),
        /// Where growth stops after the change; null where that is not known.
        growth: Option<GrowthDocument> = plan.growth.as_ref().map(GrowthDocument::new),
        /// Remarks about the plan after the change, one sentence each.
        remarks: Vec<String> = each(&plan.remarks, words::remark),
    }

    /// One tier.
    pub struct TierPlanDocument(plan: &TierPlan) {
        /// The name of the tier.
        tier: String = &plan.tier,
        /// How many machines it needs; null where that is not known.
        machines: Option<u64> = plan.machines.map(|machines| machines.count),
        /// The number at both ends of the demand's interval; null where it is not known.
        machines_interval: Option<[u64; 2]> =
            plan.machines.and_then(|machines| machines.range).map(|(low, high)| [low, high]),
        /// True if more may be needed.
        at_least: bool = plan.machines.is_some_and(|machines| machines.at_least),
        /// One more than `machines`, so that one may fail.
        machines_with_spare: Option<u64> = plan.machines.map(|machines| machines.count + 1),
        /// The needs of its resources, the decisive one first.
        needs: Vec<NeedDocument> = each(&plan.needs, NeedDocument::new),
        /// The rate that one machine of each observed size carries at `utilisation`; empty where sizes are not known.
        sizes: Vec<SizeDocument> = each(&plan.sizes, SizeDocument::new),
        /// The highest throughput measured through it; null where that is not known.
        carried: Option<CarriedDocument> = plan.carried.as_ref().map(CarriedDocument::new),
        /// How throughput scaled with its machines; null where only one number of machines was measured.
        scaling: Option<ScalingDocument> = plan.scaling.as_ref().map(ScalingDocument::new),
        /// What is not known about it, one sentence each.
        doubts: Vec<String> = each(&plan.doubts, words::doubt),
    }

    /// A size of machine that was observed.
    pub struct SizeDocument(rate: &SizeRate) {
        /// Cores; null where that is not known.
        cores: Option<f64> = rate.size.cores,
        /// Inbound capacity of its link; null where no limit is known.
        in_bits_per_sec: Option<f64> = rate.size.in_bits_per_sec,
        /// Outbound capacity of its link.
        out_bits_per_sec: Option<f64> = rate.size.out_bits_per_sec,
        /// Requests per second of one machine; null where that is not known.
        per_sec: Option<f64> = rate.per_sec,
    }

    /// The need for one resource.
    pub struct NeedDocument(need: &Need) {
        /// `cpu`, `core`, `thread`, `quota`, `bandwidth_in`, `bandwidth_out`, `bandwidth_both`, `packets_in`, `packets_out`,
        /// `pool` or `alone` (the throughput of one machine measured alone).
        resource: &'static str = need.demand.resource.name(),
        /// The limit that a verdict names when the resource is full.
        limit: &'static str = need.demand.resource.limit().name(),
        /// The part of the machine: an interface, a thread; empty for the machine itself.
        detail: String = need.demand.part.to_string(),
        /// The unit of `idle` and `capacity`; that of `per_request` is this times seconds.
        unit: &'static str = need.demand.unit.name(),
        /// What a request uses in all machines of the tier together.
        per_request: f64 = need.demand.per_request.value,
        /// The 95 % interval of `per_request`.
        per_request_interval: Interval = need.demand.per_request,
        /// The use of one machine without requests.
        idle: f64 = need.demand.idle,
        /// The capacity of one machine.
        capacity: Option<f64> = need.demand.capacity,
        /// The highest utilisation measured.
        used_most: f64 = need.demand.used_most,
        /// What the demand was found from.
        from: String = words::origin(&need.demand.origin),
        /// The number of machines that this resource needs, not rounded.
        machines: f64 = need.machines,
    }

    /// The highest throughput measured through a tier.
    pub struct CarriedDocument(carried: &Carried) {
        /// Requests per second.
        throughput_per_sec: f64 = carried.throughput_per_sec,
        /// The number of its machines in that measurement.
        machines: f64 = carried.machines,
        /// Where that was measured.
        at: String = &carried.at,
    }

    /// Throughput over the number of machines.
    pub struct ScalingDocument(scaling: &Scaling) {
        /// Pairs of machines and requests per second.
        points: Vec<[f64; 2]> = each(&scaling.points, |(machines, per_sec)| [*machines, *per_sec]),
        /// Throughput per machine with the most of them over that with the fewest.
        efficiency: f64 = scaling.efficiency(),
        /// The scalability law over machines; null where it was not fitted.
        usl: Option<LawDocument> = scaling.usl.as_ref().map(LawDocument::new),
        /// The contention α between machines, 0 to 1, from fewer numbers of machines than the law needs; null if there is
        /// none.
        contention: Option<f64> = scaling.contention().map(|contention| contention.alpha),
        /// The row with the most machines, predicted from the others; null for fewer than three numbers of machines.
        trial: Option<TrialDocument> = scaling.trial().map(TrialDocument::new),
    }

    /// X(N) = γN / (1 + α(N − 1) + βN(N − 1)), with 95 % intervals.
    pub struct LawDocument(usl: &Usl) {
        /// Requests per second of one machine.
        gamma: f64 = usl.gamma.value,
        /// Its interval.
        gamma_interval: Interval = usl.gamma,
        /// The contention α.
        alpha: f64 = usl.alpha.value,
        /// Its interval.
        alpha_interval: Interval = usl.alpha,
        /// The coherence β.
        beta: f64 = usl.beta.value,
        /// Its interval.
        beta_interval: Interval = usl.beta,
        /// The part of the scatter of throughput that the law explains, 1 for all.
        r_squared: f64 = usl.r_squared,
    }

    /// A row that was left out of the fit, and its prediction from the others.
    pub struct TrialDocument(trial: ScalingTrial) {
        /// The number of its machines.
        machines: f64 = trial.machines,
        /// Requests per second, predicted from the other rows.
        predicted_per_sec: f64 = trial.predicted_per_sec,
        /// The measured requests per second.
        measured_per_sec: f64 = trial.measured_per_sec,
    }

    /// Where growth stops.
    pub struct GrowthDocument(growth: &Growth) {
        /// The throughput from which growth is extrapolated.
        from_per_sec: f64 = growth.from.per_sec.value,
        /// Where that was measured.
        at: String = &growth.from.at,
        /// The resources that stop growth, the nearest first.
        stops: Vec<StopDocument> = each(&growth.stops, |stop| StopDocument::new(stop, growth.from.per_sec)),
    }

    /// One resource that stops growth.
    pub struct StopDocument(stop: &Stop, from_per_sec: Estimate) {
        /// The tier.
        tier: String = &stop.tier,
        /// The resource.
        resource: &'static str = stop.resource.name(),
        /// The limit that a verdict names when the resource is full.
        limit: &'static str = stop.resource.limit().name(),
        /// The part of the machine; empty for the machine itself.
        detail: String = stop.place.as_ref().map(Place::to_string).unwrap_or_default(),
        /// Machines of the tier.
        machines: f64 = stop.machines,
        /// The utilisation of the resource.
        used: f64 = stop.used / stop.capacity,
        /// The throughput at which the resource is full.
        at_per_sec: f64 = stop.at_per_sec(from_per_sec).value,
        /// The 95 % interval of `at_per_sec`.
        at_per_sec_interval: Interval = stop.at_per_sec(from_per_sec),
        /// False where it was predicted from other rows.
        seen: bool = stop.seen,
        /// How well the tier scaled when machines were added, 1 for linear; null where that was not measured.
        scaled: Option<f64> = stop.scaled.map(|(_, _, efficiency)| efficiency),
    }
}
