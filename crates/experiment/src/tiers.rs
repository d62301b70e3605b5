//! Runs of the same tiers with different numbers of machines.

use std::path::PathBuf;

use plimsoll_analyze::{Findings, RunStatus};

use crate::ExperimentError;
use crate::context::{Progress, RunContext};
use crate::lab_file::{Case, LabFile};
use crate::recorded::{RecordedRun, file_stem, read_run};
use crate::runner::PlanRunner;

/// A recorded run with its name in a comparison.
#[derive(Debug)]
pub struct NamedRun {
    pub name: String,
    pub path: PathBuf,
    pub findings: Findings,
}

/// Reads run files; each run is named after its file.
///
/// # Errors
/// When one cannot be read.
pub fn read_named_runs(paths: &[PathBuf]) -> Result<Vec<NamedRun>, ExperimentError> {
    let named = |path: &PathBuf| {
        Ok(NamedRun { name: file_stem(path), path: path.clone(), findings: read_run(path)?.findings })
    };
    paths.iter().map(named).collect()
}

/// Returns the runs in the form that the analysis takes.
pub fn by_name(runs: &[NamedRun]) -> Vec<(&str, &Findings)> {
    runs.iter().map(|run| (run.name.as_str(), &run.findings)).collect()
}

/// Runs the file's own plan and its variants. A failed run is reported and does not end the others; the flag is true if any
/// failed. A run that the user cut short is left out if there are several, because it cannot be compared.
///
/// # Errors
/// When no run succeeded, or the user interrupted the first.
pub fn run_tiers(
    file: &LabFile,
    mut runner: PlanRunner<'_>,
    context: RunContext<'_>,
) -> Result<(Vec<NamedRun>, bool), ExperimentError> {
    let (mut runs, mut failed) = (Vec::new(), false);
    let cases = file.cases(context.settings.quick);
    let count = cases.len();
    for (index, case) in cases.iter().enumerate() {
        context.report(&Progress::RunBegins { name: &case.name, number: index + 1, count, same_lab: false });
        match run_case(case, &mut runner, context) {
            Ok(recorded) if count == 1 || !is_cut_short(&recorded) => {
                let RecordedRun { path, findings, .. } = recorded;
                runs.push(NamedRun { name: case.own_name().to_owned(), path, findings });
            }
            Ok(_) => {}
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
    match runs.is_empty() {
        true if context.is_interrupted() => Err(ExperimentError::Interrupted),
        true => Err(ExperimentError::NoRuns(file.name().to_owned())),
        false => Ok((runs, failed)),
    }
}

fn is_cut_short(RecordedRun { run, findings, .. }: &RecordedRun) -> bool {
    RunStatus::new(run, findings, false) == RunStatus::Interrupted
}

fn run_case(
    case: &Case<'_>,
    runner: &mut PlanRunner<'_>,
    context: RunContext<'_>,
) -> Result<RecordedRun, ExperimentError> {
    let (path, ended) = runner.run(case)?;
    context.report(&Progress::RunRecorded(&path));
    match ended {
        None => read_run(&path),
        Some(source) => Err(ExperimentError::ServiceEnded { path, source: source.into() }),
    }
}
