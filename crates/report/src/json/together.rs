//! The summary of several runs, or tables of measurements, for a page.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AbDocument, AblationDocument, ComparisonDocument, DiffDocument, FleetDocument, LabRunDocument,
    PlanDocument, TiersDocument,
};

/// The summary of several runs, or tables.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TogetherDocument {
    /// The heading.
    pub name: String,
    /// The answer as the terminal prints it.
    pub text: String,
    /// The number of runs that are not on the page, so that it stays small.
    pub runs_left_out: usize,
    /// The result of the command.
    pub found: FoundTogether,
}

/// The result of a command that reads or makes several runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundTogether {
    /// `plimsoll diff`: a new run against an old one.
    Diff(Box<DiffDocument>),
    /// Any number of runs, compared with the first of them.
    Runs(Box<ComparisonDocument>),
    /// `plimsoll ab`: two services, in rounds.
    Ab(Box<AbDocument>),
    /// `plimsoll lab run`: the runs of a plan file.
    Lab(Box<LabRunDocument>),
    /// `plimsoll tiers`: runs with different numbers of machines.
    Tiers(Box<TiersDocument>),
    /// `plimsoll ablate`: what switches cost.
    Switches(Box<AblationDocument>),
    /// `plimsoll plan --target`: machines for a rate.
    Machines(Box<PlanDocument>),
    /// `plimsoll plan --machines`: the rate of given machines.
    Fleet(Box<FleetDocument>),
}
