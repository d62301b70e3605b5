//! Runs of the same tiers with other numbers of machines, as one table.

use plimsoll_analyze::{RequestKind, TierRow, TierUse};
use plimsoll_units::{count_text, duration_text, escape_control};

use super::paragraph::wrapped;
use super::table::{Column, table};
use crate::amount::{at_least, bound, half_width, if_known, list};

/// A row of each run, and which of them are of the same requests if not all are.
pub fn tier_rows(rows: &[TierRow], kinds: &[RequestKind]) -> String {
    let columns: [Column<'_, TierRow>; 7] = [
        ("run", &|row| escape_control(&row.name)),
        ("QPS", &|row| at_least(row.throughput.value, row.lower_bound)),
        ("conns", &|row| row.connections.to_string()),
        ("mean", &|row| duration_text(row.mean_latency_ns)),
        ("scales", &scales),
        ("what limits", &|row| escape_control(&limit(row))),
        ("machines: CPU, Mbit/s in and out", &|row| escape_control(&list(row.tiers.iter().map(used), ", "))),
    ];
    let note = "scales: throughput per machine, compared with the run with the fewest machines of that tier and all else equal.";
    let note = rows.iter().any(|row| row.efficiency.is_some()).then(|| note.to_owned());
    let kind = |kind: &RequestKind| format!("{} ({})", kind.name, list(kind.runs.iter().cloned(), ", "));
    let kinds = (kinds.len() > 1).then(|| {
        let kinds = escape_control(&list(kinds.iter().map(kind), "; "));
        format!("Only runs of the same requests are compared. These are of several: {kinds}.")
    });
    let notes = note.into_iter().chain(kinds).map(|note| format!("\n{}", wrapped("", "", &note)));
    table(rows, &columns) + &list(notes, "")
}

fn scales(row: &TierRow) -> String {
    if_known(row.efficiency.as_ref(), |efficiency| {
        let half = if_known(half_width(efficiency.ratio), |half| format!(" ± {:.0}", 100.0 * half));
        // Where both throughputs are lower bounds, their ratio is none.
        let sign = match (row.lower_bound, efficiency.from_lower_bound) {
            (true, false) => bound(true),
            (false, true) => "≤ ",
            _ => "",
        };
        format!("{sign}{:.0}{half} %", 100.0 * efficiency.ratio.value)
    })
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
