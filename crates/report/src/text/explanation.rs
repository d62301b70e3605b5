//! The verdict of a run or of a table again, with everything it rests on.

use plimsoll_analyze::{
    Demand, Findings, Law, Place, Resource, ResourceKind, RowFinding, TableFindings, TableReading,
};
use plimsoll_record::Run;
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, share_text, significant};

use super::paragraph::{advice, blocks, headed, point, wrapped};
use super::table::table;
use super::verdict;
use crate::amount::{bits, if_known, load_of};
use crate::words;

/// A resource that is used less than this at every step is not in the table.
const MIN_USED: f64 = 0.05;

/// Explains the verdict of a run: what limits, the evidence, and what each resource costs a request.
pub fn explanation(run: &Run, findings: &Findings) -> String {
    blocks([verdict::limit(run, findings), verdict::evidence(findings), resources(findings)])
}

/// Returns the resources at the step of the highest throughput, the most used first.
fn resources(findings: &Findings) -> String {
    let Some((best, step)) = findings.best_step() else { return String::new() };
    let share = |resource: &Resource| resource.utilisation(best).unwrap_or(0.0);
    let mut shown: Vec<&Resource> =
        findings.resources.iter().filter(|resource| share(resource) >= MIN_USED).collect();
    shown.sort_by(|a, b| share(b).total_cmp(&share(a)));
    if shown.is_empty() {
        return String::new();
    }
    let heading = format!(
        "Resources at {}, and by U = U0 + D·X what a request costs and where the resource is full",
        load_of(step)
    );
    let lines = table(
        &shown,
        &[
            ("used", &|resource| if_known(resource.utilisation(best), share_text)),
            ("of", &|resource| if_known(resource.capacity, |capacity| amount(resource.kind, capacity))),
            ("a request", &|resource| if_known(resource.demand, |demand| cost(resource.kind, demand))),
            ("full at QPS", &|resource| if_known(resource.demand, full_at)),
            ("resource", &|resource| escape_control(&name(resource))),
        ],
    );
    wrapped("", "", &heading) + &lines
}

fn name(resource: &Resource) -> String {
    format!("{} {}", resource.kind.name(), resource.place())
}

/// An amount of a resource with its unit.
fn amount(kind: ResourceKind, value: f64) -> String {
    match kind.unit() {
        "cores" => format!("{} cores", significant(value)),
        "bits_per_sec" => bits(value),
        "packets_per_sec" => format!("{} packets/s", count_text(value)),
        "bytes" => bytes_text(value),
        "bytes_per_sec" => format!("{}/s", bytes_text(value)),
        "ratio" => String::new(),
        _ => count_text(value),
    }
}

fn cost(kind: ResourceKind, demand: Demand) -> String {
    let each = demand.per_request.value;
    match kind.unit() {
        "cores" => duration_text(each * 1e9),
        "bits_per_sec" => bytes_text(each / 8.0),
        "bytes_per_sec" => bytes_text(each),
        _ => significant(each),
    }
}

fn full_at(demand: Demand) -> String {
    match demand.law {
        Law::Broken => "does not grow".to_owned(),
        Law::Holds | Law::Untested => if_known(demand.at_per_sec, |at| count_text(at.value)),
    }
}

/// Explains a table of measurements: how it was read, each row, then what the rows show together.
pub fn table_explanation(findings: &TableFindings, reading: &TableReading) -> String {
    blocks([table_reading(reading), rows_text(&findings.rows), conclusions(findings)])
}

/// Says how a table was read; empty if every column was named and every cell is a number.
pub fn table_reading(reading: &TableReading) -> String {
    let line = |sentence: &String| wrapped("", "  ", &escape_control(sentence));
    words::table_reading(reading).iter().map(line).collect()
}

/// Returns the text of the rows. Consecutive rows with the same verdict are one paragraph.
fn rows_text(rows: &[RowFinding]) -> String {
    let is_same = |a: &RowFinding, b: &RowFinding| row_text("", a) == row_text("", b);
    let label = |rows: &[RowFinding]| match rows {
        [first, .., last] => format!("{} to {} ({} rows)", first.label, last.label, rows.len()),
        rows => rows.iter().map(|row| row.label.as_str()).collect(),
    };
    rows.chunk_by(is_same).map(|rows| row_text(&label(rows), &rows[0])).collect()
}

/// Returns what the rows show together; empty if they show nothing.
pub fn conclusions(findings: &TableFindings) -> String {
    let sentences = words::conclusions(findings);
    headed("Together the rows say", sentences.iter().map(|line| point(&escape_control(line))).collect())
}

fn row_text(label: &str, finding: &RowFinding) -> String {
    let verdict = &finding.verdict;
    let place = match &verdict.place {
        Place::Nowhere => String::new(),
        place => format!(" @ {place}"),
    };
    let head = format!("{label}: {}{place} [{}]", verdict.limit.name(), verdict.confidence.name());
    let said = wrapped("    ", "    ", &escape_control(&words::paragraph(verdict)));
    let advised = words::advice(verdict);
    let advised: String = advised.iter().map(|text| advice("    ", &escape_control(text))).collect();
    wrapped("", "  ", &escape_control(&head)) + &said + &advised
}
