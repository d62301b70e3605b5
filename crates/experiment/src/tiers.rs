//! Runs of the same tiers with other numbers of machines.

use std::path::PathBuf;

use plimsoll_analyze::Findings;

use crate::ExperimentError;
use crate::context::{Progress, RunContext};
use crate::lab_file::{Case, LabFile};
use crate::recorded::{file_stem, read_run};
use crate::runner::PlanRunner;

/// Findings with the name of their run.
pub type NamedFindings = (String, Findings);

/// Reads run files; each run has the name of its file.
///
/// # Errors
/// When one cannot be read.
pub fn read_named_runs(paths: &[PathBuf]) -> Result<Vec<NamedFindings>, ExperimentError> {
    paths.iter().map(|path| Ok((file_stem(path), read_run(path)?.findings))).collect()
}

/// Runs as the analysis takes them.
pub fn by_name(runs: &[NamedFindings]) -> Vec<(&str, &Findings)> {
    runs.iter().map(|(name, findings)| (name.as_str(), findings)).collect()
}

/// Runs the file's own plan and its variants. One that fails is reported and does not end the others; the flag is true if any
/// did.
///
/// # Errors
/// When no run was made.
pub fn run_tiers(
    file: &LabFile,
    mut runner: PlanRunner<'_>,
    context: RunContext<'_>,
) -> Result<(Vec<NamedFindings>, bool), ExperimentError> {
    let (mut runs, mut failed) = (Vec::new(), false);
    let cases = file.cases(context.settings.quick);
    let count = cases.len();
    for (index, case) in cases.iter().enumerate() {
        context.report(&Progress::RunBegins { name: &case.name, number: index + 1, count, same_lab: false });
        match run_case(case, &mut runner, context) {
            Ok(findings) => runs.push((case.own_name().to_owned(), findings)),
            Err(error) if !context.is_interrupted() => {
                failed = true;
                context.report(&Progress::RunFailed(&error.in_part(&case.name)));
            }
            Err(_) => {}
        }
        if context.is_interrupted() {
            break;
        }
    }
    if runs.is_empty() { Err(ExperimentError::NoRuns(file.name().to_owned())) } else { Ok((runs, failed)) }
}

fn run_case(
    case: &Case<'_>,
    runner: &mut PlanRunner<'_>,
    context: RunContext<'_>,
) -> Result<Findings, ExperimentError> {
    let (path, ended) = runner.run(case)?;
    context.report(&Progress::RunRecorded(&path));
    match ended {
        None => Ok(read_run(&path)?.findings),
        Some(source) => Err(ExperimentError::ServiceEnded { path, source: source.into() }),
    }
}
