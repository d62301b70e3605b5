//! `plimsoll tiers`: runs of the same tiers with other numbers of machines, side by side.

use plimsoll_analyze::TierScaling;
use plimsoll_experiment::{
    LabFile, NamedFindings, PlanRunner, RunSettings, TierScalings, read_named_runs, run_tiers,
};
use plimsoll_lab::Privileges;
use plimsoll_report::{figure, json, text};

use crate::args::TiersArgs;
use crate::exit::Exit;
use crate::experiments::ExperimentSetup;
use crate::files::{Output, Written, stamp};
use crate::terminal::result;

pub(crate) fn tiers(args: &TiersArgs) -> anyhow::Result<Exit> {
    let Some(file) = &args.file else {
        let runs = read_named_runs(&args.runs)?;
        let first = runs.first().map_or("tiers", |(name, _)| name);
        let drawn = print(&runs, first, args)?;
        return Ok(if drawn { Exit::Success } else { Exit::CouldNotRun });
    };
    from_file(file, args)
}

fn from_file(file: &str, args: &TiersArgs) -> anyhow::Result<Exit> {
    let file = LabFile::named(file)?;
    // Before anything starts a second thread.
    let privileges = file.makes_hosts().then(Privileges::acquire).transpose()?;
    let settings = RunSettings { quick: args.quick, prove: false, out: args.out.clone(), quiet: args.quiet };
    let setup = ExperimentSetup::new(settings)?;
    let context = setup.context();
    let (runs, failed) = run_tiers(&file, PlanRunner::new(privileges, context), context)?;
    let drawn = print(&runs, file.name(), args)?;
    Ok(Exit::of_all(drawn && !failed, context.is_interrupted()))
}

/// Prints the table and draws the figures; true if these are there.
fn print(runs: &[NamedFindings], name: &str, args: &TiersArgs) -> anyhow::Result<bool> {
    let TierScalings { rows, scalings } = TierScalings::of_runs(runs);
    result(&if args.json {
        json::render(&json::TiersDocument::new(&rows, &scalings))?
    } else {
        text::tier_rows(&rows)
    })?;
    if args.no_figures || scalings.is_empty() {
        return Ok(true);
    }
    let stem = args.name.clone().unwrap_or_else(|| format!("{name}-{}", stamp()));
    Ok(Written::to(&args.out, figures(&stem, name, &scalings), false).report(args.quiet))
}

/// A figure of each scaling.
pub(super) fn figures(stem: &str, name: &str, scalings: &[TierScaling]) -> anyhow::Result<Vec<Output>> {
    let mut outputs = Vec::new();
    for (index, scaling) in scalings.iter().enumerate() {
        // A tier may have been scaled with several numbers of another.
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
