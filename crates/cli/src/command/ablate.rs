//! `plimsoll ablate`: what each of several switches costs a request.

mod experiment;
mod order;
mod record;
mod state;
mod table;
mod turning;

use anyhow::Context;
use plimsoll_analyze::{Ledger, Replay, ledger, replays};
use plimsoll_report::figure::{self, Bar, Caption};
use plimsoll_report::json::{self, AblationDocument};
use plimsoll_report::text;
use plimsoll_units::count_text;

use crate::args::AblateArgs;
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::result;

pub(crate) use experiment::{Runs, check, make};
pub(crate) use state::UnfitPlan;
pub(crate) use table::ColumnError;
use table::Measured;

/// True if what was typed for `ablate` is wrong.
pub(crate) fn mistyped(error: &anyhow::Error) -> bool {
    error.is::<UnfitPlan>() || error.is::<ColumnError>()
}

pub(crate) fn ablate(args: &AblateArgs) -> anyhow::Result<Exit> {
    match (&args.csv, &args.file) {
        (Some(csv), _) => {
            let measured = table::read(csv, &args.map)?;
            let drawn = told(&measured, args.name.as_deref(), args)?;
            Ok(if drawn { Exit::Held } else { Exit::CouldNotRun })
        }
        (None, Some(file)) => experiment::run(file, args),
        // The command line requires one of them.
        (None, None) => Ok(Exit::Usage),
    }
}

/// The ledgers of what was measured.
pub(crate) struct Ledgers {
    switches: Vec<String>,
    connections: Option<f64>,
    ledgers: Vec<Ledger>,
    steps: Vec<Replay>,
}

impl Ledgers {
    /// Of the runs that were made.
    pub(crate) fn of(runs: &Runs) -> Self {
        Self::of_measured(&runs.measured)
    }

    fn of_measured(measured: &Measured) -> Self {
        let ledgers: Vec<Ledger> = measured.states.iter().map(ledger).collect();
        let steps = replays(&ledgers, &measured.switches);
        Self { switches: measured.switches.clone(), connections: measured.connections, ledgers, steps }
    }

    pub(crate) fn text(&self) -> String {
        text::ablation(&self.ledgers, &self.steps, self.connections)
    }

    pub(crate) fn document(&self) -> AblationDocument {
        AblationDocument::new(&self.switches, &self.ledgers, &self.steps, self.connections)
    }

    /// The figure; no file if nothing tells what a switch costs.
    pub(crate) fn figures(&self, stem: &str) -> anyhow::Result<Vec<Output>> {
        match self.ledgers.first().filter(|ledger| !ledger.costs.is_empty()) {
            Some(first) => figure(stem, first, self.connections),
            None => Ok(Vec::new()),
        }
    }
}

/// Prints the ledgers and draws them; true if the figure is there, or none was wanted.
fn told(measured: &Measured, stem: Option<&str>, args: &AblateArgs) -> anyhow::Result<bool> {
    let told = Ledgers::of_measured(measured);
    result(&if args.json { json::render(&told.document())? } else { told.text() })?;
    match stem.map(|stem| told.figures(stem)) {
        Some(figures) => Ok(Written::to(&args.out, figures, false).tell(args.quiet)),
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
