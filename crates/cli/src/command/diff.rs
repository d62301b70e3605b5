//! Two runs, or two .dat files, side by side.

use std::path::Path;

use anyhow::{Context, bail};
use plimsoll_analyze::{Findings, StepOutcome, compare, step_outcomes};
use plimsoll_experiment::read_run;
use plimsoll_report::figure::{self, Caption, Series};
use plimsoll_report::{dat, text};
use plimsoll_units::percent_text;

use crate::args::DiffArgs;
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::result;

/// One side of a comparison.
pub(super) struct Side {
    name: String,
    steps: Vec<StepOutcome>,
    series: Series,
}

impl Side {
    /// The side of a run, called by the name of its plan.
    fn from_findings(findings: &Findings) -> Self {
        Self {
            series: Series::new(findings),
            steps: step_outcomes(findings),
            name: findings.plan.name.clone(),
        }
    }

    /// The same under another name.
    pub(super) fn named(name: &str, findings: &Findings) -> Self {
        let mut side = Self::from_findings(findings);
        side.rename(name.to_owned());
        side
    }

    fn rename(&mut self, name: String) {
        self.series.name.clone_from(&name);
        self.name = name;
    }
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) fn diff(args: &DiffArgs) -> anyhow::Result<Exit> {
    let (mut a, mut b) = (read_side(&args.a)?, read_side(&args.b)?);
    if a.name == b.name {
        let (name_a, name_b) = distinct_names(&args.a, &args.b);
        a.rename(name_a);
        b.rename(name_b);
    }
    let comparison = compare(&a.steps, &b.steps);
    let beyond = args.margin.map(|margin| (margin, comparison.beyond_margin(margin)));
    let text = text::comparison(&comparison, &a.name, &b.name);
    result(&format!("{text}{}", beyond.map(margin_line).unwrap_or_default()))?;
    let drawn = args.no_files || draw(args, &a, &b);
    Ok(match (beyond, drawn) {
        (Some((_, true)), _) => Exit::Broken,
        (_, true) => Exit::Success,
        (_, false) => Exit::CouldNotRun,
    })
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

fn margin_line((margin, beyond): (f64, bool)) -> String {
    let margin = percent_text(margin);
    match beyond {
        true => format!("A is worse than B by more than the margin of {margin}.\n"),
        false => format!("A is within the margin of {margin}.\n"),
    }
}

/// The two figures of a comparison.
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
        Side::from_findings(&read_run(path)?.findings)
    };
    if side.steps.is_empty() {
        bail!("{} holds no step in which a request ended: there is nothing to compare", path.display());
    }
    Ok(side)
}
