//! Two samples of a host as text: rates, levels and busy processes.

use plimsoll_record::{HostSample, Reading};
use plimsoll_units::significant;

pub use processes::ProcessUse;
use row::Row;
pub use window::Window;

mod components;
mod machine;
mod processes;
mod row;
mod traffic;
mod window;

/// Renders the whole view. `named` is true if the user named the sampled processes, false if they were chosen because
/// they were busy. Of the processes that `ran` meanwhile, the view shows those without a sample.
pub fn render(window: &Window<'_>, ran: &[ProcessUse], named: bool) -> String {
    let rows: Vec<Row> = [
        machine::rows(window),
        traffic::rows(window),
        processes::rows(window, named),
        processes::others(window, ran),
        components::rows(window),
        failures(window),
    ]
    .concat();
    let name = window.after().first().map_or("this host", |sample| sample.host.as_str());
    let labels = std::iter::once("").chain(rows.iter().map(|row| row.label));
    let lines = rows.iter().zip(labels).map(|(row, above)| row.line(above));
    let notable = if rows.iter().any(|row| row.notable) { "\n! notable\n" } else { "" };
    format!("{name}, over {} s\n{}{notable}", significant(window.span_sec()), lines.collect::<String>())
}

/// Returns a row for each source that exists but cannot be read.
fn failures(window: &Window<'_>) -> Vec<Row> {
    let failed = |sample: &HostSample| match &sample.reading {
        Reading::Failed(why) => Some(Row::new("not read", format!("{}: {why}", sample.source)).notable(true)),
        Reading::Ok(_) | Reading::Absent => None,
    };
    let mut rows: Vec<Row> = window.after().iter().filter_map(failed).collect();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests;
