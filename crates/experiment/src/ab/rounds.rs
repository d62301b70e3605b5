//! Makes the rounds of a comparison: each round loads both sides, in a random order.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use plimsoll_analyze::ab::{AbFindings, AbLoad, AbRule, AbSide, Unusable, compare_sides};
use plimsoll_conductor::{RunOptions, conduct};
use plimsoll_plan::{LoadSpec, Plan, PlanSpec};
use plimsoll_record::RunCommand;
use plimsoll_store::file_date;
use plimsoll_units::{Clock, Instant, RealClock, unix_ms};

use super::folder::{AbRecord, new_folder, read_load, run_name, set_aside};
use super::service::{RunningService, ServicePlace};
use crate::ExperimentError;
use crate::context::{AbProgress, Progress, RunContext};
use crate::order::Order;
use crate::recorded::read_run;

/// The number of rounds within which A is first as often as B.
const BLOCK: usize = 4;
/// After this many unusable loads of one side in a row, the comparison ends.
const MAX_FAILED_IN_A_ROW: u32 = 3;
/// The comparison is evaluated after each of the first 100 complete rounds, then after every 16th, as are the looks of the test: the
/// time to evaluate grows with the square of the rounds.
const ALL_SHOWN: u32 = 100;
const THEN_SHOWN: u32 = 16;
/// How often the interrupt is checked during a pause.
const POLL: Duration = Duration::from_millis(50);
/// The shortest ladder to find the number of connections; a shorter one has no step.
const MIN_LADDER: Duration = Duration::from_secs(5);
/// The longest such ladder, and the fraction of the budget that it may take.
const MAX_LADDER: Duration = Duration::from_secs(30);
const LADDER_PART: u32 = 10;

/// The specification of one side.
#[derive(Debug, Clone)]
pub struct AbSideSpec {
    /// The URL or command, as typed.
    pub label: String,
    /// The name in errors, which documents show: without logins and without values of queries.
    pub shown: String,
    /// The plan of each load of the side.
    pub spec: PlanSpec,
    /// The shell command that starts the service for each load; `None` for a service that already runs.
    pub command: Option<String>,
}

/// The specification of a comparison.
#[derive(Debug)]
pub struct AbSpec<'a> {
    /// A and B.
    pub sides: [AbSideSpec; 2],
    /// The text of the plans' CSV file.
    pub csv: Option<&'a [u8]>,
    pub probing: bool,
    /// A path that a started service answers with success once it is ready; `None` waits for a connection instead.
    pub ready_page: Option<&'a str>,
    /// True if a ladder on A finds the number of connections for both sides.
    pub finds_connections: bool,
    pub rule: AbRule,
    /// The pause before each load.
    pub pause: Duration,
    pub seed: u64,
    /// The first part of the folder's name; the time follows.
    pub name: &'a str,
    /// Set once the user also interrupts the wait for started services to end.
    pub at_once: &'a AtomicBool,
}

/// Why a comparison ended.
#[derive(Debug)]
pub enum AbEnd {
    /// The confidence interval of the main ratio is narrow enough.
    Enough,
    /// The time budget, or the maximum number of rounds, is used up.
    Budget,
    Interrupted,
    /// One side failed too often.
    Failed(Box<ExperimentError>),
}

/// A completed comparison.
#[derive(Debug)]
pub struct AbRuns {
    pub folder: PathBuf,
    pub record: AbRecord,
    /// The loads in the order in which they were made.
    pub loads: Vec<AbLoad>,
    pub findings: AbFindings,
    pub end: AbEnd,
}

/// Compares two services.
///
/// # Errors
/// When a side cannot be loaded before the first round is complete, or the folder cannot be written.
pub fn run_ab<'a>(mut spec: AbSpec<'a>, context: RunContext<'a>) -> Result<AbRuns, ExperimentError> {
    let restarts = spec.sides.iter().any(|side| side.command.is_some());
    let labels = spec.sides.each_ref().map(|side| side.label.clone());
    let record = AbRecord::new(labels, spec.seed, restarts, spec.rule);
    let places = places(&spec)?;
    let folder = new_folder(&context.settings.out, &format!("{}-{}", spec.name, file_date(unix_ms())))?;
    record.write(&folder)?;
    let order = Order::new(Some(spec.seed));
    let mut rounds = Rounds {
        spec: &mut spec,
        places,
        folder,
        context,
        loads: Vec::new(),
        failed_in_a_row: [0; 2],
        order,
        block: Vec::new(),
    };
    let end = rounds.all()?;
    let Rounds { folder, loads, .. } = rounds;
    let findings = compare_sides(&loads, spec.rule)?;
    Ok(AbRuns { folder, record, loads, findings, end })
}

/// True if a load of B failed in a way that is a result about B: too few of its requests succeeded.
fn is_of_b(load: &AbLoad) -> bool {
    load.side == AbSide::B && matches!(load.unusable, Some(Unusable::Failing(_)))
}

/// The number of rounds in which both sides were measured. Looks are due by this number, so failed rounds do not count.
fn complete_rounds(loads: &[AbLoad]) -> u32 {
    let usable: Vec<u32> =
        loads.iter().filter(|load| load.unusable.is_none()).map(|load| load.round).collect();
    usable.windows(2).filter(|pair| pair[0] == pair[1]).count() as u32
}

fn is_judged_after(complete: u32) -> bool {
    complete <= ALL_SHOWN || complete.is_multiple_of(THEN_SHOWN)
}

/// The places of the services that are started here.
fn places(spec: &AbSpec<'_>) -> Result<[Option<ServicePlace>; 2], ExperimentError> {
    let place = |side: &AbSideSpec| -> Result<Option<ServicePlace>, ExperimentError> {
        let plan = side.spec.clone().freeze()?;
        let started = side.command.is_some();
        Ok(started.then(|| ServicePlace::new(&plan, spec.ready_page)).transpose()?)
    };
    let [a, b] = &spec.sides;
    Ok([place(a)?, place(b)?])
}

struct Rounds<'s, 'a> {
    spec: &'s mut AbSpec<'a>,
    places: [Option<ServicePlace>; 2],
    folder: PathBuf,
    context: RunContext<'a>,
    loads: Vec<AbLoad>,
    failed_in_a_row: [u32; 2],
    order: Order,
    /// For each round to come in this block, whether A is first.
    block: Vec<bool>,
}

impl Rounds<'_, '_> {
    fn all(&mut self) -> Result<AbEnd, ExperimentError> {
        if self.spec.finds_connections {
            self.find_connections()?;
        }
        self.try_both()?;
        let began = RealClock.now();
        for round in 1.. {
            let round_began = RealClock.now();
            if let Some(end) = self.round(round)? {
                return Ok(end);
            }
            if is_judged_after(complete_rounds(&self.loads)) && self.is_enough()? {
                return Ok(AbEnd::Enough);
            }
            if self.is_over(round, began, round_began) {
                break;
            }
        }
        Ok(AbEnd::Budget)
    }

    /// Evaluates and reports the comparison; true if the result is precise enough.
    fn is_enough(&self) -> Result<bool, ExperimentError> {
        let findings = compare_sides(&self.loads, self.spec.rule)?;
        self.context.report(&Progress::Ab(AbProgress::RoundEnded(&findings)));
        Ok(findings.enough)
    }

    /// True if another round would exceed the number of rounds or the budget.
    fn is_over(&self, round: u32, began: Instant, round_began: Instant) -> bool {
        let now = RealClock.now();
        let with_another = now.since(began) + now.since(round_began);
        self.spec.rule.rounds_max.is_some_and(|most| round >= most)
            || with_another.as_secs_f64() > self.spec.rule.budget_sec
    }

    /// Finds the number of connections with a ladder on A: the fewest that reach its plateau.
    fn find_connections(&mut self) -> Result<(), ExperimentError> {
        let budget = Duration::from_secs_f64(self.spec.rule.budget_sec) / LADDER_PART;
        let mut spec = self.spec.sides[0].spec.clone();
        let budget = Some(budget.clamp(MIN_LADDER, MAX_LADDER));
        spec.load = LoadSpec::Ladder { steps: None, step_limit: None, budget };
        spec.name = Some("ladder".to_owned());
        let plan = spec.freeze()?;
        let path = self.with_service(AbSide::A, |rounds| rounds.load(plan, RunCommand::Sweep))?;
        let findings = read_run(&path)?.findings;
        if self.context.is_interrupted() {
            return Err(ExperimentError::Interrupted);
        }
        let best = findings.best_answered_step().map(|(_, step)| step.connections);
        let Some(found) = findings.knee.map(|knee| knee.connections).or(best) else {
            return Err(ExperimentError::Useless { path, why: "nothing was answered".to_owned() });
        };
        for side in &mut self.spec.sides {
            if let LoadSpec::Single { connections, .. } = &mut side.spec.load {
                *connections = Some(found.into());
            }
        }
        self.context.report(&Progress::Ab(AbProgress::ConnectionsFound(found)));
        Ok(())
    }

    /// Loads each running service once, so that errors appear early and neither service is colder than the other.
    fn try_both(&mut self) -> Result<(), ExperimentError> {
        for side in AbSide::BOTH {
            if self.spec.sides[side as usize].command.is_none() {
                let load = self.side(side, 0)?;
                if let Some(why) = load.unusable.filter(|_| !self.context.is_interrupted() && !is_of_b(&load))
                {
                    return Err(self.useless(&load, why));
                }
            }
        }
        if self.context.is_interrupted() { Err(ExperimentError::Interrupted) } else { Ok(()) }
    }

    /// Makes a round; `Some` if the comparison ends within it.
    fn round(&mut self, round: u32) -> Result<Option<AbEnd>, ExperimentError> {
        for side in self.next_order() {
            let outcome = self.side(side, round);
            if self.context.is_interrupted() {
                return Ok(Some(AbEnd::Interrupted));
            }
            let error = match outcome {
                Ok(load) => {
                    let error = load.unusable.map(|why| self.useless(&load, why));
                    self.loads.push(load);
                    error
                }
                Err(error) => Some(error),
            };
            if let Some(end) = self.count(side, error)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Counts failures in a row after each load.
    fn count(
        &mut self,
        side: AbSide,
        error: Option<ExperimentError>,
    ) -> Result<Option<AbEnd>, ExperimentError> {
        let failed = &mut self.failed_in_a_row[side as usize];
        let Some(error) = error else {
            *failed = 0;
            return Ok(None);
        };
        *failed += 1;
        if self.loads.iter().all(|load| load.unusable.is_some() && !is_of_b(load)) {
            return Err(error);
        }
        if *failed >= MAX_FAILED_IN_A_ROW {
            return Ok(Some(AbEnd::Failed(error.into())));
        }
        self.context.report(&Progress::RunFailed(&error));
        Ok(None)
    }

    fn next_order(&mut self) -> [AbSide; 2] {
        if self.block.is_empty() {
            let places = self.order.draw(BLOCK, |_, _| true);
            self.block = places.into_iter().map(|place| place < BLOCK / 2).collect();
        }
        if self.block.pop() == Some(true) { [AbSide::A, AbSide::B] } else { [AbSide::B, AbSide::A] }
    }

    fn shown(&self, side: AbSide) -> String {
        format!("{} ({})", side.name(), self.spec.sides[side as usize].shown)
    }

    /// Makes the load of one side.
    fn side(&mut self, side: AbSide, round: u32) -> Result<AbLoad, ExperimentError> {
        self.context.report(&Progress::Ab(AbProgress::SideBegins { side, round }));
        self.rest();
        let plan = self.plan(side, round)?;
        let command = if plan.search.is_some() { RunCommand::Search } else { RunCommand::Run };
        let path = self.with_service(side, |rounds| rounds.load(plan, command));
        let path = path.map_err(|error| match error.kind() {
            crate::ErrorKind::Interrupted => error,
            _ => error.in_part(self.shown(side)),
        })?;
        read_load(&path, side, round)
    }

    fn useless(&self, load: &AbLoad, why: Unusable) -> ExperimentError {
        let why = match why {
            Unusable::Cut => "it was ended early".to_owned(),
            Unusable::Lost => "from some point on no connection was accepted".to_owned(),
            Unusable::Silent => "nothing was answered".to_owned(),
            Unusable::Failing(ratio) => format!("only {:.1} % of the requests succeeded", 100.0 * ratio),
        };
        ExperimentError::SideFailed { side: self.shown(load.side), round: load.round, why }
    }

    /// The plan of a load. Both sides of a round get the same arrivals. A service that is not restarted is warmed up once.
    fn plan(&self, side: AbSide, round: u32) -> Result<Plan, ExperimentError> {
        let AbSideSpec { spec, command, .. } = &self.spec.sides[side as usize];
        let mut spec = spec.clone();
        spec.name = Some(run_name(round, side));
        spec.seed = spec.seed.wrapping_add(round.into());
        if command.is_none() && round > 0 {
            spec.warm = None;
        }
        Ok(spec.freeze()?)
    }

    fn load(&self, plan: Plan, command: RunCommand) -> Result<PathBuf, ExperimentError> {
        let options = RunOptions {
            command_line: self.context.settings.command_line.clone(),
            folder: Some(&self.folder),
            csv: self.spec.csv,
            calibrations: self.context.calibrations,
            probing: self.spec.probing,
            ..RunOptions::new(command, env!("CARGO_PKG_VERSION"), self.context.interrupted)
        };
        let outcome = conduct(plan, options, &mut *self.context.observer.run_observer())?;
        match (outcome.file, outcome.trouble) {
            (Some(path), None) => Ok(path),
            (_, Some(trouble)) => Err(trouble.into()),
            (None, None) => Err(ExperimentError::NoRunFile),
        }
    }

    /// Makes a load; starts the side's service for it if the side has a command. Returns the run file.
    fn with_service(
        &self,
        side: AbSide,
        load: impl FnOnce(&Self) -> Result<PathBuf, ExperimentError>,
    ) -> Result<PathBuf, ExperimentError> {
        let (Some(command), Some(place)) =
            (&self.spec.sides[side as usize].command, &self.places[side as usize])
        else {
            return load(self);
        };
        let log = self.log(side);
        let signals = (self.context.interrupted, self.spec.at_once);
        let service = RunningService::start(command, place, &log, signals)?;
        let loaded = load(self);
        let ended = service.end();
        if self.context.is_interrupted() {
            return loaded;
        }
        // The end of the service is the better explanation for a failed load.
        if let Err(error) = ended {
            loaded.ok().as_deref().map_or(Ok(()), set_aside)?;
            return Err(error.into());
        }
        loaded
    }

    /// The log with the output of a side's last start.
    fn log(&self, side: AbSide) -> PathBuf {
        Path::new(&self.folder).join(format!("{}.log", side.name().to_lowercase()))
    }

    fn rest(&self) {
        let began = RealClock.now();
        while !self.context.is_interrupted() {
            let left = self.spec.pause.saturating_sub(RealClock.now().since(began));
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(POLL));
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::ab::LoadKind;
    use plimsoll_record::EncodedHistogram;

    use super::*;

    fn load(side: AbSide, round: u32, unusable: Option<Unusable>) -> AbLoad {
        AbLoad {
            side,
            round,
            kind: LoadKind::Closed,
            began_unix_ms: 0,
            ended_unix_ms: 0,
            connections: 1,
            rate_per_sec: None,
            throughput_per_sec: 1.0,
            max_rate_per_sec: None,
            gap: None,
            cpu_sec: None,
            succeeded: 1,
            ended: 1,
            lower_bound: false,
            unusable,
            latency: EncodedHistogram::default(),
        }
    }

    #[test]
    fn a_round_that_failed_does_not_move_the_looks() {
        let failed = |round| (round == 3).then_some(Unusable::Silent);
        let loads = |rounds: u32| -> Vec<AbLoad> {
            (1..=rounds)
                .flat_map(|round| [load(AbSide::B, round, failed(round)), load(AbSide::A, round, None)])
                .collect()
        };
        assert_eq!(complete_rounds(&loads(129)), 128);
        assert!(is_judged_after(complete_rounds(&loads(129))), "a look is due after 128 complete rounds");
        assert!(!is_judged_after(complete_rounds(&loads(128))));
        assert_eq!(complete_rounds(&[]), 0);
    }
}
