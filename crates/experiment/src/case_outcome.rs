//! The outcome of one plan of a lab file.

use std::path::PathBuf;

use plimsoll_analyze::{Findings, RowRun, StepSummary, Verdict};
use plimsoll_plan::Expect;

use crate::ExperimentError;
use crate::diagnosis::Diagnosis;
use crate::lab_file::Case;
use crate::recorded::{RecordedRun, RunStatus};

/// The outcome of one plan.
#[derive(Debug)]
pub enum CaseOutcome {
    /// It was run.
    Judged(Box<JudgedRun>),
    /// It could not be run.
    Failed {
        name: String,
        /// What its file expects.
        expected: Option<Expect>,
        /// Why.
        error: ExperimentError,
    },
}

/// A run with its diagnosis.
#[derive(Debug)]
pub struct JudgedRun {
    /// The name of the plan.
    pub name: String,
    /// What its file expects.
    pub expected: Option<Expect>,
    /// The limit that was found.
    pub found: Diagnosis,
    /// The verdict that names it.
    pub verdict: Verdict,
    /// The step with the highest throughput; `None` for a run without steps.
    pub peak: Option<PeakStep>,
    /// Its row in the table of its file, if the file makes one.
    pub row: Option<RowRun>,
    /// How the run ended.
    pub status: RunStatus,
    pub file: PathBuf,
}

/// The step with the highest throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakStep {
    /// Requests per second.
    pub throughput_per_sec: f64,
    pub connections: u32,
    /// The 99th percentile of latency; `None` if nothing was answered.
    pub p99_ns: Option<f64>,
    /// The generator was the limit, so that the throughput is a lower bound.
    pub lower_bound: bool,
}

impl PeakStep {
    fn from_findings(findings: &Findings) -> Option<Self> {
        let higher = |a: &&StepSummary, b: &&StepSummary| a.throughput.value.total_cmp(&b.throughput.value);
        let step = findings.steps.iter().max_by(higher)?;
        Some(Self {
            throughput_per_sec: step.throughput.value,
            connections: step.connections,
            p99_ns: step.latency.p99.ns,
            lower_bound: findings.lower_bound,
        })
    }
}

impl JudgedRun {
    pub(crate) fn new(case: &Case<'_>, recorded: &RecordedRun) -> Self {
        let RecordedRun { path, run, findings } = recorded;
        Self {
            name: case.name.clone(),
            expected: case.file.expect.clone(),
            found: Diagnosis::new(&findings.verdict),
            verdict: findings.verdict.clone(),
            peak: PeakStep::from_findings(findings),
            row: case
                .file
                .row
                .as_ref()
                .and_then(|spec| RowRun::from_findings(case.own_name(), spec, findings)),
            status: RunStatus::new(run, findings, false),
            file: path.clone(),
        }
    }

    /// Whether the diagnosis is what the file expects; `None` if it expects nothing.
    pub fn as_expected(&self) -> Option<bool> {
        self.expected.as_ref().map(|expected| self.found.meets(expected))
    }

    /// The status of the case: an expectation takes the place of the plan's conditions.
    pub fn case_status(&self) -> RunStatus {
        match (self.status, self.as_expected()) {
            (RunStatus::Interrupted, _) => RunStatus::Interrupted,
            (_, Some(true)) => RunStatus::Met,
            (_, Some(false)) => RunStatus::Broken,
            (status, None) => status,
        }
    }
}

impl CaseOutcome {
    pub(crate) fn failed(case: &Case<'_>, error: ExperimentError) -> Self {
        Self::Failed { name: case.name.clone(), expected: case.file.expect.clone(), error }
    }

    /// The name of the plan.
    pub fn name(&self) -> &str {
        match self {
            Self::Judged(judged) => &judged.name,
            Self::Failed { name, .. } => name,
        }
    }

    /// The run, if there is one.
    pub fn judged(&self) -> Option<&JudgedRun> {
        match self {
            Self::Judged(judged) => Some(judged),
            Self::Failed { .. } => None,
        }
    }

    /// What the file expects.
    pub fn expected(&self) -> Option<&Expect> {
        match self {
            Self::Judged(judged) => judged.expected.as_ref(),
            Self::Failed { expected, .. } => expected.as_ref(),
        }
    }

    /// Whether the diagnosis is what the file expects; `None` if it expects nothing. One that could not be run is not.
    pub fn as_expected(&self) -> Option<bool> {
        self.judged().map_or(Some(false), JudgedRun::as_expected)
    }
}
