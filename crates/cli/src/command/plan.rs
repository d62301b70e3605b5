//! `plimsoll plan`: machines per tier for a target rate.

use std::path::PathBuf;

use plimsoll_analyze::WhatIf;
use plimsoll_analyze::{Goal, plan_machines};
use plimsoll_experiment::{Mapping, TableRows, observe_run_files, observe_table_file};
use plimsoll_report::{json, text};
use plimsoll_units::{parse_rate, parse_ratio};

use crate::args::values;
use crate::exit::{Exit, UsageError};
use crate::terminal::{print, remark};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll plan plimsoll-runs/shop-20260101-120000.plimsoll --target 20k
  plimsoll plan one.plimsoll two.plimsoll four.plimsoll --target 20k --utilisation 60%
  plimsoll plan shop.plimsoll --target 20k --what-if web.cores=2x --what-if proxy=drop
  plimsoll plan --csv tiers.csv --target 100k --map qps=qps --map label=note --map group=phase \\
      --map nginx.instances=nginx --map nginx.in_mbit=in --map nginx.out_mbit=out --map nginx.link_both_mbit=1500")]
#[command(after_help = "\
The columns of a table mean what `plimsoll explain --help` says; docs/plan.md says how each number is found.

What-ifs: TIER.cores=2x or =4 · TIER.link=2x or =2.5Gbit · TIER.packets=500k · TIER.pool=64 · TIER=drop")]
pub(crate) struct PlanArgs {
    /// Run files; several may be of different numbers of machines, and `last` is the newest
    #[arg(required_unless_present = "csv", conflicts_with = "csv", value_parser = values::run_file())]
    files: Vec<PathBuf>,
    /// Requests per second to plan for
    #[arg(long, value_name = "RATE", value_parser = positive_rate)]
    target: f64,
    /// A table of measurements instead of runs: comma-separated, with a header
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// What a column of the table means
    #[arg(long, value_name = "MEANING=COLUMN", requires = "csv")]
    map: Vec<String>,
    /// Only the rows of this group; may be given several times
    #[arg(long, value_name = "NAME", requires = "csv")]
    group: Vec<String>,
    /// Only rows of at most so many requests per second
    #[arg(long, value_name = "RATE", requires = "csv", value_parser = positive_rate)]
    rows_to: Option<f64>,
    /// How full a machine may be: a ratio, or per cent
    #[arg(long, visible_alias = "utilization", value_name = "RATIO", default_value = "70%", value_parser = share)]
    utilisation: f64,
    /// What of a machine is to stay free, in place of --utilisation
    #[arg(long, value_name = "RATIO", conflicts_with = "utilisation", value_parser = parse_ratio)]
    headroom: Option<f64>,
    /// Also plan with other machines; given several times, all changes apply together
    #[arg(long, value_name = "CHANGE")]
    what_if: Vec<WhatIf>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

fn positive_rate(text: &str) -> Result<f64, String> {
    let rate = parse_rate(text).map_err(|error| error.to_string())?;
    if rate > 0.0 { Ok(rate) } else { Err(format!("`{text}` is no rate above 0 such as 500 or 100k")) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = parse_ratio(text).map_err(|error| error.to_string())?;
    if share > 0.0 {
        Ok(share)
    } else {
        Err(format!("`{text}` leaves nothing to be used; write a ratio above 0"))
    }
}

pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<Exit> {
    let utilisation = args.headroom.map_or(args.utilisation, |headroom| 1.0 - headroom);
    if utilisation <= 0.0 {
        let why = "a headroom of 100 % leaves nothing to be used; write less, such as 30%";
        return Err(UsageError(why.to_owned()).into());
    }
    let goal = Goal { target_per_sec: args.target, utilisation };
    let observed = match &args.csv {
        Some(csv) => {
            let rows = TableRows { groups: &args.group, max_per_sec: args.rows_to };
            let (observed, reading) = observe_table_file(csv, &Mapping::parse(&args.map)?, rows)?;
            text::table_reading(&reading).lines().for_each(remark);
            observed
        }
        None => observe_run_files(&args.files)?,
    };
    let plan = plan_machines(&observed, goal);
    let changed = args.what_if.iter().try_fold(observed, |known, what_if| what_if.applied(&known))?;
    let changed = (!args.what_if.is_empty()).then(|| plan_machines(&changed, goal));
    let what_if = args.what_if.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let other = changed.as_ref().map(|changed| (what_if.as_str(), changed));
    let document = || json::render(&json::PlanDocument::new(&plan, other));
    print(args.json, document, || text::machines(&plan, other))?;
    Ok(Exit::Success)
}
