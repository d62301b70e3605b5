//! The runs of a plan file in labs and what they say together, schema `plimsoll/lab-run/1`.

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
    /// What they say together as rows of a table; its keys are left out without `[row]`.
    #[serde(flatten)]
    pub together: Option<RunRowsDocument>,
    /// The runs against one of them, for each that `[compare]` names.
    pub comparisons: Vec<ComparisonDocument>,
    /// The CPU profiles, of each run that has one.
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

/// What came of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseDocument {
    /// The file's name, and behind a slash that of the variant.
    pub name: String,
    /// What the file expects; null if it expects nothing.
    pub expected: Option<ExpectedDocument>,
    /// What was found; null for one that could not be run.
    pub found: Option<FoundDocument>,
    /// What became of the target under overload, by the words of an overload's class; null if it was not overloaded.
    pub overload: Option<String>,
    /// What a ramp to the highest overload changed, by the words of an overload's `ramp`; null if that is not known.
    pub ramp: Option<String>,
    /// Limits that the evidence does not exclude.
    pub also: Vec<NamedLimitDocument>,
    /// How well it is founded; null for one that could not be run.
    pub confidence: Option<String>,
    /// Whether it is what was expected; null if nothing was.
    pub right: Option<bool>,
    /// The verdict in words, or why it could not be run.
    pub text: String,
    /// The highest throughput, requests per second.
    pub throughput_per_sec: Option<f64>,
    /// True if the generator was the limit of that step; null for one that could not be run.
    pub lower_bound: Option<bool>,
    /// Connections of that step.
    pub connections: Option<u32>,
    /// 99th percentile of latency of that step.
    pub p99_ms: Option<f64>,
    /// The run file; null for one that could not be run.
    pub file: Option<String>,
}

/// A limit and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NamedLimitDocument {
    /// What limits, by the words of a verdict.
    pub limit: String,
    /// The host; null where an expectation leaves it open.
    #[serde(rename = "where")]
    pub host: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundDocument {
    /// What limits.
    #[serde(flatten)]
    pub named: NamedLimitDocument,
    /// How large a pool is.
    pub size: Option<f64>,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedDocument {
    /// The limit, the first of several.
    #[serde(flatten)]
    pub named: NamedLimitDocument,
    /// How large a pool is.
    pub size: Option<u64>,
    /// What should become of it under overload: one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overload: Vec<String>,
    /// What a ramp should change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<String>,
    /// All limits, where several are too close to be distinguished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub either: Vec<NamedLimitDocument>,
}

impl LabRunDocument {
    /// Only the runs.
    pub fn new(runs: Vec<CaseDocument>) -> Self {
        Self { schema: "plimsoll/lab-run/1", runs, ..Self::default() }
    }
}
