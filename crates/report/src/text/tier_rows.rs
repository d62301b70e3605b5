//! Runs of the same tiers with different numbers of machines, as one table.

use plimsoll_analyze::{Efficiency, RequestKind, TierRow, TierUse};
use plimsoll_units::{count_text, duration_text, escape_control};

use super::paragraph::wrapped;
use super::table::{Column, table};
use crate::amount::{at_least, half_width, if_known, list, ratio_bound};
use crate::words::machines::{request_kinds, without_row};

/// Returns a row for each run, and which runs are of the same requests if not all are.
pub fn tier_rows(rows: &[TierRow], kinds: &[RequestKind]) -> String {
    let mut scaled = rows.iter().flat_map(|row| &row.efficiencies).map(|efficiency| &efficiency.tier);
    let first = scaled.next();
    let several = scaled.any(|tier| Some(tier) != first);
    let columns: [Column<'_, TierRow>; 7] = [
        ("run", &|row| escape_control(&row.name)),
        ("QPS", &|row| at_least(row.throughput.value, row.lower_bound)),
        ("conns", &|row| row.connections.to_string()),
        ("mean", &|row| duration_text(row.mean_latency_ns)),
        ("scales", &|row| escape_control(&scales(row, several))),
        ("what limits", &|row| escape_control(&limit(row))),
        ("machines: CPU, Mbit/s in and out", &|row| escape_control(&list(row.tiers.iter().map(used), ", "))),
    ];
    let note = "scales: throughput per machine, compared with the run with the fewest machines of that tier and all else equal.";
    let note = first.map(|_| note.to_owned());
    let is_none = |efficiency: &Efficiency| efficiency.ratio.is_none();
    let of_bounds = rows.iter().flat_map(|row| &row.efficiencies).any(is_none);
    let of_bounds =
        of_bounds.then(|| "?: not known, because the throughputs of both runs are lower bounds.".to_owned());
    let several_kinds = (kinds.len() > 1).then(|| {
        let kinds = escape_control(&request_kinds(kinds));
        format!("Only runs of the same requests are compared. These are of several: {kinds}.")
    });
    let notes = note
        .into_iter()
        .chain(of_bounds)
        .chain(several_kinds)
        .chain(runs_without(rows, kinds))
        .map(|note| format!("\n{}", wrapped("", "", &note)));
    table(rows, &columns) + &list(notes, "")
}

/// Names the runs without a row, if there are any.
fn runs_without(rows: &[TierRow], kinds: &[RequestKind]) -> Option<String> {
    let missing = without_row(rows, kinds);
    (!missing.is_empty()).then(|| {
        let missing = escape_control(&list(missing, ", "));
        format!("Without a row, because in none of their steps did 95 % of the requests succeed: {missing}.")
    })
}

/// Says how well each tier scaled, with its name if the table has several such tiers.
fn scales(row: &TierRow, several: bool) -> String {
    let one = |efficiency: &Efficiency| {
        let tier = if several { format!("{} ", efficiency.tier) } else { String::new() };
        let Some(ratio) = efficiency.ratio else { return format!("{tier}?") };
        let half = if_known(half_width(ratio), |half| format!(" ± {:.0}", 100.0 * half));
        let sign = ratio_bound(row.lower_bound, efficiency.from_lower_bound);
        format!("{tier}{sign}{:.0}{half} %", 100.0 * ratio.value)
    };
    list(row.efficiencies.iter().map(one), ", ")
}

fn limit(row: &TierRow) -> String {
    format!("{}@{} {}", row.limit.name(), row.limiting_tier, row.confidence.name())
}

fn used(tier: &TierUse) -> String {
    let cpu = if_known(tier.cpu_ratio, |ratio| format!(" {:.0} %", 100.0 * ratio));
    let mbit = |bits: f64| count_text(bits / 1e6);
    let both = tier.in_bits_per_sec.zip(tier.out_bits_per_sec);
    let link = if_known(both, |(into, out)| format!(" {}/{}", mbit(into), mbit(out)));
    let full = if_known(tier.link_ratio, |ratio| format!(" ({:.0} % of link)", 100.0 * ratio));
    format!("{} {}:{cpu}{link}{full}", tier.machines, tier.tier)
}
