//! The verdict of a run or of a table again, with everything it rests on.

use plimsoll_analyze::{
    Demand, Findings, Law, Place, Resource, ResourceKind, RowFinding, StepSummary, TableFindings,
};
use plimsoll_record::Run;
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, share_text, significant};

use super::amount::load_of;
use super::paragraph::{point, wrapped};
use super::table::Table;
use super::verdict;
use crate::words;

/// A resource that is used less than this at every step is left out of the table.
const USED_LEAST: f64 = 0.05;

/// The verdict of a run: what limits, what it rests on, and what each resource costs a request.
pub fn explanation(run: &Run, findings: &Findings) -> String {
    let blocks = [verdict::limit(run, findings), verdict::evidence(findings), resources(findings)];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The step that the table of resources is of: that of the highest throughput.
fn best(findings: &Findings) -> Option<(usize, &StepSummary)> {
    let steps = findings.steps.iter().enumerate();
    steps.max_by(|a, b| a.1.throughput.value.total_cmp(&b.1.throughput.value))
}

fn resources(findings: &Findings) -> String {
    let Some((index, step)) = best(findings) else { return String::new() };
    let share = |resource: &Resource| resource.utilisation(index).unwrap_or(0.0);
    let mut shown: Vec<&Resource> =
        findings.resources.iter().filter(|resource| share(resource) >= USED_LEAST).collect();
    shown.sort_by(|a, b| share(b).total_cmp(&share(a)));
    if shown.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["used", "of", "a request", "full at QPS", "resource"]);
    shown.iter().for_each(|resource| table.row(row(resource, index)));
    let heading = format!(
        "Resources at {}, and by U = U0 + D·X what a request costs and where the resource is full\n",
        load_of(step)
    );
    format!("{}{}", wrapped("", "", heading.trim_end()), table.render())
}

fn row(resource: &Resource, index: usize) -> Vec<String> {
    let name = if resource.detail.is_empty() { String::new() } else { format!(": {}", resource.detail) };
    let each = resource.demand.map_or_else(String::new, |demand| cost(resource.kind, demand));
    vec![
        resource.utilisation(index).map_or_else(String::new, share_text),
        resource.capacity.map_or_else(String::new, |capacity| amount(resource.kind, capacity)),
        each,
        resource.demand.map_or_else(String::new, full_at),
        escape_control(&format!("{} {}{name}", resource.kind.name(), resource.host)),
    ]
}

/// An amount of a resource with its unit.
fn amount(kind: ResourceKind, value: f64) -> String {
    match kind.unit() {
        "cores" => format!("{} cores", significant(value)),
        "bits_per_sec" => format!("{}bit/s", bytes_text(value).trim_end_matches('B')),
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
    match (demand.law, demand.at_per_sec) {
        (Law::Broken, _) => "does not grow".to_owned(),
        (_, Some(at)) => count_text(at.value),
        (_, None) => String::new(),
    }
}

/// What was found in a table of measurements: each row, then what they say together.
pub fn table_explanation(findings: &TableFindings) -> String {
    let rows: String = findings.rows.iter().map(row_text).collect();
    match conclusions(findings) {
        none if none.is_empty() => rows,
        together => format!("{rows}\n{together}"),
    }
}

/// What rows say together; nothing if they say nothing.
pub fn conclusions(findings: &TableFindings) -> String {
    let sentences = words::conclusions(findings);
    if sentences.is_empty() {
        return String::new();
    }
    let points = sentences.iter().map(|line| point(&escape_control(line)));
    format!("Together the rows say\n{}", points.collect::<String>())
}

fn row_text(finding: &RowFinding) -> String {
    let verdict = &finding.verdict;
    let place = match &verdict.place {
        Place::Nowhere => String::new(),
        place => format!(" @ {place}"),
    };
    let head = format!("{}: {}{place}", finding.label, verdict.limit.name());
    let mut lines = wrapped("", "  ", &escape_control(&head));
    lines.push_str(&wrapped("    ", "    ", &escape_control(&words::paragraph(verdict))));
    for advice in words::advice(verdict) {
        lines.push_str(&wrapped("    → ", "      ", &escape_control(&advice)));
    }
    lines
}
