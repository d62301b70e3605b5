//! The ledger of switches: what each adds to a request.

use plimsoll_analyze::{Cell, Context, Design, Estimate, Ledger, Replay, SwitchCost};
use plimsoll_units::{count_text, escape_control, grouped, share_text, significant};

use super::paragraph::{point, wrapped};
use super::table::Table;
use crate::amount::counted;

/// The ledgers of the states of a service in their order, and what each step between them changed. `connections` is that of
/// all runs, if it is known.
pub fn ablation(ledgers: &[Ledger], replays: &[Replay], connections: Option<f64>) -> String {
    let has_costs = |ledger: &&Ledger| !ledger.costs.is_empty() || ledgers.len() == 1;
    let mut blocks: Vec<String> =
        ledgers.iter().filter(has_costs).map(|ledger| state(ledger, connections)).collect();
    if !replays.is_empty() {
        blocks.push(steps(replays));
    }
    blocks.join("\n")
}

/// Seconds in µs, the unit of all costs.
fn us(sec: f64) -> String {
    count_text_signed(sec * 1e6)
}

fn count_text_signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", count_text(-value)) } else { count_text(value) }
}

fn interval(estimate: Estimate) -> String {
    estimate.interval.map_or_else(String::new, |(low, high)| format!("{} to {}", us(low), us(high)))
}

fn state(ledger: &Ledger, connections: Option<f64>) -> String {
    let group = ledger.group.as_ref().map_or_else(String::new, |group| format!("{group}: "));
    let mut text = wrapped("", "", &escape_control(&format!("{group}{}", heading(ledger, connections))));
    if !ledger.costs.is_empty() {
        text.push('\n');
        text.push_str(&table(ledger));
    }
    let mut said = extremes(ledger);
    said.extend(ledger.interactions.iter().map(|one| {
        let with = one.with.as_ref().map_or_else(|| "all others".to_owned(), Clone::clone);
        format!(
            "{} and {with} interact: together {} µs per request ({}) {} the sum of both",
            one.switch,
            us(one.extra_sec.value.abs()),
            interval(one.extra_sec),
            if one.extra_sec.value > 0.0 { "on top of" } else { "less than" }
        )
    }));
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
    if ledger.noise.is_none() {
        said.push(
            "no combination was run twice, so these figures cannot be distinguished from noise".to_owned(),
        );
    }
    if !said.is_empty() {
        text.push('\n');
        text.extend(said.iter().map(|line| point(&escape_control(line))));
    }
    text
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
    let noise = ledger
        .noise
        .map_or_else(String::new, |(cv, _)| format!("; one run differs from the next by {}", share_text(cv)));
    let stays =
        connections.filter(|connections| *connections > 1.0).map_or_else(String::new, |connections| {
            format!(
                "; with {} requests under way, residence time is that many times as long",
                grouped(connections.round() as u64)
            )
        });
    format!(
        "cost of each switch in µs per request (1/QPS), from {} of {design}{noise}{stays}.",
        counted(u64::from(runs), "run")
    )
}

/// The cost with no other switch on, and with all others on.
fn ends(cost: &SwitchCost, switches: usize) -> (Option<&Context>, Option<&Context>) {
    let with = |count: usize| cost.contexts.iter().find(|context| context.others_on.len() == count);
    (with(0), with(switches - 1).filter(|_| switches > 1))
}

fn table(ledger: &Ledger) -> String {
    let switches = ledger.cells.first().map_or(0, |cell| cell.settings.len());
    let mut header = vec!["µs/request", "interval", "alone", "on top of all"];
    header.extend(ledger.per_request.iter().map(String::as_str));
    header.push("switch");
    let mut table = Table::new(&header);
    for cost in &ledger.costs {
        let (alone, last) = ends(cost, switches);
        let context =
            |context: Option<&Context>| context.map_or_else(String::new, |one| us(one.cost_sec.value));
        let mut cells = vec![us(cost.cost_sec.value), interval(cost.cost_sec), context(alone), context(last)];
        let figure = |figure: &Option<f64>| figure.map_or_else(|| "?".to_owned(), signed);
        cells.extend(
            (0..ledger.per_request.len())
                .map(|index| cost.per_request.get(index).map_or_else(|| "?".to_owned(), figure)),
        );
        cells.push(escape_control(&cost.name));
        table.row(cells);
    }
    table.render()
}

fn signed(value: f64) -> String {
    let text = significant(value.abs());
    if value < 0.0 && text != "0" { format!("−{text}") } else { text }
}

/// The switches that are on.
fn names(ledger: &Ledger, on: &[bool]) -> String {
    let names = ledger.switches.iter().zip(on).filter(|(_, on)| **on);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "everything off".to_owned() } else { names.join(" + ") }
}

/// The combinations with most and fewest switches on, and whether single costs account for the difference.
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
    let sum = if all_known && difference != 0.0 {
        format!(
            "; the single costs add up to {:.0} % of the {} µs between them",
            100.0 * sum / difference,
            us(difference)
        )
    } else {
        String::new()
    };
    vec![format!("{}; {}{sum}", text(many), text(few))]
}

/// Switches whose cost differs by a factor of 1.5 or more between settings of the others, where no interval says whether that
/// is significant.
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
    let step = |step: &plimsoll_analyze::FixStep| {
        let predicted = if step.measured { "" } else { ", predicted" };
        let ties = match step.ties.as_slice() {
            [] => String::new(),
            ties => format!("; or {}, which these runs do not distinguish from it", ties.join(" or ")),
        };
        format!("{} ({} requests/s{predicted}{ties})", step.name, count_text(1.0 / step.time_sec))
    };
    let steps: Vec<String> = ledger.order.iter().map(step).collect();
    (!steps.is_empty()).then(|| format!("fix in this order: {}", steps.join(", then ")))
}

fn steps(replays: &[Replay]) -> String {
    let mut table = Table::new(&["before", "after", "saved", "QPS", "step: with"]);
    for replay in replays {
        let (before, after) = replay.time_sec;
        let on = if replay.on.is_empty() { "everything off".to_owned() } else { replay.on.join(" + ") };
        let state = |state: &Option<String>| state.clone().unwrap_or_default();
        table.row(vec![
            us(before),
            us(after),
            us(before - after),
            format!("{} → {}", count_text(1.0 / before), count_text(1.0 / after)),
            escape_control(&format!("{} → {}: {on}", state(&replay.from), state(&replay.to))),
        ]);
    }
    format!("What each step changed, in µs per request\n\n{}", table.render())
}
