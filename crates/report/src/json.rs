//! The run and its findings as one JSON document, schema `plimsoll/run/1`.
//!
//! Numbers are given in full; what is not known is `null`, never zero. `docs/run.schema.json`, and for `plimsoll explain`
//! `docs/explanation.schema.json` and `docs/table.schema.json`, are generated from the types here. Within one schema name fields are added, never renamed or removed.

mod ablation;
mod answer;
mod calibration;
mod comparison;
mod explanation;
mod generator;
mod hosts;
mod lab_run;
mod machines;
mod moment;
mod origin;
mod plan;
mod profile;
mod request;
mod run_rows;
mod step;
mod tier_rows;
mod verdict;

use plimsoll_analyze::Findings;
use plimsoll_record::Run;
use schemars::JsonSchema;
use serde::Serialize;

pub use ablation::*;
pub use answer::{AnswerDocument, SloDocument};
pub use calibration::calibration;
pub use comparison::{
    BestDocument, ComparedDocument, ComparisonDocument, ComparisonRowDocument, CpuDifferenceDocument,
    FunctionDifferenceDocument,
};
pub use explanation::{
    BreachDocument, DemandDocument, ExplanationDocument, ResourceDocument, RowDocument, TableDocument,
    explanation, explanation_schema, table_explanation, table_schema,
};
pub use generator::{
    CauseDocument, CeilingDocument, GeneratorDocument, LagDocument, MachineLoadDocument, WorkerDocument,
};
pub use hosts::{
    ComponentDocument, EdgeDocument, FigureDocument, HostDocument, TierDocument, UnreadDocument,
    UsageDocument,
};
pub use lab_run::*;
pub use machines::*;
pub use moment::MomentDocument;
pub use origin::{EventDocument, MachineDocument, PreflightDocument, RunDocument, TlsDocument, ToolDocument};
pub use profile::{FunctionDocument, ProfileDocument};
pub use request::RequestDocument;
pub(crate) use request::failed_checks;
pub use run_rows::*;
pub use step::{StepDocument, TimesDocument, TimesIntervals};
pub use tier_rows::*;
pub use verdict::{EvidenceDocument, FindingDocument, NextLimitDocument, SuspectDocument, VerdictDocument};

/// The name of the schema.
pub const SCHEMA: &str = "plimsoll/run/1";

/// A value that may be missing or not a number: JSON has no word for infinity.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Nanoseconds as milliseconds.
fn ms(ns: f64) -> Option<f64> {
    finite(ns / 1e6)
}

/// An interval whose bounds are both numbers.
fn bounds(interval: Option<(f64, f64)>) -> Option<[f64; 2]> {
    interval
        .filter(|(lower, upper)| lower.is_finite() && upper.is_finite())
        .map(|(lower, upper)| [lower, upper])
}

/// Everything recorded and found, as one document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "A Plimsoll run")]
pub struct Document {
    /// Always `plimsoll/run/1`.
    pub schema: &'static str,
    /// What wrote the document.
    pub tool: ToolDocument,
    /// What the run was.
    pub run: RunDocument,
    /// The frozen plan, as it is stored with the run, but for the values of headers that carry credentials:
    /// these are `(hidden)`.
    pub plan: serde_json::Value,
    /// The machine that made the load.
    pub machine: MachineDocument,
    /// How the target looked before the load.
    pub preflight: PreflightDocument,
    /// The steps, in the order they were run.
    pub steps: Vec<StepDocument>,
    /// The load generator's check of itself, over the steps that count for the answer.
    pub generator: GeneratorDocument,
    /// The hosts that were looked at; the load generator has a part of its own.
    pub hosts: Vec<HostDocument>,
    /// The processes that requests pass, the target first, as far as they were found by following sockets.
    pub tiers: Vec<TierDocument>,
    /// What happened on the way.
    pub events: Vec<EventDocument>,
    /// Claims, each with its value and what it rests on.
    pub findings: Vec<FindingDocument>,
    /// How much the target holds.
    pub answer: AnswerDocument,
    /// What limits it.
    pub verdict: VerdictDocument,
}

/// The document of a run.
pub fn document(run: &Run, findings: &Findings) -> Document {
    Document {
        schema: SCHEMA,
        tool: ToolDocument::of(run),
        run: RunDocument::of(run),
        plan: plan::shown(&run.manifest.plan),
        machine: MachineDocument::of(&run.manifest.machine),
        preflight: PreflightDocument::of(&run.manifest.preflight),
        steps: findings.steps.iter().map(|step| StepDocument::of(run, findings, step)).collect(),
        generator: GeneratorDocument::of(run, &findings.generator),
        hosts: hosts::hosts(run, findings),
        tiers: hosts::tiers(findings),
        events: run.events.iter().map(EventDocument::of).collect(),
        findings: verdict::findings(findings),
        answer: AnswerDocument::of(findings),
        verdict: VerdictDocument::of(&findings.verdict),
    }
}

/// The document as text, indented, with a line end.
///
/// # Errors
/// When it cannot be written as JSON, which no document of [`document`] should meet.
pub fn render(document: &Document) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// The JSON schema of the document, as published.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}
