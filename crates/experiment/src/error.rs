//! Why an experiment failed, and what kind of failure that is.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use plimsoll_analyze::AnalyzeError;
use plimsoll_conductor::ConductError;
use plimsoll_lab::LabError;
use plimsoll_plan::{PlanError, PlanFileError, Profiler, ProfilerError, UnreadablePlan};
use plimsoll_scenario::{RequestsError, TemplateError};
use plimsoll_store::StoreError;

use crate::ablation::{ColumnError, TrialId, UnfitPlan};
use crate::table::MappingError;

/// How a command should end that met an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What the user typed, on the command line or in a file, is wrong.
    Usage,
    /// The user ended it.
    Interrupted,
    /// It could not be run.
    Failed,
}

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A plan file is wrong.
    #[error("{}: {source}", path.display())]
    PlanFile {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: PlanFileError,
    },
    /// A file of requests is wrong.
    #[error("{}: {source}", path.display())]
    Requests {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: RequestsError,
    },
    /// A file of requests is not text.
    #[error("`{}` is not UTF-8; a file of requests is text", .0.display())]
    NotText(PathBuf),
    /// A variable in the host of a URL is wrong.
    #[error("{}{source}", in_line(*line))]
    Host {
        /// The line of the file of requests; `None` for the URL of a command line.
        line: Option<usize>,
        /// What is wrong.
        source: TemplateError,
    },
    /// A file that the user named cannot be read.
    #[error("could not read {what} `{}` ({source}); name a file that can be read", path.display())]
    Input {
        /// What it holds.
        what: String,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of a request body, which a plan file names, cannot be read.
    #[error(
        "could not read the request body from `{}` ({source}); the path is relative to the plan file",
        path.display()
    )]
    Body {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file or a folder of the experiment's own.
    #[error("could not {what} {} ({source})", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system refused something that is not about one file.
    #[error("could not {what} ({source})")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// There is no such lab file.
    #[error("there is no lab file `{0}`; name one that is there, or see `plimsoll lab list`")]
    NoLabFile(String),
    /// A folder has no lab files.
    #[error("there is no lab file in {}; their names end in .toml", .0.display())]
    NoLabFiles(PathBuf),
    /// No scenario of a folder has such a name.
    #[error("no scenario in {} has a name with {}", folder.display(), only.join(" or "))]
    NoScenario {
        folder: PathBuf,
        /// The texts, of which a name should hold one.
        only: Vec<String>,
    },
    /// A file without hosts for a lab.
    #[error("{0} has no host to make; if its hosts exist already, call `plimsoll run -f` with the file")]
    NoHosts(String),
    /// The target is not a host of the lab.
    #[error(
        "the target's host `{host}` is none of this lab's, and no traffic leaves a lab; its hosts are {hosts}"
    )]
    TargetNotInLab {
        /// The target's host.
        host: String,
        /// The lab's hosts.
        hosts: String,
    },
    /// A profile that cannot be taken in a lab.
    #[error(
        "`{0}` cannot be the source of a profile in a lab: perf starts on the generator's host and sees no process of another \
         host; name a page such as http://${{host:NAME}}:PORT/debug/pprof/profile"
    )]
    PerfInLab(Profiler),
    /// A plan is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The source of a profile is wrong.
    #[error(transparent)]
    Profiler(#[from] ProfilerError),
    /// A frozen plan cannot be read back.
    #[error(transparent)]
    FrozenPlan(#[from] UnreadablePlan),
    /// The lab failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The run failed.
    #[error(transparent)]
    Conduct(#[from] ConductError),
    /// A run file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run cannot be analysed.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
    /// The run left no file.
    #[error("the run left no file")]
    NoRunFile,
    /// The generator of a lab ended without a run file.
    #[error("the generator made no run file ({0}); its own message stands above")]
    Generator(ExitStatus),
    /// The generator that leads a run does not answer.
    #[error("the generator that leads the run did not open {} within {} s ({source})", path.display(), within_sec)]
    NoLeader {
        /// Its socket.
        path: PathBuf,
        /// How long it was waited for, in seconds.
        within_sec: u64,
        /// The last error.
        source: io::Error,
    },
    /// A service of the lab ended during a run.
    #[error("a service ended during the run, so that {} is not used: {source}", path.display())]
    ServiceEnded {
        /// The run file.
        path: PathBuf,
        /// Which service.
        source: Box<LabError>,
    },
    /// A plan file is not fit for an ablation.
    #[error(transparent)]
    Unfit(#[from] UnfitPlan),
    /// A switch's command failed.
    #[error("could not call `{command}`: {why}")]
    SwitchCommand {
        command: String,
        /// Why it failed.
        why: String,
    },
    /// A run says nothing of its combination of switches.
    #[error("{} says nothing of this combination: {why}", path.display())]
    Useless {
        /// The run file.
        path: PathBuf,
        why: String,
    },
    /// A trial of an ablation failed.
    #[error("{trial}: {source}")]
    Trial {
        /// Which trial.
        trial: TrialId,
        /// Why it failed.
        source: Box<Self>,
    },
    /// The hosts of a file could not be started.
    #[error("{name} could not be started: {source}")]
    Start {
        /// The file's name.
        name: String,
        /// Why.
        source: Box<Self>,
    },
    /// A plan of a file failed.
    #[error("{name}: {source}")]
    Case {
        /// The plan's name.
        name: String,
        /// Why.
        source: Box<Self>,
    },
    /// No run of an experiment can be used.
    #[error("no run of {0} can be used; the errors stand above")]
    NoRuns(String),
    /// The mapping of a table's columns is wrong.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The mapping of a table of trials is wrong.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// A table cannot be read.
    #[error("could not read the table {}: {source}", path.display())]
    Csv {
        /// The table.
        path: PathBuf,
        /// Why.
        source: csv::Error,
    },
    /// A row of a table is wrong.
    #[error("{}, row {row}: {why}", path.display())]
    Row {
        /// The table.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// What is wrong.
        why: String,
    },
    /// A table has no row that says something.
    #[error("{}: {why}", path.display())]
    NoRows {
        /// The table.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// No host was sampled in the runs, so that nothing says what a request uses.
    #[error(
        "no host was sampled in {0}: nothing says what a request uses; make the run with --probe, or on the target's machine"
    )]
    NoHostSampled(String),
    /// No column of a table is mapped to a tier.
    #[error("no column is mapped to a tier; add for example --map web.cpu_percent=COLUMN")]
    NoTier,
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

fn in_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("the request in line {line}: "))
}

impl ExperimentError {
    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Trial { source, .. } | Self::Start { source, .. } | Self::Case { source, .. } => {
                source.kind()
            }
            Self::PlanFile { .. }
            | Self::Requests { .. }
            | Self::NotText(_)
            | Self::Host { .. }
            | Self::TargetNotInLab { .. }
            | Self::PerfInLab(_)
            | Self::Plan(_)
            | Self::Unfit(_)
            | Self::Mapping(_)
            | Self::Columns(_)
            | Self::Lab(LabError::Variable { .. }) => ErrorKind::Usage,
            Self::Conduct(error) if error.is_usage_error() => ErrorKind::Usage,
            Self::Conduct(error) if error.interrupted() => ErrorKind::Interrupted,
            Self::Lab(error) if error.interrupted() => ErrorKind::Interrupted,
            Self::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Failed,
        }
    }

    /// The same error, of this plan of a file.
    #[must_use]
    pub fn of_case(self, name: &str) -> Self {
        Self::Case { name: name.to_owned(), source: Box::new(self) }
    }

    /// For an operation on a file.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// For an operation that is not about one file.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
