//! `plimsoll ablate`: what each of several switches costs a request.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_analyze::{Ledger, Replay, SwitchCost, ledger, replays};
use plimsoll_experiment::{MeasuredStates, PlanRunner, ablate as run_ablation, file_stem, read_trials};
use plimsoll_report::figure::{self, Bar, Caption};
use plimsoll_report::json::{self, AblationDocument, FoundTogether};
use plimsoll_report::text;
use plimsoll_units::count_text;

use crate::args::HistoryArgs;
use crate::args::values::{self, RUNS_FOLDER};
use crate::exit::Exit;
use crate::experiments::{ExperimentSetup, settings};
use crate::files::{Output, Written, stamp};
use crate::pages::{Recorded, Together, TogetherPageArgs};
use crate::terminal::print;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Every [[switch]] of the file on and off, in turn, three times
  plimsoll ablate -f shop.toml
  # That ablation again
  plimsoll ablate --csv plimsoll-runs/shop-20260101-120000.ablation.csv
  # A table of other measurements
  plimsoll ablate --csv table.csv --map switch=cache,log --map qps=qps --map group=step")]
#[command(after_help = "\
Meanings of columns (MEANING=COLUMN; `switch` and `per_request` take several, separated by commas):
  switch        1 or 0, on or off, yes or no, true or false
  qps           requests per second
  connections   connections, the same in all rows
  round         rows of one round were measured one after another
  group         states of the service, one after another; several columns are joined
  per_request   other figures of a request: CPU, calls, packets
Without --map columns are found by the names that `ablate -f` gives them. docs/ablate.md says how costs are found.")]
pub(crate) struct AblateArgs {
    /// A plan file with [[switch]] tables, or its name below lab/
    #[arg(short, long, value_name = "PLAN", required_unless_present = "csv", conflicts_with = "csv")]
    file: Option<String>,
    /// A table of measurements instead: comma-separated, with a header
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// What a column of the table means
    #[arg(long, value_name = "MEANING=COLUMN", requires = "csv")]
    map: Vec<String>,
    /// Measure every combination so many times
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "csv", value_parser = values::positive_count)]
    rounds: u64,
    /// Seed of the order in which combinations are measured; drawn if it is left out
    #[arg(long, value_name = "N", conflicts_with = "csv")]
    seed: Option<u64>,
    /// Short steps: a preview, not a measurement
    #[arg(long, conflicts_with = "csv")]
    quick: bool,
    /// Folder for run files, the table and the figure
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    /// Draw the figure of a table as well, under this name
    #[arg(long, requires = "csv", value_parser = values::name)]
    name: Option<String>,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    page: TogetherPageArgs,
    #[command(flatten)]
    history: HistoryArgs,
}

pub(crate) fn ablate(args: &AblateArgs) -> anyhow::Result<Exit> {
    args.page.check(Some((&args.out, args.name.as_deref().unwrap_or_default())))?;
    if let Some(csv) = &args.csv {
        args.history.of_no_run()?;
        let stem = args.name.clone().unwrap_or_else(|| format!("{}-{}", file_stem(csv), stamp()));
        let measured = read_trials(csv, &args.map)?;
        let drawn = show(&Ledgers::new(&measured), (&stem, args.name.is_some()), Vec::new(), args)?;
        return Ok(Exit::of_all(drawn, false));
    }
    let settings = settings(&args.out, args.quick, args.quiet);
    let (file, privileges, setup) =
        ExperimentSetup::for_file(args.file.as_deref().unwrap_or_default(), settings)?;
    let setup = setup.with_history(&args.history)?;
    let context = setup.context();
    let runner = PlanRunner::new(privileges, context);
    let runs = run_ablation(&file, &runner, args.rounds, args.seed, context)?;
    let drawn = show(&Ledgers::new(&runs.measured), (&runs.stem, true), setup.recorded(), args)?;
    setup.deliver();
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

    /// Returns the figure; no file if no switch has a known cost.
    pub(super) fn figures(&self, stem: &str) -> anyhow::Result<Vec<Output>> {
        match self.ledgers.first().filter(|ledger| !ledger.costs.is_empty()) {
            Some(first) => figure(stem, first, self.connections),
            None => Ok(Vec::new()),
        }
    }
}

/// Prints the ledgers, draws them if the files of this name have figures, and writes the page; returns true if nothing is missing.
fn show(
    ledgers: &Ledgers,
    (stem, has_figures): (&str, bool),
    runs: Vec<(String, PathBuf)>,
    args: &AblateArgs,
) -> anyhow::Result<bool> {
    print(args.json, || json::render(&ledgers.document()), || ledgers.text())?;
    let mut written = match has_figures {
        true => Written::to(&args.out, ledgers.figures(stem), false),
        false => Written::default(),
    };
    let page = || {
        let found = FoundTogether::Switches(ledgers.document().into());
        let runs = runs.into_iter().map(|(name, file)| (name, Recorded::File(file))).collect();
        Together { name: stem, text: ledgers.text(), found, runs }.page()
    };
    written.extend(args.page.write(Some((&args.out, stem)), page)?);
    Ok(written.report(args.quiet))
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

fn bar(cost: &SwitchCost) -> Bar {
    let us = |sec: f64| sec * 1e6;
    let value = us(cost.cost_sec.value);
    // The font of figures has no minus sign, only the hyphen.
    let sign = if value < 0.0 { "-" } else { "" };
    Bar {
        name: cost.name.clone(),
        value,
        interval: cost.cost_sec.interval.map(|(low, high)| (us(low), us(high))),
        label: format!("{sign}{} µs", count_text(value.abs())),
    }
}
