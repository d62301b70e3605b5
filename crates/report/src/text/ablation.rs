//! The ledger of switches: how much each adds to a request.

use plimsoll_analyze::{Cell, Context, Design, Estimate, FixStep, Interaction, Ledger, Replay, SwitchCost};
use plimsoll_units::{count_text, escape_control, grouped, share_text, significant};

use super::paragraph::{blocks, point, wrapped};
use super::table::{Column, table};
use crate::amount::{counted, if_known, list};
use crate::words;

/// Reports the ledgers of a service's states in their order, and what each step between them changed. `connections` is
/// the number in all runs, if it is known.
pub fn ablation(ledgers: &[Ledger], replays: &[Replay], connections: Option<f64>) -> String {
    let has_costs = |ledger: &&Ledger| !ledger.costs.is_empty() || ledgers.len() == 1;
    let states = ledgers.iter().filter(has_costs).map(|ledger| state(ledger, connections));
    blocks(states.chain((!replays.is_empty()).then(|| steps(replays))))
}

/// Formats seconds in µs, the unit of all costs.
fn us(sec: f64) -> String {
    let sign = if sec < 0.0 { "−" } else { "" };
    format!("{sign}{}", count_text(sec.abs() * 1e6))
}

fn interval(estimate: Estimate) -> String {
    if_known(estimate.interval, |(low, high)| format!("{} to {}", us(low), us(high)))
}

fn state(ledger: &Ledger, connections: Option<f64>) -> String {
    let group = if_known(ledger.group.as_ref(), |group| format!("{group}: "));
    let heading = wrapped("", "", &escape_control(&format!("{group}{}", heading(ledger, connections))));
    let mut said = extremes(ledger);
    said.extend(ledger.interactions.iter().map(interaction));
    said.extend(contexts(ledger));
    said.extend(order(ledger));
    if !ledger.untold.is_empty() {
        said.push(format!(
            "the cost of {} is not known: no two combinations differ in it alone",
            ledger.untold.join(", ")
        ));
    }
    if ledger.at_most > 0 {
        said.push(format!(
            "in {} of the runs the load generator was the limit: their combinations take less time than stated, so costs and \
             savings are uncertain",
            ledger.at_most
        ));
    }
    said.extend(ledger.no_noise.map(words::no_noise));
    let costs = if ledger.costs.is_empty() { String::new() } else { costs(ledger) };
    blocks([heading, costs, said.iter().map(|line| point(&escape_control(line))).collect()])
}

fn interaction(one: &Interaction) -> String {
    let with = one.with.as_deref().unwrap_or("all others");
    let apart = size(one.extra_sec);
    format!(
        "{} and {with} interact: together {} µs per request ({}) {} the sum of both",
        one.switch,
        us(apart.value),
        interval(apart),
        if one.extra_sec.value > 0.0 { "on top of" } else { "less than" }
    )
}

/// Returns the distance of an amount from 0.
fn size(Estimate { value, interval }: Estimate) -> Estimate {
    if value < 0.0 {
        Estimate { value: -value, interval: interval.map(|(low, high)| (-high, -low)) }
    } else {
        Estimate { value, interval }
    }
}

fn heading(ledger: &Ledger, connections: Option<f64>) -> String {
    let runs: u32 = ledger.cells.iter().map(|cell| cell.count).sum();
    let design = match ledger.design {
        Design::Full => format!("all {} combinations", ledger.cells.len()),
        Design::OneAtATime => {
            format!("{} combinations: none, all, each alone and each left out", ledger.cells.len())
        }
        Design::Given => format!("{} combinations", ledger.cells.len()),
    };
    let noise =
        if_known(ledger.noise, |(cv, _)| format!("; one run differs from the next by {}", share_text(cv)));
    let stays = if_known(connections.filter(|connections| *connections > 1.0), |connections| {
        let under_way = grouped(connections.round() as u64);
        format!("; with {under_way} requests under way, residence time is that many times as long")
    });
    format!(
        "cost of each switch in µs per request (1/QPS), from {} of {design}{noise}{stays}.",
        counted(runs, "run")
    )
}

fn costs(ledger: &Ledger) -> String {
    let switches = ledger.cells.first().map_or(0, |cell| cell.settings.len());
    let with = |cost: &SwitchCost, others: usize| {
        let context = cost.contexts.iter().find(|context| context.others_on.len() == others);
        if_known(context, |context| us(context.cost_sec.value))
    };
    let alone = |cost: &SwitchCost| with(cost, 0);
    let on_top = |cost: &SwitchCost| if switches > 1 { with(cost, switches - 1) } else { String::new() };
    let figure = |cost: &SwitchCost, index: usize| {
        cost.per_request.get(index).copied().flatten().map_or_else(|| "?".to_owned(), signed)
    };
    let figures: Vec<_> =
        (0..ledger.per_request.len()).map(|index| move |cost: &SwitchCost| figure(cost, index)).collect();
    let mut columns: Vec<Column<'_, SwitchCost>> = vec![
        ("µs/request", &|cost| us(cost.cost_sec.value)),
        ("interval", &|cost| interval(cost.cost_sec)),
        ("alone", &alone),
        ("on top of all", &on_top),
    ];
    let names = ledger.per_request.iter().map(String::as_str);
    columns
        .extend(names.zip(&figures).map(|(name, figure)| (name, figure as &dyn Fn(&SwitchCost) -> String)));
    columns.push(("switch", &|cost| escape_control(&cost.name)));
    table(&ledger.costs, &columns)
}

fn signed(value: f64) -> String {
    let text = significant(value.abs());
    if value < 0.0 && text != "0" { format!("−{text}") } else { text }
}

/// Names the switches that are on.
fn names(ledger: &Ledger, on: &[bool]) -> String {
    let names = ledger.switches.iter().zip(on).filter(|(_, on)| **on);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "everything off".to_owned() } else { names.join(" + ") }
}

/// Compares the combinations with most and fewest switches on, and says whether single costs explain the difference.
fn extremes(ledger: &Ledger) -> Vec<String> {
    let on = |cell: &&Cell| cell.settings.iter().filter(|on| **on).count();
    let ends = ledger.cells.iter().min_by_key(on).zip(ledger.cells.iter().max_by_key(on));
    let Some((few, many)) = ends.filter(|(few, many)| few != many) else { return Vec::new() };
    let text = |cell: &Cell| {
        format!(
            "with {} a request takes {} µs ({} requests/s)",
            names(ledger, &cell.settings),
            us(cell.time_sec.value),
            count_text(1.0 / cell.time_sec.value)
        )
    };
    let differs = |switch: usize| few.settings.get(switch) != many.settings.get(switch);
    let added: Vec<&SwitchCost> = ledger.costs.iter().filter(|cost| differs(cost.switch)).collect();
    let all_known = added.len() == (0..ledger.switches.len()).filter(|switch| differs(*switch)).count();
    let sum: f64 = added.iter().map(|cost| cost.cost_sec.value).sum();
    let difference = many.time_sec.value - few.time_sec.value;
    let sum = if_known((all_known && difference != 0.0).then_some(100.0 * sum / difference), |percent| {
        format!("; the single costs add up to {percent:.0} % of the {} µs between them", us(difference))
    });
    vec![format!("{}; {}{sum}", text(many), text(few))]
}

/// Names switches whose cost differs by a factor of 1.5 or more between settings of the others, if no interval says
/// whether that is significant.
fn contexts(ledger: &Ledger) -> Vec<String> {
    const APART: f64 = 1.5;
    if ledger.noise.is_some() {
        return Vec::new();
    }
    let names = |context: &Context| {
        let on = |switch: usize| context.others_on.contains(&switch);
        let on: Vec<bool> = (0..ledger.switches.len()).map(on).collect();
        names(ledger, &on)
    };
    let apart = |cost: &SwitchCost| {
        let by = |a: &&Context, b: &&Context| a.cost_sec.value.total_cmp(&b.cost_sec.value);
        let (least, most) = (cost.contexts.iter().min_by(by)?, cost.contexts.iter().max_by(by)?);
        let differs = most.cost_sec.value > APART * least.cost_sec.value.max(0.0) && cost.contexts.len() > 1;
        differs.then(|| {
            format!(
                "{} costs {} µs with {}, and {} µs with {}",
                cost.name,
                us(least.cost_sec.value),
                names(least),
                us(most.cost_sec.value),
                names(most)
            )
        })
    };
    ledger.costs.iter().filter_map(apart).collect()
}

fn order(ledger: &Ledger) -> Option<String> {
    let step = |step: &FixStep| {
        let predicted = if step.measured { "" } else { ", predicted" };
        let ties = match step.ties.as_slice() {
            [] => String::new(),
            ties => format!("; or {}, which these runs do not distinguish from it", ties.join(" or ")),
        };
        format!("{} ({} requests/s{predicted}{ties})", step.name, count_text(1.0 / step.time_sec))
    };
    let steps = list(ledger.order.iter().map(step), ", then ");
    (!steps.is_empty()).then(|| format!("fix in this order: {steps}"))
}

fn steps(replays: &[Replay]) -> String {
    let name = |replay: &Replay| {
        let on = if replay.on.is_empty() { "everything off".to_owned() } else { replay.on.join(" + ") };
        let state = |state: &Option<String>| state.clone().unwrap_or_default();
        format!("{} → {}: {on}", state(&replay.from), state(&replay.to))
    };
    let columns: [Column<'_, Replay>; 5] = [
        ("before", &|replay| us(replay.time_sec.0)),
        ("after", &|replay| us(replay.time_sec.1)),
        ("saved", &|replay| us(replay.time_sec.0 - replay.time_sec.1)),
        ("QPS", &|Replay { time_sec: (before, after), .. }| {
            format!("{} → {}", count_text(1.0 / before), count_text(1.0 / after))
        }),
        ("step: with", &|replay| escape_control(&name(replay))),
    ];
    format!("What each step changed, in µs per request\n\n{}", table(replays, &columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_what_is_saved_has_its_interval_turned_round() {
        let of = |value, interval| Estimate { value, interval: Some(interval) };
        assert_eq!(size(of(-3.0, (-5.0, -1.0))), of(3.0, (1.0, 5.0)));
        assert_eq!(size(of(3.0, (1.0, 5.0))), of(3.0, (1.0, 5.0)));
    }
}
