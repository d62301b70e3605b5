//! Two runs, or two .dat files, side by side.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_analyze::{
    Comparison, Findings, Incomparable, LatencyDifferences, Margin, StepOutcome, compare, highest_rates,
    incomparable, latency_differences, step_outcomes,
};
use plimsoll_experiment::{RecordedRun, file_stem, read_run};
use plimsoll_report::figure::{self, Caption, Series};
use plimsoll_report::json::{DiffDocument, FoundTogether};
use plimsoll_report::{dat, json, markdown_of_comparison, text};
use plimsoll_units::{parse_ratio, percent_text, share_text};

use crate::args::values::{self, RUNS_FOLDER};
use crate::documents::{MarkdownArgs, PageArgs, Place, Usual};
use crate::exit::{Exit, UsageError};
use crate::files::{Output, Written};
use crate::pages::{Recorded, Together};
use crate::terminal::{print, result};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # The newest run against the one before it
  plimsoll diff last~1 last
  # Two sweeps: figures and ratios, new / old
  plimsoll diff api.dat http.dat
  # Exit code 3 if the new one is worse by more than 5 %
  plimsoll diff old.plimsoll new.plimsoll --margin 5%
  # And 4 if the two are not comparable
  plimsoll diff old.plimsoll new.plimsoll --margin 5% --strict")]
pub(crate) struct DiffArgs {
    /// The old run, the reference: a run file or a .dat file; `last` is the newest run file, `last~1` the one before it
    #[arg(value_parser = values::run_file())]
    old: PathBuf,
    /// The new run, compared with it: a run file or a .dat file
    #[arg(value_parser = values::run_file())]
    new: PathBuf,
    /// How much worse than the old one the best QPS, the success ratio or the highest rate of the new one may be
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    margin: Option<f64>,
    /// Exit with code 4 if the runs are not comparable: made on another machine or in another way, too noisy, unfinished, or limited
    /// by the load generator; of .dat files that is not known, so they are refused
    #[arg(long)]
    strict: bool,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    markdown: MarkdownArgs,
    /// Name of the figures' files; by default the names of both
    #[arg(long, value_parser = values::name)]
    name: Option<String>,
    /// Folder for the figures
    #[arg(short = 'o', long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    /// Write no figures
    #[arg(long, conflicts_with_all = ["name", "out", "force"])]
    no_files: bool,
    /// Overwrite figures that are there
    #[arg(long)]
    force: bool,
}

pub(super) struct Side {
    name: String,
    steps: Vec<StepOutcome>,
    series: Series,
}

impl Side {
    /// Creates the side of a run, under this name.
    pub(super) fn new(name: &str, findings: &Findings) -> Self {
        let mut side =
            Self { series: Series::new(findings), steps: step_outcomes(findings), name: String::new() };
        side.rename(name.to_owned());
        side
    }

    fn rename(&mut self, name: String) {
        self.series.name.clone_from(&name);
        self.name = name;
    }
}

pub(crate) fn diff(args: &DiffArgs) -> anyhow::Result<Exit> {
    if args.strict {
        refuse_tables([&args.old, &args.new])?;
    }
    let ((mut old, run_old), (mut new, run_new)) = (read_side(&args.old)?, read_side(&args.new)?);
    if old.name == new.name {
        let (name_old, name_new) = distinct_names(&args.old, &args.new);
        old.rename(name_old);
        new.rename(name_new);
    }
    let runs = run_old.as_ref().zip(run_new.as_ref());
    let highest_rates = runs.and_then(|(old, new)| highest_rates(&new.findings, &old.findings));
    let comparison = Comparison { highest_rates, ..compare(&new.steps, &old.steps) };
    let against = runs.map_or_else(Vec::new, |(old, new)| {
        incomparable((&old.run, &old.findings), (&new.run, &new.findings))
    });
    let latency = runs.and_then(|(old, new)| latency_differences(&new.findings, &old.findings));
    let judged = args.margin.map(|margin| (comparison.judge(margin), margin));
    let stem = stem(args, &old, &new);
    let file_name = format!("{stem}.diff");
    let usual: Usual<'_> = (!args.no_files).then_some((&*args.out, &file_name));
    let (place, page) = (args.markdown.place(usual)?, args.page.place(usual)?);
    let overwrites = |place: &Place| overwrites(args, is_usual(place, usual));
    for kept in [&place, &page].into_iter().flatten().filter(|place| !overwrites(place)) {
        kept.refuse_existing()?;
    }
    let is_printed = place == Some(Place::StandardOutput);
    if is_printed && args.json {
        let text = "--markdown - and --json both write to standard output; write --markdown FILE";
        return Err(UsageError(text.to_owned()).into());
    }
    let (old, new, latency) = (&old, &new, latency.as_ref());
    let compared = Compared { old, new, comparison: &comparison, against: &against, latency, judged };
    match is_printed {
        true => result(&compared.markdown())?,
        false => print(args.json, || json::render(&compared.document()), || compared.text())?,
    }
    let mut written =
        place.map(|place| place.write(Ok(compared.markdown()), overwrites(&place))).unwrap_or_default();
    let recorded = [(old, &run_old), (new, &run_new)];
    if let Some(page) = page {
        written.extend(page.write(compared.page(&recorded), overwrites(&page)));
    }
    written.extend(draw(args, &stem, old, new));
    let drawn = written.report(false);
    let is_refused = args.strict && against.iter().any(Incomparable::is_grave);
    Ok(match judged {
        _ if is_refused => Exit::Refused,
        Some((Margin::Beyond, _)) => Exit::Broken,
        Some((Margin::Unknown, _)) => Exit::Refused,
        Some((Margin::Within, _)) | None => Exit::of_all(drawn, false),
    })
}

/// Refuses tables: the machine, the version and the load behind their figures are not known.
fn refuse_tables(paths: [&Path; 2]) -> Result<(), UsageError> {
    let Some(table) = paths.into_iter().find(|path| is_table(path)) else { return Ok(()) };
    Err(UsageError(format!(
        "--strict needs two run files: {} does not say how its figures were made. Name its .plimsoll file, or leave --strict out",
        table.display()
    )))
}

/// A comparison with everything that is reported about it.
struct Compared<'a> {
    old: &'a Side,
    new: &'a Side,
    comparison: &'a Comparison,
    against: &'a [Incomparable],
    latency: Option<&'a LatencyDifferences>,
    judged: Option<(Margin, f64)>,
}

impl Compared<'_> {
    /// Returns the new run, then the old one.
    fn sides(&self) -> (text::Side<'_>, text::Side<'_>) {
        (text::Side { name: &self.new.name, label: "new" }, text::Side { name: &self.old.name, label: "old" })
    }

    fn margin(&self) -> String {
        let line = |judged| margin_line(judged, self.comparison.highest_rates.is_some());
        self.judged.as_ref().map(line).unwrap_or_default()
    }

    fn document(&self) -> DiffDocument {
        let names = [self.old.name.as_str(), self.new.name.as_str()];
        DiffDocument::new(names, self.comparison, self.against, self.judged, self.latency)
    }

    fn page(&self, recorded: &[(&Side, &Option<RecordedRun>)]) -> anyhow::Result<String> {
        let runs = recorded
            .iter()
            .filter_map(|(side, run)| Some((side.name.clone(), Recorded::Read(run.as_ref()?))));
        let (old, new) = (&self.old.name, &self.new.name);
        let together = Together {
            name: &format!("{new} compared with {old}"),
            text: self.text(),
            found: FoundTogether::Diff(self.document().into()),
            runs: runs.collect(),
        };
        together.page()
    }

    fn text(&self) -> String {
        let (candidate, reference) = self.sides();
        text::comparison(self.comparison, candidate, reference)
            + &text::incomparable(self.against)
            + &self.margin()
    }

    fn markdown(&self) -> String {
        let (candidate, reference) = self.sides();
        markdown_of_comparison(self.comparison, candidate, reference, self.against, &self.margin())
    }
}

fn margin_line((judged, margin): &(Margin, f64), has_rates: bool) -> String {
    let margin = percent_text(*margin);
    let by = if has_rates { "best QPS, success and highest rate" } else { "best QPS and success" };
    match judged {
        Margin::Beyond => {
            format!("New is worse than old by more than the margin of {margin}, judged by {by}.\n")
        }
        Margin::Within => format!(
            "New is not shown to be worse than old by more than the margin of {margin}, judged by {by} alone.\n"
        ),
        Margin::Unknown => format!(
            "Whether new is worse than old by more than the margin of {margin} is not known: one of the runs has no step with \
             responses, is too short to show how much its throughput varies, was held back by its generator (≥), or ended before \
             more connections were tried (≥). Repeat that run, longer or with a stronger generator.\n"
        ),
    }
}

fn stem(args: &DiffArgs, old: &Side, new: &Side) -> String {
    args.name.clone().unwrap_or_else(|| format!("{}_{}", old.name, new.name).replace('/', "-"))
}

/// Returns true if files may be replaced. Under a name that the user did not choose, the same comparison may be drawn again.
fn overwrites(args: &DiffArgs, is_usual: bool) -> bool {
    args.force || (is_usual && args.name.is_none())
}

/// Returns true for a file that has the default name of the figures, and for a place that is no file.
fn is_usual(place: &Place, usual: Usual<'_>) -> bool {
    let Place::File { folder, name } = place else { return true };
    let stem = Path::new(name).file_stem();
    usual.is_some_and(|(usual, own)| folder == usual && stem == Some(OsStr::new(own)))
}

/// Draws the figures. The comparison is printed either way.
fn draw(args: &DiffArgs, stem: &str, old: &Side, new: &Side) -> Written {
    if args.no_files {
        return Written::default();
    }
    Written::to(&args.out, figures(stem, old, new), overwrites(args, true))
}

/// Returns names for two files whose runs have the same name: that of the file, else with its ending, else with as many of the
/// folders above it as necessary. Only a file that is given twice keeps one name.
fn distinct_names(a: &Path, b: &Path) -> (String, String) {
    let pairs = names(a).into_iter().zip(names(b));
    pairs.clone().find(|(a, b)| a != b).or_else(|| pairs.take(1).next()).unwrap_or_default()
}

fn names(path: &Path) -> Vec<String> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = file_stem(&path);
    let mut names = vec![name.clone(), path.file_name().unwrap_or_default().to_string_lossy().into_owned()];
    for folder in path.ancestors().skip(1).filter_map(Path::file_name) {
        name = format!("{}/{name}", folder.to_string_lossy());
        names.push(name.clone());
    }
    names
}

pub(super) fn figures(stem: &str, old: &Side, new: &Side) -> anyhow::Result<Vec<Output>> {
    let best = compare(&new.steps, &old.steps).best;
    let ratio = best.map(|best| format!(", best QPS {} of it", share_text(best.throughput_ratio.value)));
    let title = format!("{} against {}{}", new.name, old.name, ratio.unwrap_or_default());
    let caption = Caption { title, detail: String::new() };
    let drawn = figure::comparison(&caption, &old.series, &new.series)?;
    Ok(Output::figure(&format!("{stem}.diff"), drawn).into())
}

/// The longest `.dat` that is read, in bytes.
const MAX_DAT_BYTES: u64 = 16 << 20;

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "dat")
}

/// Reads a side: a `.dat` by its ending, anything else as a run file, which is also returned.
fn read_side(path: &Path) -> anyhow::Result<(Side, Option<RecordedRun>)> {
    let (side, recorded) = if is_table(path) {
        let read = plimsoll_sys::read_regular(path, MAX_DAT_BYTES);
        let content = read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let content = content.with_context(|| format!("could not read {}", path.display()))?;
        let steps = dat::parse(&content).with_context(|| format!("{} is not a .dat file", path.display()))?;
        let name = file_stem(path);
        (Side { series: Series::from_steps(&name, &steps), name, steps }, None)
    } else {
        let recorded = read_run(path)?;
        (Side::new(&recorded.findings.plan.name, &recorded.findings), Some(recorded))
    };
    if side.steps.is_empty() {
        bail!("{} holds no step in which a request ended: there is nothing to compare", path.display());
    }
    Ok((side, recorded))
}
