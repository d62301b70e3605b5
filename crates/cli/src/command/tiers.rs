//! `plimsoll tiers`: runs of the same tiers with other numbers of machines, side by side.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use jiff::Timestamp;
use plimsoll_analyze::{Findings, TierScaling, scalings, tier_rows};
use plimsoll_report::{figure, json, text};

use super::lab::bed::{KeptBed, Maker, named};
use super::recorded;
use crate::args::{CaseArgs, TiersArgs};
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::signals;
use crate::terminal::{remark, result, tell_error};

/// A run and what it is called in the table.
type Run = (String, Findings);

pub(crate) fn tiers(args: &TiersArgs) -> anyhow::Result<Exit> {
    match &args.file {
        Some(file) => from_file(file, args),
        None => {
            let runs: Vec<Run> = args.runs.iter().map(|path| recorded_run(path)).collect::<Result<_, _>>()?;
            let first = args.runs.first().map_or_else(|| "tiers".to_owned(), |path| stem_of(path));
            told(&runs, &first, args).map(|drawn| if drawn { Exit::Held } else { Exit::CouldNotRun })
        }
    }
}

fn stem_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn recorded_run(path: &Path) -> anyhow::Result<Run> {
    let (_, findings) = recorded::read(path)?;
    Ok((stem_of(path), findings))
}

fn from_file(file: &str, args: &TiersArgs) -> anyhow::Result<Exit> {
    let read = named(file)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let how = CaseArgs::compared(args.quick, &args.out, args.quiet);
    let maker = Maker::new(read, &how, &interrupted);
    let (runs, failed) = made(&maker, args, &interrupted);
    if runs.is_empty() {
        bail!("no run of {} was made; what failed is told above", maker.name());
    }
    let drawn = told(&runs, maker.name(), args)?;
    Ok(Exit::of_all(drawn && !failed, interrupted.load(Ordering::Relaxed)))
}

/// The file's own plan and its variants, one after another. One that fails is told and does not end the others; true if any did.
fn made(maker: &Maker<'_>, args: &TiersArgs, interrupted: &AtomicBool) -> (Vec<Run>, bool) {
    let (mut runs, mut failed) = (Vec::new(), false);
    let mut beds = KeptBed::new(maker);
    let count = maker.content().of_pass(args.quick).count();
    for (index, (variant, file)) in maker.content().of_pass(args.quick).enumerate() {
        let own = maker.name().to_owned();
        let name = variant.map_or_else(|| own.clone(), |variant| format!("{own}/{variant}"));
        if !args.quiet {
            remark(&format!("{name} ({} of {count})", index + 1));
        }
        match beds.run(&name, file).and_then(|path| recorded::read(&path)) {
            Ok((_, findings)) => runs.push((variant.map_or(own, ToOwned::to_owned), findings)),
            Err(error) if !interrupted.load(Ordering::Relaxed) => {
                failed = true;
                tell_error(&error.context(name));
            }
            Err(_) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    (runs, failed)
}

/// Prints the table and draws the figures; true if these are there.
fn told(runs: &[Run], name: &str, args: &TiersArgs) -> anyhow::Result<bool> {
    let named: Vec<(&str, &Findings)> =
        runs.iter().map(|(name, findings)| (name.as_str(), findings)).collect();
    let rows = tier_rows(&named);
    let scalings = scalings(&rows);
    result(&if args.json {
        json::render(&json::TiersDocument::new(&rows, &scalings))?
    } else {
        text::tier_rows(&rows)
    })?;
    if args.no_figures || scalings.is_empty() {
        return Ok(true);
    }
    let stem = args.name.clone().unwrap_or_else(|| format!("{name}-{}", stamp()));
    Ok(Written::to(&args.out, figures(&stem, name, &scalings), false).tell(args.quiet))
}

/// The time in names of files, as in those of run files.
pub(super) fn stamp() -> String {
    Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// A figure of each scaling.
pub(super) fn figures(stem: &str, name: &str, scalings: &[TierScaling]) -> anyhow::Result<Vec<Output>> {
    let mut outputs = Vec::new();
    for (index, scaling) in scalings.iter().enumerate() {
        // A tier may have been scaled beside several numbers of another.
        let again = scalings[..index].iter().filter(|other| other.tier == scaling.tier).count();
        let number = if again == 0 { String::new() } else { format!("_{}", again + 1) };
        let drawn = figure::tier_scaling(name, scaling)?;
        outputs.extend(Output::figure(
            &format!("{stem}_scaling_{}{number}", scaling.tier.replace('/', "-")),
            drawn,
        ));
    }
    Ok(outputs)
}
