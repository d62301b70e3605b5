//! `plimsoll lab run`: runs a file's plan and its variants, and reports their common results.

use std::path::PathBuf;

use plimsoll_experiment::{
    CaseOutcome, LabFile, LabRuns, PlanRunner, RunContext, RunSettings, ablate, check_ablation, conclude,
    read_run, run_lab_file,
};
use plimsoll_lab::Privileges;
use plimsoll_report::json::FoundTogether;
use plimsoll_report::{json, text};

use super::sections::Sections;
use super::table::{render, score, words};
use crate::args::HistoryArgs;
use crate::args::values::RUNS_FOLDER;
use crate::exit::Exit;
use crate::experiments::{ExperimentSetup, settings};
use crate::files::{Written, stamp};
use crate::pages::{Recorded, Together, TogetherPageArgs};
use crate::terminal::{page, report_error, result, with_causes};

/// How labs are run.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CaseArgs {
    /// Short steps: a preview, not a measurement
    #[arg(long)]
    quick: bool,
    /// Test the verdict: raise what limits by half, where that is a cap of the lab, and load the plateau's level again
    #[arg(long)]
    prove: bool,
    /// Folder for the run files
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LabRunArgs {
    /// A plan file with hosts to make, or its name below lab/
    file: String,
    #[command(flatten)]
    how: CaseArgs,
    /// The full report of a single run instead of the short answer
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    page: TogetherPageArgs,
    #[command(flatten)]
    history: HistoryArgs,
}

impl CaseArgs {
    pub(super) fn settings(&self) -> RunSettings {
        RunSettings { prove: self.prove, ..settings(&self.out, self.quick, self.quiet) }
    }
}

/// How often each combination of switches is measured, and how often in a quick pass.
const ROUNDS: u64 = 3;
const QUICK_ROUNDS: u64 = 1;

pub(super) fn run(args: &LabRunArgs, privileges: Privileges) -> anyhow::Result<Exit> {
    let (file, how) = (LabFile::named(&args.file)?, &args.how);
    let has_switches = !file.content.switches.is_empty();
    args.page.check(Some((&how.out, "")))?;
    if has_switches {
        // Checked before the runs, which take long.
        check_ablation(&file, how.quick)?;
    }
    let setup = ExperimentSetup::new(how.settings())?.with_history(&args.history)?;
    let context = setup.context();
    let runs = run_lab_file(&file, privileges, context)?;
    let conclusions = conclude(&file.content, file.name(), &runs);
    let stem = format!("{}-{}", file.name(), stamp());
    let mut sections = Sections::new(file.name(), stem.clone(), &runs, &conclusions);
    let mut shown = 0;
    if !how.json {
        result(&(report(&runs, args.full)? + &sections.texts.concat()))?;
        shown = sections.texts.len();
    }
    let ablated = if has_switches && !context.is_interrupted() {
        switches(&mut sections, &file, privileges, context)
    } else {
        Ok(true)
    };
    let all_there = written(&mut sections, shown, how, ablated)?;
    let page = args.page.write(Some((&how.out, &stem)), || page_of(&file, sections, &runs))?;
    let all_there = page.report(how.quiet) && all_there;
    setup.deliver();
    Ok(exit(&runs.outcomes, all_there, context.is_interrupted()))
}

/// Measures the switches; returns true if none of their runs failed.
fn switches(
    sections: &mut Sections,
    file: &LabFile,
    privileges: Privileges,
    context: RunContext<'_>,
) -> anyhow::Result<bool> {
    let settings = RunSettings { prove: false, ..context.settings.clone() };
    let context = RunContext { settings: &settings, ..context };
    let rounds = if settings.quick { QUICK_ROUNDS } else { ROUNDS };
    let runner = PlanRunner::new(Some(privileges), context);
    match ablate(file, &runner, rounds, None, context) {
        Ok(runs) => {
            sections.switches(&runs);
            Ok(!runs.failed)
        }
        // It is no error if the user interrupted before anything was measured.
        Err(_) if context.is_interrupted() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Prints the sections that were not `shown` yet, and writes the figures; returns true if nothing failed.
fn written(
    sections: &mut Sections,
    shown: usize,
    how: &CaseArgs,
    ablated: anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let figures = std::mem::take(&mut sections.figures);
    let written: Vec<Written> =
        figures.into_iter().map(|figures| Written::to(&how.out, figures, false)).collect();
    let paths = written.iter().flat_map(|written| &written.paths);
    sections.document.files.extend(paths.map(|path| path.to_string_lossy().into_owned()));
    result(&if how.json { json::render(&sections.document)? } else { sections.texts[shown..].concat() })?;
    let ablated = ablated.unwrap_or_else(|error| {
        report_error(error.as_ref());
        false
    });
    let drawn = written.iter().filter(|written| !written.report(how.quiet)).count() == 0;
    Ok(ablated && drawn)
}

/// Renders the page of all runs.
fn page_of(file: &LabFile, sections: Sections, runs: &LabRuns<'_>) -> anyhow::Result<String> {
    let table = if runs.outcomes.len() > 1 { render(&runs.outcomes) } else { String::new() };
    let completed = runs.completed.iter().map(|run| (run.name.to_owned(), Recorded::Read(&run.recorded)));
    let together = Together {
        name: file.name(),
        text: table + &sections.texts.concat(),
        found: FoundTogether::Lab(sections.document.into()),
        runs: completed.collect(),
    };
    together.page()
}

/// Returns the report of a single run, or the table of several.
fn report(runs: &LabRuns<'_>, full: bool) -> anyhow::Result<String> {
    if runs.outcomes.is_empty() {
        return Ok(String::new());
    }
    let [only] = runs.outcomes.as_slice() else {
        let expecting = runs.outcomes.iter().any(|outcome| outcome.expected.is_some());
        return Ok(render(&runs.outcomes) + &score(runs.outcomes.iter().filter(|_| expecting)));
    };
    let Some(path) = only.file() else { return Ok(render(&runs.outcomes)) };
    let recorded = read_run(path)?;
    let report = match full {
        true => text::full(&recorded.run, &recorded.findings),
        false => text::short(&recorded.run, &recorded.findings, &page(Some(path))),
    };
    Ok(report + &against_expectation(only))
}

/// Returns whether the only run found what its file expects, or why it is no evidence; empty if nothing is expected.
fn against_expectation(only: &CaseOutcome) -> String {
    let judged = match &only.result {
        Ok(judged) => judged,
        Err(error) => return format!("\nThis run is no evidence: {}\n", with_causes(error)),
    };
    let Some(expected) = &only.expected else { return String::new() };
    match only.as_expected() {
        Some(true) => format!("\nas expected: {}\n", words(expected)),
        _ => format!("\nNOT as expected: {} instead of {}\n", judged.found_text(), words(expected)),
    }
}

/// Returns the first exit code that is not success.
fn exit(outcomes: &[CaseOutcome], all_there: bool, interrupted: bool) -> Exit {
    let whole = Exit::of_all(all_there, interrupted);
    let failed = outcomes.iter().find_map(|outcome| Some(Exit::from(outcome.result.as_ref().err()?.kind())));
    if let Some(exit) = failed.filter(|_| !interrupted) {
        return exit;
    }
    let codes = outcomes.iter().filter_map(|outcome| outcome.status().map(Exit::from));
    std::iter::once(whole).chain(codes).find(|exit| *exit != Exit::Success).unwrap_or(whole)
}
