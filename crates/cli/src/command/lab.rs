//! The commands about labs.

mod documents;
mod list;
mod run;
mod sections;
mod table;
mod up;

use anyhow::Context;
use plimsoll_experiment::{GeneratorOptions, RunSettings, Scenarios, diagnose, generate};
use plimsoll_lab::Privileges;
use serde_json::json;

use crate::args::{CaseArgs, DiagnoseArgs, GeneratorArgs, LabArgs, LabCommand};
use crate::exit::Exit;
use crate::experiments::ExperimentSetup;
use crate::files::run_file_is_whole;
use crate::progress::Display;
use crate::signals;
use crate::terminal::result;
use documents::case_document;
use table::{render, score};

pub(crate) fn lab(args: &LabArgs) -> anyhow::Result<Exit> {
    // Privileges must be acquired before a second thread starts; signals and clocks start none.
    match &args.command {
        LabCommand::Generator(args) => generator(args),
        LabCommand::List(args) => list::list(args),
        LabCommand::Up(args) => up::up(args, Privileges::acquire()?),
        LabCommand::Run(args) => run::run(args, Privileges::acquire()?),
        LabCommand::Diagnose(args) => diagnose_folder(args, Privileges::acquire()?),
    }
}

impl CaseArgs {
    /// The settings of the runs.
    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings { quick: self.quick, prove: self.prove, out: self.out.clone(), quiet: self.quiet }
    }
}

/// The generator's own process; see `crates/experiment/src/generator.rs`.
fn generator(args: &GeneratorArgs) -> anyhow::Result<Exit> {
    let options = GeneratorOptions {
        plan: args.plan.clone(),
        out: args.out.clone(),
        prove: args.prove,
        starts_uncapped: args.free,
        socket: args.meet.clone(),
        others: args.peers,
    };
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let trouble = generate(&options, &mut Display::new(args.quiet), &interrupted)?;
    Ok(if run_file_is_whole(trouble) { Exit::Success } else { Exit::CouldNotRun })
}

fn diagnose_folder(args: &DiagnoseArgs, privileges: Privileges) -> anyhow::Result<Exit> {
    let setup = ExperimentSetup::new(args.how.settings())?;
    let context = setup.context();
    let scenarios = Scenarios { folder: &args.folder, only: &args.only, repeat: args.repeat };
    let outcomes = diagnose(scenarios, privileges, context)?;
    result(&if args.how.json {
        let scenarios: Vec<_> = outcomes.iter().map(case_document).collect();
        serde_json::to_string_pretty(&json!({ "scenarios": scenarios }))? + "\n"
    } else {
        render(&outcomes) + &score(outcomes.iter())
    })?;
    let all_right = outcomes.iter().all(|outcome| outcome.as_expected() != Some(false));
    Ok(match (context.is_interrupted(), all_right) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Broken,
    })
}
