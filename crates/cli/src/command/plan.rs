//! `plimsoll plan`: machines per tier for a target rate.

use std::path::Path;

use anyhow::bail;
use plimsoll_analyze::{
    Findings, Goal, Observed, TableRow, WhatIfError, explain_table, observe_runs, observe_table,
    plan_machines,
};
use plimsoll_report::{json, text};

use super::recorded;
use super::table_file::{self, Mapping};
use crate::args::PlanArgs;
use crate::exit::Exit;
use crate::terminal::result;

/// A headroom of everything.
#[derive(Debug, thiserror::Error)]
#[error("a headroom of 100 % leaves nothing to be used; write less, such as 30%")]
struct AllHeadroom;

/// True if what was typed for `plan` is wrong.
pub(crate) fn mistyped(error: &anyhow::Error) -> bool {
    error.is::<WhatIfError>() || error.is::<AllHeadroom>()
}

pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<Exit> {
    let utilisation = args.headroom.map_or(args.utilisation, |headroom| 1.0 - headroom);
    if utilisation <= 0.0 {
        return Err(AllHeadroom.into());
    }
    let goal = Goal { target_per_sec: args.target, utilisation };
    let observed = match &args.csv {
        Some(csv) => of_table(csv, args)?,
        None => of_runs(args)?,
    };
    let plan = plan_machines(&observed, goal);
    let mut changed = observed;
    for what_if in &args.what_if {
        changed = what_if.applied(&changed)?;
    }
    let changed = (!args.what_if.is_empty()).then(|| plan_machines(&changed, goal));
    let what_if = args.what_if.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let other = changed.as_ref().map(|changed| (what_if.as_str(), changed));
    result(&if args.json {
        json::render(&json::PlanDocument::new(&plan, other))?
    } else {
        text::machines(&plan, other)
    })?;
    Ok(Exit::Held)
}

fn of_runs(args: &PlanArgs) -> anyhow::Result<Observed> {
    let read = |path: &Path| {
        let (_, findings) = recorded::read(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        anyhow::Ok((name, findings))
    };
    let runs: Vec<(String, Findings)> = args.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let named: Vec<(&str, &Findings)> =
        runs.iter().map(|(name, findings)| (name.as_str(), findings)).collect();
    let observed = observe_runs(&[named]);
    if observed.tiers.is_empty() {
        bail!(
            "no host was looked at in {}: nothing tells what a request uses; make the run with --probe, or on the target's \
             machine",
            args.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(observed)
}

fn of_table(csv: &Path, args: &PlanArgs) -> anyhow::Result<Observed> {
    let mapping = Mapping::parse(&args.map)?;
    let mut rows = table_file::read(csv, &mapping)?;
    let groups: Vec<String> = rows.iter().filter_map(|row| row.group.clone()).collect();
    rows.retain(|row| is_wanted(row, args));
    if rows.is_empty() {
        let mut groups = groups;
        groups.dedup();
        bail!(
            "no row of {} is left by --group and --rows-to; its groups are {}",
            csv.display(),
            if groups.is_empty() {
                "none (map a column with --map group=COLUMN)".to_owned()
            } else {
                groups.join(", ")
            }
        );
    }
    let found = explain_table(&rows);
    let observed = observe_table(&rows, &found);
    if observed.tiers.is_empty() {
        bail!("no column is mapped to a tier; add for example --map web.cpu_percent=COLUMN");
    }
    Ok(observed)
}

fn is_wanted(row: &TableRow, args: &PlanArgs) -> bool {
    let in_group =
        args.group.is_empty() || row.group.as_ref().is_some_and(|group| args.group.contains(group));
    in_group && args.rows_to.is_none_or(|most| row.throughput_per_sec <= most)
}
