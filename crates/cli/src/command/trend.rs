//! `plimsoll trend`: where a metric changed over many runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use plimsoll_analyze::{
    MIN_TREND_RUNS, RunEntry, TooFewRuns, Trend, TrendMetric, TrendOptions, trend as changes_of,
};
use plimsoll_history::{FolderRun, RunFilter};
use plimsoll_report::{figure, json, text};
use plimsoll_units::{grouped, parse_ratio};

use super::runs::{FilterArgs, folder_runs, other_runs, remark_on_future};
use crate::args::StoreArgs;
use crate::args::values::RUNS_FOLDER;
use crate::exit::{Exit, NoEvidence, UsageError};
use crate::files::{Output, Written};
use crate::terminal::{page, print, report_error};

/// How many of the newest comparable runs are compared by default: the time grows with the square.
const DEFAULT_RUNS: usize = 200;
/// The maximum number of runs: with so many the test takes seconds.
const MAX_RUNS: usize = 1000;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Runs like the newest one: when did their QPS change?
  plimsoll trend
  # Another metric of the runs with this name or URL
  plimsoll trend --match checkout --metric p99
  # The highest rate of searches, with the release at each change
  plimsoll trend --metric lambda --by-tag release
  # Exit code 3 if the newest level is worse than the one before by more than 3 %
  plimsoll trend --fail-on-regression=3%
  # With the runs of the team
  plimsoll trend --store postgres://ann@db/perf --any-machine")]
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
    /// Exit with code 3 if the newest level is worse than the one before by more than this, with 4 if newer runs have no value that
    /// counts or the store cannot be read
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
    let runs_max = runs_max(args)?;
    let chosen = Chosen::new(args)?;
    remark_on_future(chosen.runs.iter());
    let (hostname, ..) = plimsoll_sys::kernel_name();
    let options = TrendOptions {
        metric: args.metric,
        any_plan: args.any_plan,
        any_machine: args.any_machine,
        hostname: Some(&hostname),
        runs_max,
        unreadable_unix_ms: &chosen.unreadable_unix_ms,
    };
    let found = changes_of(&chosen.runs, options).map_err(no_evidence)?;
    let document =
        || json::render(&json::TrendDocument::new(&found, args.fail_on_regression, chosen.store_read));
    print(args.json, document, || text::trend(&found, &args.by_tag, &page(None)))?;
    let drawn = args.no_files || draw(args, &found);
    let Some(margin) = args.fail_on_regression else { return Ok(Exit::of_all(drawn, false)) };
    // A pipeline must not pass because its metric can no longer be measured or read.
    if chosen.store_read == Some(false) {
        let text = "the runs of the store are missing: whether the newest level is worse is not known; judge the runs of this \
                    machine alone with --store none";
        return Ok(refused(text.to_owned()));
    }
    match found.regressed(margin) {
        true => Ok(Exit::Broken),
        false if found.newer_without_value.count() > 0 => Ok(refused(text::newest_without_value(&found))),
        false => Ok(Exit::of_all(drawn, false)),
    }
}

/// Prints why it is not known whether the newest level is worse. It returns no error, since the document is printed already.
fn refused(why: String) -> Exit {
    report_error(&NoEvidence(why));
    Exit::Refused
}

fn runs_max(args: &TrendArgs) -> Result<usize, UsageError> {
    match args.filter.number().unwrap_or(DEFAULT_RUNS) {
        few @ 0..MIN_TREND_RUNS => {
            Err(UsageError(format!("`-n {few}` is too few; a change needs {MIN_TREND_RUNS} runs at least")))
        }
        runs_max @ MIN_TREND_RUNS..=MAX_RUNS => Ok(runs_max),
        many => Err(UsageError(format!(
            "`-n {many}` is too many: the memory and the time of the test grow with the square of the runs; {} are the most, and \
             --since and --until take a part",
            grouped(MAX_RUNS as u64)
        ))),
    }
}

/// The runs of the folder and of the store that are judged.
#[derive(Debug)]
struct Chosen {
    runs: Vec<RunEntry>,
    /// The start times of runs whose files, or whose rows in the store, cannot be read.
    unreadable_unix_ms: Vec<u64>,
    /// Whether the store could be read; `None` without one.
    store_read: Option<bool>,
}

impl Chosen {
    /// Chooses the runs that pass the filter, each once, however many copies of its file there are. The first copy stands for the
    /// run, as in `last~N`: another one may have tags that were changed since.
    fn new(args: &TrendArgs) -> anyhow::Result<Self> {
        let filter = args.filter.filter(None)?;
        let mut listed = folder_runs(&args.folder)?.runs;
        let others = args.store.address()?.map(|store| other_runs(&store, &mut listed, "judged"));
        let store_read = others.as_ref().map(Option::is_some);
        let mut unreadable_unix_ms = unreadable(&listed, &filter);
        let stored = others.flatten().unwrap_or_default();
        unreadable_unix_ms.extend(stored.unknown_unix_ms.into_iter().filter(|ms| filter.spans(*ms)));
        let own = listed.into_iter().filter_map(|run| run.entry.ok());
        let mut seen = BTreeSet::new();
        let is_first = |run: &RunEntry| run.id.as_ref().is_none_or(|id| seen.insert(id.clone()));
        let all = own.chain(stored.runs);
        let runs = all.filter(is_first).filter(|run| filter.holds(run)).collect();
        Ok(Self { runs, unreadable_unix_ms, store_read })
    }
}

/// Returns when the runs began whose files cannot be read, whatever their names and URLs, which are not known. Without a start,
/// the last change of the file counts; if that is not known either, they count as the newest.
fn unreadable(listed: &[FolderRun], filter: &RunFilter) -> Vec<u64> {
    let began = |run: &FolderRun| run.started_unix_ms.or_else(|| modified_unix_ms(&run.path));
    let unreadable = listed.iter().filter(|run| run.entry.is_err());
    unreadable.map(|run| began(run).unwrap_or(u64::MAX)).filter(|ms| filter.spans(*ms)).collect()
}

fn modified_unix_ms(file: &Path) -> Option<u64> {
    let modified = file.metadata().ok()?.modified().ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn no_evidence(few: TooFewRuns) -> NoEvidence {
    let left_out = text::left_out(few.left_out).map(|text| format!(". {text}"));
    NoEvidence(format!("{few}; make more runs of one plan{}", left_out.unwrap_or_default()))
}

/// Draws the figure; returns true if it was written.
fn draw(args: &TrendArgs, found: &Trend) -> bool {
    let name = found.points.last().map_or("run", |point| point.run.name.as_str());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem = format!("{}.trend-{}", name.chars().map(plain).collect::<String>(), args.metric.name());
    let figures = figure::trend(found).map(|drawn| Output::figure(&stem, drawn).into());
    // The user did not choose the name, so the same trend is drawn again.
    Written::to(&args.out, figures.map_err(Into::into), true).report(args.json)
}
