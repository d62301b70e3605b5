//! Settings and callbacks that all runs of an experiment share.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_analyze::ab::{AbFindings, AbSide};
use plimsoll_lab::LabError;
use plimsoll_record::Calibration;

use crate::ExperimentError;
use crate::ablation::{TrialDesign, TrialId};
use crate::case_outcome::CaseOutcome;

/// Settings for all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// True for short steps: a preview, not a measurement.
    pub quick: bool,
    /// The command line to record with each run.
    pub command_line: Option<String>,
    /// True to test the verdict: if the limit is a cap of the lab, raise it and load the plateau's level again.
    pub prove: bool,
    pub out: PathBuf,
    /// True if the generator of a lab shows no progress.
    pub quiet: bool,
}

/// The settings of an experiment, with the caller's interrupt flag and observer.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    pub settings: &'a RunSettings,
    /// The measured calibrations of this machine, for runs outside labs.
    pub calibrations: &'a [Calibration],
    pub interrupted: &'a AtomicBool,
    pub observer: &'a dyn Observer,
}

impl RunContext<'_> {
    /// True once the user has interrupted the experiment.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, progress: &Progress<'_>) {
        self.observer.observe(progress);
    }
}

/// Receives the progress of an experiment.
pub trait Observer: Debug {
    /// Called for each event.
    fn observe(&self, progress: &Progress<'_>);

    /// Creates an observer for one run in this process.
    fn run_observer(&self) -> Box<dyn plimsoll_conductor::Observer>;
}

/// An event of an experiment.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The lab differs from its file, because a cap could not be set as asked.
    LabRemark(&'a str),
    RunBegins {
        name: &'a str,
        /// The number of the run, from 1.
        number: usize,
        count: usize,
        same_lab: bool,
    },
    /// A run was recorded in this file.
    RunRecorded(&'a Path),
    RunFailed(&'a ExperimentError),
    ServiceEnded(&'a LabError),
    /// The hosts of the lab could not be sampled; `None` if the sampling thread panicked.
    SamplingFailed(Option<&'a io::Error>),
    CaseEnded(&'a CaseOutcome),
    AblationBegins {
        name: &'a str,
        design: Option<TrialDesign>,
        states: usize,
        /// The number of runs in one round.
        runs: usize,
        rounds: u32,
    },
    TrialEnded {
        trial: &'a TrialId,
        done: usize,
        count: u64,
        throughput_per_sec: f64,
        /// True if the generator was the limit, so that the throughput is a lower bound.
        lower_bound: bool,
    },
    /// This many runs in a row failed; the rest of the ablation is left out.
    GaveUp {
        failed_in_a_row: u32,
    },
    TableWritten(&'a Path),
    Ab(AbProgress<'a>),
}

/// An event of a comparison of two services.
#[derive(Debug)]
pub enum AbProgress<'a> {
    /// The ladder on A found this number of connections for both sides.
    ConnectionsFound(u32),
    SideBegins {
        side: AbSide,
        /// The round, from 1; 0 for loads that do not count.
        round: u32,
    },
    /// The comparison after all rounds so far.
    RoundEnded(&'a AbFindings),
}
