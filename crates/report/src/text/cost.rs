//! What the machines of a plan cost.

use plimsoll_analyze::{Currency, PlanCost, PricedMachines, TierCost};
use plimsoll_units::{count_text, escape_control, grouped};

use super::paragraph::wrapped;
use super::table::{Column, table};
use crate::amount::{bound, if_known, list, money};

/// Returns the cost of each tier and the sum. If all tiers are left out, only their names.
pub(super) fn plan_cost(cost: &PlanCost, target_per_sec: f64) -> String {
    let amount = |value: f64| money(&cost.currency, value);
    let columns: [Column<'_, TierCost>; 2] = [
        ("an hour", &|tier| format!("{}{}", bound(tier.at_least), amount(tier.per_hour))),
        ("tier: machines", &|tier| escape_control(&machines(&cost.currency, tier))),
    ];
    let least = bound(cost.at_least());
    let mut lines = Vec::new();
    if let Some((per_hour, per_million)) = cost.per_hour.zip(cost.per_million) {
        let together = format!(
            "Together {least}{} an hour; a million requests cost {least}{} at {} requests/s.",
            amount(per_hour),
            amount(per_million),
            count_text(target_per_sec)
        );
        lines.extend([table(&cost.tiers, &columns), wrapped("", "", &escape_control(&together))]);
    }
    lines.extend(cost.tiers.iter().filter_map(|tier| alone(&cost.currency, tier)));
    if !cost.without.is_empty() {
        let without = format!("Without a price or a number: {}.", list(cost.without.iter().cloned(), ", "));
        lines.push(wrapped("", "", &escape_control(&without)));
    }
    lines.concat()
}

/// `api: 3 with 0.5 cores at $0.17, 1 with 1 core at $0.30`.
fn machines(currency: &Currency, tier: &TierCost) -> String {
    let one =
        |machines: &PricedMachines| format!("{} at {}", sized(machines), money(currency, machines.per_hour));
    format!("{}: {}", tier.tier, list(tier.machines.iter().map(one), ", "))
}

/// `3 with 0.5 cores`.
pub(super) fn sized(machines: &PricedMachines) -> String {
    format!("{}{}", grouped(machines.count), if_known(machines.size, |size| format!(" with {size}")))
}

/// Says what machines of one size alone would cost, if a tier has several sizes.
fn alone(currency: &Currency, tier: &TierCost) -> Option<String> {
    let one = |machines: &PricedMachines| {
        let cost = money(currency, machines.count as f64 * machines.per_hour);
        format!("{} cost {cost}", sized(machines))
    };
    let is_mixed = tier.machines.len() > 1;
    let share = if is_mixed { " A mix needs a balancer that gives each its part." } else { "" };
    let searched = if tier.is_exact { "" } else { " Not all combinations were tried." };
    let text = format!(
        "{}: the cheapest machines. Of one size alone, {}.{share}{searched}",
        tier.tier,
        list(tier.alone.iter().map(one), ", ")
    );
    (!tier.alone.is_empty()).then(|| wrapped("", "", &escape_control(&text)))
}
