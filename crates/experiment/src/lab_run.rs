//! Runs a lab file: its own plan and its variants.

use plimsoll_analyze::overload::protection;
use plimsoll_analyze::{Findings, Protection, RunStatus};
use plimsoll_lab::{LabError, Privileges};
use plimsoll_plan::PlanFile;

use crate::ExperimentError;
use crate::case_outcome::CaseOutcome;
use crate::context::{Progress, RunContext};
use crate::lab_file::{Case, LabFile};
use crate::protection::with_settings;
use crate::recorded::RecordedRun;
use crate::runner::PlanRunner;

/// A run that can be compared with others.
#[derive(Debug)]
pub struct CompletedRun<'a> {
    /// The variant; `None` for the file's own plan.
    pub variant: Option<&'a str>,
    /// The variant's name, or the file's.
    pub name: &'a str,
    pub file: &'a PlanFile,
    pub recorded: RecordedRun,
}

impl CompletedRun<'_> {
    /// The analysis of the run.
    pub fn findings(&self) -> &Findings {
        &self.recorded.findings
    }
}

/// The runs of a file.
#[derive(Debug, Default)]
pub struct LabRuns<'a> {
    /// The outcome of each plan that was started.
    pub outcomes: Vec<CaseOutcome>,
    /// The runs that were not cut short, or the only run.
    pub completed: Vec<CompletedRun<'a>>,
}

/// Runs the file's own plan and its variants, reusing the lab as long as the hosts are the same. If one of several fails, that is
/// reported and the others continue.
///
/// # Errors
/// When the only plan of the file fails.
pub fn run_lab_file<'a>(
    file: &'a LabFile,
    privileges: Privileges,
    context: RunContext<'_>,
) -> Result<LabRuns<'a>, ExperimentError> {
    let mut runner = PlanRunner::in_labs(privileges, context);
    let mut runs = LabRuns::default();
    let cases = file.cases(context.settings.quick);
    let count = cases.len();
    for (index, case) in cases.into_iter().enumerate() {
        if count > 1 {
            let (name, same_lab) = (&case.name, runner.reuses_lab(&case));
            context.report(&Progress::RunBegins { name, number: index + 1, count, same_lab });
        }
        match run_case(&case, runs.limits().as_ref(), &mut runner, context) {
            Ok(made) => runs.keep(&case, file.name(), made, count == 1),
            Err(error) if count == 1 => return Err(error.in_part(&case.name)),
            Err(_) if context.is_interrupted() => {}
            Err(error) => {
                let error = error.in_part(&case.name);
                context.report(&Progress::RunFailed(&error));
                runs.outcomes.push(CaseOutcome::new(&case, Err(error)));
            }
        }
        if context.is_interrupted() {
            break;
        }
    }
    Ok(runs)
}

fn run_case(
    case: &Case<'_>,
    limits: Option<&Protection>,
    runner: &mut PlanRunner<'_>,
    context: RunContext<'_>,
) -> Result<(RecordedRun, Option<LabError>), ExperimentError> {
    let protected = with_settings(case, limits, &context.settings.out)?;
    let case = Case { file: protected.as_ref().unwrap_or(case.file), ..case.clone() };
    let (recorded, ended) = runner.run_and_read(&case)?;
    context.report(&Progress::RunRecorded(&recorded.path));
    Ok((recorded, ended))
}

impl<'a> LabRuns<'a> {
    /// The protective limits from the most recent run that showed any.
    fn limits(&self) -> Option<Protection> {
        self.completed.iter().rev().find_map(|run| protection(run.findings()))
    }

    /// Keeps a run. A run that the user cut short is shown but not compared with others; a run in which a service ended is no
    /// evidence at all.
    fn keep(
        &mut self,
        case: &Case<'a>,
        own_name: &'a str,
        (recorded, ended): (RecordedRun, Option<LabError>),
        only: bool,
    ) {
        let mut outcome = CaseOutcome::of_run(case, &recorded, ended);
        if let Ok(judged) = &mut outcome.result {
            if only || judged.status != RunStatus::Interrupted {
                let (variant, name) = (case.variant, case.variant.unwrap_or(own_name));
                self.completed.push(CompletedRun { variant, name, file: case.file, recorded });
            } else {
                judged.row = None;
            }
        }
        self.outcomes.push(outcome);
    }
}
