//! The runs of an ablation: every combination in every round, in an order that is drawn anew for each.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use plimsoll_analyze::{Design, Trial, settings_of};
use plimsoll_plan::{LoadSpec, PlanFile, Turn};
use plimsoll_units::count_text;

use super::record::{Outcome, Table};
use super::table::Measured;
use super::turning::{commands, environment, turned};
use crate::args::{AblateArgs, CaseArgs};
use crate::command::lab::bed::{Bed, Maker, named};
use crate::command::recorded;
use crate::command::tiers::stamp;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, tell_error};

/// After so many runs in a row that failed the rest is given up.
const FAILED_MOST: u32 = 3;

/// A plan file that no ablation can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnfitPlan {
    /// No switches.
    #[error(
        "{0} has no switches; add [[switch]] tables, each with a name and a header, query, env or command"
    )]
    NoSwitch(String),
    /// Not one number of connections.
    #[error(
        "an ablation compares runs of one number of connections: write `ladder = [64]` into [load], of several the highest is \
         taken; a rate or a search has none"
    )]
    Load,
    /// A switch of a host that is not made.
    #[error(
        "switch `{switch}` is of the host `{host}`, which {file} does not make; its environment can only be set there"
    )]
    Host {
        /// The switch.
        switch: String,
        /// The host.
        host: String,
        /// The file.
        file: String,
    },
}

/// One run to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Task {
    round: u32,
    settings: Vec<bool>,
}

pub(super) fn run(file: &str, args: &AblateArgs) -> anyhow::Result<Exit> {
    let read = named(file)?;
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let how = CaseArgs::compared(args.quick, &args.out, args.quiet);
    let maker = Maker::new(read, &how, &interrupted);
    let made = make(&maker, args, &interrupted)?;
    let drawn = super::told(&made.measured, Some(&made.stem), args)?;
    Ok(Exit::of_all(drawn && !made.failed, interrupted.load(Ordering::Relaxed)))
}

/// The runs of an ablation, as far as they were made.
pub(crate) struct Runs {
    pub(super) measured: Measured,
    /// The name of the figure's files, and of the table's but for its ending.
    pub(crate) stem: String,
    /// True if a run failed, which was told.
    pub(crate) failed: bool,
    /// The table of them.
    pub(crate) table: PathBuf,
}

/// Whether an ablation can be made of a file.
///
/// # Errors
/// Why not.
pub(crate) fn check(file: &PlanFile, name: &str) -> Result<(), UnfitPlan> {
    fit(file, name).map(drop)
}

/// Makes the runs.
///
/// # Errors
/// When the file is not fit for it, or none of its runs says anything.
pub(crate) fn make(maker: &Maker<'_>, args: &AblateArgs, interrupted: &AtomicBool) -> anyhow::Result<Runs> {
    let plan = fit(maker.content(), maker.name())?;
    let stem = format!("{}-{}", maker.name(), stamp());
    let switches: Vec<String> = plan.switches.iter().map(|switch| switch.name.clone()).collect();
    let mut table = Table::new(&args.out, &stem, &switches);
    let measured = Measured { switches, ..Measured::default() };
    let mut experiment =
        Experiment { maker, plan, table: &mut table, measured, args, interrupted, failed: 0 };
    experiment.all();
    let (measured, failed) = (experiment.measured, experiment.failed);
    if measured.states.is_empty() {
        bail!("no run of {} says anything; what failed is told above", maker.name());
    }
    if !args.quiet {
        remark(&format!("wrote {}", table.path().display()));
    }
    let (stem, table) = (format!("{stem}.ablation"), table.path().to_owned());
    Ok(Runs { measured, stem, failed: failed > 0, table })
}

/// The plan as it is run: with one number of connections.
fn fit(file: &PlanFile, name: &str) -> Result<PlanFile, UnfitPlan> {
    let mut file = file.clone();
    if file.switches.is_empty() {
        return Err(UnfitPlan::NoSwitch(name.to_owned()));
    }
    for switch in &file.switches {
        if let Turn::Environment { host, .. } = &switch.turn
            && !file.lab_hosts.iter().any(|known| known.name == *host && !known.run.is_empty())
        {
            let (switch, host) = (switch.name.clone(), host.clone());
            return Err(UnfitPlan::Host { switch, host, file: name.to_owned() });
        }
    }
    match &mut file.spec.load {
        LoadSpec::Ladder { rungs: Some(rungs), .. } => {
            let highest = rungs.iter().copied().max().ok_or(UnfitPlan::Load)?;
            *rungs = vec![highest];
        }
        _ => return Err(UnfitPlan::Load),
    }
    Ok(file)
}

/// An ablation under way.
struct Experiment<'a> {
    maker: &'a Maker<'a>,
    plan: PlanFile,
    table: &'a mut Table,
    measured: Measured,
    args: &'a AblateArgs,
    interrupted: &'a AtomicBool,
    /// Runs that failed.
    failed: u32,
}

impl Experiment<'_> {
    fn all(&mut self) {
        let count = self.plan.switches.len();
        let cells = settings_of(Design::of(count), count);
        let mut order = Order::new(self.args.seed);
        let rounds = u32::try_from(self.args.rounds).unwrap_or(u32::MAX);
        self.announce(&cells);
        let mut failed_in_a_row = 0;
        for round in 0..rounds {
            let switches = self.plan.switches.clone();
            let shuffled = order.of(&cells, |settings| environment(&switches, settings));
            for group in shuffled.chunk_by(|a, b| environment(&switches, a) == environment(&switches, b)) {
                let tasks: Vec<Task> =
                    group.iter().map(|settings| Task { round, settings: settings.clone() }).collect();
                self.in_one_bed(&tasks, cells.len(), &mut failed_in_a_row);
                if self.ended() {
                    return;
                }
                if failed_in_a_row >= FAILED_MOST {
                    remark(&format!(
                        "plimsoll: {failed_in_a_row} runs in a row failed; the rest is left out"
                    ));
                    return;
                }
            }
        }
    }

    fn ended(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn announce(&self, cells: &[Vec<bool>]) {
        let design = match Design::of(self.plan.switches.len()) {
            Design::Full => "all combinations of its switches",
            _ => "its switches one at a time: none, all, each by itself and each left out",
        };
        if !self.args.quiet {
            remark(&format!(
                "{}: {design}, {} in each of {} rounds, in turn",
                self.maker.name(),
                cells.len(),
                self.args.rounds
            ));
        }
    }

    fn on(&self, settings: &[bool]) -> String {
        let on = self.plan.switches.iter().zip(settings).filter(|(_, on)| **on);
        let names: Vec<&str> = on.map(|(switch, _)| switch.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join("+") }
    }

    /// The runs for which the hosts need not be started again. Hosts are started once in each round at least, for a server
    /// that is started again settles differently: that belongs to what repeats show.
    fn in_one_bed(&mut self, tasks: &[Task], cells: usize, failed_in_a_row: &mut u32) {
        let Some(first) = tasks.first() else { return };
        let maker = self.maker;
        let bed = maker.bed(maker.name(), &turned(&self.plan, &first.settings));
        let mut bed = match bed {
            Ok(bed) => bed,
            Err(error) => {
                self.failed += tasks.len() as u32;
                *failed_in_a_row += tasks.len() as u32;
                if !self.ended() {
                    tell_error(&error.context(format!("{} could not be started", maker.name())));
                }
                return;
            }
        };
        for task in tasks {
            match self.one(&mut bed, task) {
                Ok(outcome) => {
                    *failed_in_a_row = 0;
                    self.tell(task, &outcome, cells);
                }
                Err(_) if self.ended() => return,
                Err(error) => {
                    self.failed += 1;
                    *failed_in_a_row += 1;
                    tell_error(&error.context(format!(
                        "round {}, {}",
                        task.round + 1,
                        self.on(&task.settings)
                    )));
                }
            }
            if self.ended() || *failed_in_a_row >= FAILED_MOST {
                return;
            }
        }
    }

    fn tell(&self, task: &Task, outcome: &Outcome, cells: usize) {
        if self.args.quiet {
            return;
        }
        let done = self.measured.states.iter().map(|state| state.trials.len()).sum::<usize>();
        let all = cells as u64 * self.args.rounds;
        let at_least = if outcome.at_most { "≥ " } else { "" };
        remark(&format!(
            "{done} of {all}: round {}, {}: {at_least}{} requests/s",
            task.round + 1,
            self.on(&task.settings),
            count_text(outcome.throughput_per_sec)
        ));
        if outcome.at_most {
            remark(
                "plimsoll: the load generator was the limit: what that combination takes is less than is told",
            );
        }
    }

    /// Makes one run, and keeps what came of it before anything else happens.
    fn one(&mut self, bed: &mut Bed<'_>, task: &Task) -> anyhow::Result<Outcome> {
        for (host, command) in commands(&self.plan.switches, &task.settings) {
            bed.call(host, command).with_context(|| format!("could not call `{command}`"))?;
        }
        let name = format!("{}/{}-r{}", self.maker.name(), self.on(&task.settings), task.round + 1);
        let name = name.replace('+', "-");
        let path: PathBuf = bed.run(&name, &turned(&self.plan, &task.settings))?;
        if self.ended() {
            bail!("the run was cut short");
        }
        self.keep(task, &path)
    }

    fn keep(&mut self, task: &Task, path: &Path) -> anyhow::Result<Outcome> {
        let (run, findings) = recorded::read(path)?;
        let outcome = match Outcome::of(&run, &findings) {
            Ok(outcome) => outcome,
            Err(why) => bail!("{} says nothing of this combination: {why}", path.display()),
        };
        if self.measured.states.is_empty() {
            self.table.beside = outcome.beside.iter().map(|(name, _)| name.clone()).collect();
            self.measured.connections = Some(f64::from(outcome.connections));
        }
        let trial = Trial {
            settings: task.settings.clone(),
            round: Some(task.round),
            throughput_per_sec: outcome.throughput_per_sec,
            at_most: outcome.at_most,
            beside: outcome.in_order(&self.table.beside),
        };
        self.table.add(&trial, &outcome, path)?;
        self.measured.add(None, trial, &self.table.beside);
        Ok(outcome)
    }
}

/// Orders drawn from a seed: Fisher and Yates with a splitmix64 sequence, which is plenty for a few dozen runs.
struct Order {
    state: u64,
}

impl Order {
    fn new(seed: Option<u64>) -> Self {
        let clock =
            || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64);
        Self { state: seed.unwrap_or_else(clock) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The combinations in an order of their own, those of one environment one after another.
    fn of(&mut self, cells: &[Vec<bool>], environment: impl Fn(&[bool]) -> Vec<bool>) -> Vec<Vec<bool>> {
        let mut shuffled = cells.to_vec();
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
        let environments: Vec<Vec<bool>> = shuffled.iter().map(|settings| environment(settings)).collect();
        let rank =
            |settings: &Vec<bool>| environments.iter().position(|other| *other == environment(settings));
        shuffled.sort_by_key(rank);
        shuffled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_combination_once_and_keeps_environments_together() {
        let cells = settings_of(Design::Full, 3);
        let mut order = Order::new(Some(7));
        let (first, second) = (order.of(&cells, |_| Vec::new()), order.of(&cells, |_| Vec::new()));
        assert_ne!(first, second, "each round has an order of its own");
        let mut sorted = first.clone();
        sorted.sort();
        let mut all = cells.clone();
        all.sort();
        assert_eq!(sorted, all);
        let grouped = order.of(&cells, |settings| vec![settings[0]]);
        assert_eq!(grouped.chunk_by(|a, b| a[0] == b[0]).count(), 2, "{grouped:?}");
        assert_eq!(Order::new(Some(7)).of(&cells, |_| Vec::new()), first, "a seed repeats its orders");
    }

    #[test]
    fn a_plan_without_switches_or_with_a_rate_is_refused() {
        let file = |rest: &str| PlanFile::parse(&format!("[target]\nurl = \"http://web/\"\n{rest}")).unwrap();
        let switch = "[[switch]]\nname = \"a\"\nquery = \"a=1\"\n";
        assert!(matches!(fit(&file(""), "f"), Err(UnfitPlan::NoSwitch(_))));
        assert_eq!(fit(&file(&format!("[load]\nrate = 10\n{switch}")), "f"), Err(UnfitPlan::Load));
        let fitted = fit(&file(&format!("[load]\nladder = [8, 64, 16]\n{switch}")), "f").unwrap();
        assert!(matches!(fitted.spec.load, LoadSpec::Ladder { rungs: Some(rungs), .. } if rungs == [64]));
        let env = "[load]\nladder = [8]\n[[switch]]\nname = \"a\"\nhost = \"web\"\nenv = \"A=1\"\n";
        assert!(matches!(fit(&file(env), "f"), Err(UnfitPlan::Host { .. })));
    }
}
