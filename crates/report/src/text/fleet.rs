//! The rate that given machines carry.

use plimsoll_analyze::{FleetCapacity, FleetDoubt, FleetLimit, TierMachines};
use plimsoll_units::{count_text, escape_control, percent_text};

use super::paragraph::{headed, point, wrapped};
use crate::amount::{if_known, list, range};
use crate::words::fleet as words;
use crate::words::machines::number;

/// The number of limits shown after the first.
const MAX_SHOWN: usize = 3;

/// Returns the rate that machines carry and the first limit, and the same after a change.
pub fn fleet(capacity: &FleetCapacity, what_if: Option<(&str, &FleetCapacity)>) -> String {
    let mut blocks = vec![one(capacity)];
    if let Some((change, changed)) = what_if {
        blocks.push(format!("\nWith {}\n", escape_control(change)));
        blocks.push(one(changed));
    }
    blocks.extend(doubts(capacity, what_if));
    blocks.concat()
}

/// Returns what is not known; with two answers, first what holds for both.
fn doubts(capacity: &FleetCapacity, what_if: Option<(&str, &FleetCapacity)>) -> Vec<String> {
    let is_of_all = |doubt: &&FleetDoubt| what_if.is_none_or(|(_, changed)| changed.doubts.contains(doubt));
    let (of_all, own) = capacity.doubts.iter().partition(is_of_all);
    let mut blocks = vec![points("To be known", of_all), points("To be known as it is", own)];
    if let Some((change, changed)) = what_if {
        let further = changed.doubts.iter().filter(|doubt| !capacity.doubts.contains(doubt)).collect();
        blocks.push(points(&format!("To be known with {}", escape_control(change)), further));
    }
    blocks
}

fn points(heading: &str, doubts: Vec<&FleetDoubt>) -> String {
    let doubts = doubts.into_iter().map(|doubt| point(&escape_control(&words::doubt(doubt))));
    headed(&format!("\n{heading}"), doubts.collect())
}

fn one(capacity: &FleetCapacity) -> String {
    let count = |tier: &TierMachines| format!("{} {}", number(tier.machines), tier.tier);
    let machines = list(capacity.machines.iter().map(count), ", ");
    let most = if capacity.at_most { "at most " } else { "" };
    let full = match capacity.limits.first() {
        None => format!("{machines}: it is not known where throughput stops growing."),
        Some(first) => format!("{machines}: {most}{}.", limit(first)),
    };
    let held = if_known(capacity.held.as_ref(), |held| {
        let is_one = matches!(capacity.machines.as_slice(), [only] if only.machines == 1.0);
        let they = if is_one { "it carries" } else { "they carry" };
        let (per_sec, share) = (count_text(held.per_sec.value), percent_text(capacity.utilisation));
        format!(
            "At no more than {share} of each machine {they} {most}{per_sec} requests/s; {} is the bound.",
            held.tier
        )
    });
    let (from, at) = &capacity.from;
    let from = format!("Growth is followed from \"{at}\", which made {} requests/s.", count_text(*from));
    let then = |next: &FleetLimit| point(&escape_control(&format!("then {}", limit(next))));
    let rest: String = capacity.limits.iter().skip(1).take(MAX_SHOWN).map(then).collect();
    let text = |text: &str| wrapped("", "", &escape_control(text));
    [text(&full), rest, text(&held), text(&from)].concat()
}

/// `811 requests/s (790 to 830), where api is full: the CPU of 3 machines`.
fn limit(limit: &FleetLimit) -> String {
    let per_sec = limit.per_sec;
    format!(
        "{} requests/s{}, stopped by {}: {}",
        count_text(per_sec.value),
        range(per_sec.interval, count_text),
        limit.tier,
        words::cause(limit)
    )
}
