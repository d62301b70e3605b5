//! Two runs, or two .dat files, side by side.

use std::path::Path;

use anyhow::{Context, bail};
use plimsoll_analyze::{RungOutcome, compare, rungs_of};
use plimsoll_report::figure::{self, Caption, Series};
use plimsoll_report::{dat, text};
use plimsoll_units::percent_text;

use crate::args::DiffArgs;
use crate::command::recorded;
use crate::exit::Exit;
use crate::files::{self, Output};
use crate::terminal::{remark, result};

/// One side of a comparison.
struct Side {
    name: String,
    rungs: Vec<RungOutcome>,
    series: Series,
}

impl Side {
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
        // Two runs of one name are told apart by their files, which carry the time.
        a.rename(file_stem(&args.a));
        b.rename(file_stem(&args.b));
    }
    let comparison = compare(&a.rungs, &b.rungs);
    let beyond = args.margin.map(|margin| (margin, comparison.beyond_margin(margin)));
    let text = text::comparison(&comparison, &a.name, &b.name);
    result(&format!("{text}{}", beyond.map(margin_line).unwrap_or_default()))?;
    let outputs = figures(&a, &b)?;
    for path in files::write_all(&args.out, &outputs, args.force)? {
        remark(&format!("wrote {}", path.display()));
    }
    Ok(if beyond.is_some_and(|(_, beyond)| beyond) { Exit::Broken } else { Exit::Held })
}

fn margin_line((margin, beyond): (f64, bool)) -> String {
    let margin = percent_text(margin);
    match beyond {
        true => format!("A is worse than B by more than the margin of {margin}.\n"),
        false => format!("A is within the margin of {margin}.\n"),
    }
}

fn figures(a: &Side, b: &Side) -> anyhow::Result<Vec<Output>> {
    let caption = Caption { title: format!("{} against {}", a.name, b.name), detail: String::new() };
    let stem = format!("{}_{}", a.name, b.name);
    let speeds = figure::diff_qps_ttlb(&caption, &a.series, &b.series)?;
    let success = figure::diff_successrate(&caption, &a.series, &b.series)?;
    let speeds = Output::figure(&format!("{stem}.qps.ttlb.diff"), speeds);
    let success = Output::figure(&format!("{stem}.successrate.diff"), success);
    Ok(speeds.into_iter().chain(success).collect())
}

/// Reads a side: a `.dat` by its ending, anything else as a run file.
fn read_side(path: &Path) -> anyhow::Result<Side> {
    let side = if path.extension().is_some_and(|ending| ending == "dat") {
        let content = std::fs::read_to_string(path);
        let content = content.with_context(|| format!("could not read {}", path.display()))?;
        let rungs = dat::parse(&content).with_context(|| format!("{} is not a .dat file", path.display()))?;
        let name = file_stem(path);
        Side { series: Series::of_rungs(&name, &rungs), name, rungs }
    } else {
        let (_, findings) = recorded::read(path)?;
        Side { series: Series::of(&findings), rungs: rungs_of(&findings), name: findings.plan.name }
    };
    if side.rungs.is_empty() {
        bail!("{} holds no step in which a request ended: there is nothing to compare", path.display());
    }
    Ok(side)
}
