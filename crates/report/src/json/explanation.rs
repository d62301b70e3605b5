//! The verdict of a run or of a table, alone: schemas `plimsoll/explanation/1` and `plimsoll/table/1`.

use plimsoll_analyze::{Demand, Findings, Law, LawBreach, Resource, RowFinding, TableFindings};

use super::document::{Interval, document, each, value};
use super::run_rows::BreakEvenDocument;
use super::verdict::VerdictDocument;
use crate::words;

document! {
    /// What a request uses of a resource, by U = U₀ + D·X.
    pub struct DemandDocument(demand: &Demand) {
        /// D, in the resource's unit times seconds.
        per_request: f64 = demand.per_request.value,
        /// The 95 % interval of D; null where too little is known for one.
        per_request_interval: Interval = demand.per_request,
        /// U₀, used without requests.
        idle: f64 = demand.idle,
        /// The throughput at which the resource is full, requests per second; null where it is not known.
        at_per_sec: Option<f64> = value(demand.at_per_sec),
        /// The 95 % interval of that.
        at_per_sec_interval: Interval = demand.at_per_sec,
        /// `holds`, `broken` (use does not grow with throughput) or `untested`.
        law: &'static str = law_name(demand.law),
    }
}

document! {
    /// One resource of one host over the steps.
    pub struct ResourceDocument(resource: &Resource) {
        /// The host; `generator` for the machine that makes the load.
        host: String = &resource.host,
        /// Its kind: `cpu`, `core`, `thread`, `quota`, `bandwidth_out` and so on.
        resource: &'static str = resource.kind.name(),
        /// The part of the host: a thread, an interface, a device; empty for the host itself.
        detail: String = &resource.detail,
        /// The unit of `capacity` and `used`.
        unit: &'static str = resource.kind.unit(),
        /// How much there is; null where that is not known.
        capacity: Option<f64> = resource.capacity,
        /// How much was used in each step; null where it was not sampled.
        used: Vec<Option<f64>> = resource.used.clone(),
        /// What a request uses; null for what requests do not spend.
        demand: Option<DemandDocument> = resource.demand.as_ref().map(DemandDocument::new),
    }
}

document! {
    /// What limits the target of a run, with the resources that it is found from.
    #[schemars(title = "A Plimsoll run, explained")]
    pub struct ExplanationDocument(findings: &Findings) {
        /// Always `plimsoll/explanation/1`.
        schema: &'static str = "plimsoll/explanation/1",
        /// What limits.
        verdict: VerdictDocument = VerdictDocument::new(&findings.verdict),
        /// All resources of all hosts that were sampled.
        resources: Vec<ResourceDocument> = each(&findings.resources, ResourceDocument::new),
    }
}

document! {
    /// What was found in one row of a table.
    pub struct RowDocument(finding: &RowFinding) {
        /// The name of the row; empty if it has none.
        label: String = &finding.label,
        /// What limits in it; always inferred, or unknown.
        verdict: VerdictDocument = VerdictDocument::new(&finding.verdict),
        /// How the row breaks Little's law; null if it does not, or if too little of it is known.
        littles_law: Option<BreachDocument> = finding.breach.as_ref().map(BreachDocument::new),
    }
}

document! {
    /// A row whose connections, throughput and response time are inconsistent.
    pub struct BreachDocument(breach: &LawBreach) {
        /// Requests under way: throughput times response time.
        under_way: f64 = breach.under_way,
        /// Connections, by the table.
        connections: f64 = breach.connections,
        /// What that means, in words.
        meaning: String = words::breach_meaning(breach),
    }
}

document! {
    /// What was found in a table of measurements.
    #[schemars(title = "A table of measurements, explained by Plimsoll")]
    pub struct TableDocument(findings: &TableFindings) {
        /// Always `plimsoll/table/1`.
        schema: &'static str = "plimsoll/table/1",
        /// The rows that have a throughput, in the table's order.
        rows: Vec<RowDocument> = each(&findings.rows, RowDocument::new),
        /// What several rows say together, in words.
        conclusions: Vec<String> = words::conclusions(findings),
        /// The loads at which a tier in front starts to limit those behind it, from rows whose requests are held for a known
        /// time.
        break_evens: Vec<BreakEvenDocument> = each(&findings.break_evens, BreakEvenDocument::new),
    }
}

fn law_name(law: Law) -> &'static str {
    match law {
        Law::Holds => "holds",
        Law::Broken => "broken",
        Law::Untested => "untested",
    }
}
