//! `plimsoll plan`: machines per tier for a target rate or for each hour of a day, what they cost, and the rate of given machines.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use plimsoll_analyze::{
    Fleet, Goal, Observed, Price, PriceList, WhatIf, fleet_capacity, plan_day, plan_machines, price_plan,
};
use plimsoll_experiment::{
    MAX_TARGET_PER_SEC, Mapping, TableRows, file_stem, observe_run_files, observe_table_file, read_curve,
};
use plimsoll_report::json::FoundTogether;
use plimsoll_report::{PlanView, figure, json, text};
use plimsoll_units::{count_text, parse_rate, parse_ratio};

use crate::args::values;
use crate::exit::{Exit, UsageError};
use crate::files::{Output, Written, stamp};
use crate::pages::{Recorded, Together, TogetherPageArgs};
use crate::terminal::{print, remark};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Machines per tier for 20,000 requests/s, from one run or several
  plimsoll plan plimsoll-runs/shop-20260101-120000.plimsoll --target 20k
  plimsoll plan one.plimsoll two.plimsoll four.plimsoll --target 20k --utilisation 60%
  # The rate that given machines hold, and what stops it
  plimsoll plan shop.plimsoll --machines api=3,web=1
  # The cost, and the cheapest of two sizes
  plimsoll plan shop.plimsoll --target 20k --price 'api=$0.17/h' --price 'web=$0.09/h'
  plimsoll plan half.plimsoll whole.plimsoll --target 20k --price api@0.5=0.09/h \\
      --price api@1=0.16/h
  # Machines and cost of each hour of a day
  plimsoll plan shop.plimsoll --target day.csv --price 'api=$0.17/h'
  # Other machines, and without a tier
  plimsoll plan shop.plimsoll --target 20k --what-if web.cores=2x --what-if proxy=drop
  # A table of other measurements
  plimsoll plan --csv tiers.csv --target 100k --map qps=qps --map label=note --map group=phase \\
      --map nginx.instances=nginx --map nginx.in_mbit=in --map nginx.out_mbit=out \\
      --map nginx.link_both_mbit=1500")]
#[command(after_help = "\
The columns of a table mean what `plimsoll explain --help` says; docs/plan.md says how each number is found.

What-ifs: TIER.cores=2x or =4 · TIER.link=2x or =2.5Gbit · TIER.packets=500k · TIER.pool=64 · TIER=drop")]
pub(crate) struct PlanArgs {
    /// Run files; several may be of different numbers of machines, and `last` is the newest
    #[arg(required_unless_present = "csv", conflicts_with = "csv", value_parser = values::run_file())]
    files: Vec<PathBuf>,
    /// Requests per second to plan for; or a CSV file with the rates of a day, in columns `time` and `rate`
    #[arg(long, value_name = "RATE|FILE", required_unless_present = "machines", conflicts_with = "machines")]
    target: Option<Target>,
    /// Predict the rate that these machines carry; tiers that are not named keep the machines they had
    #[arg(long, value_name = "TIER=N,...")]
    machines: Option<Fleet>,
    /// What a machine of a tier costs, in any currency, in single quotes where there is a $; TIER@0.5=... is for those with 0.5
    /// cores, TIER@1Gbit=... for that link
    #[arg(long, value_name = "TIER=PRICE/h", conflicts_with_all = ["what_if", "machines"])]
    price: Vec<Price>,
    /// A table of measurements instead of runs: comma-separated, with a header
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// What a column of the table means
    #[arg(long, value_name = "MEANING=COLUMN", requires = "csv")]
    map: Vec<String>,
    /// Only the rows of this group; may be given several times
    #[arg(long, value_name = "NAME", requires = "csv")]
    group: Vec<String>,
    /// Only rows with at most this rate
    #[arg(long, value_name = "RATE", requires = "csv", value_parser = parse_rate)]
    rows_to: Option<f64>,
    /// How full a machine may be: a ratio, or per cent
    #[arg(long, visible_alias = "utilization", value_name = "RATIO", default_value = "70%", value_parser = values::share)]
    utilisation: f64,
    /// Share of a machine to keep free, instead of --utilisation
    #[arg(long, value_name = "RATIO", conflicts_with = "utilisation", value_parser = parse_ratio)]
    headroom: Option<f64>,
    /// Also plan with other machines; given several times, all changes apply together
    #[arg(long, value_name = "CHANGE")]
    what_if: Vec<WhatIf>,
    /// Draw the rate and the machines of each hour into this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    page: TogetherPageArgs,
}

/// What to plan for.
#[derive(Debug, Clone, PartialEq)]
enum Target {
    /// Requests per second.
    Rate(f64),
    /// A file with the rates of a day.
    Curve(PathBuf),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        let names_file = path.extension().is_some_and(|ending| ending == "csv") || text.contains('/');
        match parse_rate(text) {
            Ok(rate) if rate > MAX_TARGET_PER_SEC => {
                Err(format!("a plan is for {MAX_TARGET_PER_SEC:e} requests/s at most"))
            }
            Ok(rate) => Ok(Self::Rate(rate)),
            Err(_) if names_file || path.exists() => Ok(Self::Curve(path.to_owned())),
            Err(why) => Err(format!("{why}, and there is no such file")),
        }
    }
}

pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<Exit> {
    args.page.check(None)?;
    let utilisation = args.utilisation()?;
    let prices = PriceList::new(args.price.clone())?;
    let observed = args.observed()?;
    prices.as_ref().map_or(Ok(()), |prices| prices.check(&observed))?;
    match (&args.machines, &args.target) {
        (Some(fleet), _) => args.rate_of(fleet, &observed, utilisation),
        (None, Some(Target::Rate(rate))) => args.for_rate(*rate, &observed, utilisation, prices.as_ref()),
        (None, Some(Target::Curve(file))) => args.for_day(file, &observed, utilisation, prices.as_ref()),
        (None, None) => Err(usage("name what to plan for with --target RATE or --machines TIER=N")),
    }
}

fn usage(why: &str) -> anyhow::Error {
    UsageError(why.to_owned()).into()
}

impl PlanArgs {
    fn utilisation(&self) -> anyhow::Result<f64> {
        let utilisation = self.headroom.map_or(self.utilisation, |headroom| 1.0 - headroom);
        if utilisation > 0.0 {
            return Ok(utilisation);
        }
        Err(usage("a headroom of 100 % leaves nothing to be used; write less, such as 30%"))
    }

    fn observed(&self) -> anyhow::Result<Observed> {
        let Some(csv) = &self.csv else { return Ok(observe_run_files(&self.files)?) };
        let rows = TableRows { groups: &self.group, max_per_sec: self.rows_to };
        let (observed, reading) = observe_table_file(csv, &Mapping::parse(&self.map)?, rows)?;
        text::table_reading(&reading).lines().for_each(remark);
        Ok(observed)
    }

    /// Returns the changes as typed, and the observations with these changes; `None` without changes.
    fn changed(&self, observed: &Observed) -> anyhow::Result<Option<(String, Observed)>> {
        if self.what_if.is_empty() {
            return Ok(None);
        }
        let changed =
            self.what_if.iter().try_fold(observed.clone(), |known, what_if| what_if.applied(&known))?;
        let changes = self.what_if.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Ok(Some((changes, changed)))
    }

    fn rate_of(&self, fleet: &Fleet, observed: &Observed, utilisation: f64) -> anyhow::Result<Exit> {
        self.refuse_out()?;
        let capacity = fleet_capacity(observed, fleet, utilisation)?;
        let changed = match self.changed(observed)? {
            None => None,
            Some((changes, changed)) => Some((changes, fleet_capacity(&changed, fleet, utilisation)?)),
        };
        let what_if = changed.as_ref().map(|(changes, changed)| (changes.as_str(), changed));
        let document = json::FleetDocument::new(&capacity, what_if);
        let text = text::fleet(&capacity, what_if);
        print(self.json, || json::render(&document), || text.clone())?;
        self.write_page("Rate of given machines", text, FoundTogether::Fleet(document.into()))
    }

    fn for_rate(
        &self,
        target_per_sec: f64,
        observed: &Observed,
        utilisation: f64,
        prices: Option<&PriceList>,
    ) -> anyhow::Result<Exit> {
        self.refuse_out()?;
        let goal = Goal { target_per_sec, utilisation };
        let plan = plan_machines(observed, goal);
        let cost = prices.map(|prices| price_plan(&plan, prices));
        let changed =
            self.changed(observed)?.map(|(changes, changed)| (changes, plan_machines(&changed, goal)));
        let what_if = changed.as_ref().map(|(changes, changed)| (changes.as_str(), changed));
        self.show(&PlanView { what_if, cost: cost.as_ref(), ..PlanView::new(&plan) })
    }

    fn for_day(
        &self,
        file: &Path,
        observed: &Observed,
        utilisation: f64,
        prices: Option<&PriceList>,
    ) -> anyhow::Result<Exit> {
        if !self.what_if.is_empty() {
            return Err(usage(
                "--what-if changes the plan of one rate; write --target RATE with it, not a file",
            ));
        }
        let day = plan_day(observed, &read_curve(file)?, utilisation, prices);
        let cost = day.peak_cost.as_ref();
        let shown = self.show(&PlanView { cost, day: Some(&day), ..PlanView::new(&day.peak) })?;
        let Some(out) = &self.out else { return Ok(shown) };
        let name = file_stem(file);
        let drawn = figure::day(&name, &day).map_err(anyhow::Error::from);
        let stem = format!("{name}-{}_machines", stamp());
        let outputs = drawn.map(|figure| Output::figure(&stem, figure).into());
        let is_drawn = Written::to(out, outputs, false).report(false);
        Ok(Exit::of_all(is_drawn && shown == Exit::Success, false))
    }

    /// Prints a plan and writes its page.
    fn show(&self, view: &PlanView<'_>) -> anyhow::Result<Exit> {
        let (document, text) = (json::PlanDocument::new(view), text::machines(view));
        print(self.json, || json::render(&document), || text.clone())?;
        let target = count_text(view.plan.goal.target_per_sec);
        let name = format!("Machines for {target} requests/s");
        self.write_page(&name, text, FoundTogether::Machines(document.into()))
    }

    fn write_page(&self, name: &str, text: String, found: FoundTogether) -> anyhow::Result<Exit> {
        let runs = self.files.iter().map(|file| (file_stem(file), Recorded::File(file.clone()))).collect();
        let written = self.page.write(None, || Together { name, text, found, runs }.page())?;
        Ok(Exit::of_all(written.report(false), false))
    }

    fn refuse_out(&self) -> anyhow::Result<()> {
        if self.out.is_none() {
            return Ok(());
        }
        Err(usage("--out draws the hours of a day; it goes with --target FILE.csv"))
    }
}
