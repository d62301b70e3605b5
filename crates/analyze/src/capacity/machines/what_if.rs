//! The same plan with other machines: twice the cores, a wider link, a larger pool, or without a tier.

use std::fmt;
use std::str::FromStr;

use plimsoll_units::{parse_bandwidth, parse_count};

use super::demand::TierDemand;
use super::doubt::Remark;
use super::growth::Growth;
use super::observed::{Observed, ScalingBefore};
use super::scaling::Scaling;
use super::terms::{DemandUnit, TierResource};
use crate::findings::Limit;

/// The part of a machine that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedPart {
    Cores,
    /// Capacity of its link, in each direction.
    Link,
    /// Packets per second of its link, in each direction.
    Packets,
    Pool,
}

/// The change itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Multiplies the capacity.
    Times(ChangedPart, f64),
    /// Sets the capacity, in the unit of the part.
    Amount(ChangedPart, f64),
    Drop,
}

/// One change of one tier, as it was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    pub tier: String,
    pub change: Change,
    text: String,
}

/// Why a change is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    /// The text is not a change.
    #[error(
        "`{0}` is no change; write TIER.cores=2x, TIER.link=2.5Gbit, TIER.packets=500k, TIER.pool=64 or TIER=drop"
    )]
    Form(String),
    /// There is no tier of this name.
    #[error("`{text}`: there is no tier `{tier}`; there are {known}")]
    Tier { text: String, tier: String, known: String },
    /// Nothing was observed of the part.
    #[error("`{0}`: nothing was observed of that, so more of it cannot be predicted")]
    Unseen(String),
    /// An amount was given where only shares are known.
    #[error(
        "`{0}`: how many cores a machine has is not known here; write how many times as many, such as 2x"
    )]
    OnlyTimes(String),
}

impl ChangedPart {
    fn is_of(self, resource: TierResource) -> bool {
        match self {
            Self::Cores => resource == TierResource::Cpu,
            Self::Link => matches!(
                resource,
                TierResource::BandwidthIn | TierResource::BandwidthOut | TierResource::BandwidthBoth
            ),
            Self::Packets => matches!(resource, TierResource::PacketsIn | TierResource::PacketsOut),
            Self::Pool => resource == TierResource::Pool,
        }
    }

    /// True if more of this part moves this limit.
    fn moves(self, limit: Limit) -> bool {
        matches!(
            (self, limit),
            (Self::Cores, Limit::Cpu | Limit::Quota)
                | (Self::Link, Limit::Bandwidth)
                | (Self::Packets, Limit::Packets)
                | (Self::Pool, Limit::Pool)
        )
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "cores" | "cpu" => Some(Self::Cores),
            "link" | "bandwidth" => Some(Self::Link),
            "packets" => Some(Self::Packets),
            "pool" => Some(Self::Pool),
            _ => None,
        }
    }

    fn amount(self, text: &str) -> Option<f64> {
        let value = match self {
            Self::Cores => text.parse().ok(),
            Self::Link => parse_bandwidth(text).ok().map(|bits| bits as f64),
            Self::Packets | Self::Pool => parse_count(text).ok().map(|count| count as f64),
        };
        value.filter(|value: &f64| value.is_finite() && *value > 0.0)
    }
}

impl FromStr for WhatIf {
    type Err = WhatIfError;

    fn from_str(text: &str) -> Result<Self, WhatIfError> {
        let wrong = || WhatIfError::Form(text.to_owned());
        let (place, value) = text.split_once('=').ok_or_else(wrong)?;
        let made = |tier: &str, change| Self { tier: tier.trim().to_owned(), change, text: text.to_owned() };
        if value.trim() == "drop" {
            return Ok(made(place, Change::Drop));
        }
        let (tier, part) = place.rsplit_once('.').ok_or_else(wrong)?;
        let part = ChangedPart::named(part.trim()).ok_or_else(wrong)?;
        let times = value.trim().strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
        let change = match times.filter(|times| times.is_finite() && *times > 0.0) {
            Some(times) => Change::Times(part, times),
            None => Change::Amount(part, part.amount(value.trim()).ok_or_else(wrong)?),
        };
        Ok(made(tier, change))
    }
}

impl fmt::Display for WhatIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl WhatIf {
    /// Returns the observations as they would be with this change, by the utilisation law.
    ///
    /// # Errors
    /// When the tier does not exist, or nothing was observed of the changed part.
    pub fn applied(&self, observed: &Observed) -> Result<Observed, WhatIfError> {
        let mut changed = observed.clone();
        let Some(index) = changed.tiers.iter().position(|tier| tier.name == self.tier) else {
            let known: Vec<&str> = observed.tiers.iter().map(|tier| tier.name.as_str()).collect();
            let (text, tier) = (self.text.clone(), self.tier.clone());
            return Err(WhatIfError::Tier { text, tier, known: known.join(", ") });
        };
        if self.change == Change::Drop {
            changed.tiers.remove(index);
            changed.remarks.push(Remark::Without(self.tier.clone()));
        } else {
            let tier = &mut changed.tiers[index];
            // A smaller part may become the limit earlier than the previous one.
            let is_smaller = self.makes_smaller(&tier.demands);
            self.change_demands(&mut tier.demands)?;
            // No machines with this change were observed.
            tier.sizes.clear();
            let lost = tier.scaling.take_if(|scaling| is_smaller || self.changes_scaling(scaling));
            let before = tier.scaling_before.take();
            let is_least = !is_smaller && before.as_ref().is_none_or(|before| before.is_least);
            let scaling = lost.or(before.map(|before| before.scaling));
            tier.scaling_before = scaling.map(|scaling| ScalingBefore { scaling, is_least });
            let stays = self.leaves_quota(&tier.demands).then(|| Remark::QuotaStays(self.text.clone()));
            changed.remarks.extend(stays);
        }
        // A dropped tier, and one without a scaling, have none to keep.
        let keeps_scaling = changed.tiers.iter().any(|tier| tier.name == self.tier && tier.scaling.is_some());
        changed.growth = changed.growth.and_then(|growth| self.changed_growth(growth, keeps_scaling));
        Ok(changed)
    }

    /// True if the change moves all limits of the measured machines, so that their scaling does not apply to the new ones.
    fn changes_scaling(&self, scaling: &Scaling) -> bool {
        let moves = |limit: &Limit| match self.change {
            Change::Amount(ChangedPart::Cores, _) => *limit == Limit::Cpu,
            Change::Times(part, _) | Change::Amount(part, _) => part.moves(*limit),
            _ => true,
        };
        scaling.limits.iter().all(moves)
    }

    fn makes_smaller(&self, demands: &[TierDemand]) -> bool {
        let pairs = demands.iter().filter_map(|demand| Some((demand.resource, demand.capacity?)));
        let mut after = pairs.map(|(resource, before)| (self.capacity(resource, before), before));
        after.any(|(after, before)| after.is_some_and(|after| after < before))
    }

    /// True if the change is an amount of cores and the tier has a quota, which such a change leaves as it is.
    fn leaves_quota(&self, demands: &[TierDemand]) -> bool {
        matches!(self.change, Change::Amount(ChangedPart::Cores, _))
            && demands.iter().any(|demand| demand.resource == TierResource::Quota)
    }

    /// The capacity after the change; `None` if this resource is not changed. A factor of cores applies to the quota too.
    fn capacity(&self, resource: TierResource, capacity: f64) -> Option<f64> {
        match self.change {
            Change::Times(ChangedPart::Cores, times) if resource == TierResource::Quota => {
                Some(capacity * times)
            }
            Change::Times(part, times) if part.is_of(resource) => Some(capacity * times),
            Change::Amount(part, amount) if part.is_of(resource) => Some(amount),
            _ => None,
        }
    }

    fn change_demands(&self, demands: &mut [TierDemand]) -> Result<(), WhatIfError> {
        let mut seen = false;
        for demand in demands {
            let before = demand.capacity.unwrap_or(0.0);
            let Some(after) = self.capacity(demand.resource, before) else { continue };
            if matches!(self.change, Change::Amount(..)) && demand.unit == DemandUnit::MachineShare {
                return Err(WhatIfError::OnlyTimes(self.text.clone()));
            }
            if after > 0.0 {
                seen = true;
                demand.used_most *= before / after;
                demand.capacity = Some(after);
            }
        }
        if seen { Ok(()) } else { Err(WhatIfError::Unseen(self.text.clone())) }
    }

    fn changed_growth(&self, Growth { mut from, mut stops }: Growth, keeps_scaling: bool) -> Option<Growth> {
        if self.change == Change::Drop {
            stops.retain(|stop| stop.tier != self.tier);
            from.machines.retain(|machines| machines.tier != self.tier);
        }
        for stop in stops.iter_mut().filter(|stop| stop.tier == self.tier) {
            stop.capacity = self.capacity(stop.resource, stop.capacity).unwrap_or(stop.capacity);
            stop.scaled = stop.scaled.filter(|_| keeps_scaling);
        }
        Growth::new(from, stops)
    }
}

#[cfg(test)]
mod tests {
    use super::super::doubt::Doubt;
    use super::super::growth::{GrowthStart, Stop};
    use super::super::observed::ObservedTier;
    use super::super::plan::plan_machines;
    use super::super::terms::{Goal, Origin};
    use super::*;
    use crate::Estimate;

    /// A request takes 1 ms of a core; two machines of one core each carried 1,600/s together.
    fn scaled() -> Observed {
        let origin = Origin::Run("two".to_owned());
        let demand = TierDemand { origin, ..TierDemand::of_core(Estimate::exact(1e-3)) };
        let scaling = Scaling::fit(vec![(1.0, 900.0), (2.0, 1_600.0)]);
        let tier = ObservedTier {
            name: "api".to_owned(),
            demands: vec![demand],
            scaling,
            ..ObservedTier::default()
        };
        Observed { tiers: vec![tier], ..Observed::default() }
    }

    #[test]
    fn the_scaling_of_the_machines_that_were_measured_says_nothing_of_others() {
        let goal = Goal { target_per_sec: 2_000.0, utilisation: 0.7 };
        let count = |observed: &Observed| plan_machines(observed, goal).tiers[0].machines.unwrap().count;
        assert_eq!(count(&scaled()), 3);
        let changed = applied("api.cores=4x", &scaled());
        // A machine of four cores carries 2,800/s at 70 %.
        assert_eq!((count(&changed), &changed.tiers[0].scaling), (1, &None));
    }

    fn applied(change: &str, observed: &Observed) -> Observed {
        change.parse::<WhatIf>().unwrap().applied(observed).unwrap()
    }

    /// The same, with a link and the limit of its runs.
    fn linked(limit: Limit) -> Observed {
        let mut observed = scaled();
        let tier = &mut observed.tiers[0];
        let of_core = tier.demands[0].clone();
        tier.demands.push(TierDemand {
            resource: TierResource::BandwidthOut,
            unit: DemandUnit::Bits,
            per_request: Estimate::exact(8e3),
            capacity: Some(1e9),
            ..of_core
        });
        tier.scaling = tier.scaling.take().map(|scaling| scaling.limited_by([limit, limit]));
        observed
    }

    #[test]
    fn scaling_is_kept_where_something_else_is_changed_and_doubted_where_it_is_not() {
        let goal = Goal { target_per_sec: 6_000.0, utilisation: 0.7 };
        let doubts = |limit: Limit, change: &str| {
            let tier = plan_machines(&applied(change, &linked(limit)), goal).tiers.remove(0);
            (tier.machines.unwrap().at_least, tier.doubts)
        };
        let (at_least, kept) = doubts(Limit::Cpu, "api.link=10Gbit");
        assert!(
            at_least && matches!(kept[..], [Doubt::Contended { .. }, Doubt::BeyondMeasured { .. }]),
            "{kept:?}"
        );
        let before = Doubt::ScalingBefore { few: 1.0, most: 2.0 };
        assert_eq!(doubts(Limit::Cpu, "api.cores=1.1x"), (true, vec![before.clone()]));
        assert_eq!(doubts(Limit::Bandwidth, "api.link=10Gbit"), (true, vec![before.clone()]));
        assert_eq!(doubts(Limit::Cpu, "api.link=0.9x"), (true, vec![before]), "the link may limit earlier");
    }

    #[test]
    fn so_many_times_the_cores_is_as_many_times_the_quota() {
        let mut observed = scaled();
        let of_core = observed.tiers[0].demands[0].clone();
        let quota = TierDemand { resource: TierResource::Quota, capacity: Some(0.5), ..of_core };
        observed.tiers[0].demands.push(quota);
        let capacities = |change: &str| {
            let changed = applied(change, &observed);
            let of_api = changed.tiers[0].demands.iter().map(|demand| demand.capacity);
            (of_api.collect::<Vec<_>>(), changed.remarks)
        };
        assert_eq!(capacities("api.cores=3x"), (vec![Some(3.0), Some(1.5)], Vec::new()));
        let stays = vec![Remark::QuotaStays("api.cores=4".to_owned())];
        assert_eq!(capacities("api.cores=4"), (vec![Some(4.0), Some(0.5)], stays));
    }

    #[test]
    fn smaller_machines_are_full_at_a_lower_rate_than_was_measured() {
        let stop = Stop {
            tier: "api".to_owned(),
            resource: TierResource::Cpu,
            place: None,
            machines: 1.0,
            unit: DemandUnit::Cores,
            used: 1.0,
            capacity: 1.0,
            per_request: Estimate::exact(1e-3),
            used_there: 1.0,
            seen: true,
            scaled: None,
        };
        let from = GrowthStart {
            per_sec: Estimate::exact(1_000.0),
            at: "base".to_owned(),
            kind: 0,
            limit: Limit::Cpu,
            also: Vec::new(),
            machines: Vec::new(),
        };
        let observed = Observed { growth: Growth::new(from, vec![stop]), ..scaled() };
        let full_at = |change: &str| {
            let growth = applied(change, &observed).growth.unwrap();
            growth.stops[0].at_per_sec(growth.from.per_sec).value.round()
        };
        assert_eq!([full_at("api.cores=0.5x"), full_at("api.cores=0.95x")], [500.0, 950.0]);
        assert_eq!(full_at("api.cores=2x"), 2_000.0);
    }

    #[test]
    fn changes_are_read_as_they_are_typed() {
        let change = |text: &str| text.parse::<WhatIf>().map(|what_if| (what_if.tier, what_if.change));
        assert_eq!(change("web.cores=2x").unwrap(), ("web".into(), Change::Times(ChangedPart::Cores, 2.0)));
        assert_eq!(
            change("a.b.link=2.5Gbit").unwrap(),
            ("a.b".into(), Change::Amount(ChangedPart::Link, 2.5e9))
        );
        assert_eq!(change("db.pool=64").unwrap(), ("db".into(), Change::Amount(ChangedPart::Pool, 64.0)));
        assert_eq!(change("proxy=drop").unwrap(), ("proxy".into(), Change::Drop));
        for wrong in ["web", "web=2x", "web.cores=0x", "web.colour=2x", "web.link=much", "web.cores=-1"] {
            assert!(matches!(change(wrong), Err(WhatIfError::Form(_))), "{wrong}");
        }
    }
}
