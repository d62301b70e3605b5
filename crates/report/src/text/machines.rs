//! The machines for a target rate.

use plimsoll_analyze::{DemandUnit, Doubt, Growth, MachinePlan, Machines, Need, Stop, TierPlan};
use plimsoll_units::{count_text, escape_control, grouped, percent_text, significant};

use super::cost::plan_cost;
use super::day::day_plan;
use super::paragraph::{fact, headed, point, wrapped};
use super::table::{Column, table};
use crate::amount::{bound, if_known, list, range};
use crate::plan_view::PlanView;
use crate::words::machines::{self as words, number};

/// Returns a plan with the parts that the user requested: the machines of each hour before it, then, after its numbers,
/// the cost and the plan after a change.
pub fn machines(view: &PlanView<'_>) -> String {
    let PlanView { plan, what_if, cost, day } = *view;
    let of_peak = if day.is_some() { "the peak of " } else { "" };
    let heading = format!(
        "Machines for {of_peak}{} requests/s, each used to {} of what it has at most",
        count_text(plan.goal.target_per_sec),
        percent_text(plan.goal.utilisation)
    );
    let mut blocks = vec![if_known(day, |day| day_plan(day) + "\n")];
    blocks.extend([wrapped("", "", &heading), numbers(plan, None)]);
    blocks.extend(cost.map(|cost| format!("\n{}", plan_cost(cost, plan.goal.target_per_sec))));
    if let Some((text, changed)) = what_if {
        blocks.push(format!("\n{}", wrapped("", "", &format!("With {}", escape_control(text)))));
        blocks.push(numbers(changed, Some(plan)));
        blocks.extend(changed.tiers.iter().map(|tier| further_doubts(tier, plan)));
        blocks.push(growth(changed.growth.as_ref()));
        blocks.push("\nAs it is\n".to_owned());
    }
    blocks.push(growth(plan.growth.as_ref()));
    blocks.push("\nWhy\n".to_owned());
    blocks.extend(plan.tiers.iter().map(reasons));
    let all = what_if.map_or(&plan.remarks, |(_, changed)| &changed.remarks);
    let all: String = all.iter().map(|remark| point(&escape_control(&words::remark(remark)))).collect();
    blocks.push(headed("\nTo be known", all));
    blocks.concat()
}

fn count(machines: Machines) -> String {
    format!("{}{}", bound(machines.at_least), grouped(machines.count))
}

fn numbers(plan: &MachinePlan, before: Option<&MachinePlan>) -> String {
    let with_spare = |machines: Machines| count(Machines { count: machines.count + 1, ..machines });
    let was = |tier: &TierPlan| {
        let was = before.and_then(|plan| plan.tiers.iter().find(|other| other.tier == tier.tier));
        if_known(was.and_then(|was| was.machines), |was| format!(" (was {})", count(was)))
    };
    let decides = |tier: &TierPlan| {
        tier.needs.first().map_or("not known", |need| words::resource(need.demand.resource))
    };
    let columns: [Column<'_, TierPlan>; 4] = [
        ("machines", &|tier| tier.machines.map_or_else(|| "?".to_owned(), count)),
        ("N + 1", &|tier| tier.machines.map_or_else(|| "?".to_owned(), with_spare)),
        ("interval", &|tier| if_known(tier.machines.and_then(|machines| machines.range), interval)),
        ("tier: what decides", &|tier| {
            escape_control(&format!("{}: {}{}", tier.tier, decides(tier), was(tier)))
        }),
    ];
    table(&plan.tiers, &columns)
}

fn interval((low, high): (u64, u64)) -> String {
    if low == high { grouped(low) } else { format!("{} to {}", grouped(low), grouped(high)) }
}

fn growth(growth: Option<&Growth>) -> String {
    let Some((growth, first)) = growth.and_then(|growth| Some((growth, growth.stops.first()?))) else {
        return String::new();
    };
    let (at, per_sec) = (&growth.from.at, count_text(growth.from.per_sec.value));
    let begun = if growth.from.is_halted() {
        let limit = growth.from.limit.name();
        format!("\"{at}\", which `{limit}` stopped at {per_sec} requests/s, growth would stop next")
    } else {
        format!("\"{at}\", which made {per_sec} requests/s, growth stops first")
    };
    let text = format!("With the machines of {begun} at {}: {}.", first.tier, stop(growth, first));
    let then = |next: &Stop| point(&escape_control(&format!("then {}: {}", next.tier, stop(growth, next))));
    let rest: String = growth.stops.iter().skip(1).take(3).map(then).collect();
    format!("\n{}{rest}", wrapped("", "", &escape_control(&text)))
}

fn stop(growth: &Growth, stop: &Stop) -> String {
    let at = stop.at_per_sec(growth.from.per_sec);
    let plural = if stop.machines == 1.0 { "" } else { "s" };
    let part = if_known(stop.place.as_ref(), |place| format!(" ({place})"));
    let seen = if stop.seen { "" } else { ", by what a request takes elsewhere" };
    let scaled = if_known(stop.scaled, |(few, many, efficiency)| {
        format!(
            "; adding machines helped there, from {} to {} it scaled to {:.0} % of linear",
            number(few),
            number(many),
            100.0 * efficiency
        )
    });
    let used = 100.0 * stop.used / stop.capacity;
    // Machines smaller than the measured ones may need more than they have for that rate.
    let used = match stop.used > stop.capacity {
        true => format!("would be {used:.0} % used at that rate{seen}, and is full"),
        false => format!("is {used:.0} % used{seen}, and full"),
    };
    format!(
        "the {} of {} machine{plural}{part} {used} at {} requests/s{}{scaled}",
        words::resource(stop.resource),
        number(stop.machines),
        count_text(at.value),
        range(at.interval, count_text)
    )
}

fn reasons(tier: &TierPlan) -> String {
    let said = match (tier.machines, tier.needs.first()) {
        (Some(machines), Some(need)) => format!("{}: {}", count(machines), reason(need)),
        _ => "not known".to_owned(),
    };
    let mut said = vec![said];
    if tier.needs.len() > 1 {
        let rest = tier.needs[1..].iter().map(|need| {
            format!("{} asks for {}", words::resource(need.demand.resource), significant(need.machines))
        });
        said.push(list(rest, ", "));
    }
    if let Some(scaling) = &tier.scaling {
        let (few, many) = scaling.span();
        said.push(format!(
            "from {} to {} machines throughput a machine went to {:.0} %",
            number(few),
            number(many),
            100.0 * scaling.efficiency()
        ));
        said.extend(scaling.usl.as_ref().map(words::law));
        said.extend(scaling.trial().as_ref().map(words::trial));
    }
    said.extend(tier.doubts.iter().map(words::doubt));
    fact(&escape_control(&tier.tier), &escape_control(&(said.join(". ") + ".")))
}

/// Returns what is not known about a changed tier, without the doubts that the plan has anyway, which "Why" gives.
fn further_doubts(changed: &TierPlan, before: &MachinePlan) -> String {
    let known = before.tiers.iter().filter(|tier| tier.tier == changed.tier).flat_map(|tier| &tier.doubts);
    let known: Vec<&Doubt> = known.collect();
    let further = changed.doubts.iter().filter(|doubt| !known.contains(doubt));
    let said: Vec<String> = further.map(words::doubt).collect();
    if said.is_empty() {
        return String::new();
    }
    fact(&escape_control(&changed.tier), &escape_control(&(said.join(". ") + ".")))
}

fn reason(need: &Need) -> String {
    let demand = &need.demand;
    let each = |value: f64| words::per_request(demand.unit, value);
    let interval = if_known(demand.per_request.interval, |(low, high)| {
        format!("{} to {}, ", each(low.max(0.0)), each(high))
    });
    let idle = if_known((demand.idle > 0.0).then_some(demand.idle), |idle| {
        format!(", {} of it without a request", words::amount(demand.unit, idle))
    });
    let capacity = match (demand.unit, demand.capacity) {
        (DemandUnit::MachineShare, _) | (_, None) => String::new(),
        (unit, Some(capacity)) => format!(", each has {}{idle}", words::amount(unit, capacity)),
    };
    format!(
        "a request takes {} of its {} ({interval}{}){capacity}: {} machines",
        each(demand.per_request.value),
        words::resource(demand.resource),
        words::origin(&demand.origin),
        significant(need.machines)
    )
}
