//! What happened between two samples of a host, for a person to read.

use plimsoll_host::Ran;
use plimsoll_record::{HostSample, Reading};
use plimsoll_units::significant;

use row::Row;
pub(super) use window::Window;

mod components;
mod machine;
mod processes;
mod row;
mod traffic;
mod window;

/// The whole view. The processes that the samples tell of were `named` by the user, or chosen for being busy. Of those
/// that `ran` meanwhile, those are shown that the samples do not tell of.
pub(super) fn text(window: &Window<'_>, ran: &[Ran], named: bool) -> String {
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
    let mut text = format!("{name}, over {} s\n", significant(window.span_sec()));
    let mut label = "";
    for row in &rows {
        text.push_str(&row.line(if row.label == label { "" } else { row.label }));
        label = row.label;
    }
    if rows.iter().any(|row| row.notable) {
        text.push_str("\n! notable\n");
    }
    text
}

/// Sources that are there and cannot be read.
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
