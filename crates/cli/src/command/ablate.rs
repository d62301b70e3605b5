//! `plimsoll ablate`: what each of several switches costs a request.

use anyhow::Context;
use plimsoll_analyze::{Ledger, Replay, ledger, replays};
use plimsoll_experiment::{
    AblationOptions, LabFile, MeasuredStates, PlanRunner, RunSettings, ablate as run_ablation, read_trials,
};
use plimsoll_lab::Privileges;
use plimsoll_report::figure::{self, Bar, Caption};
use plimsoll_report::json::{self, AblationDocument};
use plimsoll_report::text;
use plimsoll_units::count_text;

use crate::args::AblateArgs;
use crate::exit::Exit;
use crate::experiments::ExperimentSetup;
use crate::files::{Output, Written};
use crate::terminal::result;

pub(crate) fn ablate(args: &AblateArgs) -> anyhow::Result<Exit> {
    match (&args.csv, &args.file) {
        (Some(csv), _) => {
            let measured = read_trials(csv, &args.map)?;
            let drawn = print(&measured, args.name.as_deref(), args)?;
            Ok(if drawn { Exit::Success } else { Exit::CouldNotRun })
        }
        (None, Some(file)) => from_file(file, args),
        // The command line requires one of them.
        (None, None) => Ok(Exit::Usage),
    }
}

fn from_file(file: &str, args: &AblateArgs) -> anyhow::Result<Exit> {
    let file = LabFile::named(file)?;
    // Before anything starts a second thread.
    let privileges = file.makes_hosts().then(Privileges::acquire).transpose()?;
    let settings = RunSettings { quick: args.quick, prove: false, out: args.out.clone(), quiet: args.quiet };
    let setup = ExperimentSetup::new(settings)?;
    let context = setup.context();
    let options = AblationOptions { rounds: args.rounds, seed: args.seed };
    let runs = run_ablation(&file, &PlanRunner::new(privileges, context), options, context)?;
    let drawn = print(&runs.measured, Some(&runs.stem), args)?;
    Ok(Exit::of_all(drawn && !runs.failed, context.is_interrupted()))
}

/// The costs of switches in each state of a service.
pub(super) struct Ledgers {
    switches: Vec<String>,
    connections: Option<f64>,
    ledgers: Vec<Ledger>,
    steps: Vec<Replay>,
}

impl Ledgers {
    /// The costs from these trials.
    pub(super) fn new(measured: &MeasuredStates) -> Self {
        let ledgers: Vec<Ledger> = measured.states.iter().map(ledger).collect();
        let steps = replays(&ledgers, &measured.switches);
        Self { switches: measured.switches.clone(), connections: measured.connections, ledgers, steps }
    }

    pub(super) fn text(&self) -> String {
        text::ablation(&self.ledgers, &self.steps, self.connections)
    }

    pub(super) fn document(&self) -> AblationDocument {
        AblationDocument::new(&self.switches, &self.ledgers, &self.steps, self.connections)
    }

    /// The figure; no file if no switch has a known cost.
    pub(super) fn figures(&self, stem: &str) -> anyhow::Result<Vec<Output>> {
        match self.ledgers.first().filter(|ledger| !ledger.costs.is_empty()) {
            Some(first) => figure(stem, first, self.connections),
            None => Ok(Vec::new()),
        }
    }
}

/// Prints the ledgers and draws them; true if the figure was written, or none was asked for.
fn print(measured: &MeasuredStates, stem: Option<&str>, args: &AblateArgs) -> anyhow::Result<bool> {
    let ledgers = Ledgers::new(measured);
    result(&if args.json { json::render(&ledgers.document())? } else { ledgers.text() })?;
    match stem.map(|stem| ledgers.figures(stem)) {
        Some(figures) => Ok(Written::to(&args.out, figures, false).report(args.quiet)),
        None => Ok(true),
    }
}

fn figure(stem: &str, ledger: &Ledger, connections: Option<f64>) -> anyhow::Result<Vec<Output>> {
    let bars: Vec<Bar> = ledger.costs.iter().map(bar).collect();
    let runs: u32 = ledger.cells.iter().map(|cell| cell.count).sum();
    let load = connections.map_or_else(String::new, |connections| format!("{connections:.0} connections · "));
    let group = ledger.group.as_ref().map_or_else(String::new, |group| format!(", {group}"));
    let caption = Caption {
        title: format!("What each switch costs a request{group}"),
        detail: format!("{load}{} combinations · {runs} runs · black: 95 % interval", ledger.cells.len()),
    };
    let drawn = figure::ledger(&caption, "µs of 1/QPS that the switch adds to a request", &bars);
    Ok(Output::figure(stem, drawn.context("the ledger could not be drawn")?).into())
}

fn bar(cost: &plimsoll_analyze::SwitchCost) -> Bar {
    let us = |sec: f64| sec * 1e6;
    let value = us(cost.cost_sec.value);
    // The font of figures has no minus sign but the hyphen.
    let sign = if value < 0.0 { "-" } else { "" };
    Bar {
        name: cost.name.clone(),
        value,
        interval: cost.cost_sec.interval.map(|(low, high)| (us(low), us(high))),
        label: format!("{sign}{} µs", count_text(value.abs())),
    }
}
