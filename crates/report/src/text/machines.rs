//! The machines for a target rate.

use plimsoll_analyze::{DemandUnit, Growth, MachinePlan, Machines, Need, Stop, TierPlan};
use plimsoll_units::{count_text, escape_control, grouped, percent_text, significant};

use super::paragraph::{fact, point, wrapped};
use super::table::Table;
use crate::words::machines as words;

/// A plan, and the same with other machines: the change, and the plan then.
pub fn machines(plan: &MachinePlan, what_if: Option<(&str, &MachinePlan)>) -> String {
    let heading = format!(
        "Machines for {} requests/s, each used to {} of what it has at most",
        count_text(plan.goal.target_per_sec),
        percent_text(plan.goal.utilisation)
    );
    let mut blocks = vec![wrapped("", "", &heading), numbers(plan, None)];
    if let Some((text, changed)) = what_if {
        blocks.push(format!("\n{}", wrapped("", "", &format!("With {}", escape_control(text)))));
        blocks.push(numbers(changed, Some(plan)));
        blocks.push(growth(changed.growth.as_ref()));
        blocks.push("\nAs it is\n".to_owned());
    }
    blocks.push(growth(plan.growth.as_ref()));
    blocks.push("\nWhy\n".to_owned());
    blocks.extend(plan.tiers.iter().map(reasons));
    let all = what_if.map_or(&plan.remarks, |(_, changed)| &changed.remarks);
    if !all.is_empty() {
        blocks.push("\nTo be known\n".to_owned());
        blocks.extend(all.iter().map(|remark| point(&escape_control(&words::remark(remark)))));
    }
    blocks.concat()
}

fn count(machines: Machines) -> String {
    format!("{}{}", if machines.at_least { "≥ " } else { "" }, grouped(machines.count))
}

/// A number of machines, which tables may have halves of.
fn number(machines: f64) -> String {
    if machines.fract() == 0.0 { grouped(machines as u64) } else { significant(machines) }
}

fn numbers(plan: &MachinePlan, before: Option<&MachinePlan>) -> String {
    let mut table = Table::new(&["machines", "N + 1", "interval", "tier: what decides"]);
    for tier in &plan.tiers {
        let with_spare = |machines: Machines| count(Machines { count: machines.count + 1, ..machines });
        let range =
            tier.machines.and_then(|machines| machines.range).map_or_else(String::new, |(low, high)| {
                if low == high { grouped(low) } else { format!("{} to {}", grouped(low), grouped(high)) }
            });
        let was = before.and_then(|plan| plan.tiers.iter().find(|other| other.tier == tier.tier));
        let was =
            was.and_then(|was| was.machines).map_or_else(String::new, |was| format!(" (was {})", count(was)));
        let decides = tier.needs.first().map_or("not known", |need| words::resource(need.demand.resource));
        table.row(vec![
            tier.machines.map_or_else(|| "?".to_owned(), count),
            tier.machines.map_or_else(|| "?".to_owned(), with_spare),
            range,
            escape_control(&format!("{}: {decides}{was}", tier.tier)),
        ]);
    }
    table.render()
}

fn growth(growth: Option<&Growth>) -> String {
    let Some((growth, first)) = growth.and_then(|growth| Some((growth, growth.stops.first()?))) else {
        return String::new();
    };
    let text = format!(
        "With the machines of \"{}\", which made {} requests/s, growth stops first at {}: {}.",
        growth.at,
        count_text(growth.from_per_sec),
        first.tier,
        stop(growth, first)
    );
    let mut lines = format!("\n{}", wrapped("", "", &escape_control(&text)));
    for next in growth.stops.iter().skip(1).take(3) {
        lines.push_str(&point(&escape_control(&format!("then {}: {}", next.tier, stop(growth, next)))));
    }
    lines
}

fn stop(growth: &Growth, stop: &Stop) -> String {
    let at = stop.at_per_sec(growth.from_per_sec);
    let machines =
        format!("{}{}", number(stop.machines), if stop.machines == 1.0 { " machine" } else { " machines" });
    let detail = if stop.detail.is_empty() { String::new() } else { format!(" ({})", stop.detail) };
    let seen = if stop.seen { "" } else { ", by what a request takes in other rows" };
    let interval = at
        .interval
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", count_text(low), count_text(high)));
    let scaled = stop.scaled.map_or_else(String::new, |(few, many, efficiency)| {
        format!(
            "; adding machines helped there, from {} to {} it scaled to {:.0} % of linear",
            number(few),
            number(many),
            100.0 * efficiency
        )
    });
    format!(
        "the {} of {machines}{detail} is {:.0} % used{seen}, and full at {} requests/s{interval}{scaled}",
        words::resource(stop.resource),
        100.0 * stop.used / stop.capacity,
        count_text(at.value)
    )
}

fn reasons(tier: &TierPlan) -> String {
    let mut lines = String::new();
    let said = match (tier.machines, tier.needs.first()) {
        (Some(machines), Some(need)) => format!("{}: {}", count(machines), reason(need)),
        _ => "not known".to_owned(),
    };
    let mut said = vec![said];
    if tier.needs.len() > 1 {
        let rest = tier.needs[1..].iter().map(|need| {
            format!("{} asks for {}", words::resource(need.demand.resource), significant(need.machines))
        });
        said.push(rest.collect::<Vec<_>>().join(", "));
    }
    if let Some(scaling) = &tier.scaling {
        let (few, many) = scaling.span();
        said.push(format!(
            "from {} to {} machines throughput a machine went to {:.0} %",
            number(few),
            number(many),
            100.0 * scaling.efficiency()
        ));
    }
    said.extend(tier.doubts.iter().map(words::doubt));
    lines.push_str(&fact(&escape_control(&tier.tier), &escape_control(&(said.join(". ") + "."))));
    lines
}

fn reason(need: &Need) -> String {
    let demand = &need.demand;
    let interval = demand.per_request.interval.map_or_else(String::new, |(low, high)| {
        format!(
            "{} to {}, ",
            words::per_request(demand.unit, low.max(0.0)),
            words::per_request(demand.unit, high)
        )
    });
    let idle = if demand.idle > 0.0 {
        format!(", {} of it without a request", words::amount(demand.unit, demand.idle))
    } else {
        String::new()
    };
    let capacity = match (demand.unit, demand.capacity) {
        (DemandUnit::MachineShare, _) | (_, None) => String::new(),
        (unit, Some(capacity)) => format!(", each has {}{idle}", words::amount(unit, capacity)),
    };
    format!(
        "a request takes {} of its {} ({interval}{}){capacity}: {} machines",
        words::per_request(demand.unit, demand.per_request.value),
        words::resource(demand.resource),
        words::origin(&demand.origin),
        significant(need.machines)
    )
}
