//! What all runs of an experiment share.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_lab::LabError;
use plimsoll_record::Calibration;

use crate::ExperimentError;
use crate::ablation::{TrialDesign, TrialId};
use crate::case_outcome::CaseOutcome;

/// How runs are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Short steps: a preview, not a measurement.
    pub quick: bool,
    /// Test the verdict: raise what limits, where that is a cap of the lab, and load the plateau's level again.
    pub prove: bool,
    /// The folder of run files.
    pub out: PathBuf,
    /// The generator of a lab shows no progress.
    pub quiet: bool,
}

/// The settings of an experiment, and the caller's side of it.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    /// How runs are made.
    pub settings: &'a RunSettings,
    /// What this machine's generator can do at most, for runs outside of labs.
    pub calibrations: &'a [Calibration],
    /// Set when the user wants the experiment to end.
    pub interrupted: &'a AtomicBool,
    /// Where progress is reported.
    pub observer: &'a dyn Observer,
}

impl RunContext<'_> {
    /// True once the user wants the experiment to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, progress: &Progress<'_>) {
        self.observer.observe(progress);
    }
}

/// Receives the progress of an experiment.
pub trait Observer: Debug {
    /// Takes notice of an event.
    fn observe(&self, progress: &Progress<'_>);

    /// An observer of one run that this process makes.
    fn run_observer(&self) -> Box<dyn plimsoll_conductor::Observer>;
}

/// An event of an experiment.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The lab differs from its file: a cap could not be set as asked.
    LabRemark(&'a str),
    /// One run of several begins.
    RunBegins {
        name: &'a str,
        /// Its number, from 1.
        number: usize,
        /// How many runs there are.
        count: usize,
        /// True if it is made in the lab of the run before.
        same_lab: bool,
    },
    /// A run was recorded in this file.
    RunRecorded(&'a Path),
    /// A run failed; the others go on.
    RunFailed(&'a ExperimentError),
    /// A service of the lab ended during a run.
    ServiceEnded(&'a LabError),
    /// The hosts of the lab could not be sampled; `None` where the thread that samples them ended too early.
    SamplingFailed(Option<&'a io::Error>),
    /// A case of a diagnosis ended.
    CaseEnded(&'a CaseOutcome),
    AblationBegins {
        /// The file's name.
        name: &'a str,
        /// How the combinations of its switches were chosen; `None` where it has several states.
        design: Option<TrialDesign>,
        /// How many states of the service there are.
        states: usize,
        /// Runs of one round.
        runs: usize,
        /// How many rounds there are.
        rounds: u64,
    },
    /// A trial of an ablation succeeded.
    TrialEnded {
        /// Which.
        trial: &'a TrialId,
        /// How many trials succeeded so far.
        done: usize,
        /// How many there are in all.
        count: u64,
        throughput_per_sec: f64,
        /// True if the generator was the limit, so that the throughput is a lower bound.
        lower_bound: bool,
    },
    /// So many runs in a row failed; the rest of the ablation is left out.
    GaveUp {
        /// How many.
        failed_in_a_row: u32,
    },
    /// The table of an ablation is complete.
    TableWritten(&'a Path),
}
