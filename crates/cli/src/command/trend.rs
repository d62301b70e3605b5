//! `plimsoll trend`: where a metric changed over many runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plimsoll_analyze::{
    MIN_TREND_RUNS, RunEntry, TooFewRuns, Trend, TrendMetric, TrendOptions, trend as changes_of,
};
use plimsoll_report::{figure, json, text};
use plimsoll_units::parse_ratio;

use super::runs::{FilterArgs, folder_runs, other_runs};
use crate::args::StoreArgs;
use crate::args::values::RUNS_FOLDER;
use crate::exit::{Exit, NoEvidence, UsageError};
use crate::files::{Output, Written};
use crate::terminal::{page, print, report_error};

/// The newest comparable runs that are compared where no number is given: the time grows with its square.
const DEFAULT_RUNS: usize = 200;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll trend                                     runs like the newest one: when did its QPS change?
  plimsoll trend --match checkout --metric p99       of the runs of this name or URL
  plimsoll trend --metric lambda --by-tag release    the highest rate of searches, with the release at each change
  plimsoll trend --fail-on-regression=3%             exit code 3 if the newest level is worse than the one before by more than 3 %
  plimsoll trend --store postgres://ann@db/perf --any-machine     with the runs of the team")]
pub(crate) struct TrendArgs {
    /// The metric: qps, lambda (the highest rate of a search), p50, p99 or cpu (CPU time a request)
    #[arg(long, value_name = "METRIC", default_value = "qps", value_parser = str::parse::<TrendMetric>)]
    metric: TrendMetric,
    /// Show this tag of the run at each change
    #[arg(long, value_name = "KEY", default_value = "commit")]
    by_tag: String,
    /// The folder of run files
    #[arg(long, value_name = "DIR", default_value = RUNS_FOLDER)]
    folder: PathBuf,
    #[command(flatten)]
    filter: FilterArgs,
    /// Compare runs of other plans too, if name, URL and command are those of the newest run
    #[arg(long)]
    any_plan: bool,
    /// Compare runs of other machines too
    #[arg(long)]
    any_machine: bool,
    /// Exit with code 3 if the newest level is worse than the one before by more than this, with 4 if newer runs lack the metric
    #[arg(
        long,
        value_name = "RATIO",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = parse_ratio
    )]
    fail_on_regression: Option<f64>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Folder for the figure
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    /// Write no figure
    #[arg(long)]
    no_files: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub(crate) fn trend(args: &TrendArgs) -> anyhow::Result<Exit> {
    let runs_max = args.filter.number().unwrap_or(DEFAULT_RUNS);
    if runs_max < MIN_TREND_RUNS {
        let text = format!("`-n {runs_max}` is too few; a change needs {MIN_TREND_RUNS} runs at least");
        return Err(UsageError(text).into());
    }
    let runs = chosen_runs(args)?;
    let options = TrendOptions {
        metric: args.metric,
        any_plan: args.any_plan,
        any_machine: args.any_machine,
        runs_max,
    };
    let found = changes_of(&runs, options).map_err(no_evidence)?;
    let document = || json::render(&json::TrendDocument::new(&found, args.fail_on_regression));
    print(args.json, document, || text::trend(&found, &args.by_tag, &page(None)))?;
    let drawn = args.no_files || draw(args, &found);
    match args.fail_on_regression {
        Some(margin) if found.regressed(margin) => Ok(Exit::Broken),
        // A pipeline must not pass because what it follows can be measured no longer.
        Some(_) if found.newer_without_value.count() > 0 => {
            // The document is printed, and an error would be a second one.
            report_error(&NoEvidence(text::newest_without_value(&found)));
            Ok(Exit::Refused)
        }
        _ => Ok(Exit::of_all(drawn, false)),
    }
}

/// The runs of the folder and of the store that the filter lets through, each once, however many copies of its file there are. Only the
/// first of them stands for the run, as in `last~N`: another one may have tags that were since changed.
fn chosen_runs(args: &TrendArgs) -> anyhow::Result<Vec<RunEntry>> {
    let filter = args.filter.filter(None)?;
    let mut listed = folder_runs(&args.folder)?.runs;
    let store = args.store.address()?;
    let others = store.map(|store| other_runs(&store, &mut listed)).unwrap_or_default();
    let own = listed.into_iter().filter_map(|run| run.entry.ok());
    let mut seen = BTreeSet::new();
    let is_first = |run: &RunEntry| run.id.as_ref().is_none_or(|id| seen.insert(id.clone()));
    Ok(own.chain(others).filter(is_first).filter(|run| filter.holds(run)).collect())
}

fn no_evidence(few: TooFewRuns) -> NoEvidence {
    let left_out = text::left_out(few.left_out).map(|text| format!(". {text}"));
    NoEvidence(format!("{few}; make more runs of one plan{}", left_out.unwrap_or_default()))
}

/// Draws the figure; true if it was written.
fn draw(args: &TrendArgs, found: &Trend) -> bool {
    let name = found.points.last().map_or("run", |point| point.run.name.as_str());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem = format!("{}.trend-{}", name.chars().map(plain).collect::<String>(), args.metric.name());
    let figures = figure::trend(found).map(|drawn| Output::figure(&stem, drawn).into());
    // The user did not choose the name, so the same trend is drawn again.
    Written::to(&args.out, figures.map_err(Into::into), true).report(args.json)
}
