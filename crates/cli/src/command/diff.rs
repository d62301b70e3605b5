//! Two runs, or two .dat files, side by side.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_analyze::{Findings, Margin, StepOutcome, compare, step_outcomes};
use plimsoll_experiment::{file_stem, read_run};
use plimsoll_report::figure::{self, Caption, Series};
use plimsoll_report::{dat, text};
use plimsoll_units::percent_text;

use crate::args::values::{self, RUNS_FOLDER};
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::result;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll diff api.dat http.dat                     figures and ratios, A against B
  plimsoll diff new.plimsoll old.plimsoll --margin 5%    exit code 3 if A is worse by more than 5 %")]
pub(crate) struct DiffArgs {
    /// What is judged: a run file or a .dat file; `last` is the newest run file
    #[arg(value_parser = values::run_file())]
    a: PathBuf,
    /// What it is judged by: a run file or a .dat file
    #[arg(value_parser = values::run_file())]
    b: PathBuf,
    /// How much worse than B the best QPS or the success ratio of A may be
    #[arg(long, value_name = "RATIO", value_parser = values::ratio)]
    margin: Option<f64>,
    /// Name of the figures' files; by default the names of A and B
    #[arg(short, long, value_parser = values::name)]
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
    /// The side of a run, under this name.
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
    let (mut a, mut b) = (read_side(&args.a)?, read_side(&args.b)?);
    if a.name == b.name {
        let (name_a, name_b) = distinct_names(&args.a, &args.b);
        a.rename(name_a);
        b.rename(name_b);
    }
    let comparison = compare(&a.steps, &b.steps);
    let text = text::comparison(&comparison, &a.name, &b.name);
    let judged = args.margin.map(|margin| (comparison.judge(margin), percent_text(margin)));
    result(&format!("{text}{}", judged.as_ref().map(margin_line).unwrap_or_default()))?;
    let drawn = args.no_files || draw(args, &a, &b);
    Ok(match judged {
        Some((Margin::Beyond, _)) => Exit::Broken,
        Some((Margin::Unknown, _)) => Exit::Refused,
        Some((Margin::Within, _)) | None => Exit::of_all(drawn, false),
    })
}

fn margin_line((judged, margin): &(Margin, String)) -> String {
    match judged {
        Margin::Beyond => format!("A is worse than B by more than the margin of {margin}.\n"),
        Margin::Within => format!("A is within the margin of {margin}.\n"),
        Margin::Unknown => format!(
            "Whether A is within the margin of {margin} is not known: the generator held one of the runs back (≥). Repeat that \
             run with a stronger generator.\n"
        ),
    }
}

/// Draws the figures; true if they were written. The comparison is printed either way.
fn draw(args: &DiffArgs, a: &Side, b: &Side) -> bool {
    let stem = args.name.clone().unwrap_or_else(|| format!("{}_{}", a.name, b.name).replace('/', "-"));
    Written::to(&args.out, figures(&stem, a, b), args.force).report(false)
}

/// Names for two files whose runs have the same name: that of the file, else with its ending, else with as many of
/// the folders above it as it takes. Only one file given twice keeps one name.
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

pub(super) fn figures(stem: &str, a: &Side, b: &Side) -> anyhow::Result<Vec<Output>> {
    let caption = Caption { title: format!("{} against {}", a.name, b.name), detail: String::new() };
    let speeds = figure::throughput(&caption, &[&a.series, &b.series])?;
    let success = figure::success(&caption, &[&a.series, &b.series])?;
    let speeds = Output::figure(&format!("{stem}.qps.ttlb.diff"), speeds);
    let success = Output::figure(&format!("{stem}.successrate.diff"), success);
    Ok(speeds.into_iter().chain(success).collect())
}

/// Reads a side: a `.dat` by its ending, anything else as a run file.
fn read_side(path: &Path) -> anyhow::Result<Side> {
    let side = if path.extension().is_some_and(|ending| ending == "dat") {
        let content = std::fs::read_to_string(path);
        let content = content.with_context(|| format!("could not read {}", path.display()))?;
        let steps = dat::parse(&content).with_context(|| format!("{} is not a .dat file", path.display()))?;
        let name = file_stem(path);
        Side { series: Series::from_steps(&name, &steps), name, steps }
    } else {
        let findings = read_run(path)?.findings;
        Side::new(&findings.plan.name, &findings)
    };
    if side.steps.is_empty() {
        bail!("{} holds no step in which a request ended: there is nothing to compare", path.display());
    }
    Ok(side)
}
