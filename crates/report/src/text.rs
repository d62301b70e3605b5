//! Reports as text, the same for a live run and for a recorded one. Text that came from a server is escaped.
//!
//! The short answer fits a [`Page`]. The full report is at most 100 columns wide, and its forms differ in order and detail:
//! an answer starts with its conclusions, a sweep with its table, a single level with its counts.

pub(crate) mod ab;
mod ablation;
mod calibration;
pub(crate) mod claim;
pub(crate) mod comparison;
mod cost;
mod day;
mod explanation;
mod failures;
mod fleet;
mod generator;
mod generators;
mod hosts;
mod level;
mod machines;
pub(crate) mod origin;
pub(crate) mod overload;
mod page;
mod paragraph;
mod production;
mod profile;
mod runs;
pub(crate) mod search;
pub(crate) mod short;
pub(crate) mod slo;
pub(crate) mod steps;
mod table;
mod tier_rows;
mod tiers;
mod traces;
mod trend;
pub(crate) mod verdict;

pub use ab::{ab, ab_figure, ab_progress};
pub use ablation::ablation;
pub use calibration::calibration;
pub(crate) use claim::successes;
pub use comparison::{Side, comparison, incomparable};
pub use explanation::{conclusions, explanation, table_explanation, table_reading};
pub use fleet::fleet;
pub use machines::machines;
pub use overload::overloads;
pub use page::Page;
pub use paragraph::{cut, width};
pub use production::production;
pub use profile::{profile, profile_difference};
pub use runs::{ListedRun, RunsPage, runs};
pub(crate) use short::{HeadlineFigure, served_in_short, verdict_in_short};
pub use short::{MAX_LINES, limit_in_short, short};
pub(crate) use slo::judged_step;
pub use tier_rows::tier_rows;
pub use trend::{left_out, newest_without_value, trend};

use plimsoll_analyze::Findings;
use plimsoll_plan::Load;
use plimsoll_record::{Run, RunCommand};
use plimsoll_units::escape_control;

use paragraph::{blocks, wrapped};

use crate::amount::{counted, span};

/// Returns the full report of a run, in the form for its command.
pub fn full(run: &Run, findings: &Findings) -> String {
    match run.manifest.command {
        RunCommand::Sweep => sweep(run, findings),
        RunCommand::Run => level::single(run, findings),
        RunCommand::Answer
        | RunCommand::Search
        | RunCommand::Overload
        | RunCommand::Lab
        | RunCommand::Wrk
        | RunCommand::Other => answer(run, findings),
    }
}

/// Returns the whole answer: what the target holds, what limits it, then the figures behind it.
fn answer(run: &Run, findings: &Findings) -> String {
    let parts = [
        overload::block(findings),
        conclusions_of(run, findings),
        steps::steps(findings) + &rest(run, findings),
    ];
    origin::remarks(run, findings) + &blocks(parts)
}

/// Returns a sweep: the table of steps first.
fn sweep(run: &Run, findings: &Findings) -> String {
    let (heading, steps) = (sweep_heading(findings), steps::steps(findings));
    let answer = conclusions_of(run, findings);
    format!("{}{heading}\n{steps}\n{answer}{}", origin::remarks(run, findings), rest(run, findings))
}

fn conclusions_of(run: &Run, findings: &Findings) -> String {
    claim::sentences(findings) + &verdict::limit(run, findings) + &slo::block(findings)
}

/// Returns the end of every report of a ladder.
fn rest(run: &Run, findings: &Findings) -> String {
    let rest = [
        search::block(findings),
        steps::usl(findings),
        profile::block(run, findings),
        hosts::block(run, findings),
        generators::block(run, findings),
        generator::block(run, findings),
        verdict::evidence(findings),
        failures::block(findings),
        traces::block(run),
        origin::events(run),
        origin::preflight(run, findings),
    ];
    format!("\n{}", blocks(rest))
}

fn sweep_heading(findings: &Findings) -> String {
    let (Load::Ladder { step_limit: limit, .. } | Load::Single { duration: limit, .. }) = &findings.plan.load;
    let text = format!(
        "Sweep of {}: {}, each at most {}, {}",
        escape_control(&findings.plan.target.url),
        counted(findings.steps.len() as u64, "step"),
        span(*limit),
        counted(findings.generator.workers, "worker"),
    );
    wrapped("", "", &text)
}
