//! Runs of the same tiers with other numbers of machines, as one table.

use plimsoll_analyze::{TierRow, TierUse};
use plimsoll_units::{count_text, duration_text, escape_control};

use super::paragraph::wrapped;
use super::table::Table;

/// A row of each run.
pub fn tier_rows(rows: &[TierRow]) -> String {
    let mut table = Table::new(&[
        "run",
        "QPS",
        "conns",
        "mean",
        "scales",
        "what limits",
        "machines: CPU, Mbit/s in and out",
    ]);
    rows.iter().for_each(|row| table.row(cells(row)));
    let note = if rows.iter().any(|row| row.efficiency.is_some()) {
        let text = "scales: throughput per machine, compared with the run with the fewest machines of that tier and all else equal.";
        format!("\n{}", wrapped("", "", text))
    } else {
        String::new()
    };
    table.render() + &note
}

fn cells(row: &TierRow) -> Vec<String> {
    let at_least = if row.lower_bound { "≥ " } else { "" };
    let scales = row.efficiency.as_ref().map_or_else(String::new, |efficiency| {
        let ratio = efficiency.ratio;
        let half =
            ratio.interval.map_or_else(String::new, |(low, high)| format!(" ± {:.0}", 50.0 * (high - low)));
        format!("{at_least}{:.0}{half} %", 100.0 * ratio.value)
    });
    vec![
        escape_control(&row.name),
        format!("{at_least}{}", count_text(row.throughput.value)),
        row.connections.to_string(),
        duration_text(row.mean_latency_ns),
        scales,
        escape_control(&format!("{}@{} {}", row.limit.name(), row.limiting_tier, row.confidence.name())),
        escape_control(&row.tiers.iter().map(used).collect::<Vec<_>>().join(", ")),
    ]
}

fn used(tier: &TierUse) -> String {
    let cpu = tier.cpu_ratio.map_or_else(String::new, |ratio| format!(" {:.0} %", 100.0 * ratio));
    let mbit = |bits: f64| count_text(bits / 1e6);
    let link = tier
        .in_bits_per_sec
        .zip(tier.out_bits_per_sec)
        .map_or_else(String::new, |(into, out)| format!(" {}/{}", mbit(into), mbit(out)));
    let full = tier.link_ratio.map_or_else(String::new, |ratio| format!(" ({:.0} % of link)", 100.0 * ratio));
    format!("{} {}:{cpu}{link}{full}", tier.machines, tier.tier)
}
