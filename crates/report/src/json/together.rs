//! What several runs, or tables of measurements, say together, for a page.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AbDocument, AblationDocument, ComparisonDocument, DiffDocument, FleetDocument, LabRunDocument,
    PlanDocument, TiersDocument,
};

/// What several runs, or tables, say together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TogetherDocument {
    /// The heading.
    pub name: String,
    /// The answer as the terminal prints it.
    pub text: String,
    /// Runs that were made and are not on the page, so that it stays small.
    pub runs_left_out: usize,
    /// What was found.
    pub found: FoundTogether,
}

/// What a command found of several runs, by the command.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundTogether {
    /// `plimsoll diff`: a new run against an old one.
    Diff(Box<DiffDocument>),
    /// Any number of runs against the first of them.
    Runs(Box<ComparisonDocument>),
    /// `plimsoll ab`: two services, in rounds.
    Ab(Box<AbDocument>),
    /// `plimsoll lab run`: the runs of a plan file.
    Lab(Box<LabRunDocument>),
    /// `plimsoll tiers`: other numbers of machines.
    Tiers(Box<TiersDocument>),
    /// `plimsoll ablate`: what switches cost.
    Switches(Box<AblationDocument>),
    /// `plimsoll plan --target`: machines for a rate.
    Machines(Box<PlanDocument>),
    /// `plimsoll plan --machines`: the rate of given machines.
    Fleet(Box<FleetDocument>),
}
