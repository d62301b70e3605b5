//! Runs every scenario of a folder, each in its own lab, and compares the verdict with the expected one.

use std::path::Path;

use plimsoll_analyze::Protection;
use plimsoll_lab::Privileges;

use crate::ExperimentError;
use crate::case_outcome::CaseOutcome;
use crate::context::{Progress, RunContext};
use crate::lab_file::{Case, LabFile, files_in};
use crate::protection::with_settings;
use crate::recorded::file_stem;
use crate::runner::PlanRunner;

/// The scenarios to run.
#[derive(Debug, Clone, Copy)]
pub struct Scenarios<'a> {
    pub folder: &'a Path,
    /// A scenario's name must contain one of these texts; empty runs all.
    pub only: &'a [String],
    pub repeat: u64,
}

impl Scenarios<'_> {
    fn includes(self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text.as_str()))
    }
}

/// Runs scenarios. A failure is an outcome and does not end the other runs; a run that the user cut short is left out.
///
/// # Errors
/// When no scenario is included.
pub fn diagnose(
    scenarios: Scenarios<'_>,
    privileges: Privileges,
    context: RunContext<'_>,
) -> Result<Vec<CaseOutcome>, ExperimentError> {
    let files = files_in(scenarios.folder)?;
    if files.is_empty() {
        return Err(ExperimentError::NoLabFiles(scenarios.folder.to_owned()));
    }
    let mut outcomes = Vec::new();
    for path in (0..scenarios.repeat).flat_map(|_| &files) {
        outcomes.extend(outcomes_of(path, scenarios, privileges, context));
    }
    if outcomes.is_empty() && !context.is_interrupted() {
        let (folder, only) = (scenarios.folder.to_owned(), scenarios.only.to_vec());
        return Err(ExperimentError::NoScenario { folder, only });
    }
    Ok(outcomes)
}

fn outcomes_of(
    path: &Path,
    scenarios: Scenarios<'_>,
    privileges: Privileges,
    context: RunContext<'_>,
) -> Vec<CaseOutcome> {
    let report = |outcome: CaseOutcome| {
        context.report(&Progress::CaseEnded(&outcome));
        outcome
    };
    match LabFile::read(path) {
        Ok(file) => {
            let cases = file.cases(context.settings.quick);
            let included = cases.iter().filter(|case| scenarios.includes(&case.name));
            let mut limits: Option<Protection> = None;
            let one = |case| {
                let outcome = outcome(case, limits.as_ref(), privileges, context)?;
                limits = outcome.judged().and_then(|judged| judged.limits).or(limits);
                Some(outcome)
            };
            included.filter_map(one).map(report).collect()
        }
        Err(error) => {
            let name = file_stem(path);
            let included = scenarios.includes(&name);
            let failed = included.then_some(CaseOutcome { name, expected: None, result: Err(error) });
            failed.map(report).into_iter().collect()
        }
    }
}

/// Runs a scenario in its own lab, protected by `limits` if it asks for that; `None` if the user interrupted it, because a partial
/// run is no evidence.
fn outcome(
    case: &Case<'_>,
    limits: Option<&Protection>,
    privileges: Privileges,
    context: RunContext<'_>,
) -> Option<CaseOutcome> {
    if context.is_interrupted() {
        return None;
    }
    let made = with_settings(case, limits, &context.settings.out).and_then(|protected| {
        let case = Case { file: protected.as_ref().unwrap_or(case.file), ..case.clone() };
        PlanRunner::in_labs(privileges, context).run_and_read(&case)
    });
    let outcome = match made {
        Ok((recorded, ended)) => CaseOutcome::of_run(case, &recorded, ended),
        Err(error) => CaseOutcome::new(case, Err(error)),
    };
    (!context.is_interrupted()).then_some(outcome)
}
