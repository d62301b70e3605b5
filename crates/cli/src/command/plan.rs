//! `plimsoll plan`: machines per tier for a target rate.

use plimsoll_analyze::{Goal, plan_machines};
use plimsoll_experiment::{Mapping, TableRows, observe_run_files, observe_table_file};
use plimsoll_report::{json, text};

use crate::args::PlanArgs;
use crate::exit::{Exit, UsageError};
use crate::terminal::result;

const ALL_HEADROOM: &str = "a headroom of 100 % leaves nothing to be used; write less, such as 30%";

pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<Exit> {
    let utilisation = args.headroom.map_or(args.utilisation, |headroom| 1.0 - headroom);
    if utilisation <= 0.0 {
        return Err(UsageError(ALL_HEADROOM.to_owned()).into());
    }
    let goal = Goal { target_per_sec: args.target, utilisation };
    let observed = match &args.csv {
        Some(csv) => {
            let rows = TableRows { groups: &args.group, max_per_sec: args.rows_to };
            observe_table_file(csv, &Mapping::parse(&args.map)?, rows)?
        }
        None => observe_run_files(&args.files)?,
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
    Ok(Exit::Success)
}
