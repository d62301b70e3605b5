//! The runs of an ablation: every combination in every round, in an order that is drawn anew for each.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use plimsoll_analyze::Trial;
use plimsoll_plan::{PlanFile, checked_name};
use plimsoll_units::count_text;

use super::order::Order;
use super::record::{Outcome, Table};
use super::state::{Combination, State, UnfitPlan};
use super::table::Measured;
use super::turning::{commands, footing};
use crate::args::{AblateArgs, CaseArgs};
use crate::command::lab::bed::{Bed, Maker, named};
use crate::command::recorded;
use crate::command::tiers::stamp;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, tell_error};

/// After so many runs in a row that failed the rest is given up.
const FAILED_MOST: u32 = 3;

/// One run to be made: a combination of a state, both by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Task {
    round: u32,
    state: usize,
    combination: usize,
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

/// Whether an ablation can be made of a file, in a quick pass or not.
///
/// # Errors
/// Why not.
pub(crate) fn check(file: &PlanFile, name: &str, quick: bool) -> Result<(), UnfitPlan> {
    State::all(file, name, quick).map(drop)
}

/// Makes the runs.
///
/// # Errors
/// When the file is not fit for it, or none of its runs says anything.
pub(crate) fn make(maker: &Maker<'_>, args: &AblateArgs, interrupted: &AtomicBool) -> anyhow::Result<Runs> {
    let states = State::all(maker.content(), maker.name(), args.quick)?;
    let stem = format!("{}-{}", maker.name(), stamp());
    let switches: Vec<String> = maker.content().switches.iter().map(|switch| switch.name.clone()).collect();
    let mut table = Table::new(&args.out, &stem, &switches, states.len() > 1);
    let measured = Measured { switches, ..Measured::default() };
    let mut experiment = Experiment {
        maker,
        states: &states,
        table: &mut table,
        measured,
        args,
        interrupted,
        failed: 0,
        failed_in_a_row: 0,
    };
    experiment.all();
    let (mut measured, failed) = (experiment.measured, experiment.failed);
    // Runs of the first state may have failed until others had succeeded.
    measured.states.sort_by_key(|known| states.iter().position(|state| state.name == known.group));
    if measured.states.is_empty() {
        bail!("no run of {} says anything; what failed is told above", maker.name());
    }
    if !args.quiet {
        remark(&format!("wrote {}", table.path().display()));
    }
    let (stem, table) = (format!("{stem}.ablation"), table.path().to_owned());
    Ok(Runs { measured, stem, failed: failed > 0, table })
}

/// True if two runs can be made in one lab.
fn in_one_lab(states: &[State], a: &Task, b: &Task) -> bool {
    let file = |task: &Task| &states[task.state].combinations[task.combination].file;
    footing(file(a)) == footing(file(b))
}

/// An ablation under way.
struct Experiment<'a> {
    maker: &'a Maker<'a>,
    states: &'a [State],
    table: &'a mut Table,
    measured: Measured,
    args: &'a AblateArgs,
    interrupted: &'a AtomicBool,
    /// Runs that failed.
    failed: u32,
    /// Those of them since one succeeded; hosts that could not be started count as one.
    failed_in_a_row: u32,
}

impl<'a> Experiment<'a> {
    fn all(&mut self) {
        let mut order = Order::new(self.args.seed);
        let rounds = u32::try_from(self.args.rounds).unwrap_or(u32::MAX);
        self.announce();
        for round in 0..rounds {
            let tasks = self.round(round, &mut order);
            let states = self.states;
            for group in tasks.chunk_by(|a, b| in_one_lab(states, a, b)) {
                self.in_one_bed(group);
                if self.ended() {
                    return;
                }
                if self.failed_in_a_row >= FAILED_MOST {
                    let count = self.failed_in_a_row;
                    remark(&format!("plimsoll: {count} runs in a row failed; the rest is left out"));
                    return;
                }
            }
        }
    }

    /// The runs of a round. States come one after another, backwards in every second round, so that what drifts is not taken for
    /// the step between them.
    fn round(&self, round: u32, order: &mut Order) -> Vec<Task> {
        let mut of_states: Vec<Vec<Task>> = (0..self.states.len())
            .map(|state| {
                let task = |combination| Task { round, state, combination };
                let count = self.states[state].combinations.len();
                let places = order.of(count, |a, b| in_one_lab(self.states, &task(a), &task(b)));
                places.into_iter().map(task).collect()
            })
            .collect();
        if round % 2 == 1 {
            of_states.reverse();
        }
        of_states.concat()
    }

    fn combination(&self, task: &Task) -> &'a Combination {
        &self.states[task.state].combinations[task.combination]
    }

    fn ended(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs of a round.
    fn runs(&self) -> usize {
        self.states.iter().map(|state| state.combinations.len()).sum()
    }

    fn announce(&self) {
        if self.args.quiet {
            return;
        }
        let what = match self.states {
            [only] => format!("{}, {}", only.design(), self.runs()),
            states => format!("{} states of it, {} combinations", states.len(), self.runs()),
        };
        remark(&format!("{}: {what} in each of {} rounds, in turn", self.maker.name(), self.args.rounds));
    }

    /// A run in words.
    fn described(&self, task: &Task) -> String {
        let state = &self.states[task.state];
        let on = state.on(&self.combination(task).settings);
        let group = state.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        format!("round {}, {group}{on}", task.round + 1)
    }

    /// The runs for which the hosts need not be started again, unless a service ends. Hosts are started once in each round at
    /// least, for a server that is started again settles differently: that belongs to what repeats show.
    fn in_one_bed(&mut self, tasks: &[Task]) {
        let mut kept: Option<Bed<'a>> = None;
        for (index, task) in tasks.iter().enumerate() {
            let Some(mut bed) = kept.take().or_else(|| self.started(task)) else {
                self.failed += (tasks.len() - index) as u32;
                return;
            };
            match self.one(&mut bed, task) {
                Ok(outcome) => {
                    self.failed_in_a_row = 0;
                    self.tell(task, &outcome);
                }
                Err(_) if self.ended() => return,
                Err(error) => {
                    self.failed += 1;
                    self.failed_in_a_row += 1;
                    tell_error(&error.context(self.described(task)));
                }
            }
            if self.ended() || self.failed_in_a_row >= FAILED_MOST {
                return;
            }
            if bed.is_up() {
                kept = Some(bed);
            }
        }
    }

    /// The hosts of a run, or why there are none is told.
    fn started(&mut self, task: &Task) -> Option<Bed<'a>> {
        let maker = self.maker;
        let error = match maker.bed(maker.name(), &self.combination(task).file) {
            Ok(bed) => return Some(bed),
            Err(error) => error,
        };
        self.failed_in_a_row += 1;
        if !self.ended() {
            tell_error(&error.context(format!("{} could not be started", maker.name())));
        }
        None
    }

    fn tell(&self, task: &Task, outcome: &Outcome) {
        if self.args.quiet {
            return;
        }
        let done = self.measured.states.iter().map(|state| state.trials.len()).sum::<usize>();
        let all = self.runs() as u64 * self.args.rounds;
        let at_least = if outcome.at_most { "≥ " } else { "" };
        remark(&format!(
            "{done} of {all}: {}: {at_least}{} requests/s",
            self.described(task),
            count_text(outcome.throughput_per_sec)
        ));
        if outcome.at_most {
            remark(
                "plimsoll: the load generator was the limit: what that combination takes is less than is told",
            );
        }
    }

    /// What a run and its file are called. Of many switches the names do not fit: then the number of the combination stands
    /// for them.
    fn name(&self, task: &Task) -> String {
        let state = &self.states[task.state];
        let group = state.name.as_ref().map_or_else(String::new, |name| format!("{name}-"));
        let named = |on: &str| format!("{}-{group}{on}-r{}", self.maker.name(), task.round + 1);
        let on = state.on(&self.combination(task).settings).replace('+', "-");
        checked_name(named(&on)).unwrap_or_else(|_| named(&format!("c{}", task.combination + 1)))
    }

    /// Makes one run, and keeps what came of it before anything else happens.
    fn one(&mut self, bed: &mut Bed<'_>, task: &Task) -> anyhow::Result<Outcome> {
        let combination = self.combination(task);
        for (host, command) in commands(&combination.file.switches, &combination.settings) {
            bed.call(host, command).with_context(|| format!("could not call `{command}`"))?;
        }
        let path: PathBuf = bed.run(&self.name(task), &combination.file)?;
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
        let connections = Some(f64::from(outcome.connections));
        if self.measured.states.is_empty() {
            self.table.beside = outcome.beside.iter().map(|(name, _)| name.clone()).collect();
            self.measured.connections = connections;
        } else if self.measured.connections != connections {
            self.measured.connections = None;
        }
        let trial = Trial {
            settings: self.combination(task).settings.clone(),
            round: Some(task.round),
            throughput_per_sec: outcome.throughput_per_sec,
            at_most: outcome.at_most,
            beside: outcome.in_order(&self.table.beside),
        };
        let group = self.states[task.state].name.as_deref();
        self.table.add(group, &trial, &outcome, path)?;
        self.measured.add(group.map(ToOwned::to_owned), trial, &self.table.beside);
        Ok(outcome)
    }
}
