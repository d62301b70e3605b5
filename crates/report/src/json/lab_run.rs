//! The runs of a plan file in labs, and their summary, schema `plimsoll/lab-run/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AblationDocument, ComparisonDocument, PlanDocument, ProfileDocument, RunRowsDocument, TiersDocument,
};

/// All runs of a plan file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[schemars(title = "The runs of a plan file")]
pub struct LabRunDocument {
    /// Always `plimsoll/lab-run/1`.
    pub schema: &'static str,
    /// The file's own plan, then its variants.
    pub runs: Vec<CaseDocument>,
    /// The runs as rows of a table, with conclusions; its keys are left out without `[row]`.
    #[serde(flatten)]
    pub together: Option<RunRowsDocument>,
    /// The runs compared with each baseline that `[compare]` names.
    pub comparisons: Vec<ComparisonDocument>,
    /// The CPU profile of each run that has one.
    pub profiles: Vec<ProfileDocument>,
    /// The tiers side by side; null unless runs differ in the machines of a tier.
    pub tiers: Option<TiersDocument>,
    /// Machines for a rate; null without `[machines]`.
    pub machines: Option<PlanDocument>,
    /// What switches cost; null without `[[switch]]`.
    pub switches: Option<AblationDocument>,
    /// Figures and tables that were written next to the run files.
    pub files: Vec<String>,
}

/// The result of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseDocument {
    /// The file's name; for a variant, followed by a slash and the variant's name.
    pub name: String,
    /// What the file expects; null if it expects nothing.
    pub expected: Option<ExpectedDocument>,
    /// The limit that was found; null if the plan could not be run.
    pub found: Option<FoundDocument>,
    /// How the target behaved under overload: the `class` of an overload; null if it was not overloaded.
    pub overload: Option<String>,
    /// The effect of a ramp to the highest overload: the `ramp` of an overload; null if it is not known.
    pub ramp: Option<String>,
    /// Limits that the evidence does not exclude.
    pub also: Vec<NamedLimitDocument>,
    /// The confidence of the verdict; null if the plan could not be run.
    pub confidence: Option<String>,
    /// Whether the result is the expected one; null if nothing was expected.
    pub right: Option<bool>,
    /// The verdict in words, or why the plan could not be run.
    pub text: String,
    /// The highest throughput, requests per second.
    pub throughput_per_sec: Option<f64>,
    /// True if the generator was the limit of that step; null if the plan could not be run.
    pub lower_bound: Option<bool>,
    /// Connections of that step.
    pub connections: Option<u32>,
    /// 99th percentile of latency of that step.
    pub p99_ms: Option<f64>,
    /// The run file; null if the plan could not be run.
    pub file: Option<String>,
}

/// A limit and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NamedLimitDocument {
    /// The limit, as in a verdict.
    pub limit: String,
    /// The host; null where an expectation leaves it open.
    #[serde(rename = "where")]
    pub host: Option<String>,
}

/// The limit that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundDocument {
    /// What limits the target.
    #[serde(flatten)]
    pub named: NamedLimitDocument,
    /// The size of a pool.
    pub size: Option<f64>,
}

/// The limit that is expected.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedDocument {
    /// The limit, the first of several.
    #[serde(flatten)]
    pub named: NamedLimitDocument,
    /// The size of a pool.
    pub size: Option<u64>,
    /// The expected classes of an overload, any of which is right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overload: Vec<String>,
    /// The expected effect of a ramp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<String>,
    /// All limits, where several are too close to be distinguished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub either: Vec<NamedLimitDocument>,
}

impl LabRunDocument {
    /// Makes a document of the runs alone.
    pub fn new(runs: Vec<CaseDocument>) -> Self {
        Self { schema: "plimsoll/lab-run/1", runs, ..Self::default() }
    }
}
