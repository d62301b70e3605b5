//! The commands about labs.

mod documents;
mod list;
mod run;
mod sections;
mod table;
mod up;

use std::path::PathBuf;

use plimsoll_experiment::{GeneratorOptions, Scenarios, diagnose, generate};
use plimsoll_lab::{Privileges, remove_left_overs};
use plimsoll_report::json;
use serde_json::json;

use crate::args::values;
use crate::exit::Exit;
use crate::experiments::ExperimentSetup;
use crate::files::run_file_is_whole;
use crate::progress::Display;
use crate::signals;
use crate::terminal::{print, result};
use documents::case_document;
use list::ListArgs;
use run::{CaseArgs, LabRunArgs};
use table::{render, score};
use up::UpArgs;

/// The default folder of the scenarios to diagnose.
const SCENARIOS: &str = "lab/scenarios";

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Make the hosts of a file, load them, name what limits them
  plimsoll lab run two-apis.toml
  # Make them and keep them up; prints how to enter each
  plimsoll lab up two-apis.toml
  # What is found in each scenario, against what is expected
  plimsoll lab diagnose lab/scenarios
  # The experiments and scenarios there are
  plimsoll lab list
  # Remove what killed labs left
  plimsoll lab clean")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

/// What to do with a lab.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum LabCommand {
    /// Make the hosts of a file and keep them until Ctrl-C
    Up(UpArgs),
    /// Make the hosts of a file, load them, and name what limits them; with [expect], exit code 3 if it is something else
    Run(LabRunArgs),
    /// Run all scenarios of a folder and compare what is found with what they expect
    Diagnose(DiagnoseArgs),
    /// The experiments, scenarios and other lab files of a folder
    List(ListArgs),
    /// Remove what killed labs left behind; the next lab does that too
    Clean,
    /// The generator of a lab, on its own host
    #[command(hide = true)]
    Generator(GeneratorArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DiagnoseArgs {
    /// The folder of the scenarios
    #[arg(default_value = SCENARIOS)]
    folder: PathBuf,
    /// Only scenarios whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Run each so many times
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::positive_count)]
    repeat: u64,
    #[command(flatten)]
    how: CaseArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GeneratorArgs {
    /// A frozen plan as JSON
    #[arg(long)]
    plan: PathBuf,
    /// Folder for the run file
    #[arg(long)]
    out: PathBuf,
    /// The command line that the run records
    #[arg(long)]
    command_line: Option<String>,
    /// Test the verdict: ask on standard output for a cap to be raised
    #[arg(long)]
    prove: bool,
    /// Hosts have no caps of cores during the first part of the warm-up: ask on standard output for them
    #[arg(long)]
    free: bool,
    /// Socket on which the generators of the run meet
    #[arg(long, value_name = "SOCKET")]
    meet: Option<PathBuf>,
    /// Coordinate so many other generators, which connect to the socket
    #[arg(long, requires = "meet", default_value_t = 0)]
    peers: usize,
    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn lab(args: &LabArgs) -> anyhow::Result<Exit> {
    // Privileges must be acquired before a second thread starts; signals and clocks start none.
    match &args.command {
        LabCommand::Generator(args) => generator(args),
        LabCommand::List(args) => list::list(args),
        LabCommand::Clean => clean(Privileges::acquire()?),
        LabCommand::Up(args) => up::up(args, Privileges::acquire()?),
        LabCommand::Run(args) => run::run(args, Privileges::acquire()?),
        LabCommand::Diagnose(args) => diagnose_folder(args, Privileges::acquire()?),
    }
}

/// Removes what dead labs left behind, and lists it.
fn clean(privileges: Privileges) -> anyhow::Result<Exit> {
    let found = remove_left_overs(&privileges.runtime_folder())?;
    let line = |done: &str, path: &PathBuf| format!("{done} {}\n", path.display());
    let removed = found.removed.iter().map(|path| line("removed", path));
    let kept = found.kept.iter().map(|path| line("could not remove", path));
    let lines: String = removed.chain(kept).collect();
    result(if lines.is_empty() { "Nothing was left behind.\n" } else { &lines })?;
    Ok(Exit::of_all(found.kept.is_empty(), false))
}

/// Runs the generator of a lab in its own process; see `crates/experiment/src/generator.rs`.
fn generator(args: &GeneratorArgs) -> anyhow::Result<Exit> {
    let options = GeneratorOptions {
        plan: args.plan.clone(),
        command_line: args.command_line.clone(),
        out: args.out.clone(),
        prove: args.prove,
        starts_uncapped: args.free,
        socket: args.meet.clone(),
        others: args.peers,
    };
    let interrupted = signals::interrupted()?;
    let trouble = generate(&options, &mut Display::new(args.quiet), &interrupted)?;
    Ok(if run_file_is_whole(trouble) { Exit::Success } else { Exit::CouldNotRun })
}

fn diagnose_folder(args: &DiagnoseArgs, privileges: Privileges) -> anyhow::Result<Exit> {
    let setup = ExperimentSetup::new(args.how.settings())?;
    let context = setup.context();
    let scenarios = Scenarios { folder: &args.folder, only: &args.only, repeat: args.repeat };
    let outcomes = diagnose(scenarios, privileges, context)?;
    let document = || {
        let scenarios: Vec<_> = outcomes.iter().map(case_document).collect();
        json::render(&json!({ "scenarios": scenarios }))
    };
    print(args.how.json, document, || render(&outcomes) + &score(outcomes.iter()))?;
    let all_right = outcomes.iter().all(|outcome| outcome.as_expected() != Some(false));
    Ok(match (context.is_interrupted(), all_right) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Broken,
    })
}
