//! `plimsoll tiers`: runs of the same tiers with different numbers of machines, side by side.

use std::path::PathBuf;

use plimsoll_analyze::TierScaling;
use plimsoll_experiment::{NamedRun, PlanRunner, TierScalings, by_name, read_named_runs, run_tiers};
use plimsoll_report::json::FoundTogether;
use plimsoll_report::{figure, json, text};

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
  # Run a plan file and its variants, then the table and a figure of each tier
  plimsoll tiers -f shop.toml
  # The same of recorded runs
  plimsoll tiers plimsoll-runs/shop-*.plimsoll")]
pub(crate) struct TiersArgs {
    /// Run files, instead of making runs; `last` is the newest
    #[arg(required_unless_present = "file", conflicts_with_all = ["file", "quick"], value_parser = values::run_file())]
    runs: Vec<PathBuf>,
    /// A plan file whose variants give a tier other numbers of machines, or its name below lab/
    #[arg(short, long, value_name = "PLAN")]
    file: Option<String>,
    /// Short steps: a preview, not a measurement
    #[arg(long)]
    quick: bool,
    /// Folder for run files and figures
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    /// Name of the figures' files; by default that of the plan file or the first run, and the time
    #[arg(long, value_parser = values::name)]
    name: Option<String>,
    /// Write no figures
    #[arg(long)]
    no_figures: bool,
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

pub(crate) fn tiers(args: &TiersArgs) -> anyhow::Result<Exit> {
    args.page.check(Some((&args.out, args.name.as_deref().unwrap_or_default())))?;
    let Some(file) = &args.file else {
        args.history.of_no_run()?;
        let runs = read_named_runs(&args.runs)?;
        let first = runs.first().map_or("tiers", |run| &run.name);
        return Ok(Exit::of_all(print_tiers(&runs, first, args)?, false));
    };
    let settings = settings(&args.out, args.quick, args.quiet);
    let (file, privileges, setup) = ExperimentSetup::for_file(file, settings)?;
    let setup = setup.with_history(&args.history)?;
    let context = setup.context();
    let (runs, failed) = run_tiers(&file, PlanRunner::new(privileges, context), context)?;
    let drawn = print_tiers(&runs, file.name(), args)?;
    setup.deliver();
    Ok(Exit::of_all(drawn && !failed, context.is_interrupted()))
}

/// Prints the table, draws the figures and writes the page; returns true if nothing is missing.
fn print_tiers(runs: &[NamedRun], name: &str, args: &TiersArgs) -> anyhow::Result<bool> {
    let TierScalings { rows, scalings, kinds } = TierScalings::of_runs(&by_name(runs));
    let document = json::TiersDocument::new(&rows, &scalings, &kinds);
    let text = text::tier_rows(&rows, &kinds);
    print(args.json, || json::render(&document), || text.clone())?;
    let stem = args.name.clone().unwrap_or_else(|| format!("{name}-{}", stamp()));
    let mut written = match args.no_figures || scalings.is_empty() {
        true => Written::default(),
        false => Written::to(&args.out, figures(&stem, name, &scalings), false),
    };
    let page = || {
        let runs = runs.iter().map(|run| (run.name.clone(), Recorded::File(run.path.clone()))).collect();
        Together { name, text, found: FoundTogether::Tiers(document.into()), runs }.page()
    };
    written.extend(args.page.write(Some((&args.out, &stem)), page)?);
    Ok(written.report(args.quiet))
}

pub(super) fn figures(stem: &str, name: &str, scalings: &[TierScaling]) -> anyhow::Result<Vec<Output>> {
    let mut outputs = Vec::new();
    for (index, scaling) in scalings.iter().enumerate() {
        // A tier may have been scaled next to several sizes of another tier.
        let again = scalings[..index].iter().filter(|other| other.tier == scaling.tier).count();
        let number = if again == 0 { String::new() } else { format!("_{}", again + 1) };
        let stem = format!("{stem}_scaling_{}{number}", scaling.tier.replace('/', "-"));
        outputs.extend(Output::figure(&stem, figure::tier_scaling(name, scaling)?));
    }
    Ok(outputs)
}
