//! A load whose rate changes, over time.

use plimsoll_analyze::{Moment, StepSummary};
use plimsoll_units::{count_text, grouped, percent_text, significant};

use super::amount::{NOT_KNOWN, NOT_KNOWN_NOTE, any_unknown, bound, percentile};
use super::paragraph::wrapped;
use super::table::Table;

const HEADER: [&str; 9] = ["from", "rate", "QPS", "p50", "p99", "success", "under way", "waiting", ""];

/// A row for each moment; nothing where the rate stays.
pub(super) fn table(step: &StepSummary) -> String {
    if step.moments.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&HEADER);
    let lower_bound = !step.generator.healthy();
    step.moments.iter().for_each(|moment| table.row(cells(moment, lower_bound)));
    // The table of the whole step explains it if it has one too.
    let explained = any_unknown(&[step.latency.p99, step.latency.p999]);
    let unknown = !explained
        && step.moments.iter().any(|moment| any_unknown(&[moment.latency.p50, moment.latency.p99]));
    let about = "from: since the load began. rate: offered in the middle of the row. QPS, p50, p99 and success are \
                 of the requests that ended within it. under way, waiting: sent and not answered, due and not sent, \
                 at its end.";
    let notes = std::iter::once(about).chain(unknown.then_some(NOT_KNOWN_NOTE));
    table.render() + &notes.map(|note| wrapped("  ", "  ", note)).collect::<String>()
}

fn cells(moment: &Moment, lower_bound: bool) -> Vec<String> {
    vec![
        format!("{} s", significant(moment.began_sec)),
        count_text(moment.rate_per_sec),
        format!("{}{}", bound(lower_bound), count_text(moment.throughput_per_sec)),
        percentile(moment.latency.p50),
        percentile(moment.latency.p99),
        moment.success_ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text),
        grouped(moment.in_flight),
        grouped(moment.backlog),
        String::new(),
    ]
}
