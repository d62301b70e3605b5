//! Reports as plain text, at most 100 columns wide: the same for a live run and for a recorded one.
//!
//! The forms differ in order and detail: an answer starts with its conclusions, a sweep with its table, a single level
//! with its counts. Text that came from a server is escaped.

mod ablation;
mod calibration;
mod claim;
mod comparison;
mod explanation;
mod failures;
mod generator;
mod hosts;
mod level;
mod machines;
mod origin;
mod paragraph;
mod profile;
mod slo;
mod steps;
mod table;
mod tier_rows;
mod tiers;
mod verdict;

pub use ablation::ablation;
pub use calibration::calibration;
pub use comparison::comparison;
pub use explanation::{conclusions, explanation, table_explanation};
pub use machines::machines;
pub use profile::{profile, profile_difference};
pub use tier_rows::tier_rows;

use plimsoll_analyze::Findings;
use plimsoll_plan::Load;
use plimsoll_record::Run;
use plimsoll_units::escape_control;

use paragraph::wrapped;

use crate::amount::{self, count_of, counted};

/// The report of a run, in the form its command calls for.
pub fn render(run: &Run, findings: &Findings) -> String {
    match run.manifest.command.as_str() {
        "sweep" => sweep(run, findings),
        "run" => level::single(run, findings),
        _ => answer(run, findings),
    }
}

/// The whole answer: what the target holds, what limits it, then the figures it rests on.
fn answer(run: &Run, findings: &Findings) -> String {
    let blocks = [
        origin::remarks(run),
        claim::sentences(findings),
        verdict::limit(run, findings),
        slo::block(findings),
        String::from("\n"),
        steps::table(findings),
        rest(run, findings),
    ];
    blocks.concat()
}

/// A sweep: the table of steps first.
fn sweep(run: &Run, findings: &Findings) -> String {
    let blocks = [
        origin::remarks(run),
        sweep_heading(findings),
        String::from("\n"),
        steps::table(findings),
        String::from("\n"),
        claim::sentences(findings),
        verdict::limit(run, findings),
        slo::block(findings),
        rest(run, findings),
    ];
    blocks.concat()
}

/// What every report of a ladder ends with.
fn rest(run: &Run, findings: &Findings) -> String {
    let blocks = [
        steps::usl(findings),
        profile::block(run, findings),
        hosts::block(run, findings),
        generator::block(run, findings),
        verdict::evidence(findings),
        failures::block(findings),
        origin::events(run),
        origin::preflight(run, findings),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).map(|block| format!("\n{block}")).collect()
}

fn sweep_heading(findings: &Findings) -> String {
    let limit = match &findings.plan.load {
        Load::Ladder { step_limit, .. } => *step_limit,
        Load::Single { duration, .. } => *duration,
    };
    let text = format!(
        "Sweep of {}: {}, each at most {}, {}",
        escape_control(&findings.plan.target.url),
        counted(findings.steps.len() as u64, "step"),
        amount::span(limit),
        count_of(findings.generator.workers, "worker"),
    );
    wrapped("", "", &text)
}
