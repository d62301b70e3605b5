//! Where the runs of a plan file are made: in a lab, or on hosts that exist already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use plimsoll_conductor::{RunOptions, conduct};
use plimsoll_lab::{Lab, LabError, LabOptions, Privileges};
use plimsoll_record::RunCommand;

use crate::ExperimentError;
use crate::context::{Progress, RunContext};
use crate::generator;
use crate::lab_file::Case;
use crate::lab_plan::{lab_plan, page, quicken};

/// How long hosts may take to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How often a command is asked whether it has ended.
const POLL: Duration = Duration::from_millis(20);

/// Makes the hosts of a case.
///
/// # Errors
/// When the case has none, or one of them cannot be made.
pub fn raise_lab(
    case: &Case<'_>,
    privileges: Privileges,
    interrupted: &AtomicBool,
) -> Result<Lab, ExperimentError> {
    if case.file.lab_hosts.is_empty() {
        return Err(ExperimentError::NoHosts(case.name.clone()));
    }
    let own = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let options = LabOptions {
        folder: case.folder,
        services: case.services()?,
        programs: own.into_iter().collect(),
        runtime: privileges.runtime_folder(),
        ready_within: READY_WITHIN,
        interrupted,
    };
    Ok(Lab::up(&case.lab(), &options)?)
}

/// A lab that runs one plan after another.
#[derive(Debug)]
pub(crate) struct LabSession {
    lab: Lab,
    /// The pages in it that were warmed up, which are not again.
    warmed: BTreeSet<String>,
}

impl LabSession {
    pub(crate) fn start(
        case: &Case<'_>,
        privileges: Privileges,
        context: RunContext<'_>,
    ) -> Result<Self, ExperimentError> {
        let lab = raise_lab(case, privileges, context.interrupted)?;
        lab.remarks.iter().for_each(|text| context.report(&Progress::LabRemark(text)));
        Ok(Self { lab, warmed: BTreeSet::new() })
    }

    /// Runs the plan of a case; gives the run file.
    fn run(&mut self, case: &Case<'_>, context: RunContext<'_>) -> Result<PathBuf, ExperimentError> {
        let mut plan = lab_plan(case, &self.lab, context.settings.quick)?;
        let page = page(&plan);
        if self.warmed.contains(&page) {
            plan.warm = None;
        }
        let file = generator::run(&mut self.lab, &plan, context)?;
        if plan.warm.is_some() {
            self.warmed.insert(page);
        }
        Ok(file)
    }
}

pub(crate) enum Session {
    Lab(Box<LabSession>),
    /// On hosts that exist already.
    Existing,
}

impl Session {
    /// Runs the plan of a case; gives the run file.
    pub(crate) fn run(
        &mut self,
        case: &Case<'_>,
        context: RunContext<'_>,
    ) -> Result<PathBuf, ExperimentError> {
        match self {
            Self::Lab(lab) => lab.run(case, context),
            Self::Existing => run_here(case, context),
        }
    }

    /// Whether all services of the lab still run.
    pub(crate) fn alive(&mut self) -> Result<(), LabError> {
        match self {
            Self::Lab(session) => session.lab.alive(),
            Self::Existing => Ok(()),
        }
    }

    /// Calls a shell command in the folder, on a host of the lab or on this machine, and waits for its end, or until the user ends the
    /// experiment.
    pub(crate) fn call(
        &self,
        host: Option<&str>,
        command: &str,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<(), ExperimentError> {
        let failed = |why| ExperimentError::SwitchCommand { command: command.to_owned(), why };
        match self.status_of(host, command, folder, interrupted).map_err(failed)? {
            None => Err(ExperimentError::Interrupted),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(failed(status.to_string())),
        }
    }

    /// How a command ended; `None` if the user did not wait for that.
    fn status_of(
        &self,
        host: Option<&str>,
        text: &str,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<Option<ExitStatus>, String> {
        let mut command = Command::new("/bin/sh");
        // Standard output is that of the answer, and nothing that a command asks for is typed.
        command.args(["-c", text]).stdin(Stdio::null()).stdout(io::stderr());
        let waited = match (self, host) {
            (Self::Lab(session), Some(name)) => {
                let host = session.lab.hosts.iter().find(|host| host.name == name);
                let host = host.ok_or_else(|| format!("the lab has no host `{name}`"))?;
                let mut process = host.spawn(command, folder).map_err(|error| error.to_string())?;
                // It has a session of its own, which Ctrl-C does not reach.
                await_end(&mut process.child, interrupted)
            }
            (Self::Existing, Some(name)) => {
                return Err(format!(
                    "the host `{name}` is not made in a lab, so that no command can be called on it; leave `host` out, and \
                     write how to reach it into the command"
                ));
            }
            (_, None) => command.current_dir(folder).status().map(Some),
        };
        waited.map_err(|error| error.to_string())
    }
}

/// Waits for the end of a process; `None` if the user does not.
fn await_end(child: &mut Child, interrupted: &AtomicBool) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Runs a plan from this process, on hosts that exist already.
fn run_here(case: &Case<'_>, context: RunContext<'_>) -> Result<PathBuf, ExperimentError> {
    let mut spec = case.file.spec.clone();
    spec.name = Some(case.name.replace('/', "-"));
    if context.settings.quick {
        quicken(&mut spec);
    }
    let options = RunOptions {
        command_line: context.settings.command_line.clone(),
        folder: Some(&context.settings.out),
        calibrations: context.calibrations,
        probing: true,
        ..RunOptions::new(RunCommand::Sweep, env!("CARGO_PKG_VERSION"), context.interrupted)
    };
    let outcome = conduct(spec.freeze()?, options, &mut *context.observer.run_observer())?;
    match outcome.trouble {
        Some(trouble) => Err(trouble.into()),
        None => outcome.file.ok_or(ExperimentError::NoRunFile),
    }
}
