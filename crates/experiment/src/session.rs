//! A session makes the runs of a plan file, in a lab or on existing hosts.

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

/// The time limit for hosts to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// The interval at which a command's exit is polled.
const POLL: Duration = Duration::from_millis(20);

/// Creates the lab of a case.
///
/// # Errors
/// When the case has no hosts to make, or one of them cannot be made.
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

/// A lab in which plans run one after another.
#[derive(Debug)]
pub(crate) struct LabSession {
    lab: Lab,
    /// The pages that were warmed up in this lab, so that they are not warmed up again.
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

    /// Runs the plan of a case; returns the run file.
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
    /// On existing hosts.
    Existing,
}

impl Session {
    /// Runs the plan of a case; returns the run file.
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

    /// Fails if a service of the lab has ended.
    pub(crate) fn alive(&mut self) -> Result<(), LabError> {
        match self {
            Self::Lab(session) => session.lab.alive(),
            Self::Existing => Ok(()),
        }
    }

    /// Runs a shell command in `folder`, on a host of the lab or on this machine, and waits until it exits or the user interrupts
    /// the experiment.
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

    /// The exit status of a command; `None` if the user interrupted the wait.
    fn status_of(
        &self,
        host: Option<&str>,
        text: &str,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<Option<ExitStatus>, String> {
        let mut command = Command::new("/bin/sh");
        // Standard output is reserved for the answer, and a command gets no input.
        command.args(["-c", text]).stdin(Stdio::null()).stdout(io::stderr());
        let waited = match (self, host) {
            (Self::Lab(session), Some(name)) => {
                let host = session.lab.hosts.iter().find(|host| host.name == name);
                let host = host.ok_or_else(|| format!("the lab has no host `{name}`"))?;
                let mut process = host.spawn(command, folder).map_err(|error| error.to_string())?;
                // The process has its own session, which Ctrl-C does not reach.
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

/// Waits for a process to exit; `None` if the user interrupts.
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

/// Runs a plan from this process, on existing hosts.
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
