//! The verdict of a run or of a table, alone.

use plimsoll_analyze::{Findings, Law, Resource, RowFinding, TableFindings};
use schemars::JsonSchema;
use serde::Serialize;

use super::{BreakEvenDocument, VerdictDocument, bounds, finite};

const RUN_SCHEMA: &str = "plimsoll/explanation/1";
const TABLE_SCHEMA: &str = "plimsoll/table/1";

/// What a request uses of a resource, by U = U₀ + D·X.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DemandDocument {
    /// D, in the resource's unit times seconds.
    pub per_request: Option<f64>,
    /// The 95 % interval of D; null where too little is known for one.
    pub per_request_interval: Option<[f64; 2]>,
    /// U₀, used without requests.
    pub idle: Option<f64>,
    /// The throughput at which the resource is full, requests per second; null where it is not known.
    pub at_per_sec: Option<f64>,
    /// The 95 % interval of that.
    pub at_per_sec_interval: Option<[f64; 2]>,
    /// `holds`, `broken` (use does not grow with throughput) or `untested`.
    pub law: &'static str,
}

/// One resource of one host over the steps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResourceDocument {
    /// The host; `generator` for the machine that makes the load.
    pub host: String,
    /// What it is: `cpu`, `core`, `thread`, `quota`, `bandwidth_out` and so on.
    pub resource: &'static str,
    /// What of the host: a thread, an interface, a device; empty for the host itself.
    pub detail: String,
    /// The unit of `capacity` and `used`.
    pub unit: &'static str,
    /// How much there is; null where nobody said.
    pub capacity: Option<f64>,
    /// How much was used in each step; null where it was not seen.
    pub used: Vec<Option<f64>>,
    /// What a request uses; null for what requests do not spend.
    pub demand: Option<DemandDocument>,
}

impl ResourceDocument {
    /// The document of a resource.
    pub fn of(resource: &Resource) -> Self {
        let demand = resource.demand.map(|demand| DemandDocument {
            per_request: finite(demand.per_request.value),
            per_request_interval: bounds(demand.per_request.interval),
            idle: finite(demand.idle),
            at_per_sec: demand.at_per_sec.and_then(|at| finite(at.value)),
            at_per_sec_interval: demand.at_per_sec.and_then(|at| bounds(at.interval)),
            law: match demand.law {
                Law::Holds => "holds",
                Law::Broken => "broken",
                Law::Untested => "untested",
            },
        });
        Self {
            host: resource.host.clone(),
            resource: resource.kind.name(),
            detail: resource.detail.clone(),
            unit: resource.kind.unit(),
            capacity: resource.capacity.and_then(finite),
            used: resource.used.iter().map(|used| used.and_then(finite)).collect(),
            demand,
        }
    }
}

/// What limits the target of a run, with the resources that say so.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "A Plimsoll run, explained")]
pub struct ExplanationDocument {
    /// Always `plimsoll/explanation/1`.
    pub schema: &'static str,
    /// What limits.
    pub verdict: VerdictDocument,
    /// All resources of all hosts that were looked at.
    pub resources: Vec<ResourceDocument>,
}

/// What was found in one row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RowDocument {
    /// The name of the row; empty if it has none.
    pub label: String,
    /// What limits in it; always inferred, or unknown.
    pub verdict: VerdictDocument,
    /// How the row breaks Little's law; null if it does not, or if too little of it is known.
    pub littles_law: Option<BreachDocument>,
}

/// A row whose connections, throughput and response time do not fit together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BreachDocument {
    /// Requests under way: throughput times response time.
    pub under_way: Option<f64>,
    /// Connections, by the table.
    pub connections: Option<f64>,
    /// What that means, in words.
    pub meaning: String,
}

/// What was found in a table that somebody else measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "A table of measurements, explained by Plimsoll")]
pub struct TableDocument {
    /// Always `plimsoll/table/1`.
    pub schema: &'static str,
    /// The rows that have a throughput, in the table's order.
    pub rows: Vec<RowDocument>,
    /// What several rows say together, in words.
    pub conclusions: Vec<String>,
    /// Where a tier in front begins to stop those behind it, found from rows whose requests are held for a known time.
    pub break_evens: Vec<BreakEvenDocument>,
}

/// The JSON schema of an explanation, as published.
pub fn explanation_schema() -> serde_json::Value {
    schemars::schema_for!(ExplanationDocument).to_value()
}

/// The JSON schema of what is found in a table, as published.
pub fn table_schema() -> serde_json::Value {
    schemars::schema_for!(TableDocument).to_value()
}

impl RowDocument {
    fn of(finding: &RowFinding) -> Self {
        let littles_law = finding.breach.as_ref().map(|breach| BreachDocument {
            under_way: finite(breach.under_way),
            connections: finite(breach.connections),
            meaning: crate::words::breach_meaning(breach).to_owned(),
        });
        Self { label: finding.label.clone(), verdict: VerdictDocument::of(&finding.verdict), littles_law }
    }
}

fn text(document: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// The verdict of a run with its resources, as text.
///
/// # Errors
/// When it cannot be written as JSON, which nothing found should meet.
pub fn explanation(findings: &Findings) -> Result<String, serde_json::Error> {
    text(&ExplanationDocument {
        schema: RUN_SCHEMA,
        verdict: VerdictDocument::of(&findings.verdict),
        resources: findings.resources.iter().map(ResourceDocument::of).collect(),
    })
}

/// What was found in a table, as text. A row that breaks Little's law says how.
///
/// # Errors
/// When it cannot be written as JSON, which nothing found should meet.
pub fn table_explanation(findings: &TableFindings) -> Result<String, serde_json::Error> {
    text(&TableDocument {
        schema: TABLE_SCHEMA,
        rows: findings.rows.iter().map(RowDocument::of).collect(),
        conclusions: crate::words::conclusions(findings),
        break_evens: findings.break_evens.iter().map(BreakEvenDocument::new).collect(),
    })
}
