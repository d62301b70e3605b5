//! Makes the trials of an ablation: every combination in every round, in a new random order for each round.

use std::path::{Path, PathBuf};

use plimsoll_analyze::Trial;
use plimsoll_plan::checked_name;
use plimsoll_store::file_date;
use plimsoll_units::unix_ms;

use super::measured::MeasuredStates;
use super::states::{Combination, State};
use super::switches::{commands, footing};
use super::trial::{TrialId, TrialResult};
use super::trials_file::TrialsFile;
use crate::ExperimentError;
use crate::context::{Progress, RunContext};
use crate::lab_file::{Case, LabFile};
use crate::order::Order;
use crate::recorded::read_run;
use crate::runner::PlanRunner;
use crate::session::Session;

/// After this many failures in a row, the rest is left out.
const MAX_FAILED_IN_A_ROW: u32 = 3;

/// The successful trials of an ablation.
#[derive(Debug)]
pub struct AblationRuns {
    pub measured: MeasuredStates,
    /// The file name of the table without its extension, used for figures.
    pub stem: String,
    /// True if a trial failed; failures were reported.
    pub failed: bool,
    pub table: PathBuf,
}

/// One trial to make: the indices of a state and of its combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Task {
    round: u32,
    state: usize,
    combination: usize,
}

/// Checks whether an ablation can be made of a file, in a quick pass or not.
///
/// # Errors
/// When the file is not fit for an ablation.
pub fn check_ablation(file: &LabFile, quick: bool) -> Result<(), ExperimentError> {
    State::all(&file.content, file.name(), quick)?;
    Ok(())
}

/// Makes the trials of a file: each combination `rounds` times, in an order drawn from `seed`, or from the clock for `None`.
///
/// # Errors
/// When the file is not fit for an ablation, no trial succeeded, or the user interrupted before one did.
pub fn ablate(
    file: &LabFile,
    runner: &PlanRunner<'_>,
    rounds: u64,
    seed: Option<u64>,
    context: RunContext<'_>,
) -> Result<AblationRuns, ExperimentError> {
    let states = State::all(&file.content, file.name(), context.settings.quick)?;
    let stem = format!("{}-{}", file.name(), file_date(unix_ms()));
    let switches: Vec<String> = file.content.switches.iter().map(|switch| switch.name.clone()).collect();
    let table = TrialsFile::new(&context.settings.out, &stem, &switches, states.len() > 1);
    let measured = MeasuredStates::new(switches);
    let mut ablation = Ablation {
        file,
        runner,
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        context,
        states: &states,
        table,
        measured,
        failed: 0,
        failed_in_a_row: 0,
    };
    ablation.run_all(Order::new(seed));
    let Ablation { mut measured, failed, table, .. } = ablation;
    // The first success of a state may come after successes of the next state.
    measured.states.sort_by_key(|known| states.iter().position(|state| state.name == known.group));
    if measured.states.is_empty() {
        return Err(match context.is_interrupted() {
            true => ExperimentError::Interrupted,
            false => ExperimentError::NoRuns(file.name().to_owned()),
        });
    }
    context.report(&Progress::TableWritten(&table.path));
    Ok(AblationRuns { measured, stem: format!("{stem}.ablation"), failed: failed > 0, table: table.path })
}

/// True if two trials can run in one lab.
fn in_one_lab(states: &[State], a: &Task, b: &Task) -> bool {
    let file = |task: &Task| &states[task.state].combinations[task.combination].file;
    footing(file(a)) == footing(file(b))
}

struct Ablation<'a> {
    file: &'a LabFile,
    runner: &'a PlanRunner<'a>,
    rounds: u32,
    context: RunContext<'a>,
    states: &'a [State],
    table: TrialsFile,
    measured: MeasuredStates,
    failed: u32,
    /// Failures since the last success; a failed start of hosts counts once.
    failed_in_a_row: u32,
}

impl<'a> Ablation<'a> {
    fn run_all(&mut self, mut order: Order) {
        self.announce();
        for round in 0..self.rounds {
            let tasks = self.round(round, &mut order);
            let states = self.states;
            for group in tasks.chunk_by(|a, b| in_one_lab(states, a, b)) {
                self.run_in_one_session(group);
                if self.context.is_interrupted() {
                    return;
                }
                if self.gives_up() {
                    let failed_in_a_row = self.failed_in_a_row;
                    self.context.report(&Progress::GaveUp { failed_in_a_row });
                    return;
                }
            }
        }
    }

    fn gives_up(&self) -> bool {
        self.failed_in_a_row >= MAX_FAILED_IN_A_ROW
    }

    /// The trials of a round. States follow one another, in reverse order in every second round, so that a drift is not mistaken for
    /// a difference between them.
    fn round(&self, round: u32, order: &mut Order) -> Vec<Task> {
        let mut of_states: Vec<Vec<Task>> = (0..self.states.len())
            .map(|state| {
                let task = |combination| Task { round, state, combination };
                let count = self.states[state].combinations.len();
                let places = order.draw(count, |a, b| in_one_lab(self.states, &task(a), &task(b)));
                places.into_iter().map(task).collect()
            })
            .collect();
        if round % 2 == 1 {
            of_states.reverse();
        }
        of_states.concat()
    }

    /// The plan of a trial under its own name.
    fn case(&self, task: &Task, name: &str) -> Case<'a> {
        let file = &self.combination(task).file;
        Case { name: name.to_owned(), variant: None, folder: &self.file.folder, file }
    }

    fn combination(&self, task: &Task) -> &'a Combination {
        &self.states[task.state].combinations[task.combination]
    }

    /// The number of trials in a round.
    fn runs(&self) -> usize {
        self.states.iter().map(|state| state.combinations.len()).sum()
    }

    fn announce(&self) {
        let design = match self.states {
            [only] => Some(only.design()),
            _ => None,
        };
        self.context.report(&Progress::AblationBegins {
            name: self.file.name(),
            design,
            states: self.states.len(),
            runs: self.runs(),
            rounds: self.rounds,
        });
    }

    fn id(&self, task: &Task) -> TrialId {
        let state = &self.states[task.state];
        let on = state.on(&self.combination(task).settings);
        TrialId { round: task.round + 1, state: state.name.clone(), on }
    }

    /// Makes trials that can share a session; hosts are restarted only if a service ends. Hosts start at least once a round,
    /// because a server settles differently after each start, and repeats should show that spread.
    fn run_in_one_session(&mut self, tasks: &[Task]) {
        let mut kept: Option<Session> = None;
        for (index, task) in tasks.iter().enumerate() {
            let Some(mut session) = kept.take().or_else(|| self.start(task)) else {
                self.failed += (tasks.len() - index) as u32;
                return;
            };
            match self.run(&mut session, task) {
                Ok(result) => {
                    self.failed_in_a_row = 0;
                    self.report(task, &result);
                }
                Err(_) if self.context.is_interrupted() => return,
                Err(error) => {
                    self.failed += 1;
                    self.failed_in_a_row += 1;
                    self.context.report(&Progress::RunFailed(&error.in_part(self.id(task))));
                }
            }
            if self.context.is_interrupted() || self.gives_up() {
                return;
            }
            if session.alive().is_ok() {
                kept = Some(session);
            }
        }
    }

    /// Starts the hosts of a trial; `None` after a failure, which is reported.
    fn start(&mut self, task: &Task) -> Option<Session> {
        let name = self.file.name();
        let started = self.runner.start(&self.case(task, name));
        let failed = |error: ExperimentError| {
            self.failed_in_a_row += 1;
            if !self.context.is_interrupted() {
                let error = error.in_part(format!("{name} could not be started"));
                self.context.report(&Progress::RunFailed(&error));
            }
        };
        started.map_err(failed).ok()
    }

    fn report(&self, task: &Task, result: &TrialResult) {
        self.context.report(&Progress::TrialEnded {
            trial: &self.id(task),
            done: self.measured.states.iter().map(|state| state.trials.len()).sum(),
            count: self.runs() as u64 * u64::from(self.rounds),
            throughput_per_sec: result.throughput_per_sec,
            lower_bound: result.at_most,
        });
    }

    /// The name of a run and its file. If the names of the switches are too long, the combination's number replaces them.
    fn name(&self, task: &Task) -> String {
        let id = self.id(task);
        let group = id.state.as_ref().map_or_else(String::new, |name| format!("{name}-"));
        let named = |on: &str| format!("{}-{group}{on}-r{}", self.file.name(), id.round);
        checked_name(named(&id.on_text("-"))).unwrap_or_else(|_| named(&format!("c{}", task.combination + 1)))
    }

    /// Makes one trial, and writes its result to the table before anything else.
    fn run(&mut self, session: &mut Session, task: &Task) -> Result<TrialResult, ExperimentError> {
        let combination = self.combination(task);
        for (host, command) in commands(&combination.file.switches, &combination.settings) {
            session.call(host, command, &self.file.folder, self.context.interrupted)?;
        }
        let path = session.run(&self.case(task, &self.name(task)), self.context)?;
        self.context.report(&Progress::RunRecorded(&path));
        if let Err(source) = session.alive() {
            return Err(ExperimentError::ServiceEnded { path, source: source.into() });
        }
        if self.context.is_interrupted() {
            return Err(ExperimentError::Interrupted);
        }
        self.keep(task, &path)
    }

    fn keep(&mut self, task: &Task, path: &Path) -> Result<TrialResult, ExperimentError> {
        let recorded = read_run(path)?;
        let useless = |why| ExperimentError::Useless { path: path.to_owned(), why };
        let result = TrialResult::new(&recorded.run, &recorded.findings).map_err(useless)?;
        let connections = Some(f64::from(result.connections));
        // A host that could not be sampled in the first trial may be sampled in a later one.
        let names = result.per_request.iter().map(|(name, _)| name);
        let new: Vec<String> = names.filter(|name| !self.table.per_request.contains(name)).cloned().collect();
        self.table.widen(&new)?;
        self.measured.widen(&new);
        if self.measured.states.is_empty() {
            self.measured.connections = connections;
        } else if self.measured.connections != connections {
            self.measured.connections = None;
        }
        let trial = Trial {
            settings: self.combination(task).settings.clone(),
            round: Some(task.round),
            throughput_per_sec: result.throughput_per_sec,
            at_most: result.at_most,
            per_request: result.in_order(&self.table.per_request),
        };
        let group = self.states[task.state].name.as_deref();
        self.table.add(group, &trial, &result, path)?;
        self.measured.add(group.map(ToOwned::to_owned), trial, &self.table.per_request);
        Ok(result)
    }
}
