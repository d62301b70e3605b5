//! Errors of experiments, and their kinds.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use plimsoll_analyze::AnalyzeError;
use plimsoll_conductor::ConductError;
use plimsoll_lab::LabError;
use plimsoll_plan::{PlanError, PlanFileError, Profiler, ProfilerError, UnreadablePlan};
use plimsoll_record::CorruptHistogram;
use plimsoll_scenario::{RequestsError, TemplateError};
use plimsoll_store::StoreError;

use crate::ab::{AbFolderError, ServiceError};
use crate::ablation::{ColumnError, UnfitPlan};
use crate::curve_error::CurveError;
use crate::table::MappingError;

/// The kind of an error, which decides how a command exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user's input, on the command line or in a file, is wrong.
    Usage,
    /// The user interrupted the experiment.
    Interrupted,
    Failed,
}

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    #[error("{}: {source}", path.display())]
    PlanFile { path: PathBuf, source: PlanFileError },
    #[error("{}: {source}", path.display())]
    Requests { path: PathBuf, source: RequestsError },
    #[error(
        "{} has [fleet], and a fleet makes only the load of `plimsoll run -f` and `plimsoll sweep -f`; leave it out here",
        .0.display()
    )]
    FleetInLab(PathBuf),
    #[error("`{}` is not UTF-8; {what} is text", path.display())]
    NotText { what: &'static str, path: PathBuf },
    #[error("{}{source}", in_line(*line))]
    Host {
        /// The line of the file of requests; `None` for the URL of a command line.
        line: Option<usize>,
        source: TemplateError,
    },
    #[error("could not read {what} `{}` ({source}); name a file that can be read", path.display())]
    Input {
        /// The kind of content.
        what: String,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "could not read the request body from `{}` ({source}); the path is relative to the plan file",
        path.display()
    )]
    Body { path: PathBuf, source: io::Error },
    #[error("could not {what} {} ({source})", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("could not {what} ({source})")]
    System { what: &'static str, source: io::Error },
    #[error("there is no lab file `{0}`; name one that is there, or see `plimsoll lab list`")]
    NoLabFile(String),
    #[error("PLIMSOLL_SERVICES is `{}`, which is no folder; set it to the folder of the built services, or unset it", .0.display())]
    NoServices(PathBuf),
    #[error("there is no variant `{variant}` of {file}; {known}")]
    NoVariant {
        file: String,
        variant: String,
        /// A phrase with the existing variants.
        known: String,
    },
    #[error("there is no lab file in {}; their names end in .toml", .0.display())]
    NoLabFiles(PathBuf),
    #[error("no scenario in {} has a name with {}", folder.display(), only.join(" or "))]
    NoScenario {
        folder: PathBuf,
        /// The texts; a name should contain one of them.
        only: Vec<String>,
    },
    #[error("{0} has no host to make; if its hosts exist already, call `plimsoll run -f` with the file")]
    NoHosts(String),
    #[error(
        "the target's host `{host}` is none of this lab's, and no traffic leaves a lab; its hosts are {hosts}"
    )]
    TargetNotInLab { host: String, hosts: String },
    #[error(
        "`{0}` cannot be the source of a profile in a lab: perf starts on the generator's host and sees no process of another \
         host; name a page such as http://${{host:NAME}}:PORT/debug/pprof/profile"
    )]
    PerfInLab(Profiler),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Profiler(#[from] ProfilerError),
    #[error(transparent)]
    FrozenPlan(#[from] UnreadablePlan),
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error(transparent)]
    Conduct(#[from] ConductError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
    #[error(
        "{} is damaged in part; `plimsoll report` shows what of it can be trusted, and `plimsoll check` which parts match", path.display()
    )]
    PartlyDamaged { path: PathBuf },
    #[error(
        "{0} is to be protected by the limits that an earlier run of the file showed, and there is none; run the whole file, with \
         the plan that is not protected first"
    )]
    NoLimits(String),
    #[error(
        "{0} is to be protected, and no command of its hosts has ${{protection}}, the path of the settings"
    )]
    NothingProtected(String),
    #[error("the run left no file")]
    NoRunFile,
    #[error("the generator made no run file ({0}); its own message stands above")]
    Generator(ExitStatus),
    #[error("the generator that leads the run did not open {} within {} s ({source})", path.display(), within_sec)]
    NoLeader { path: PathBuf, within_sec: u64, source: io::Error },
    #[error("a service ended during the run, so that {} is not used: {source}", path.display())]
    ServiceEnded { path: PathBuf, source: Box<LabError> },
    #[error(transparent)]
    Unfit(#[from] UnfitPlan),
    #[error("could not call `{command}`: {why}")]
    SwitchCommand { command: String, why: String },
    #[error("{} says nothing of this combination: {why}", path.display())]
    Useless { path: PathBuf, why: String },
    #[error("{side} failed in round {round}: {why}")]
    SideFailed {
        /// The side's letter and its label.
        side: String,
        round: u32,
        why: String,
    },
    #[error("{part}: {source}")]
    Part {
        /// The plan, or the trial of an ablation.
        part: String,
        source: Box<Self>,
    },
    #[error(transparent)]
    Histogram(#[from] CorruptHistogram),
    #[error(transparent)]
    Service(Box<ServiceError>),
    #[error(transparent)]
    AbFolder(#[from] AbFolderError),
    #[error("no run of {0} can be used; the errors stand above")]
    NoRuns(String),
    #[error(transparent)]
    Mapping(#[from] MappingError),
    #[error(transparent)]
    Columns(#[from] ColumnError),
    #[error("could not read the table {}: {source}", path.display())]
    Csv { path: PathBuf, source: csv::Error },
    #[error("{}, row {row}: {why}", path.display())]
    Row {
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        why: String,
    },
    #[error("{}: {source}", path.display())]
    Curve { path: PathBuf, source: CurveError },
    #[error("{}: {why}", path.display())]
    NoRows { path: PathBuf, why: String },
    #[error(
        "no host was sampled in {0}: nothing says what a request uses; make the run with --probe, or on the target's machine"
    )]
    NoHostSampled(String),
    #[error(
        "in none of the steps of {0} did 95 % of the requests succeed, and refused requests are no capacity: load it with fewer \
         connections, or at a lower rate"
    )]
    NothingCarried(String),
    #[error("no request was answered in {0}: see that the target serves, and make the run again")]
    NothingAnswered(String),
    #[error("no column is mapped to a tier; add for example --map web.cpu_percent=COLUMN")]
    NoTier,
    #[error("interrupted")]
    Interrupted,
}

fn in_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("the request in line {line}: "))
}

impl From<ServiceError> for ExperimentError {
    fn from(error: ServiceError) -> Self {
        Self::Service(error.into())
    }
}

impl ExperimentError {
    /// Whether the user or the system is at fault, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Part { source, .. } => source.kind(),
            Self::Curve { source: CurveError::File(_), .. } => ErrorKind::Failed,
            Self::Curve { .. } => ErrorKind::Usage,
            Self::PlanFile { .. }
            | Self::Requests { .. }
            | Self::NotText { .. }
            | Self::FleetInLab(_)
            | Self::Host { .. }
            | Self::TargetNotInLab { .. }
            | Self::PerfInLab(_)
            | Self::Plan(_)
            | Self::Unfit(_)
            | Self::Mapping(_)
            | Self::Row { .. }
            | Self::NoRows { .. }
            | Self::NoTier
            | Self::NoServices(_)
            | Self::NoVariant { .. }
            | Self::Profiler(_)
            | Self::Columns(_)
            | Self::NothingProtected(_)
            | Self::Lab(LabError::Variable { .. }) => ErrorKind::Usage,
            Self::Conduct(error) if error.is_usage_error() => ErrorKind::Usage,
            Self::Conduct(error) if error.interrupted() => ErrorKind::Interrupted,
            Self::Lab(error) if error.interrupted() => ErrorKind::Interrupted,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Service(error) => match **error {
                ServiceError::Interrupted => ErrorKind::Interrupted,
                ServiceError::Elsewhere { .. } => ErrorKind::Usage,
                _ => ErrorKind::Failed,
            },
            _ => ErrorKind::Failed,
        }
    }

    /// Wraps the error with the part of the experiment that it is about: a plan of a file, or a trial.
    #[must_use]
    pub fn in_part(self, part: impl ToString) -> Self {
        Self::Part { part: part.to_string(), source: Box::new(self) }
    }

    /// Converts the error of an operation on a file.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// Converts the error of an operation that does not concern one file.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
