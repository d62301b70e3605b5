//! JSON documents: a run and its findings (`plimsoll/run/1`), explanations, plans, ledgers, tiers, labs, calibrations.
//!
//! `document!` defines each part of a document from the findings, see [`document`](mod@document). Numbers are not
//! rounded; unknown values are null, never zero. The schemas in `docs/*.schema.json` are generated from these types.
//! Within one schema name fields are added, never renamed or removed.

mod ab;
mod ablation;
mod comparison;
mod cost;
mod day;
mod document;
mod drawn;
mod flame;
mod fleet;
mod generator;
mod generators;
mod headline;
mod history;
mod hosts;
mod lab_run;
mod machines;
mod origin;
mod overload;
mod page;
mod production;
mod rows;
mod search;
mod series;
mod shown_in;
mod step;
mod together;
mod traces;
mod verdict;

use crate::privacy::{Values, shown_plan, shown_search, shown_steps};
use crate::words;
use plimsoll_analyze::Findings;
use plimsoll_analyze::overload::protection;
use plimsoll_record::Run;

pub use ab::*;
pub use ablation::*;
pub use comparison::*;
pub use cost::*;
pub use day::*;
pub use document::{Interval, render, schema_of};
use document::{document, each};
pub use flame::FlameDocument;
pub use fleet::*;
pub use generator::*;
use generators::FleetStepDocument;
pub use headline::HeadlineDocument;
pub use history::*;
pub use hosts::*;
pub use lab_run::*;
pub use machines::*;
pub use origin::*;
pub use overload::*;
pub use page::*;
pub use production::*;
pub use rows::*;
pub use search::*;
pub use series::SeriesDocument;
pub use shown_in::ShownIn;
pub use step::*;
pub use together::*;
use traces::StepTracesDocument;
pub use verdict::*;

/// The name of the schema.
pub const SCHEMA: &str = "plimsoll/run/1";

document! {
    /// Everything recorded and found in one run.
    #[schemars(title = "A Plimsoll run")]
    pub struct Document(run: &Run, findings: &Findings, values: Values) {
        /// Always `plimsoll/run/1`.
        schema: &'static str = SCHEMA,
        /// The program that made the run.
        tool: ToolDocument = ToolDocument::new(&run.manifest),
        /// The name, the command, the plan's hash and the state of the run.
        run: RunDocument = RunDocument::new(&run.manifest),
        /// The parts of the run file that do not match their digests. All figures come from the rest. Empty for an intact
        /// file.
        damage: Vec<String> = each(&run.damage, words::damage),
        /// The frozen plan, as it is stored with the run. The values of headers that carry credentials are `(hidden)`, and so are
        /// bodies and the values of queries, unless they are asked for.
        plan: serde_json::Value = shown_plan(&run.manifest.plan, values),
        /// The machine that made the load.
        machine: MachineDocument = MachineDocument::new(&run.manifest.machine),
        /// What was found out about the target before the load.
        preflight: PreflightDocument = PreflightDocument::new(&run.manifest.preflight),
        /// The steps, in the order they were run.
        steps: Vec<StepDocument> = each(&shown_steps(findings, values), |step| StepDocument::new(run, findings, step)),
        /// The search for the highest rate within the conditions; null if there was none.
        search: Option<SearchDocument> = shown_search(findings, values).map(|search| SearchDocument::new(run, findings, &search)),
        /// How the target behaves under overload; null if it was not overloaded.
        overload: Option<OverloadDocument> = findings.overload.as_ref().map(|overload| OverloadDocument::new(overload, protection(findings).as_ref())),
        /// Steps of the ladder that were not run because this machine cannot open so many connections, by their
        /// connections.
        steps_not_run: Vec<u32> = each(&findings.not_run, |step| step.connections),
        /// The load generator's check of itself, over the steps that count for the answer.
        generator: GeneratorDocument = GeneratorDocument::new(run, &findings.generator),
        /// The hosts that were sampled. For the load generator see `generator`.
        hosts: Vec<HostDocument> = hosts::hosts(run, findings),
        /// The processes that requests pass through, the target first, as far as their sockets could be followed.
        tiers: Vec<TierDocument> = hosts::tiers(run, findings),
        /// The generators of each step, if they were on several machines; otherwise empty.
        fleet: Vec<FleetStepDocument> =
            each(&plimsoll_analyze::fleet_starts(run), |start| FleetStepDocument::new(run, start)),
        /// The slowest and the unsuccessful requests with a trace id, by step; empty if no request had one.
        traces: Vec<StepTracesDocument> = each(&plimsoll_analyze::traces(run), StepTracesDocument::new),
        /// What happened during the run.
        events: Vec<EventDocument> = each(&run.events, |event| EventDocument::new(event, findings)),
        /// Claims, each with its value and its evidence.
        findings: Vec<FindingDocument> = verdict::findings(findings),
        /// How much load the target sustains.
        answer: AnswerDocument = AnswerDocument::new(findings),
        /// What limits the target.
        verdict: VerdictDocument = VerdictDocument::new(&findings.verdict),
    }
}
